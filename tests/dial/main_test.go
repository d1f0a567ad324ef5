package dial

import (
	"errors"
	"fmt"
	"testing"

	"causeway/backend"
	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/wire"
)

var mysqls *cluster.Cluster

func TestMain(m *testing.M) {
	cluster.Main(m, cluster.Options{Replicas: cluster.NoReplicas}, cluster.Keep(&mysqls))
}

// exec runs statements as root, outside the connections under test.
func exec(t *testing.T, sql string) {
	t.Helper()
	if err := mysqls.Source().Exec(check.Patience(t), sql); err != nil {
		t.Fatal(err)
	}
}

// user makes an account and drops it with the test. identified is what follows
// its name.
func user(t *testing.T, name, identified string) {
	t.Helper()
	exec(t, fmt.Sprintf("DROP USER IF EXISTS %[1]s@'127.0.0.1'; CREATE USER %[1]s@'127.0.0.1' %[2]s; GRANT ALL ON *.* TO %[1]s@'127.0.0.1'",
		name, identified))
	t.Cleanup(func() { exec(t, fmt.Sprintf("DROP USER %s@'127.0.0.1'", name)) })
}

// login dials as name; change may be nil.
func login(t *testing.T, name, password string, change func(*backend.DialConfig)) (*wire.Conn, *backend.Greeting, error) {
	t.Helper()
	cfg := backend.DialConfig{Addr: mysqls.Source().Addr, User: name, Password: password, TLSMode: backend.TLSDisabled}
	if change != nil {
		change(&cfg)
	}
	c, g, err := backend.Dial(check.Patience(t), cfg)
	if c != nil {
		t.Cleanup(func() { c.Close() })
	}
	return c, g, err
}

// mustLogin is login that has to succeed.
func mustLogin(t *testing.T, name, password string, change func(*backend.DialConfig)) (*wire.Conn, *backend.Greeting) {
	t.Helper()
	c, g, err := login(t, name, password, change)
	if err != nil {
		t.Fatal(err)
	}
	return c, g
}

// wantCode fails unless err holds MySQL's error code.
func wantCode(t *testing.T, err error, code uint16) {
	t.Helper()
	var e *wire.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("got %v, want error %d", err, code)
	}
}

// command sends a statement and returns the first packet of the answer.
func command(t *testing.T, c *wire.Conn, sql string) []byte {
	t.Helper()
	c.ResetSequence()
	payload := append([]byte{byte(wire.ComQuery)}, sql...)
	if err := c.WritePacket(payload); err != nil {
		t.Fatal(err)
	}
	return answer(t, c)
}

func answer(t *testing.T, c *wire.Conn) []byte {
	t.Helper()
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	p, err := c.ReadPacket()
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte(nil), p...)
}

// value is the only value of a one-row answer on a connection with DEPRECATE_EOF.
func value(t *testing.T, c *wire.Conn, sql string) string {
	t.Helper()
	first := command(t, c, sql)
	if wire.IsErr(first) {
		e, _ := wire.ParseError(first)
		t.Fatalf("%s: %v", sql, e)
	}
	var last [2][]byte
	for range 3 { // column, row, OK
		last[0], last[1] = last[1], answer(t, c)
	}
	v, _, ok := wire.ReadTextValue(last[0])
	if !ok || last[1][0] != wire.HeaderEOF {
		t.Fatalf("%s: %x, %x", sql, last[0], last[1])
	}
	return string(v)
}
