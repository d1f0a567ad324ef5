package server

import (
	"strings"
	"testing"

	"causeway/wire"
)

func TestSessionReadsFromReplicasAndWritesToTheSource(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	l.forget()
	k.wantFrom("replica1", "SELECT a FROM t")
	k.run("INSERT INTO t VALUES (1)")
	wantTexts(t, l.r(), "SELECT a FROM t")
	wantTexts(t, l.source, "INSERT INTO t VALUES (1)")
	k.route("Reason") // the answer leaves before it is counted
	if n := l.counted(replicaTarget, reasonRead); n != 1 {
		t.Errorf("%d reads counted on replicas, want 1", n)
	}
	if n := l.counted(sourceTarget, reasonWrite); n != 1 {
		t.Errorf("%d writes counted on the source, want 1", n)
	}
}

// The token has grown by the time the client has its OK: the next read does not
// go to a replica that lacks the write, and goes there once it has it.
func TestSessionReadsItsOwnWrite(t *testing.T) {
	for kind, caps := range map[string]wire.Capability{"all trackers": 0, "no trackers": 1} {
		t.Run(kind, func(t *testing.T) {
			l := startLab(t, 2)
			k := l.client()
			if caps == 1 {
				k = l.oldClient()
			}
			k.run("INSERT INTO t VALUES (1)")
			l.forget()
			k.wantFrom("source", "SELECT a FROM t")
			if got := k.route("Reason"); got != "fallback" {
				t.Errorf("reason %q, want fallback", got)
			}
			if got, want := k.route("Token"), sourceUUID+":101"; got != want {
				t.Errorf("token %q, want %q", got, want)
			}
			l.apply()
			if from := k.query("SELECT a FROM t").first(); !strings.HasPrefix(from, "replica") {
				t.Errorf("answered by %s after the replicas caught up", from)
			}
			if got := k.route("Reason"); got != "token_covered" {
				t.Errorf("reason %q, want token_covered", got)
			}
		})
	}
}

// oldClient asks for neither DEPRECATE_EOF nor SESSION_TRACK.
func (l *lab) oldClient() *dbClient {
	l.t.Helper()
	k := &dbClient{t: l.t, testClient: &testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginNative, caps: clientCaps &^ wire.CapSessionTrack}}
	if err := k.login(l.addr); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(k.close)
	return k
}

// A wait ends the moment a replica covers the token, and not at its limit.
func TestSessionWaitsForAReplica(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.Classes = labClasses(loginTimeout, loginTimeout) })
	k := l.client()
	k.run("INSERT INTO t VALUES (1)")
	k.command(wire.ComQuery, "SELECT a FROM t")
	l.apply()
	if r := k.answer(textValue); r.first() != "replica1" {
		t.Errorf("answered by %q: %v %v", r.first(), r.err, r.lost)
	}
}

func TestSessionTransactionStaysOnTheSource(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	l.forget()
	k.run("BEGIN", "INSERT INTO t VALUES (1)")
	k.wantFrom("source", "SELECT a FROM t")
	k.run("COMMIT")
	wantTexts(t, l.r())
	wantTexts(t, l.source, "BEGIN", "INSERT INTO t VALUES (1)", "SELECT a FROM t", "COMMIT")
	if got, want := k.route("Token"), sourceUUID+":101"; got != want {
		t.Errorf("token %q after COMMIT, want %q", got, want)
	}
	l.apply()
	k.wantFrom("replica1", "SELECT a FROM t")
}

func TestSessionAutocommitOff(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("SET autocommit=0")
	l.forget()
	k.wantFrom("source", "SELECT a FROM t")
	k.run("COMMIT", "SET autocommit=1")
	k.wantFrom("replica1", "SELECT a FROM t")
}

