package session

import (
	"errors"
	"fmt"
	"testing"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/session/raw"
	"causeway/wire"
)

// TestRefusedLogins holds the errors of the connection phase against MySQL's.
func TestRefusedLogins(t *testing.T) {
	lay(t, nil)
	for name, change := range map[string]func(o *raw.Options){
		"wrong password":         func(o *raw.Options) { o.Password = "wrong" },
		"no password":            func(o *raw.Options) { o.Password = "" },
		"unknown user":           func(o *raw.Options) { o.User = "nobody" },
		"no user":                func(o *raw.Options) { o.User, o.Password = "", "" },
		"unknown user, no pass":  func(o *raw.Options) { o.User, o.Password = "nobody", "" },
		"unknown schema":         func(o *raw.Options) { o.DB = "nosuch" },
		"schema with odd name":   func(o *raw.Options) { o.DB = "no`such" },
		"wrong password and TLS": func(o *raw.Options) { o.Password, o.TLS = "wrong", true },
		"unknown schema and TLS": func(o *raw.Options) { o.DB, o.TLS = "nosuch", true },
		"right":                  func(*raw.Options) {},
		"right with TLS":         func(o *raw.Options) { o.TLS = true },
		"latin1":                 func(o *raw.Options) { o.Collation = 8 },
		"unknown collation":      func(o *raw.Options) { o.Collation = 253 },
	} {
		t.Run(name, func(t *testing.T) {
			want := login(shared.Source().Addr, change)
			if got := login(throughCauseway(), change); got != want {
				t.Errorf("MySQL: %s\nCauseway: %s", want, got)
			}
		})
	}
}

// login tells how a login went, and what charset it gave.
func login(addr string, change func(*raw.Options)) string {
	o := options(addr, raw.Modern)
	change(&o)
	c, err := raw.Dial(o)
	if err != nil {
		return describe(err)
	}
	defer c.Quit()
	a, err := c.Query("SELECT @@character_set_client, @@collation_connection, DATABASE(), USER(), CURRENT_USER(), @@character_set_results")
	return a.String() + describe(err)
}

func describe(err error) string {
	var refused *wire.Error
	if errors.As(err, &refused) {
		return fmt.Sprintf("ERR %d (%s) %s", refused.Code, refused.State, refused.Message)
	}
	return fmt.Sprint(err)
}

// TestTooManyConnections fills Causeway and one user of it.
func TestTooManyConnections(t *testing.T) {
	lay(t, nil)
	needsCauseway(t)
	for name, c := range map[string]struct {
		config string
		want   uint16
		state  string
		text   string
	}{
		"of the server": {"[limits]\nmax_connections = 3\n", 1040, "08004", "Too many connections"},
		"of the user":   {"max_connections = 3\n", 1226, "42000", "User 'app' has exceeded the 'max_user_connections' resource (current value: 3)"},
	} {
		t.Run(name, func(t *testing.T) {
			cw := cluster.StartCauseway(t, shared, c.config)
			o := options(cw.Addr, raw.Modern)
			var last *raw.Client
			for range 3 {
				client, err := raw.Dial(o)
				if err != nil {
					t.Fatal(err)
				}
				defer client.Quit()
				last = client
			}
			_, err := raw.Dial(o)
			var refused *wire.Error
			if !errors.As(err, &refused) || refused.Code != c.want || refused.Message != c.text {
				t.Fatalf("the fourth connection: %s, wanted %d (%s) %s", describe(err), c.want, c.state, c.text)
			}
			last.Quit()
			check.Within(t, patience, "a place is free again", func() bool {
				client, err := raw.Dial(o)
				if err == nil {
					client.Quit()
				}
				return err == nil
			})
		})
	}
}

// TestReplicationCommandsAreRefused: a replica that is pointed at Causeway
// must be told why that does not work, and the connection stays usable.
func TestReplicationCommandsAreRefused(t *testing.T) {
	lay(t, nil)
	needsCauseway(t)
	c := dial(t, raw.Modern)
	for cmd, payload := range map[wire.Command]string{
		wire.ComBinlogDump:      "\x04\x00\x00\x00\x00\x00\x01\x00\x00\x00binlog.000001",
		wire.ComBinlogDumpGTID:  "\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		wire.ComRegisterReplica: "\x09\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		wire.ComTableDump:       "x",
		wire.ComClone:           "",
		wire.ComSubscribeGroup:  "",
		wire.ComDaemon:          "",
		wire.ComConnect:         "",
	} {
		a, err := c.Command(cmd, []byte(payload))
		if err != nil {
			t.Fatalf("%v: the connection ended: %v", cmd, err)
		}
		if a.Err() == nil {
			t.Errorf("%v was not refused: %v", cmd, a)
		}
		t.Logf("%v: %v", cmd, a.Err())
	}
	if a, err := c.Query("SELECT v FROM t WHERE id = 1"); err != nil || a.Value() != "10" {
		t.Errorf("after the refusals: %v %v", a, err)
	}
}

// needsCauseway skips what makes no sense straight on the source.
func needsCauseway(t *testing.T) {
	t.Helper()
	if proxy == nil {
		t.Skip("CAUSEWAY_SESSION_DIRECT is set")
	}
}

// dial opens a connection through Causeway that ends with the test.
func dial(t *testing.T, caps wire.Capability) *raw.Client {
	t.Helper()
	c, err := raw.Dial(options(throughCauseway(), caps))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
