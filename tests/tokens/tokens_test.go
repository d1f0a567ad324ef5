package tokens

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/rig"
	"causeway/tests/session/raw"
)

const stranger = "99999999-9999-9999-9999-999999999999"

// TestOut: the answer looks as that of a server to a user variable that holds a
// string, and no server is asked.
func TestOut(t *testing.T) {
	lay(t)
	cw := cluster.StartCauseway(t, shared, "")
	direct, c := dial(t, shared.Source().Addr, nil), dial(t, cw.Addr, nil)
	raw.Query(t, direct, "SET @causeway_token = 'x', @causeway_gtids = 'y'")
	raw.Query(t, c, "INSERT INTO r VALUES (1, 1)")
	log := shared.Source().LogStatements(t)
	for _, sql := range []string{"SELECT @causeway_token", "SELECT @causeway_gtids AS g, @causeway_token LIMIT 1"} {
		want, got := raw.Query(t, direct, sql), raw.Query(t, c, sql)
		if !slices.Equal(got[0].Columns, want[0].Columns) {
			t.Errorf("%s: columns %v, want %v", sql, got[0].Columns, want[0].Columns)
		}
		var answers [2]raw.Answer
		for i, k := range []*raw.Client{direct, c} {
			st, err := k.Prepare(sql)
			check.Must(t, err)
			answers[i], err = st.Execute(0)
			check.Must(t, err)
		}
		if !slices.Equal(answers[1][0].Columns, answers[0][0].Columns) {
			t.Errorf("%s, prepared: columns %v, want %v", sql, answers[1][0].Columns, answers[0][0].Columns)
		}
	}
	set := raw.Query(t, c, "SELECT @causeway_gtids").Value()
	if got := raw.Query(t, direct, "SELECT WAIT_FOR_EXECUTED_GTID_SET('"+set+"', 10)").Value(); got != "0" {
		t.Errorf("the server says %q to %q", got, set)
	}
	entries, err := log.Entries()
	check.Must(t, err)
	for _, e := range entries {
		if strings.Contains(e.Text, "causeway_token") && !strings.Contains(e.Text, "AS g") && e.Text != "SELECT @causeway_token" {
			t.Errorf("the source was asked %q", e.Text)
		}
	}
	if n := raw.Query(t, direct, "SELECT 1"); n.Value() != "1" {
		t.Error("the direct connection is lost")
	}
}

// TestTrackedGTID: a client that tracks GTIDs itself can hand in what the OK said.
func TestTrackedGTID(t *testing.T) {
	lay(t)
	a, b := cluster.StartCauseway(t, shared, budget), cluster.StartCauseway(t, shared, budget)
	for _, n := range shared.Replicas() {
		check.Must(t, n.Pause(t.Context()))
	}
	shared.HealAfter(t)
	w, r := dial(t, a.Addr, nil), dial(t, b.Addr, nil)
	raw.Query(t, w, "SET session_track_gtids = OWN_GTID")
	ok := raw.Query(t, w, "REPLACE INTO r VALUES (1, 77)")
	uuid, err := shared.Source().Value(t.Context(), "SELECT @@server_uuid")
	check.Must(t, err)
	gtid := ""
	for _, entry := range ok[0].Track {
		if i := strings.Index(entry, uuid); i >= 0 {
			gtid = strings.TrimRight(entry[i:], "\"'] ")
		}
	}
	if gtid == "" {
		t.Fatalf("no GTID in %q", ok[0].Track)
	}
	raw.Query(t, r, "SET @causeway_token = '"+gtid+"'")
	if got := raw.Query(t, r, "SELECT v FROM r WHERE id = 1").Value(); got != "77" {
		t.Errorf("read %q after %s", got, gtid)
	}
}

