package server

import (
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"causeway/balance"
	"causeway/wire"
)

func noBudget(o *Options) { o.Budget = balance.NewBudget(0, 0, time.Now()) }

// The budget is used up: a read with a token waits and then fails, by name.
func TestBudgetRefusesReadsWithAToken(t *testing.T) {
	l := startLab(t, 1, noBudget)
	k := l.client()
	k.run("INSERT INTO t VALUES (1)")
	l.forget()
	k.wantError(wire.ErrServerIsntAvailable, "fallback budget", "SELECT a FROM t")
	wantTexts(t, l.source)
	wantTexts(t, l.r())
	l.apply()
	k.wantFrom("replica1", "SELECT a FROM t")
}

// ... and is served if a replica catches up while it waits.
func TestBudgetUsedUpReplicaCatchesUp(t *testing.T) {
	l := startLab(t, 1, noBudget, func(o *Options) { o.MaxWait = loginTimeout })
	k := l.client()
	k.run("INSERT INTO t VALUES (1)")
	k.command(wire.ComQuery, "SELECT a FROM t")
	l.apply()
	if r := k.answer(textValue); r.first() != "replica1" {
		t.Errorf("answered by %q: %v %v", r.first(), r.err, r.lost)
	}
	if got := k.route("Reason"); got != "token_waited" && got != "token_covered" {
		t.Errorf("reason %q", got)
	}
}

// A read without a token never fails: the freshest replica serves it, and a
// warning says so.
func TestStaleReadsWarn(t *testing.T) {
	for kind, client := range map[string]func(*lab) *dbClient{"modern": func(l *lab) *dbClient { return l.client() }, "old": (*lab).oldClient} {
		t.Run(kind, func(t *testing.T) {
			l := startLab(t, 1, noBudget)
			l.unproved = true
			l.publish()
			k := client(l)
			k.t = t
			r := k.query("SELECT a FROM t")
			if r.first() != "replica1" || r.ok.Warnings != 1 {
				t.Errorf("answered by %q (%v) with %d warnings, want replica1 with 1", r.first(), r.err, r.ok.Warnings)
			}
			r = k.query("SHOW WARNINGS")
			if len(r.rows) != 1 || len(r.rows[0]) != 3 || !strings.Contains(r.rows[0][2], l.r().addr()) {
				t.Errorf("SHOW WARNINGS: %q, %v", r.rows, r.err)
			}
			if n := int(valueOf(l.srv.classes.stats[0].stale)); n != 1 {
				t.Errorf("%d stale reads counted", n)
			}
			l.unproved = false
			l.publish()
			if r := k.query("SELECT a FROM t"); r.first() != "replica1" || r.ok.Warnings != 0 {
				t.Errorf("answered by %q with %d warnings once it is fresh", r.first(), r.ok.Warnings)
			}
			if r := k.query("SHOW WARNINGS"); len(r.rows) != 0 {
				t.Errorf("SHOW WARNINGS: %q", r.rows)
			}
		})
	}
}

// Only reads that a replica could have served count.
func TestBudgetCountsOnlyFallbacks(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("INSERT INTO t VALUES (1)", "BEGIN", "SELECT a FROM t FOR UPDATE", "SELECT a FROM t", "COMMIT", "SELECT @@version")
	if n := l.budget.Taken(); n != 0 {
		t.Errorf("%d taken", n)
	}
	k.wantFrom("source", "SELECT a FROM t")
	if n := l.budget.Taken(); n != 1 {
		t.Errorf("%d taken, want 1", n)
	}
}

// idOf is the id that the newest session was greeted with.
func (l *lab) idOf(user string) (id uint32) {
	l.srv.eachSession(func(x *session) {
		if l.srv.loginOf(x).User == user {
			id = max(id, x.id)
		}
	})
	return id
}

func decimal(id uint32) string { return strconv.FormatUint(uint64(id), 10) }

func TestKill(t *testing.T) {
	l := startLab(t, 1)
	victim := l.client()
	id := l.idOf("app")
	other := l.clientAs("empty", "")
	l.forget()
	other.wantError(errKillDenied, "not owner", "KILL "+decimal(id))
	other.wantError(wire.ErrNoSuchThread, "Unknown thread", "KILL "+decimal(id+1000))
	victim.wantFrom("replica1", "SELECT a FROM t")
	killer := l.client()
	killer.run("KILL QUERY " + decimal(id))
	victim.wantFrom("replica1", "SELECT a FROM t")
	killer.run("KILL " + decimal(id))
	victim.wantGone()
	for _, text := range l.source.texts() {
		if hasPrefix(text, "KILL") {
			t.Errorf("an id of Causeway's own reached a server: %s", text)
		}
	}
}

