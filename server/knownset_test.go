package server

import (
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// full is a source with one connection, which nobody waits for: what does is not over
// before the test.
func full(o *Options) { o.Pool.Max, o.Pool.Wait = 1, time.Hour }

// hold takes the source's only connection.
func (l *lab) hold() *dbClient {
	l.t.Helper()
	k := l.client()
	k.run("BEGIN", "INSERT INTO t VALUES (1)")
	return k
}

// sleeper runs a statement that uses up the source's only connection until it is
// killed; it returns its id.
func (l *lab) sleeper() (k *dbClient, id string) {
	l.t.Helper()
	k = l.client()
	id = k.query("SELECT CONNECTION_ID()").first()
	running := make(chan bool)
	l.source.on("SELECT SLEEP(9) FROM t FOR UPDATE", func(*fakeConn, string) { close(running) })
	k.command(wire.ComQuery, "SELECT SLEEP(9) FROM t FOR UPDATE")
	<-running
	return k, id
}

// cancels does what a driver does that cancels a statement.
func (l *lab) cancels(id string, sets ...string) {
	l.t.Helper()
	k := l.client()
	k.run(sets...)
	k.run("SET AUTOCOMMIT = 0", "KILL QUERY "+id)
}

// Who connects while the source's pool is full gets through what drivers send at
// connect, and can KILL: by a free connection to a replica, or, without one, because a
// server has taken the same SET before.
func TestCancelAtFullPool(t *testing.T) {
	sets := []string{"SET NAMES latin1", "SET sql_mode='ANSI', time_zone='+00:00'"}
	for _, replicas := range []int{1, 0} {
		l := startLab(t, replicas, full)
		if replicas == 0 {
			l.client().run(sets...) // as the victim's driver did
		}
		victim, id := l.sleeper()
		l.forget()
		l.srv.schemas.age()
		l.cancels(id, sets...)
		if r := victim.answer(textValue); r.err == nil && r.lost == nil {
			t.Errorf("%d replicas: the victim ran to its end", replicas)
		}
		if got := l.source.texts(); slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "SET NAMES") }) {
			t.Errorf("%d replicas: the source was asked %q", replicas, got)
		}
	}
}

// age makes what was seen old.
func (t *seenSchemas) age() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k := range t.seen {
		t.seen[k] = time.Now().Add(-time.Hour)
	}
}

// What was answered without the source is there when the source is: on its own
// connection, and in what the client is told of it.
func TestKnownSetIsReplayed(t *testing.T) {
	l := startLab(t, 0, full)
	const set = "SET sql_mode='ANSI', time_zone='+00:00'"
	l.client().run(set, "SET lock_wait_timeout=5")
	holder, k := l.hold(), l.client(wire.CapSessionTrack)
	r := k.query(set)
	if r.err != nil || r.lost != nil || !strings.Contains(string(r.ok.Track), "time_zone") || strings.Contains(string(r.ok.Track), "sql_mode") {
		t.Fatalf("%v %v, told %q", r.err, r.lost, r.ok.Track)
	}
	if got := k.route("Reason"); got != "local" {
		t.Errorf("reason %q", got)
	}
	k.command(wire.ComQuery, "SET lock_wait_timeout=5") // has another state before it than when it was run
	time.Sleep(20 * time.Millisecond)
	if got := l.source.texts(); len(got) == 0 || got[len(got)-1] != "INSERT INTO t VALUES (1)" {
		t.Errorf("the source was asked %q", got)
	}
	holder.run("COMMIT")
	if r := k.answer(textValue); r.err != nil || r.lost != nil {
		t.Fatalf("%v %v", r.err, r.lost)
	}
	k.run("INSERT INTO t VALUES (2)")
	l.source.mu.Lock()
	defer l.source.mu.Unlock()
	for _, c := range l.source.conns {
		if c.sets["sql_mode"] != "ANSI" || c.sets["time_zone"] != "+00:00" || c.sets["lock_wait_timeout"] != "5" {
			t.Errorf("on the source: %v", c.sets)
		}
	}
}

