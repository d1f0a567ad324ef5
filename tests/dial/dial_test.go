package dial

import (
	"strings"
	"testing"

	"causeway/backend"
	"causeway/tests/check"
	"causeway/wire"
)

// TestCachingSHA2: the first login after the server's cache is emptied needs
// the password itself, by RSA or over TLS; the second one only its scramble.
func TestCachingSHA2(t *testing.T) {
	user(t, "d_sha2", "IDENTIFIED WITH caching_sha2_password BY 'a long pass phrase, \\'quoted\\''")
	for _, mode := range []string{backend.TLSDisabled, backend.TLSRequired, backend.TLSPreferred, backend.TLSDisabled} {
		exec(t, "FLUSH PRIVILEGES") // empties the cache
		for _, password := range []string{"wrong", "a long pass phrase, 'quoted'", "a long pass phrase, 'quoted'", "wrong", ""} {
			c, g, err := login(t, "d_sha2", password, func(cfg *backend.DialConfig) {
				cfg.TLSMode, cfg.Database = mode, "test"
			})
			if !strings.HasPrefix(password, "a long") {
				wantCode(t, err, wire.ErrAccessDenied)
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", mode, err)
			}
			if g.TLS != (mode == backend.TLSRequired) || // preferred does without on the same host g.Plugin != wire.PluginCachingSHA2 || g.ConnectionID == 0 ||
				!g.Caps.Has(wire.CapSessionTrack|wire.CapDeprecateEOF) || !g.Status.Has(wire.StatusAutocommit) {
				t.Errorf("%s: %+v", mode, g)
			}
			if got := value(t, c, "SELECT CONCAT(DATABASE(), ' ', @@version)"); got != "test "+g.Version {
				t.Errorf("%s: %q", mode, got)
			}
			c.Close()
		}
	}
}

func TestNoPassword(t *testing.T) {
	for _, mode := range []string{backend.TLSDisabled, backend.TLSRequired} {
		set := func(cfg *backend.DialConfig) { cfg.TLSMode = mode }
		if _, _, err := login(t, "root", "", set); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
		_, _, err := login(t, "root", "but one is given", set)
		wantCode(t, err, wire.ErrAccessDenied)
	}
}

// TestNativePassword: MySQL 9 has no such accounts any more.
func TestNativePassword(t *testing.T) {
	version, err := mysqls.Source().Value(check.Patience(t), "SELECT @@version")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(version, "8.") {
		n, err := mysqls.Source().Value(check.Patience(t),
			"SELECT COUNT(*) FROM information_schema.plugins WHERE plugin_name = 'mysql_native_password'")
		if err != nil || n != "0" {
			t.Errorf("MySQL %s has the plugin %s times, %v: then test it", version, n, err)
		}
		return
	}
	user(t, "d_native", "IDENTIFIED WITH mysql_native_password BY 'pw'")
	for _, mode := range []string{backend.TLSDisabled, backend.TLSRequired} {
		set := func(cfg *backend.DialConfig) { cfg.TLSMode = mode }
		if _, g, err := login(t, "d_native", "pw", set); err != nil || g.Plugin != wire.PluginNative {
			t.Errorf("%s: %+v, %v", mode, g, err)
		}
		_, _, err := login(t, "d_native", "no", set)
		wantCode(t, err, wire.ErrAccessDenied)
	}
}

