package dial

import (
	"bytes"
	"net"
	"strings"
	"testing"
	"time"

	"causeway/wire"
)

// plainCaps are those of a client without session tracking.
const plainCaps = wire.CapProtocol41 | wire.CapSecureConnection | wire.CapPluginAuth | wire.CapTransactions

// plainLogin logs root in without session tracking, which backend.Dial cannot.
func plainLogin(t *testing.T) *wire.Conn {
	t.Helper()
	nc, err := net.Dial("tcp", mysqls.Source().Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(time.Minute))
	c := wire.NewConn(nc)
	if _, err := wire.ParseHandshakeV10(answer(t, c)); err != nil {
		t.Fatal(err)
	}
	r := wire.HandshakeResponse{Caps: plainCaps, Collation: 255, User: "root", AuthPlugin: wire.PluginCachingSHA2, Auth: []byte{0}}
	if err := c.WritePacket(r.Append(nil)); err != nil {
		t.Fatal(err)
	}
	if p := answer(t, c); p[0] != wire.HeaderOK {
		t.Fatalf("login: %x", p)
	}
	return c
}

// TestOKAsTheServerWritesIt: what Causeway makes of a tracked OK for a client
// without session tracking is, byte for byte, what the server sends to such a
// client: flag and block gone, and the text in the form of the server's source.
func TestOKAsTheServerWritesIt(t *testing.T) {
	for _, table := range []string{"packets", "pockets"} { // one for each connection
		exec(t, "DROP TABLE IF EXISTS test."+table+"; CREATE TABLE test."+table+" (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
		defer exec(t, "DROP TABLE test."+table)
	}
	tracked, g := mustLogin(t, "root", "", nil)
	plain := plainLogin(t)
	gtids := 0
	for _, sql := range []string{
		"SET SESSION session_track_gtids = 'OWN_GTID', session_track_system_variables = '*', session_track_state_change = ON",
		"USE test",
		"SET NAMES latin1",
		"SET autocommit = 0",
		"SET autocommit = 1",
		"TRUNCATE packets",
		"INSERT INTO packets (v) VALUES (1), (2), (3)",
		"UPDATE packets SET v = 9 WHERE id < 3",
		"DROP TABLE IF EXISTS no_such_table",
		"CREATE TEMPORARY TABLE temp_packets (a INT)",
		"BEGIN", "DELETE FROM packets", "COMMIT",
		"DO 1",
	} {
		payload := command(t, tracked, sql)
		ok, err := wire.ParseOK(payload, g.Caps)
		if err != nil {
			t.Fatalf("%s: %x, %v", sql, payload, err)
		}
		if again := ok.Append(nil, g.Caps); !bytes.Equal(again, payload) {
			t.Errorf("%s: written again\n%x\n%x", sql, again, payload)
		}
		if err := wire.WalkTrack(ok.Track, func(kind wire.TrackKind, _, value []byte) error {
			if kind == wire.TrackGTIDs {
				gtids++
			}
			return nil
		}); err != nil {
			t.Errorf("%s: %x, %v", sql, ok.Track, err)
		}
		want := command(t, plain, strings.ReplaceAll(sql, "packets", "pockets"))
		if stripped := ok.Append(nil, plainCaps); !bytes.Equal(stripped, want) {
			t.Errorf("%s: for a client without tracking\n%x\n%x is the server's", sql, stripped, want)
		}
	}
	if gtids < 5 {
		t.Errorf("%d sets of GTIDs", gtids)
	}
}

// TestErrorStates: the SQLSTATE that Causeway would send is the server's.
func TestErrorStates(t *testing.T) {
	c, _ := mustLogin(t, "root", "", nil)
	for _, sql := range []string{
		"", "nonsense", "USE no_such_schema", "SELECT * FROM no_such_table", "SELECT * FROM test.no_such_table",
		"SELECT no_such_column", "KILL 4294967295", "SET no_such_variable = 1", "SET sql_mode = 'x'",
		"CALL test.no_such_procedure()", "EXECUTE no_such_statement", "PREPARE s FROM 'LOCK TABLES x READ'",
	} {
		p := command(t, c, sql)
		e, err := wire.ParseError(p)
		if err != nil {
			t.Errorf("%q: %x, %v", sql, p, err)
			continue
		}
		if want := wire.SQLState(e.Code); e.State != want {
			t.Errorf("%q: the server says %s for %d, the table %s", sql, e.State, e.Code, want)
		}
	}
	command(t, c, "START TRANSACTION READ ONLY")
	if e, err := wire.ParseError(command(t, c, "CREATE TABLE test.x (a INT) SELECT 1")); err == nil && e.State != wire.SQLState(e.Code) {
		t.Errorf("%v", e)
	}
}