// TestSigned: two Causeways, one of which has the new secret already.
func TestSigned(t *testing.T) {
	lay(t)
	a := cluster.StartCauseway(t, shared, budget+"[token]\nsecret = [\"the old secret, long enough\", \"the new secret, long enough\"]\n")
	b := cluster.StartCauseway(t, shared, budget+"[token]\nsecret = [\"the new secret, long enough\", \"the old secret, long enough\"]\n")
	other := cluster.StartCauseway(t, shared, budget+"[token]\nsecret = \"another secret, long enough\"\n")
	plain := cluster.StartCauseway(t, shared, budget)
	for _, n := range shared.Replicas() {
		check.Must(t, n.Pause(t.Context()))
	}
	shared.HealAfter(t)
	for i, pair := range [][2]*cluster.Causeway{{a, b}, {b, a}} {
		w, r := dial(t, pair[0].Addr, nil), dial(t, pair[1].Addr, nil)
		raw.Query(t, w, fmt.Sprintf("REPLACE INTO r VALUES (5, %d)", i))
		row := raw.Query(t, w, "SELECT @causeway_token, @causeway_gtids")[0].Rows[0]
		signed, set := string(row[0]), string(row[1])
		refused(t, r, "SET @causeway_token = '"+set+"'", "not signed")
		refused(t, r, "SELECT v FROM r /*causeway_token='"+signed[:len(signed)-4]+"AAAA'*/", "signature is wrong")
		refused(t, dial(t, other.Addr, nil), "SET @causeway_token = '"+signed+"'", "signature is wrong")
		refused(t, dial(t, plain.Addr, nil), "SET @causeway_token = '"+signed+"'", "no [token] secret")
		raw.Query(t, r, "SET @causeway_token = '"+signed+"'")
		if got := raw.Query(t, r, "SELECT v FROM r WHERE id = 5").Value(); got != fmt.Sprint(i) {
			t.Errorf("read %q", got)
		}
	}
}

// bad are tokens that no session may have.
func bad(uuid string) []string {
	return []string{
		stranger + ":1-5", uuid + ":1-9000000000", uuid + ":1:8000000000", "nonsense", uuid, "cw1.abc.def", uuid + ":5-1",
		strings.Repeat(stranger+":1,", 1000), strings.Repeat("x", 1<<20),
	}
}

// TestBadTokens: a thousand a second that are made up, of another cluster, huge or
// malformed get errors, and cost the source a hundred questions a second at most,
// no read of the budget, and no wait in a watch.
func TestBadTokens(t *testing.T) {
	lay(t)
	cw := cluster.StartCauseway(t, shared, "")
	uuid, err := shared.Source().Value(t.Context(), "SELECT @@server_uuid")
	check.Must(t, err)
	before := rig.MustMetrics(t, cw.HTTP)
	tokens := bad(uuid)
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	var sent, served atomic.Int64
	var wg sync.WaitGroup
	for i := range 16 {
		c := dial(t, cw.Addr, nil)
		wg.Go(func() {
			tick := time.NewTicker(16 * time.Millisecond)
			defer tick.Stop()
			for n := i; ctx.Err() == nil; n++ {
				<-tick.C
				a, err := c.Query("SELECT v FROM r /*causeway_token='" + tokens[n%len(tokens)] + "'*/")
				if err != nil || a.Err() == nil || !strings.Contains(a.Err().Error(), "token") {
					t.Errorf("%.60s: %v %v", tokens[n%len(tokens)], err, a.Err())
					return
				}
				sent.Add(1)
			}
		})
	}
	honest := dial(t, cw.Addr, nil)
	for ctx.Err() == nil {
		raw.Query(t, honest, "SELECT v FROM r WHERE id = 1")
		served.Add(1)
	}
	wg.Wait()
	took := time.Since(began)
	after := rig.MustMetrics(t, cw.HTTP)
	grown := after.Minus(before)
	asked, foreign := grown.Sum("causeway_position_questions_total"), grown.Sum("causeway_tokens_total", `outcome="foreign"`)
	t.Logf("%d bad tokens in %v, %v of them foreign: %v questions; %d honest reads meanwhile", sent.Load(), took, foreign, asked, served.Load())
	if most := took.Seconds()*100 + 2; asked > most || foreign == 0 {
		t.Errorf("%v questions to the source, at most %.0f are allowed", asked, most)
	}
	for _, name := range []string{"causeway_fallback_total", "causeway_watch_queries_total", "causeway_waits_total"} {
		if n := grown.Sum(name); n != 0 {
			t.Errorf("%s grew by %v", name, n)
		}
	}
	if got := grown.Sum("causeway_tokens_total", `outcome="malformed"`) + foreign; got != float64(sent.Load()) {
		t.Errorf("%v of %d counted", got, sent.Load())
	}
}