// What a replica cannot answer is asked of the source, once, and the client
// does not notice.
func TestSessionResends(t *testing.T) {
	for _, c := range []struct {
		code   uint16
		learns bool
	}{{1792, true}, {1290, true}, {1146, false}, {1054, false}, {1049, false}, {1305, false}} {
		l := startLab(t, 2)
		for _, r := range l.replicas {
			r.on("SELECT f", func(c2 *fakeConn, _ string) { c2.fail(c.code, "cannot") })
		}
		k := l.client()
		l.forget()
		k.wantFrom("source", "SELECT f FROM v")
		if got := k.route("Reason"); got != "resent" {
			t.Errorf("%d: reason %q, want resent", c.code, got)
		}
		asked := len(l.r().texts()) + len(l.replicas[1].texts())
		if asked != 1 {
			t.Errorf("%d: replicas were asked %d times, want once", c.code, asked)
		}
		k.wantFrom("source", "SELECT f FROM v")
		again := len(l.r().texts()) + len(l.replicas[1].texts())
		if learned := again == 0; learned != c.learns {
			t.Errorf("%d: learned %v, want %v", c.code, learned, c.learns)
		}
	}
}

// An error of the statement itself is the client's, and is no reason to ask again.
func TestSessionPassesErrorsOn(t *testing.T) {
	l := startLab(t, 1)
	l.r().on("SELECT bad", func(c *fakeConn, _ string) { c.fail(1064, "syntax") })
	k := l.client()
	l.forget()
	k.wantError(1064, "syntax", "SELECT bad FROM t")
	wantTexts(t, l.source)
	k.wantFrom("replica1", "SELECT a FROM t")
}

// A replica that hangs up is replaced before the client has got anything.
func TestSessionReplicaLostBeforeItsAnswer(t *testing.T) {
	l := startLab(t, 2)
	for _, r := range l.replicas {
		r.on("SELECT lost", func(c *fakeConn, _ string) { c.hangUp() })
	}
	k := l.client()
	k.wantFrom("source", "SELECT lost FROM t")
	if got := len(l.mon.reported()); got != 2 {
		t.Errorf("%d replicas were reported, want 2", got)
	}
	for _, live := range []string{"replica1", "replica2"} {
		if n := l.lives[live].Errors.Load(); n != 1 {
			t.Errorf("%s: %d errors, want 1", live, n)
		}
		if n := l.lives[live].InFlight.Load(); n != 0 {
			t.Errorf("%s: %d in flight", live, n)
		}
	}
}

// In the middle of an answer nothing can be repeated: the client is told.
func TestSessionReplicaLostWithinItsAnswer(t *testing.T) {
	l := startLab(t, 1)
	l.r().on("SELECT lost", func(c *fakeConn, _ string) {
		c.send(answer(t, "n1 d r r")...)
		c.hangUp()
	})
	k := l.client()
	r := k.query("SELECT lost FROM t")
	if r.err == nil || r.err.Code != wire.ErrNetRead || len(r.rows) != 2 {
		t.Errorf("got %d rows and %v, %v", len(r.rows), r.err, r.lost)
	}
	k.wantGone()
}

// A malformed answer is a lost one.
func TestSessionReplicaTalksNonsense(t *testing.T) {
	l := startLab(t, 1)
	l.r().on("SELECT odd", func(c *fakeConn, _ string) {
		c.SetSequence(9)
		c.send(answer(t, "n1 d r fe")...)
	})
	k := l.client()
	k.wantFrom("source", "SELECT odd FROM t")
	k.wantFrom("replica1", "SELECT a FROM t")
}

func TestSessionWithoutReplicas(t *testing.T) {
	l := startLab(t, 0)
	k := l.client()
	k.wantFrom("source", "SELECT a FROM t")
	if got := k.route("Reason"); got != "no_replica" {
		t.Errorf("reason %q, want no_replica", got)
	}
	if l.budget.Taken() != 0 {
		t.Error("a cluster without replicas spent its budget")
	}
}

func TestSessionSimpleCommands(t *testing.T) {
	l := startLab(t, 1)
	for kind, k := range map[string]*dbClient{"modern": l.client(), "old": l.oldClient()} {
		t.Run(kind, func(t *testing.T) {
			k.t = t
			expectOK := func(cmd wire.Command, args string) {
				t.Helper()
				k.command(cmd, args)
				if r := k.answer(textValue); r.err != nil || r.lost != nil {
					t.Errorf("%v: %v %v", cmd, r.err, r.lost)
				}
			}
			expectOK(wire.ComPing, "")
			expectOK(wire.ComInitDB, "other")
			expectOK(wire.ComSetOption, "\x00\x00")
			expectOK(wire.ComResetConnection, "")
			k.command(wire.ComStatistics, "")
			if p, err := k.c.ReadPacket(); err != nil || string(p) != "Uptime: 1 source" {
				t.Errorf("COM_STATISTICS: %q, %v", p, err)
			}
			k.command(wire.ComFieldList, "t\x00")
			if p, err := k.c.ReadPacket(); err != nil || p[0] != 3 {
				t.Errorf("COM_FIELD_LIST: %q, %v", p, err)
			}
			if p, err := k.c.ReadPacket(); err != nil || p[0] != wire.HeaderEOF {
				t.Errorf("COM_FIELD_LIST: %q, %v", p, err)
			}
			k.wantFrom("replica1", "SELECT a FROM t")
		})
	}
}

