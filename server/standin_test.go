package server

import (
	"testing"
	"time"

	"causeway/classifier"
	"causeway/wire"
)

func TestOnAnyServer(t *testing.T) {
	c := classifier.New(classifier.Options{CacheEntries: 100})
	for sql, want := range map[string]bool{
		"SET NAMES utf8mb4":                                                      true,
		"SET NAMES utf8mb4 COLLATE utf8mb4_bin":                                  true,
		"SET character_set_results = NULL":                                       true,
		"SET sql_mode='STRICT_TRANS_TABLES', time_zone = '+00:00', autocommit=1": true,
		"SET @@SESSION.sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')":      true,
		"/*!40101 SET NAMES utf8 */":                                             true,
		"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED":                 true,
		"SET SESSION TRANSACTION READ ONLY":                                      true,
		"SET SESSION TRANSACTION READ WRITE":                                     true,
		"SET @causeway_class = 'F1'":                                             true,
		"SELECT @@version_comment LIMIT 1":                                       true,
		"SELECT VERSION()":                                                       true,
		"SELECT @@Session.SQL_MODE AS m, @@max_allowed_packet, @@tx_isolation":   true,
		"/* pool */ SELECT @@session.transaction_read_only":                      true,
		"USE app": true,

		"SELECT @@server_id":                                 false,
		"SELECT @@read_only, @@sql_mode":                     false,
		"SELECT @@session.transaction_read_only, @@sql_mode": false,
		"SELECT @@global.sql_mode":                           false,
		"SELECT @@`sql_mode`":                                false,
		"SELECT @@sql_mode, CONNECTION_ID()":                 false,
		"SELECT @@gtid_executed":                             false,
		"SELECT @@last_insert_id":                            false,
		"SELECT @@sql_mode FROM t":                           false,
		"SELECT @x":                                          false,
		"SELECT GET_LOCK('a', 1)":                            false,
		"SHOW VARIABLES":                                     false,
		"SET GLOBAL max_connections = 5":                     false,
		"SET sql_log_bin = 0":                                false,
		"SET binlog_format = ROW":                            false,
		"SET sql_mode = DEFAULT":                             false,
		"SET sql_mode = (SELECT m FROM modes)":               false,
		"SET sql_mode = @@global.sql_mode":                   false,
		"SET time_zone = f()":                                false,
		"SET sql_mode = @m":                                  false,
		"SET session_track_gtids = OFF":                      false,
		"SET session_track_transaction_info = STATE":         false,
		"SET timestamp = 5":                                  false,
		"SET insert_id = 5":                                  false,
		"SET ROLE r":                                         false,
		"SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY": false,
		"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE":                    false,
		"SET NAMES utf8mb4; SELECT 1":                                     false,
		"INSERT INTO t VALUES (1)":                                        false,
		"BEGIN":                                                           false,
		"SELECT 1 FOR UPDATE":                                             false,
		"DO 1":                                                            false,
	} {
		if got := onAnyServer(&job{class: c.Classify([]byte(sql), classifier.Mode{}), want: expectResult}); got != want {
			t.Errorf("%s: %v, want %v", sql, got, want)
		}
	}
	if !onAnyServer(&job{class: useClass, want: expectSimple}) || onAnyServer(&job{class: debugClass, want: expectSimple}) ||
		onAnyServer(&job{class: commandClass, want: expectText}) {
		t.Error("of the commands only COM_INIT_DB may run on any server")
	}
}

// patient makes the wait for a source longer than any test: what does not wait
// for it is seen to.
func patient(o *Options) { o.FailoverWait = time.Hour }

// A client logs in while there is no source, sets what it sets, and reads; what
// it has set is there when the source is back.
func TestStandIn(t *testing.T) {
	l := startLab(t, 2, patient)
	l.publish(noSource)
	k := l.client()
	k.run("SET NAMES latin1", "SET sql_mode='ANSI'", "SET autocommit=1", "SET SESSION TRANSACTION READ ONLY", "SET SESSION TRANSACTION READ WRITE", "SET @causeway_class = 'F1'")
	if r := k.query("SELECT @@sql_mode"); r.first() != "ANSI" {
		t.Errorf("@@sql_mode is %q: %v %v", r.first(), r.err, r.lost)
	}
	if r := k.route("Reason"); r != "no_source" {
		t.Errorf("reason %q", r)
	}
	k.command(wire.ComInitDB, "shop")
	if r := k.answer(textValue); r.err != nil || r.lost != nil {
		t.Errorf("COM_INIT_DB: %v %v", r.err, r.lost)
	}
	for set, want := range map[string]string{"ONLY": "1", "WRITE": "0"} { // not what the replica's connection would say
		k.run("SET SESSION TRANSACTION READ " + set)
		if got := k.query("/* pool */ SELECT @@session.transaction_read_only").first(); got != want {
			t.Errorf("READ %s: @@session.transaction_read_only is %s", set, got)
		}
	}
	k.run("SET SESSION TRANSACTION READ WRITE")
	if name := k.query("SELECT a FROM t").first(); name != "replica1" && name != "replica2" {
		t.Errorf("read from %q", name)
	}
	wantTexts(t, l.source)
	l.publish()
	if r := k.query("INSERT INTO t VALUES (1)"); r.err != nil || r.lost != nil {
		t.Fatalf("INSERT: %v %v", r.err, r.lost)
	}
	sets := map[string]string{}
	l.source.mu.Lock()
	for _, c := range l.source.conns {
		if c.db == "shop" {
			sets = c.sets
		}
	}
	l.source.mu.Unlock()
	if sets["sql_mode"] != "ANSI" || sets["transaction_read_only"] != "OFF" {
		t.Errorf("on the source: %v", sets)
	}
}

// A replica without the session's writes does not stand in: what it says of a
// schema, say, could be old. Neither does one for a session with something open.
func TestStandInCovers(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("INSERT INTO t VALUES (1)")
	l.publish(noSource)
	k.wantError(wire.ErrServerIsntAvailable, "no source is known", "USE shop")
	l.r().setExecuted(l.source.position())
	l.publish(noSource)
	k.run("USE shop")

	held := l.client()
	l.publish()
	held.run("CREATE TEMPORARY TABLE x (a INT)")
	l.publish(noSource)
	held.wantError(wire.ErrServerIsntAvailable, "no source is known", "SET sql_mode='ANSI'")
	k.wantError(wire.ErrServerIsntAvailable, "no source is known", "INSERT INTO t VALUES (2)")
	k.wantError(wire.ErrServerIsntAvailable, "no source is known", "SET @a = @b")
}

// Without a replica either it is waited for, as for all else.
func TestStandInWithoutReplica(t *testing.T) {
	l := startLab(t, 0)
	k := l.client()
	l.publish(noSource)
	k.wantError(wire.ErrServerIsntAvailable, "no source is known", "SET sql_mode='ANSI'")
	l.publish()
	k.run("SET sql_mode='ANSI'")
}

// A SET whose answer the source did not give runs once more: it writes nothing.
func TestSetLostWithSource(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("INSERT INTO t VALUES (1)") // its connection lies in the pool
	l.apply()
	l.source.on("SET NAMES", func(c *fakeConn, _ string) {
		l.publish(noSource)
		c.hangUp()
	})
	k.run("SET NAMES latin1")
	k.wantFrom("replica1", "SELECT a FROM t")
}
