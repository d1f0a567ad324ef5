package sticky

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/session/raw"
)

// anyLag keeps the lag limits out of the test.
const anyLag = "[[class]]\nname = \"F0\"\nlag_limit = \"1h\"\n"

// TestWithoutGTIDs: windows are all there is on a source with gtid_mode = OFF.
func TestWithoutGTIDs(t *testing.T) {
	c := cluster.Start(t, cluster.Options{NoGTID: true})
	t.Run("what opens a window", func(t *testing.T) { opens(t, c, false) })
	t.Run("lag within the window", func(t *testing.T) { within(t, c) })
	t.Run("lag beyond the window", func(t *testing.T) { beyond(t, c) })
	t.Run("appliers", func(t *testing.T) { appliers(t, c) })
	t.Run("what is said", func(t *testing.T) { said(t, c) })
}

func lag(t *testing.T, c *cluster.Cluster, seconds int) {
	t.Helper()
	for _, n := range c.Replicas() {
		check.Must(t, n.Lag(t.Context(), seconds))
	}
	t.Cleanup(func() { c.MustHeal(t) })
}

func value(t *testing.T, a raw.Answer) int {
	t.Helper()
	v, err := strconv.Atoi(string(a[0].Rows[0][0]))
	check.Must(t, err)
	return v
}

const keyed = "/*causeway_key='u'*/ "

// within: a user's reads on other connections see his write for as long as the
// window lasts, and afterwards, as the replicas lag less.
func within(t *testing.T, c *cluster.Cluster) {
	lay(t, c)
	c.MustHeal(t)
	lag(t, c, 1)
	cw := cluster.StartCauseway(t, c, "[routing]\nsticky = \"6s\"\n"+anyLag)
	a, b := dial(t, cw), dial(t, cw)
	reads, role := 0, ""
	for v := 1; v <= 50; v++ { // each right after its write
		raw.Query(t, a, keyed+"UPDATE st.r SET v = "+strconv.Itoa(v))
		if got := value(t, raw.Query(t, b, keyed+read)); got != v {
			t.Fatalf("read %d after %d was written", got, v)
		}
	}
	check.Until(t, "the window ends", func() bool {
		if got := value(t, raw.Query(t, b, keyed+read)); got != 50 {
			t.Fatalf("read %d after 50 was written", got)
		}
		reads++
		role, _ = readBy(t, b, keyed+read)
		return role == "replica"
	})
	if reads < 2 {
		t.Errorf("%d reads before one was a replica's", reads)
	}
}

// beyond: replicas that lag more than the window do miss a write when it is over.
// That is what is not promised, and shows that the test above can fail.
func beyond(t *testing.T, c *cluster.Cluster) {
	lay(t, c)
	c.MustHeal(t)
	lag(t, c, 10)
	cw := cluster.StartCauseway(t, c, "[routing]\nsticky = \"1s\"\n"+anyLag)
	k := dial(t, cw)
	raw.Query(t, k, "UPDATE st.r SET v = 99")
	wrote := time.Now()
	got := 99
	check.Until(t, "a replica serves", func() bool {
		got = value(t, raw.Query(t, k, read))
		return got != 99
	})
	if since := time.Since(wrote); since < time.Second {
		t.Errorf("a miss %v after the write, within the window", since)
	}
}

// appliers: one that stands, or is far behind by its own words, serves nothing.
func appliers(t *testing.T, c *cluster.Cluster) {
	lay(t, c)
	c.MustHeal(t)
	t.Cleanup(func() { c.MustHeal(t) })
	cw := cluster.StartCauseway(t, c, "[routing]\nsticky = \"1s\"\n")
	k := dial(t, cw)
	usable := func() string { return raw.Query(t, k, "SHOW CAUSEWAY STATUS").Fact("Replicas") }
	check.Until(t, "both serve", func() bool { return usable() == "2 of 2 usable" })
	check.Must(t, c.Replica(1).Pause(t.Context()))
	check.Until(t, "one stands", func() bool { return usable() == "1 of 2 usable" })
	check.Must(t, c.Replica(1).Resume(t.Context()))
	check.Until(t, "both serve again", func() bool { return usable() == "2 of 2 usable" })
	lag(t, c, 8)
	raw.Query(t, k, "UPDATE st.r SET v = 7")
	check.Until(t, "both are over F0's limit", func() bool {
		role, reason := readBy(t, k, read)
		return role == "source" && reason == "fallback"
	})
}

// said: log, status and errors say what there is not.
func said(t *testing.T, c *cluster.Cluster) {
	cw := cluster.StartCauseway(t, c, long)
	text, err := os.ReadFile(cw.Log)
	check.Must(t, err)
	if !strings.Contains(string(text), "the source has no GTIDs (gtid_mode = OFF)") {
		t.Error("the log does not say that there are no GTIDs")
	}
	k := dial(t, cw)
	if got := raw.Query(t, k, "SHOW CAUSEWAY STATUS").Fact("Sticky"); !strings.Contains(got, "nothing else is promised") {
		t.Errorf("SHOW CAUSEWAY STATUS: %s", got)
	}
	for sql, want := range map[string]string{
		"/*causeway_class='F1'*/ " + read:                                "class F1 is bounded, which needs GTIDs",
		"SET @causeway_token = '11111111-1111-1111-1111-111111111111:1'": "there are no tokens",
	} {
		a, err := k.Query(sql)
		check.Must(t, err)
		if a.Err() == nil || !strings.Contains(a.Err().Error(), want) {
			t.Errorf("%s: %v", sql, a.Err())
		}
	}
}