func TestSessionRefusesReplicationCommands(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	for cmd, code := range map[wire.Command]uint16{
		wire.ComBinlogDump: wire.ErrNotSupportedYet, wire.ComBinlogDumpGTID: wire.ErrNotSupportedYet, wire.ComRegisterReplica: wire.ErrNotSupportedYet,
		wire.ComTableDump: wire.ErrNotSupportedYet, wire.ComProcessKill: wire.ErrUnknownCommand, wire.ComSleep: wire.ErrUnknownCommand,
		wire.ComShutdown: wire.ErrUnknownCommand, 0xee: wire.ErrUnknownCommand,
	} {
		k.command(cmd, "1234")
		if r := k.answer(textValue); r.err == nil || r.err.Code != code {
			t.Errorf("%v: %v %v, want %d", cmd, r.err, r.lost, code)
		}
	}
	k.wantFrom("replica1", "SELECT a FROM t")
}

func TestSessionMalformedCommands(t *testing.T) {
	l := startLab(t, 1)
	k := l.client(wire.CapQueryAttributes)
	for _, p := range []string{"\x03", "\x03\x05\x01", "\x03\xfe"} {
		k.c.ResetSequence()
		k.send([]byte(p))
		if r := k.answer(textValue); r.err == nil || r.err.Code != wire.ErrMalformedPacket {
			t.Errorf("% x: %v %v", p, r.err, r.lost)
		}
	}
	k.wantFrom("replica1", "\x00\x01SELECT a FROM t")
}

func TestSessionWrongNumberEndsIt(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.c.SetSequence(3)
	k.send([]byte("\x03SELECT 1"))
	k.c.SetSequence(1)
	if r := k.answer(textValue); r.err == nil || r.err.Code != wire.ErrPacketsOutOfOrder {
		t.Errorf("got %v %v", r.err, r.lost)
	}
	k.wantGone()
}

func TestSessionPacketTooLarge(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.MaxAllowedPacket = 100 })
	k := l.client()
	k.command(wire.ComQuery, "SELECT '"+strings.Repeat("x", 200)+"'")
	k.c.SetSequence(1)
	if r := k.answer(textValue); r.err == nil || r.err.Code != wire.ErrNetPacketTooLarge {
		t.Errorf("got %v %v", r.err, r.lost)
	}
	k.wantGone()
}

// Several statements in one text: all results, in order, from one connection.
func TestSessionMultiStatements(t *testing.T) {
	l := startLab(t, 1)
	l.source.on("INSERT INTO a", func(c *fakeConn, _ string) {
		one, two := c.node.commit(), c.node.commit()
		gtids := func(header byte, status wire.Status, set string) []byte {
			return wire.OK{Header: header, Status: status | wire.StatusAutocommit, AffectedRows: 1, Track: wire.AppendTrackGTIDs(nil, set)}.Append(nil, backendCaps)
		}
		c.send(append(append([][]byte{gtids(0, wire.StatusMoreResults, one)}, answer(t, "n1 d r fe+more")...), gtids(0, 0, two))...)
	})
	k := l.client(wire.CapMultiStatements, wire.CapMultiResults)
	r := k.query("INSERT INTO a VALUES (1); SELECT 1; INSERT INTO a VALUES (2)")
	if r.err != nil || r.lost != nil || r.more != 2 {
		t.Errorf("%d results before the last, %v %v", r.more, r.err, r.lost)
	}
	if got, want := k.route("Token"), sourceUUID+":101-102"; got != want {
		t.Errorf("token %q, want %q", got, want)
	}
}