// An id of a server's own is the server's business.
func TestKillOfAServersThread(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	l.forget()
	k.wantError(wire.ErrNoSuchThread, "Unknown thread", "KILL 9999")
	wantTexts(t, l.source, "KILL 9999")
}

func TestKillQueryThatRuns(t *testing.T) {
	l := startLab(t, 1)
	started, killed := make(chan uint32, 1), make(chan bool)
	l.r().on("SELECT slow", func(c *fakeConn, _ string) {
		started <- c.id
		<-killed
		c.fail(wire.ErrQueryInterrupted, "Query execution was interrupted")
	})
	l.r().on("KILL QUERY ", func(c *fakeConn, text string) {
		c.ok()
		killed <- true
	})
	victim := l.client()
	id := l.idOf("app")
	killer := l.client()
	victim.command(wire.ComQuery, "SELECT slow FROM t")
	thread := <-started
	l.forget()
	killer.run("KILL QUERY " + decimal(id))
	if r := victim.answer(textValue); r.err == nil || r.err.Code != wire.ErrQueryInterrupted {
		t.Errorf("%v %v", r.err, r.lost)
	}
	if got := l.r().texts(); len(got) != 1 || got[0] != "KILL QUERY "+decimal(thread) {
		t.Errorf("the replica was asked %q", got)
	}
	victim.wantFrom("replica1", "SELECT a FROM t")
}

// The client of a killed connection is gone before its statement says anything,
// and what it had sent already does not run.
func TestKillOfAConnectionThatRuns(t *testing.T) {
	l := startLab(t, 1)
	started, killed, told := make(chan bool), make(chan bool, 9), make(chan bool)
	l.r().on("SELECT slow", func(c *fakeConn, _ string) {
		started <- true
		<-killed
		c.rows(1, []string{"1"})
		close(told)
	})
	l.r().on("KILL QUERY ", func(c *fakeConn, _ string) {
		killed <- true
		<-told
		c.ok()
	})
	victim := l.client()
	id := l.idOf("app")
	killer := l.client()
	victim.command(wire.ComQuery, "SELECT slow FROM t")
	<-started
	victim.command(wire.ComQuery, "INSERT INTO t VALUES (9)")
	answer := make(chan reply, 1)
	go func() { answer <- victim.answer(textValue) }() // what comes before the end must be seen
	killer.run("KILL " + decimal(id))
	if r := <-answer; r.lost == nil {
		t.Errorf("the killed connection got an answer: %v", r)
	}
	for _, text := range l.source.texts() {
		if strings.HasPrefix(text, "INSERT") {
			t.Errorf("ran after the kill: %s", text)
		}
	}
}

// A statement that waits for a connection is killed before it gets one.
func TestKillQueryThatWaits(t *testing.T) {
	l := startLab(t, 0, func(o *Options) { o.Pool.Max = 1 })
	holder := l.client()
	victim := l.client()
	id := l.idOf("app")
	killer := l.client()
	holder.run("BEGIN", "INSERT INTO t VALUES (1)")
	victim.command(wire.ComQuery, "INSERT INTO t VALUES (2)")
	l.srv.eachSession(func(x *session) {
		for x.id == id && x.busySince.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
	})
	killer.run("KILL QUERY " + decimal(id))
	holder.run("COMMIT")
	if r := victim.answer(textValue); r.err == nil || r.err.Code != wire.ErrQueryInterrupted {
		t.Errorf("%v %v", r.err, r.lost)
	}
	for _, text := range l.source.texts() {
		if text == "INSERT INTO t VALUES (2)" {
			t.Error("the killed statement ran")
		}
	}
	victim.wantFrom("source", "SELECT a FROM t")
}

// A plain read whose client has gone is killed on its node.
func TestAbandonedReadIsKilled(t *testing.T) {
	l := startLab(t, 1)
	started, killed := make(chan bool), make(chan bool)
	l.r().on("SELECT slow", func(c *fakeConn, _ string) {
		started <- true
		<-killed
		c.closed = true
	})
	l.r().on("KILL QUERY ", func(c *fakeConn, _ string) {
		c.ok()
		killed <- true
	})
	k := l.client()
	k.command(wire.ComQuery, "SELECT slow FROM t")
	<-started
	k.close()
	// The watchdog looks after a while; the replica's rule ends the test.
	waitFor(t, func() bool { return valueOf(l.srv.metrics.abandoned) == 1 && len(l.sessions()) == 0 })
}

// waitFor waits for a condition that another goroutine brings about. The
// limit only matters to a test that fails.
func waitFor(t testing.TB, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	limit := time.After(loginTimeout)
	for !cond() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("it does not come about")
		}
	}
}

func (l *lab) sessions() []*session {
	var out []*session
	l.srv.eachSession(func(x *session) { out = append(out, x) })
	return out
}