// A SET that no server has taken, for this account and as things are, waits for the
// source, which may refuse it.
func TestUnknownSetWaits(t *testing.T) {
	for name, change := range map[string]func(l *lab) string{
		"never run":      func(*lab) string { return "SET sql_mode='TRADITIONAL'" },
		"refused":        func(*lab) string { return "SET sql_mode='WRONG'" },
		"with a warning": func(*lab) string { return "SET sql_mode='ODD'" },
		"SET GLOBAL": func(l *lab) string {
			l.publish(func(v *backend.View) { v.Source.DefaultsSeq++ })
			return "SET sql_mode='ANSI'"
		},
		"accounts changed": func(l *lab) string { l.srv.pools.Renew(); return "SET sql_mode='ANSI'" },
	} {
		t.Run(name, func(t *testing.T) {
			l := startLab(t, 0, full)
			l.source.on("SET sql_mode='WRONG'", func(c *fakeConn, _ string) { c.fail(1231, "no such mode") })
			l.source.on("SET sql_mode='ODD'", func(c *fakeConn, _ string) { c.ok(func(ok *wire.OK) { ok.Warnings = 1 }) })
			l.source.on("SHOW WARNINGS", func(c *fakeConn, _ string) { c.rows(3, []string{"Warning", "1287", "deprecated"}) })
			first := l.client()
			for _, sql := range []string{"SET sql_mode='ANSI'", "SET sql_mode='WRONG'", "SET sql_mode='ODD'"} {
				l.client().query(sql)
			}
			first.close()
			holder, k := l.hold(), l.client()
			sql := change(l)
			l.forget()
			k.command(wire.ComQuery, sql)
			time.Sleep(20 * time.Millisecond)
			if got := l.source.texts(); slices.Contains(got, sql) {
				t.Errorf("before its turn the source was asked %q", got)
			}
			holder.run("COMMIT")
			k.answer(textValue)
			if got := l.source.texts(); !slices.Contains(got, sql) {
				t.Errorf("the source was asked %q", got)
			}
		})
	}
}

// What a replica refuses while the source is only full, the source decides: a schema
// may be new, also that of a login. One that the account never used waits, too.
func TestFullSourceDecides(t *testing.T) {
	l := startLab(t, 1, full)
	l.r().mu.Lock()
	l.r().lacks = "new"
	l.r().mu.Unlock()
	holder, k := l.hold(), l.client()
	done := make(chan reply)
	go func() { done <- k.query("USE new") }()
	time.Sleep(20 * time.Millisecond)
	holder.run("COMMIT")
	if r := <-done; r.err != nil || r.lost != nil {
		t.Errorf("USE: %v %v", r.err, r.lost)
	}
	l.r().mu.Lock()
	l.r().lacks = "db"
	l.r().mu.Unlock()
	l.r().closeConns()
	holder = l.hold()
	l.srv.schemas.age()
	go func() { done <- l.client().query("SELECT CONNECTION_ID()") }()
	time.Sleep(20 * time.Millisecond)
	holder.run("COMMIT")
	if r := <-done; r.err != nil || r.lost != nil {
		t.Errorf("login: %v %v", r.err, r.lost)
	}
}

func TestSetsAlike(t *testing.T) {
	c := classifier.New(classifier.Options{CacheEntries: 100})
	for sql, want := range map[string]bool{
		"SET NAMES utf8mb4":                                      true,
		"SET NAMES 'utf8mb4' COLLATE 'utf8mb4_bin'":              true,
		"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED": true,
		"SET @@session.sql_mode='ANSI', @@time_zone='SYSTEM'":    true,
		"/* driver */ SET character_set_results = NULL":          true,

		"SET CHARACTER SET utf8mb4":                        false,
		"SET CHARSET utf8mb4":                              false,
		"SET time_zone = CONCAT('+0', HOUR(NOW()), ':00')": false,
		"SET sql_mode = @@character_set_database":          false,
		"SET sql_mode='ANSI', @@time_zone=  @@sql_mode":    false,
		"SET @a = 1":                        false,
		"SET sql_mode='ANSI', autocommit=0": false,
		"SET sql_mode = DEFAULT":            false,
		"SET GLOBAL sql_mode = ''":          false,
		"SET session_track_schema = 1":      false,
		"SET NAMES utf8mb4; SELECT 1":       false,
	} {
		if got := setsAlike(&job{class: c.Classify([]byte(sql), classifier.Mode{}), want: expectResult}); got != want {
			t.Errorf("%s: %v, want %v", sql, got, want)
		}
	}
}

// The table is bounded, and keeps what is used.
func TestKnownSetsAreBounded(t *testing.T) {
	var k knownSets
	used := setKey{text: "used"}
	for i := range uint32(5 * maxKnownSets) {
		k.note(setKey{text: decimal(i)}, setEffect{})
		if i%100 == 0 {
			k.note(used, setEffect{})
		}
	}
	if _, ok := k.find(used); !ok {
		t.Error("what is used was forgotten")
	}
	if n := len(k.young) + len(k.aged); n > 2*maxKnownSets {
		t.Errorf("%d are kept", n)
	}
}