// An ERR carries no GTID though the statement may have committed.
func TestSessionErrorThatHidesACommit(t *testing.T) {
	for _, asked := range []bool{false, true} {
		l := startLab(t, 1)
		l.mon.noFresh.Store(asked) // then the session's own connection is asked
		l.source.on("CALL p", func(c *fakeConn, _ string) {
			c.node.commit()
			c.fail(1644, "signalled")
		})
		k := l.client()
		k.wantError(1644, "signalled", "CALL p()")
		if got := k.route("Token"); !strings.Contains(got, "101") {
			t.Errorf("token %q lacks what the procedure committed", got)
		}
		k.wantFrom("source", "SELECT a FROM t")
		l.apply()
		k.wantFrom("replica1", "SELECT a FROM t")
	}
}

func TestSessionUntrackedWrite(t *testing.T) {
	l := startLab(t, 1)
	l.source.on("INSERT INTO ignored", func(c *fakeConn, _ string) { c.ok(func(ok *wire.OK) { ok.AffectedRows = 1 }) })
	k := l.client()
	k.run("INSERT INTO ignored VALUES (1)")
	k.wantFrom("source", "SELECT a FROM t")
	if got := k.route("Reason"); got != "untracked" {
		t.Errorf("reason %q, want untracked", got)
	}
	k.command(wire.ComResetConnection, "")
	k.answer(textValue)
	k.wantFrom("replica1", "SELECT a FROM t")
}

// Untracked writes in a transaction are known when it commits, if it does; an OK of a
// client with CLIENT_FOUND_ROWS counts rows that an UPDATE only found.
func TestSessionUntrackedWhere(t *testing.T) {
	const insert = "INSERT INTO ignored VALUES (1)"
	for name, c := range map[string]struct {
		caps wire.Capability
		run  []string
		want string
	}{
		"found rows: insert":       {wire.CapFoundRows, []string{insert}, "source"},
		"found rows: delete":       {wire.CapFoundRows, []string{"DELETE FROM ignored"}, "source"},
		"found rows: update":       {wire.CapFoundRows, []string{"UPDATE ignored SET a = 2"}, "source"},
		"found rows: only found":   {wire.CapFoundRows, []string{"UPDATE same SET a = 1"}, "replica1"},
		"found rows: duplicate":    {wire.CapFoundRows, []string{insert + " ON DUPLICATE KEY UPDATE a = 1"}, "replica1"},
		"found rows: in a routine": {wire.CapFoundRows, []string{"CALL ignored()"}, "replica1"},
		"update":                   {0, []string{"UPDATE ignored SET a = 2"}, "source"},
		"commit":                   {0, []string{"BEGIN", insert, "COMMIT"}, "source"},
		"commit, found rows":       {wire.CapFoundRows, []string{"BEGIN", insert, "COMMIT"}, "source"},
		"only found, commit":       {wire.CapFoundRows, []string{"BEGIN", "UPDATE same SET a = 1", "COMMIT"}, "replica1"},
		"next transaction":         {0, []string{"BEGIN", insert, "BEGIN", "ROLLBACK"}, "source"},
		"implicit commit":          {0, []string{"BEGIN", insert, "CREATE TABLE ignored.t (a INT)"}, "source"},
		"rollback":                 {0, []string{"BEGIN", insert, "ROLLBACK", "BEGIN", "COMMIT"}, "replica1"},
		"lost to a deadlock":       {0, []string{"BEGIN", insert, "DELETE FROM deadlock", "BEGIN", "DELETE FROM none", "COMMIT"}, "replica1"},
		"to a savepoint":           {0, []string{"BEGIN", "SAVEPOINT a", insert, "ROLLBACK TO SAVEPOINT a", "COMMIT"}, "replica1"},
		"before a savepoint":       {0, []string{"BEGIN", insert, "SAVEPOINT a", insert, "ROLLBACK TO SAVEPOINT a", "COMMIT"}, "source"},
		"behind a savepoint":       {0, []string{"BEGIN", "SAVEPOINT a", insert, "RELEASE SAVEPOINT a", "COMMIT"}, "source"},
		"temporary table":          {0, []string{"CREATE TEMPORARY TABLE ignored (a INT)", "BEGIN", insert, "COMMIT", "DROP TEMPORARY TABLE ignored"}, "replica1"},
		"nothing changed":          {0, []string{"BEGIN", "DELETE FROM none", "COMMIT"}, "replica1"},
	} {
		t.Run(name, func(t *testing.T) {
			l := startLab(t, 1)
			for text, answer := range map[string]wire.OK{
				"INSERT INTO ignored": {AffectedRows: 1}, "DELETE FROM ignored": {AffectedRows: 1}, "CALL ignored": {AffectedRows: 1},
				"UPDATE ignored":   {AffectedRows: 1, Info: []byte("Gefunden: 1  Geändert: 1  Warnungen: 0")},
				"UPDATE same":      {AffectedRows: 1, Info: []byte("Rows matched: 1  Changed: 0  Warnings: 0")},
				"DELETE FROM none": {}, "SAVEPOINT": {}, "RELEASE SAVEPOINT": {}, "ROLLBACK TO": {}, "CREATE TEMPORARY": {}, "DROP TEMPORARY": {},
			} {
				l.source.on(text, func(c *fakeConn, _ string) {
					c.ok(func(ok *wire.OK) { ok.AffectedRows, ok.Info = answer.AffectedRows, answer.Info })
				})
			}
			l.source.on("CREATE TABLE ignored", func(c *fakeConn, _ string) { c.endTrx(false); c.ok() })
			l.source.on("DELETE FROM deadlock", func(c *fakeConn, _ string) { c.endTrx(false); c.fail(wire.ErrDeadlock, "Deadlock found") })
			k := l.client(c.caps)
			for _, sql := range c.run {
				if r := k.query(sql); (r.err != nil) != strings.Contains(sql, "deadlock") || r.lost != nil {
					t.Fatalf("%s: %v %v", sql, r.err, r.lost)
				}
			}
			l.apply()
			k.wantFrom(c.want, "SELECT a FROM t")
		})
	}
}

