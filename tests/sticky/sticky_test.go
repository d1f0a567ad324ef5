package sticky

import (
	"strings"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/session/raw"
	"causeway/wire"
)

var shared *cluster.Cluster

func TestMain(m *testing.M) { cluster.Main(m, cluster.Options{}, cluster.Keep(&shared)) }

// lay makes a table that all nodes know.
func lay(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	check.Must(t, c.Source().Exec(t.Context(), "CREATE DATABASE IF NOT EXISTS st; CREATE TABLE IF NOT EXISTS st.r (id INT PRIMARY KEY, v INT NOT NULL); REPLACE INTO st.r VALUES (1, 0)"))
}

func dial(t *testing.T, cw *cluster.Causeway) *raw.Client {
	t.Helper()
	return cluster.OpenRaw(t, raw.Options{Addr: cw.Addr, Caps: raw.Modern | wire.CapMultiStatements})
}

const read = "SELECT v FROM st.r WHERE id = 1"

// readBy reads and tells whether the source answered, and why.
func readBy(t *testing.T, c *raw.Client, sql string) (role, reason string) {
	t.Helper()
	raw.Query(t, c, sql)
	route := raw.Query(t, c, "SHOW CAUSEWAY ROUTE")
	return route.Fact("Role"), route.Fact("Reason")
}

func wantRead(t *testing.T, c *raw.Client, sql, role, reason string) {
	t.Helper()
	if gotRole, gotReason := readBy(t, c, sql); gotRole != role || gotReason != reason {
		t.Errorf("%s: %s by %s, want %s by %s", sql, gotRole, gotReason, role, reason)
	}
}

// TestWindow: after a commit the reads of its connection, and of its key, go to the
// source though all replicas have it; then to replicas.
func TestWindow(t *testing.T) {
	lay(t, shared)
	shared.MustHeal(t)
	cw := cluster.StartCauseway(t, shared, "[routing]\nsticky = \"2s\"\n")
	k, other := dial(t, cw), dial(t, cw)
	wantRead(t, k, read, "replica", "read")
	wrote := time.Now()
	raw.Query(t, k, "UPDATE st.r SET v = v + 1")
	shared.MustHeal(t)
	role, reason := readBy(t, k, read)
	if time.Since(wrote) < 2*time.Second && (role != "source" || reason != "sticky") {
		t.Errorf("within the window: %s by %s", role, reason)
	}
	wantRead(t, other, read, "replica", "read")
	check.Until(t, "the window ends", func() bool { role, _ := readBy(t, k, read); return role == "replica" })
	if time.Since(wrote) < 2*time.Second {
		t.Errorf("the window ended after %v", time.Since(wrote))
	}
	wantRead(t, k, read, "replica", "token_covered")
}

// long has windows that no test sees the end of.
const long = "[routing]\nsticky = \"1h\"\n"

// TestWhatOpensAWindow: commits, whatever statement makes them, and what may hide one.
func TestWhatOpensAWindow(t *testing.T) { opens(t, shared, true) }

