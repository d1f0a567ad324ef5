package server

import (
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/wire"
)

// unclear makes a view one of two writable servers.
func unclear(v *backend.View) {
	v.Source, v.NoSource = nil, "more than one server is writable: a, b"
	v.Replicas = nil
}

// TestLoginWithoutServer: nobody may be asked for the schema of a login, which does
// not wait for that; an operator comes in, by COM_CHANGE_USER too. What comes later
// and needs a server waits, and so does USE.
func TestLoginWithoutServer(t *testing.T) {
	for name, lose := range map[string]func(*backend.View){
		"two writable": unclear,
		"source down": func(v *backend.View) {
			v.Source.Up, v.Source.Exclude, v.Source.LastAnswer = false, "down: gone", time.Now()
			v.Replicas = nil
		},
		"source no use":  func(v *backend.View) { v.Source.Exclude = "joining: waits"; v.Replicas = nil },
		"replica no use": func(v *backend.View) { v.Source, v.Replicas[0].Exclude = nil, "fenced: it was the source" },
	} {
		t.Run(name, func(t *testing.T) {
			l := startLab(t, 1, admins, patient)
			l.publish(lose)
			root := l.clientAs("root", "root_pw")
			root.run("SHOW CAUSEWAY STATUS", "CAUSEWAY SET SOURCE '10.0.0.1:3306'")
			changed := wire.ChangeUser{User: "empty", Database: "db2", AuthPlugin: wire.PluginNative, Collation: 45}
			root.password = ""
			root.c.ResetSequence()
			root.send(changed.Append(nil, root.caps))
			if err := root.follow(); err != nil {
				t.Errorf("COM_CHANGE_USER: %v", err)
			}
			writer := l.client()
			writer.command(wire.ComInitDB, "shop")
			time.Sleep(20 * time.Millisecond) // it would have been sent
			wantTexts(t, l.source)
			l.publish()
			if r := writer.answer(textValue); r.err != nil || r.lost != nil {
				t.Errorf("COM_INIT_DB: %v %v", r.err, r.lost)
			}
		})
	}
	l := startLab(t, 0)
	l.publish(unclear)
	wantCode(t, (&testClient{user: "app", password: "wrong", firstPlugin: wire.PluginNative}).login(l.addr), wire.ErrAccessDenied)
}

// TestSchemaCheckedLater: what the login would have been told, the statements are.
func TestSchemaCheckedLater(t *testing.T) {
	l := startLab(t, 0)
	l.publish(unclear)
	k, denied := l.client(), l.client()
	l.source.on("SELECT a FROM t", func(c *fakeConn, _ string) {
		if c.db == "" {
			c.fail(wire.ErrNoDB, "No database selected")
			return
		}
		t.Errorf("it ran in schema %q", c.db)
		c.ok()
	})
	l.source.mu.Lock()
	l.source.lacks = "db"
	l.source.mu.Unlock()
	l.publish()
	k.wantError(wire.ErrBadDB, "Unknown database 'db'", "SELECT a FROM t")
	k.run("SELECT 1", "USE shop")
	l.source.mu.Lock()
	l.source.refuse = wire.NewError(wire.ErrDBAccessDenied, "Access denied for user 'app'@'%%' to database 'db'")
	l.source.mu.Unlock()
	l.source.closeConns()
	denied.wantError(wire.ErrDBAccessDenied, "to database 'db'", "SELECT a FROM t")
}

// TestWaitedInTruth: the error tells how long the statement has waited, not how long
// the first one may.
func TestWaitedInTruth(t *testing.T) {
	l := startLab(t, 0, func(o *Options) { o.FailoverWait = time.Hour })
	k := l.client()
	l.publish(unclear)
	l.srv.noSourceSince.Store(int64(-2 * time.Hour)) // was lost long ago
	r := k.query("INSERT INTO t VALUES (1)")
	if r.err == nil {
		t.Fatal("it ran")
	}
	_, rest, _ := strings.Cut(r.err.Message, "the statement waited ")
	text, _, _ := strings.Cut(rest, " ")
	if d, err := time.ParseDuration(text); err != nil || d > loginTimeout || !strings.Contains(rest, "cluster.failover_wait is 1h") {
		t.Errorf("%v, in %s", err, r.err.Message)
	}
}
