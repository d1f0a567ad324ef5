package tokens

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"causeway/tests/cluster"
	"causeway/tests/consistency/lab"
	"causeway/tests/session/raw"
	"causeway/wire"
)

// kinds of writes make row id have value v; the errors are MySQL's own.
var kinds = []struct {
	name string
	sql  []string
	code uint16 // of the last statement
}{
	{"autocommit", []string{"REPLACE INTO r VALUES (%[1]d, %[2]d)"}, 0},
	{"transaction", []string{"BEGIN", "REPLACE INTO r VALUES (%[1]d, %[2]d)", "COMMIT"}, 0},
	{"XA", []string{"XA START 'x%[1]d'", "REPLACE INTO r VALUES (%[1]d, %[2]d)", "XA END 'x%[1]d'", "XA PREPARE 'x%[1]d'", "XA COMMIT 'x%[1]d'"}, 0},
	{"procedure", []string{"CALL put(%[1]d, %[2]d)"}, 0},
	{"procedure that fails", []string{"CALL put_and_fail(%[1]d, %[2]d)"}, 1644},
	{"function", []string{"SELECT put_f(%[1]d, %[2]d)"}, 0},
	{"DDL that fails", []string{"BEGIN", "REPLACE INTO r VALUES (%[1]d, %[2]d)", "CREATE TABLE r (id INT)"}, 1050},
	{"DDL", []string{"BEGIN", "REPLACE INTO r VALUES (%[1]d, %[2]d)", "CREATE TABLE IF NOT EXISTS d%[1]d (id INT)"}, 0},
	{"several statements that fail", []string{"REPLACE INTO r VALUES (%[1]d, %[2]d); SELECT * FROM no_such_table"}, 1146},
}

// read reads on one connection what the token stands for.
type read func(c *raw.Client, token, sql string) (raw.Answer, error)

// first runs a statement and then the read.
func first(c *raw.Client, hand func() (raw.Answer, error), sql string) (raw.Answer, error) {
	if a, err := hand(); err != nil || a.Err() != nil {
		return a, err
	}
	return c.Query(sql)
}

var ways = map[string]read{
	"variable": func(c *raw.Client, token, sql string) (raw.Answer, error) {
		return first(c, func() (raw.Answer, error) { return c.Query("SET @causeway_token = '" + token + "'") }, sql)
	},
	"comment": func(c *raw.Client, token, sql string) (raw.Answer, error) {
		return c.Query(sql + " /*traceparent='00-1',causeway_token='" + url.QueryEscape(token) + "'*/")
	},
	"query attribute": func(c *raw.Client, token, sql string) (raw.Answer, error) {
		return c.Query(sql, raw.Attr{Name: "causeway_token", Value: token})
	},
	"parameter": func(c *raw.Client, token, sql string) (raw.Answer, error) {
		st, err := c.Prepare("SET @causeway_token = ?")
		if err != nil {
			return nil, err
		}
		defer st.Close()
		return first(c, func() (raw.Answer, error) { return st.Execute(0, raw.String(token)) }, sql)
	},
	"prepared with a comment": func(c *raw.Client, token, sql string) (raw.Answer, error) {
		st, err := c.Prepare("/*causeway_token='" + token + "'*/ " + sql)
		if err != nil {
			return nil, err
		}
		defer st.Close()
		return st.Execute(0)
	},
	"read-only transaction": func(c *raw.Client, token, sql string) (raw.Answer, error) {
		if a, err := c.Query("START TRANSACTION READ ONLY /*causeway_token='" + token + "'*/"); err != nil || a.Err() != nil {
			return a, err
		}
		a, err := c.Query(sql)
		if err == nil {
			_, err = c.Query("COMMIT")
		}
		return a, err
	},
}

// pairTest counts what the pairs of one way saw.
type pairTest struct {
	from, to           string
	way                read
	account            *lab.Account
	stale, all, onRepl atomic.Int64
}