func TestMaxConnections(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.MaxConnections = 2 })
	first, second := l.client(), l.client()
	wantCode(t, (&testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginNative}).login(l.addr), wire.ErrTooManyConnections)
	first.run("SELECT 1")
	second.command(wire.ComQuit, "")
	second.wantGone()
	waitFor(t, func() bool { return l.srv.metrics.clients.Load() == 1 })
	l.client().run("SELECT 1")
}

func TestMaxUserConnections(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.Users[0].MaxConnections = 1 })
	l.client()
	wantCode(t, (&testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginNative}).login(l.addr), wire.ErrTooManyUserConns)
	l.clientAs("empty", "").run("SELECT 1")
}

// A schema that does not exist is told at login, as MySQL does.
func TestLoginUnknownSchema(t *testing.T) {
	l := startLab(t, 1)
	l.source.mu.Lock()
	l.source.refuse = wire.NewError(wire.ErrBadDB, "Unknown database 'db'")
	l.source.mu.Unlock()
	wantCode(t, (&testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginNative}).login(l.addr), wire.ErrBadDB)
}

// A fault in Causeway costs the session in which it happens, and no other.
func TestPanicEndsItsSessionOnly(t *testing.T) {
	l := startLab(t, 1)
	k, other := l.client(), l.client()
	k.run("INSERT INTO t VALUES (1)")
	l.mon.panics.Store(1)
	if r := k.query("SELECT a FROM t"); r.lost == nil {
		t.Errorf("answered by %q, %v", r.first(), r.err)
	}
	other.wantFrom("replica1", "SELECT a FROM t")
	if n := int(valueOf(l.srv.metrics.panics)); n != 1 {
		t.Errorf("%d panics counted, want 1", n)
	}
	waitFor(t, func() bool { return len(l.sessions()) == 1 })
}

// A stop lets running commands and transactions end, and idle sessions at once.
func TestDrain(t *testing.T) {
	l := startLab(t, 1)
	started, finish := make(chan bool), make(chan bool)
	l.r().on("SELECT slow", func(c *fakeConn, _ string) {
		started <- true
		<-finish
		c.rows(1, []string{"replica1"})
	})
	idle, busy, inTrx := l.client(), l.client(), l.client()
	inTrx.run("BEGIN")
	busy.command(wire.ComQuery, "SELECT slow FROM t")
	<-started
	stopped := make(chan error, 1)
	go func() { stopped <- l.stop() }()
	idle.wantGone()
	finish <- true
	if r := busy.answer(textValue); r.first() != "replica1" {
		t.Errorf("answered by %q, %v %v", r.first(), r.err, r.lost)
	}
	busy.wantGone()
	inTrx.run("INSERT INTO t VALUES (1)", "COMMIT")
	inTrx.wantGone()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", l.addr); err == nil {
		t.Error("somebody still listens")
	}
}

// What takes longer than the limit is cut off.
func TestDrainTimeout(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.DrainTimeout = time.Millisecond })
	k := l.client()
	k.run("BEGIN")
	if err := l.stop(); err != nil {
		t.Error(err)
	}
	k.wantGone()
}

func TestShowCauseway(t *testing.T) {
	l := startLab(t, 2)
	for kind, k := range map[string]*dbClient{"modern": l.client(), "old": l.oldClient()} {
		t.Run(kind, func(t *testing.T) {
			if r := k.query("SHOW CAUSEWAY SERVERS"); len(r.rows) != 3 || r.rows[0][1] != "source" || r.rows[1][1] != "replica" {
				t.Errorf("servers: %q %v", r.rows, r.err)
			}
			if r := k.query("SHOW CAUSEWAY STATUS"); len(r.rows) < 9 {
				t.Errorf("status: %q %v", r.rows, r.err)
			}
			if r := k.query("SHOW CAUSEWAY ROUTE"); len(r.rows) < 10 {
				t.Errorf("route: %q %v", r.rows, r.err)
			}
			if r := k.query("SHOW CAUSEWAY NONSENSE"); r.err == nil || r.err.Code != wire.ErrParse {
				t.Errorf("nonsense: %q %v", r.rows, r.err)
			}
		})
	}
}

func TestSessionChangesUser(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("SET time_zone='+01:00'", "INSERT INTO t VALUES (1)")
	l.apply()
	u := wire.ChangeUser{User: "empty", Database: "db2", AuthPlugin: wire.PluginNative, Collation: 45}
	k.password = ""
	k.c.ResetSequence()
	k.send(u.Append(nil, k.caps))
	if err := k.follow(); err != nil {
		t.Fatal(err)
	}
	l.forget()
	k.wantFrom("replica1", "SELECT a FROM t")
	wantTexts(t, l.r(), "SELECT a FROM t") // nothing is replayed
	if got := k.route("Schema"); got != "db2" {
		t.Errorf("schema %q, want db2", got)
	}
}