// GTIDs that cannot be read must not be dropped: the answer counts as lost.
func TestSessionUnreadableGTIDs(t *testing.T) {
	l := startLab(t, 1)
	l.source.on("INSERT", func(c *fakeConn, _ string) {
		c.ok(func(ok *wire.OK) { ok.Track = wire.AppendTrackGTIDs(nil, "not-a-set:1") })
	})
	k := l.client()
	k.wantError(wire.ErrNetRead, "lost", "INSERT INTO t VALUES (1)")
}

func TestSessionWideTokens(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.TokenIntervals = 2 })
	set := sourceUUID + ":1-10:20-30:40-50:60-70"
	l.source.setExecuted(gtidMust(sourceUUID + ":1-200"))
	l.publish()
	l.source.on("INSERT", func(c *fakeConn, _ string) {
		c.ok(func(ok *wire.OK) { ok.AffectedRows, ok.Track = 1, wire.AppendTrackGTIDs(nil, set) })
	})
	k := l.client()
	k.run("INSERT INTO t VALUES (1)")
	if got, want := k.route("Token"), sourceUUID+":1-70"; got != want {
		t.Errorf("token %q, want %q", got, want)
	}
}

// When the source's history shrank, tokens of the old one are void: one error
// says so, then the session goes on.
func TestSessionLostWrites(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("INSERT INTO t VALUES (1)")
	l.epoch = 1
	l.apply() // or the floor of the new epoch would need the source
	k.wantError(wire.ErrServerIsntAvailable, "lost", "SELECT a FROM t")
	k.wantFrom("replica1", "SELECT a FROM t")
}

func TestSessionSkipTokenCheck(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.SkipTokenCheck = true })
	k := l.client()
	k.run("INSERT INTO t VALUES (1)")
	k.wantFrom("replica1", "SELECT a FROM t")
}

// A node that is another server than the monitor saw serves nothing.
func TestSessionIncarnation(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.wantFrom("replica1", "SELECT a FROM t")
	l.r().mu.Lock()
	l.r().uuid = "99999999-9999-9999-9999-999999999999"
	l.r().mu.Unlock()
	l.r().closeConns()
	k.wantFrom("source", "SELECT a FROM t")
}

// A replica that has lost transactions since the monitor looked serves nothing.
func TestSessionReplicaRegressed(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	l.r().setExecuted(gtidMust(sourceUUID + ":1-50"))
	k.wantFrom("source", "SELECT a FROM t")
}