// run makes n pairs over a few writers, each with a reader.
func (p *pairTest) run(t *testing.T, ctx context.Context, n int, seed uint64) {
	const writers = 4
	g, ctx := errgroup.WithContext(ctx)
	for w := range writers {
		a, b := dial(t, p.from, nil), dial(t, p.to, nil)
		rng := rand.New(rand.NewPCG(seed, uint64(w)))
		g.Go(func() error {
			for i := range n / writers {
				p.pace(ctx, a)
				if err := p.pair(ctx, a, b, rng, w+1, int64(i+1)); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

// pace lets one replica catch up with the writer's last write, as long as one
// applies: how fast that goes is the machine's business, not the test's.
func (p *pairTest) pace(ctx context.Context, a *raw.Client) {
	token, err := a.Query("SELECT @causeway_gtids")
	for err == nil && token.Value() != "" && ctx.Err() == nil {
		if runs, _ := p.account.Phase(); !runs {
			return
		}
		for _, n := range shared.Replicas() {
			if has, err := n.Value(ctx, "SELECT GTID_SUBSET(?, @@global.gtid_executed)", token.Value()); err != nil || has == "1" {
				return
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// pair writes on a and reads on b.
func (p *pairTest) pair(ctx context.Context, a, b *raw.Client, rng *rand.Rand, id int, v int64) error {
	kind := kinds[rng.IntN(len(kinds))]
	for i, sql := range kind.sql {
		want := uint16(0)
		if i == len(kind.sql)-1 {
			want = kind.code
		}
		if ans, err := a.Query(format(sql, id, v)); err != nil || ans.Code() != want {
			return fmt.Errorf("%s: %s: %w", kind.name, sql, errors.Join(err, ans.Err()))
		}
	}
	token, err := a.Query("SELECT @causeway_token")
	if err != nil || token.Err() != nil || token.Value() == "" {
		return fmt.Errorf("after %s: the token is %q: %w", kind.name, token.Value(), errors.Join(err, token.Err()))
	}
	runs, phase := p.account.Phase()
	got, err := p.way(b, token.Value(), fmt.Sprintf("SELECT v FROM r WHERE id = %d", id))
	if err != nil || got.Err() != nil {
		return fmt.Errorf("reading after %s: %w", kind.name, errors.Join(err, got.Err()))
	}
	if got[len(got)-1].Rows == nil || rowValue(got) != fmt.Sprint(v) {
		p.stale.Add(1)
	}
	if runsNow, now := p.account.Phase(); !runs || !runsNow || phase != now {
		return nil
	}
	r, err := b.Query("SHOW CAUSEWAY ROUTE")
	if err != nil {
		return err
	}
	p.all.Add(1)
	for _, row := range r[0].Rows {
		if string(row[0]) == "Role" && string(row[1]) == "replica" {
			p.onRepl.Add(1)
		}
	}
	return ctx.Err()
}

func format(sql string, id int, v int64) string {
	text := fmt.Sprintf(sql, id, v)
	if i := len("%!(EXTRA"); len(text) > i {
		for j := range text {
			if len(text)-j > i && text[j:j+i] == "%!(EXTRA" {
				return text[:j]
			}
		}
	}
	return text
}

// rowValue is the value of the one row, text or binary: a binary BIGINT row is a
// header, a null bitmap and 8 bytes.
func rowValue(a raw.Answer) string {
	rows := a[len(a)-1].Rows
	if len(rows) != 1 {
		return ""
	}
	p := rows[0][0]
	if len(p) == 10 && p[0] == 0 {
		v := int64(0)
		for i := range 8 {
			v |= int64(p[2+i]) << (8 * i)
		}
		return fmt.Sprint(v)
	}
	return string(p)
}

// chaos stops the appliers at random until the test ends.
func chaos(t *testing.T, seed uint64) *lab.Account {
	t.Helper()
	replicas := shared.Replicas()
	account := lab.NewAccount(2, time.Now)
	c := lab.Chaos{Appliers: [2]lab.Applier{replicas[0], replicas[1]}, Account: account, Plan: lab.DefaultPlan, Rand: rand.New(rand.NewPCG(seed, 7))}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		shared.MustHeal(t)
	})
	return account
}

// TestPairs: what one connection wrote, however, another one reads that was
// handed its token, through the same Causeway and through another. One that looks
// at no token is stale, so the test can fail.
func TestPairs(t *testing.T) {
	lay(t)
	a, b := cluster.StartCauseway(t, shared, budget), cluster.StartCauseway(t, shared, budget)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	account := chaos(t, seed)
	n := pairs(t)
	for _, to := range []*cluster.Causeway{a, b} {
		where := "same"
		if to == b {
			where = "another"
		}
		var all, onRepl int64
		for name, way := range ways {
			p := pairTest{from: a.Addr, to: to.Addr, way: way, account: account}
			p.run(t, t.Context(), n, seed)
			if p.stale.Load() > 0 {
				t.Errorf("%s Causeway, %s: %d of %d reads are stale", where, name, p.stale.Load(), n)
			}
			all, onRepl = all+p.all.Load(), onRepl+p.onRepl.Load()
		}
		t.Logf("%s Causeway: %d of %d sampled reads on replicas", where, onRepl, all)
		if onRepl*2 <= all {
			t.Errorf("%s Causeway: only %d of %d reads on replicas while an applier ran", where, onRepl, all)
		}
	}
	careless := cluster.StartCauseway(t, shared, budget+"unsafe_skip_token_check = true\n")
	for range 20 {
		p := pairTest{from: a.Addr, to: careless.Addr, account: account, way: ways["variable"]}
		if p.run(t, t.Context(), n, seed); p.stale.Load() > 0 {
			return
		}
	}
	t.Error("a Causeway that looks at no token was never stale: the test cannot fail")
}

// TestLoginAttribute: a connection that brings its token.
func TestLoginAttribute(t *testing.T) {
	lay(t)
	a, b := cluster.StartCauseway(t, shared, budget), cluster.StartCauseway(t, shared, budget)
	account := chaos(t, 1)
	w := dial(t, a.Addr, nil)
	for v := range max(pairs(t)/10, 20) {
		raw.Query(t, w, fmt.Sprintf("REPLACE INTO r VALUES (1, %d)", v))
		r := dial(t, b.Addr, map[string]string{"causeway_token": raw.Query(t, w, "SELECT @causeway_token").Value()})
		if got := raw.Query(t, r, "SELECT v FROM r WHERE id = 1").Value(); got != fmt.Sprint(v) {
			t.Errorf("read %s, want %d; %v", got, v, account)
		}
		r.Close()
	}
	if _, err := raw.Dial(raw.Options{Addr: b.Addr, User: cluster.AppUser, Password: cluster.AppPassword, Caps: raw.Modern,
		Attrs: map[string]string{"causeway_token": "nonsense"}}); wireCode(err) != wire.ErrWrongValueForVar {
		t.Errorf("a malformed token at login: %v", err)
	}
}

func wireCode(err error) uint16 {
	var e *wire.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// TestAttributeBehindLongData: a server takes attributes behind a parameter that has
// no value in the execution, and so does Causeway.
func TestAttributeBehindLongData(t *testing.T) {
	lay(t)
	c := dial(t, cluster.StartCauseway(t, shared, budget).Addr, nil)
	st, err := c.Prepare("SELECT ?")
	if err != nil {
		t.Fatal(err)
	}
	raw.Query(t, c, "REPLACE INTO r VALUES (1, 1)")
	token := raw.Query(t, c, "SELECT @causeway_token").Value()
	for _, text := range []string{token, "nonsense"} {
		if err := st.SendLongData(0, []byte("long")); err != nil {
			t.Fatal(err)
		}
		handed := raw.String(text)
		handed.Name = "causeway_token"
		a, err := st.Execute(0, raw.Long(), handed)
		if err != nil || text == token && !strings.HasSuffix(a.Value(), "long") || text != token && wireCode(a.Err()) != wire.ErrWrongValueForVar {
			t.Errorf("token %q: %v %v", text, a, err)
		}
	}
}