func opens(t *testing.T, c *cluster.Cluster, gtids bool) {
	lay(t, c)
	check.Must(t, c.Source().Exec(t.Context(), strings.Join([]string{
		"USE st",
		"DROP PROCEDURE IF EXISTS put_and_fail",
		"CREATE PROCEDURE put_and_fail() BEGIN UPDATE st.r SET v = v + 1; SIGNAL SQLSTATE '45000'; END",
	}, ";\n")))
	c.MustHeal(t)
	cw := cluster.StartCauseway(t, c, long)
	for _, does := range []struct {
		name  string
		opens bool
		run   []string
	}{
		{"a read", false, []string{read}},
		{"an autocommit write", true, []string{"UPDATE st.r SET v = v + 1"}},
		{"a write that changes nothing", !gtids, // nobody can tell
			[]string{"UPDATE st.r SET v = 1 WHERE id = 99"}},
		{"a transaction", true, []string{"BEGIN", "UPDATE st.r SET v = v + 1", "COMMIT"}},
		{"a rollback", false, []string{"BEGIN", "UPDATE st.r SET v = v + 1", "ROLLBACK"}},
		{"a read only transaction", false, []string{"START TRANSACTION READ ONLY", read, "COMMIT"}},
		{"a transaction that only reads", false, []string{"BEGIN", read, "COMMIT"}},
		{"DDL", true, []string{"CREATE TABLE IF NOT EXISTS st.some (id INT PRIMARY KEY)"}},
		{"an implicit commit", true, []string{"BEGIN", "UPDATE st.r SET v = v + 1", "BEGIN", "ROLLBACK"}},
		{"a CALL that fails", true, []string{"CALL st.put_and_fail()"}},
		{"XA", true, []string{"XA START 'a'", "UPDATE st.r SET v = v + 1", "XA END 'a'", "XA COMMIT 'a' ONE PHASE"}},
	} {
		k := dial(t, cw)
		for _, sql := range does.run {
			if _, err := k.Query(sql); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
		c.MustHeal(t)
		role, reason := readBy(t, k, read)
		if (reason == "sticky") != does.opens || (role == "source") != does.opens {
			t.Errorf("%s: read from %s by %s", does.name, role, reason)
		}
	}
}

// TestBudget: reads beyond it go by their token: to replicas that have the commit,
// and where none has it never to one without.
func TestBudget(t *testing.T) {
	lay(t, shared)
	shared.MustHeal(t)
	cw := cluster.StartCauseway(t, shared, long+"max_wait = \"100ms\"\n[fallback]\nqps = 0.001\nburst = 3\n")
	k := dial(t, cw)
	raw.Query(t, k, "UPDATE st.r SET v = v + 1")
	shared.MustHeal(t)
	for range 3 {
		wantRead(t, k, read, "source", "sticky")
	}
	if role, reason := readBy(t, k, read); role != "replica" || !strings.HasPrefix(reason, "token_") { // waited, if the monitor has not looked since
		t.Errorf("beyond the budget: %s by %s", role, reason)
	}
	for _, n := range shared.Replicas() {
		check.Must(t, n.Pause(t.Context()))
	}
	t.Cleanup(func() { shared.MustHeal(t) })
	raw.Query(t, k, "UPDATE st.r SET v = v + 1")
	a, err := k.Query(read)
	check.Must(t, err)
	if a.Err() == nil || !strings.Contains(a.Err().Error(), "fallback budget") {
		t.Errorf("no replica has the write, and the budget is used up: %v", a.Err())
	}
}

// TestSharedWindows: a key's is everybody's who reads under it, a wide scope's
// everybody's of the scope, on whatever connection.
func TestSharedWindows(t *testing.T) {
	lay(t, shared)
	for _, c := range []struct{ config, write, read, other string }{
		{long, "/*causeway_key='u1'*/ ", "/*causeway_key='u1'*/ ", "/*causeway_key='u2'*/ "},
		{long + "scope = \"user\"\n", "", "", ""},
	} {
		shared.MustHeal(t)
		cw := cluster.StartCauseway(t, shared, c.config)
		raw.Query(t, dial(t, cw), c.write+"UPDATE st.r SET v = v + 1")
		shared.MustHeal(t)
		k := dial(t, cw)
		wantRead(t, k, c.read+read, "source", "sticky")
		if c.other != "" {
			if role, reason := readBy(t, k, c.other+read); role != "replica" {
				t.Errorf("another key: %s by %s", role, reason)
			}
		}
		if got := raw.Query(t, k, "SHOW CAUSEWAY STATUS").Fact("Sticky"); !strings.HasPrefix(got, "1h0m0s after a commit") {
			t.Errorf("SHOW CAUSEWAY STATUS: %s", got)
		}
	}
}