// TestSourceDoesNotAnswer: what is known is taken, what is newer is an error soon.
func TestSourceDoesNotAnswer(t *testing.T) {
	lay(t)
	cw := cluster.StartCauseway(t, shared, "[monitor]\ntimeout = \"1s\"\n[routing]\nmax_wait = \"500ms\"\n")
	w, r := dial(t, cw.Addr, nil), dial(t, cw.Addr, nil)
	raw.Query(t, w, "REPLACE INTO r VALUES (1, 5)")
	known := raw.Query(t, w, "SELECT @causeway_token").Value()
	shared.MustHeal(t)
	uuid, err := shared.Source().Value(t.Context(), "SELECT @@server_uuid")
	check.Must(t, err)
	raw.Query(t, r, "SET @causeway_token = '"+known+"'") // now the monitor has seen it
	check.Must(t, shared.Source().Freeze())
	shared.HealAfter(t)
	r2 := dial(t, cw.Addr, nil)
	if got := raw.Query(t, r2, "SELECT v FROM r WHERE id = 1 /*causeway_token='"+known+"'*/").Value(); got != "5" {
		t.Errorf("read %q", got)
	}
	began := time.Now()
	refused(t, r2, "SELECT v FROM r /*causeway_token='"+uuid+":1-8000000000'*/", "could not be asked within 500ms")
	t.Logf("refused after %v", time.Since(began))
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	check.Must(t, shared.Source().Thaw())
}

// TestGlobal: reads of a global class see what was written past Causeway; those of
// the default class need not.
func TestGlobal(t *testing.T) {
	lay(t)
	cw := cluster.StartCauseway(t, shared, budget+"[[class]]\nname = \"all\"\nconsistency = \"global\"\nbudget_share = 1\n")
	account := chaos(t, 3)
	direct := dial(t, shared.Source().Addr, nil)
	c := dial(t, cw.Addr, nil)
	var all, onRepl, stale int
	for v := 1; v <= pairs(t) || stale == 0 && v < 100*pairs(t); v++ {
		raw.Query(t, direct, fmt.Sprintf("REPLACE INTO r VALUES (1, %d)", v))
		if got := raw.Query(t, c, "SELECT v FROM r WHERE id = 1").Value(); got != fmt.Sprint(v) {
			stale++
		}
		runs, phase := account.Phase()
		if got := raw.Query(t, c, "SELECT v FROM r WHERE id = 1 /*causeway_class='all'*/").Value(); got != fmt.Sprint(v) {
			t.Fatalf("a global read saw %s, %d was committed", got, v)
		}
		if now, after := account.Phase(); runs && now && phase == after {
			all++
			if raw.Route(t, c, "Role") == "replica" {
				onRepl++
			}
		}
	}
	t.Logf("%d of %d global reads on replicas while an applier ran; %d reads of F0 did not see what others wrote", onRepl, all, stale)
	if stale == 0 || onRepl*2 <= all {
		t.Error("the test cannot fail, or the source served more than half")
	}
	if got := raw.Route(t, c, "Class"); got != "all" {
		t.Errorf("class %q", got)
	}
}