func TestErrorsAreTheServers(t *testing.T) {
	// The server takes one of its plugins by the unknown name.
	for _, name := range []string{"nobody_at_all", "nobody_here", "noone", "niemand", "personne", "nessuno"} {
		for _, mode := range []string{backend.TLSDisabled, backend.TLSRequired} {
			_, _, err := login(t, name, "x", func(cfg *backend.DialConfig) { cfg.TLSMode = mode })
			wantCode(t, err, wire.ErrAccessDenied)
		}
	}
	_, _, err := login(t, "root", "", func(cfg *backend.DialConfig) { cfg.Database = "no_such_schema" })
	wantCode(t, err, wire.ErrBadDB)

	user(t, "d_ssl", "IDENTIFIED BY 'pw' REQUIRE SSL")
	_, _, err = login(t, "d_ssl", "pw", func(cfg *backend.DialConfig) { cfg.TLSMode = backend.TLSDisabled })
	wantCode(t, err, wire.ErrAccessDenied)
	mustLogin(t, "d_ssl", "pw", func(cfg *backend.DialConfig) { cfg.TLSMode = backend.TLSRequired })

	user(t, "d_expired", "IDENTIFIED BY 'pw' PASSWORD EXPIRE")
	_, _, err = login(t, "d_expired", "pw", nil)
	wantCode(t, err, wire.ErrPasswordExpired)
	c, _ := mustLogin(t, "d_expired", "pw", func(cfg *backend.DialConfig) { cfg.Caps = wire.CapExpiredPasswords })
	e, err := wire.ParseError(command(t, c, "SELECT 1"))
	if err != nil || e.Code != wire.ErrMustChangePassword {
		t.Errorf("%v, %v", e, err)
	}
}

func TestCapabilitiesThatChangeMeaning(t *testing.T) {
	exec(t, "DROP TABLE IF EXISTS test.dial; CREATE TABLE test.dial (id INT PRIMARY KEY, v INT); INSERT INTO test.dial VALUES (1, 5)")
	defer exec(t, "DROP TABLE test.dial")
	for _, caps := range []wire.Capability{0, wire.CapFoundRows | wire.CapMultiStatements} {
		c, g := mustLogin(t, "root", "", func(cfg *backend.DialConfig) { cfg.Caps = caps })
		if g.Caps&(wire.CapFoundRows|wire.CapMultiStatements) != caps {
			t.Errorf("negotiated %s", g.Caps)
		}
		ok, err := wire.ParseOK(command(t, c, "UPDATE test.dial SET v = 5"), g.Caps)
		if want := uint64(min(caps, 1)); err != nil || ok.AffectedRows != want {
			t.Errorf("%d rows, %v, want %d", ok.AffectedRows, err, want)
		}
		first := command(t, c, "DO 1; DO 2")
		if wire.IsErr(first) != (caps == 0) {
			t.Errorf("two statements with %s: %x", caps, first)
		}
	}
}

func TestCollationsOfTheHandshake(t *testing.T) {
	for id, want := range map[uint16]string{
		0: "utf8mb4_0900_ai_ci", 8: "latin1_swedish_ci", 45: "utf8mb4_general_ci", 255: "utf8mb4_0900_ai_ci",
		305: "utf8mb4_0900_ai_ci", // does not fit: SET NAMES must follow
	} {
		c, g := mustLogin(t, "root", "", func(cfg *backend.DialConfig) { cfg.Collation = id })
		if got := value(t, c, "SELECT @@collation_connection"); got != want || g.NeedSetNames != (id > 255) {
			t.Errorf("%d: %s, SET NAMES %v", id, got, g.NeedSetNames)
		}
	}
}

func TestAttributesArrive(t *testing.T) {
	c, _ := mustLogin(t, "root", "", func(cfg *backend.DialConfig) {
		cfg.Attrs = map[string]string{"program_name": "causeway", "_client_version": strings.Repeat("9", 300)}
	})
	got := value(t, c, `SELECT GROUP_CONCAT(attr_name, '=', LENGTH(attr_value) ORDER BY attr_name)
		FROM performance_schema.session_connect_attrs WHERE processlist_id = CONNECTION_ID()`)
	if got != "_client_version=300,program_name=8" {
		t.Error(got)
	}
}

func TestUnixSocketNeedsNoKey(t *testing.T) {
	path, err := mysqls.Source().Value(check.Patience(t), "SELECT @@socket")
	if err != nil {
		t.Fatal(err)
	}
	exec(t, "DROP USER IF EXISTS d_local@localhost; CREATE USER d_local@localhost IDENTIFIED BY 'pw'")
	defer exec(t, "DROP USER d_local@localhost")
	if !strings.HasPrefix(path, "/") {
		path = mysqls.Source().Dir + "/data/" + path
	}
	mustLogin(t, "d_local", "pw", func(cfg *backend.DialConfig) { cfg.Addr = path })
}
