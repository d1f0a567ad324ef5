package consistency

import (
	"context"
	"fmt"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/session/raw"
	"causeway/wire"
)

// after lists what a client may do between its login and its writes without
// losing the promise: each takes the tracking of GTIDs away, if the proxy lets
// it. Reads come after with no applier running, so that only a token that is
// known sends them to the source.
var after = map[string]func(c *raw.Client) error{
	"nothing":                 func(*raw.Client) error { return nil },
	"COM_RESET_CONNECTION":    func(c *raw.Client) error { return ok(c.Reset()) },
	"COM_CHANGE_USER":         func(c *raw.Client) error { return c.ChangeUser(cluster.AppUser, cluster.AppPassword, "rw_main") },
	"session_track_gtids=OFF": texts("SET session_track_gtids = OFF"),
	"session_track_gtids=OFF in a prepared statement": func(c *raw.Client) error {
		s, err := c.Prepare("SET SESSION session_track_gtids = ?")
		if err != nil {
			return err
		}
		return ok(s.Execute(raw.NoCursor, raw.String("OFF")))
	},
	"session_track_gtids=ALL_GTIDS":   texts("SET session_track_gtids = ALL_GTIDS"),
	"session_track_gtids=DEFAULT":     texts("SET @@session.session_track_gtids = DEFAULT"),
	"several statements":              texts("SET session_track_gtids = OFF; SELECT 1; SET session_track_schema = OFF"),
	"SET in a conditional comment":    texts("/*!80000 SET session_track_gtids = OFF */"),
	"text PREPARE":                    texts("PREPARE p FROM 'SET session_track_gtids = OFF'", "EXECUTE p"),
	"profiling":                       texts("SET profiling = 1"),
	"NAMES and an unusual sql_mode":   texts("SET NAMES latin1", "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'"),
	"an aborted transaction":          texts("BEGIN", "UPDATE rw SET v = 0 WHERE id = 1", "ROLLBACK"),
	"autocommit=0 and 1":              texts("SET autocommit = 0", "SET autocommit = 1"),
	"a read only session and back":    texts("SET SESSION TRANSACTION READ ONLY", "SELECT 1", "SET SESSION TRANSACTION READ WRITE"),
	"reset after session_track_gtids": func(c *raw.Client) error { return first(texts("SET session_track_gtids = OFF")(c), ok(c.Reset())) },
	"another schema":                  texts("USE rw_side", "USE rw_main"),
	"GTID tracking changed by a routine": texts("DROP PROCEDURE IF EXISTS untrack",
		"CREATE PROCEDURE untrack() SET SESSION session_track_gtids = 'OFF'", "CALL untrack()"),
}

func ok(a raw.Answer, err error) error { return first(err, a.Err()) }

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func texts(stmts ...string) func(c *raw.Client) error {
	return func(c *raw.Client) error {
		for _, s := range stmts {
			if err := ok(c.Query(s)); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	}
}

// TestTrackingSurvives: whatever a client did before, its writes are tracked.
func TestTrackingSurvives(t *testing.T) {
	addr := layTracking(t)
	for name, prelude := range after {
		for _, caps := range []raw.Options{{Caps: raw.Modern}, {}} {
			t.Run(fmt.Sprintf("%s/%v", name, caps.Caps), func(t *testing.T) {
				c := connect(t, addr, caps)
				check.Must(t, prelude(c))
				check.Must(t, ok(c.Query("SELECT v FROM rw WHERE id = 1"))) // on a replica, to have met one
				shared.StopAppliers(t)
				check.Must(t, ok(c.Query("UPDATE rw SET v = v + 1, note = 'mine' WHERE id = 1")))
				want, err := shared.Source().Value(t.Context(), "SELECT v FROM rw_main.rw WHERE id = 1")
				check.Must(t, err)
				sees(t, c, want)
				check.Must(t, ok(c.Reset())) // the token outlives a reset
				check.Must(t, ok(c.Query("USE rw_main")))
				sees(t, c, want)
			})
		}
	}
}

// sees wants a session to read a value ten times.
func sees(t *testing.T, c *raw.Client, want string) {
	t.Helper()
	for range 10 {
		a, err := c.Query("SELECT v FROM rw WHERE id = 1")
		if err != nil || a.Value() != want {
			route, _ := c.Query("SHOW CAUSEWAY ROUTE")
			t.Fatalf("read %q, wanted %q: %v %v\n%s", a.Value(), want, err, a.Err(), route)
		}
	}
}

// TestUntrackedWrites: writes that leave no GTID are still seen by their own
// session, which reads from the source from then on.
func TestUntrackedWrites(t *testing.T) {
	addr := layTracking(t)
	for name, stmts := range map[string][]string{
		"autocommit":  {"SET sql_log_bin = 0", "REPLACE INTO local VALUES (1, 7)", "SET sql_log_bin = 1"},
		"transaction": {"SET SESSION sql_log_bin = OFF", "BEGIN", "REPLACE INTO local VALUES (2, 7)", "COMMIT", "SET sql_log_bin = 1"},
		"procedure":   {"SET sql_log_bin = 0", "CALL put_local(3, 7)", "SET sql_log_bin = 1"},
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, addr, raw.Options{Caps: raw.Modern})
			check.Must(t, texts(stmts...)(c))
			for range 10 {
				a, err := c.Query("SELECT v FROM local WHERE v = 7 LIMIT 1")
				if err != nil || a.Value() != "7" {
					t.Fatalf("the session does not see its own write: %v %v", a, err)
				}
			}
			check.Must(t, shared.Source().Exec(t.Context(), "SET sql_log_bin = 0; DELETE FROM rw_main.local; SET sql_log_bin = 1"))
		})
	}
}

// layTracking lays the schema and starts Causeway.
func layTracking(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	check.Must(t, createSchema(ctx, shared.Source().DB, 1))
	check.Must(t, shared.Source().Exec(ctx, "INSERT INTO rw_main.rw VALUES (1, 0, 1, 'first'); "+
		"CREATE TABLE rw_main.local (id INT PRIMARY KEY, v INT); "+
		"CREATE PROCEDURE rw_main.put_local(i INT, n INT) REPLACE INTO rw_main.local VALUES (i, n)"))
	catchUp(t)
	return cluster.StartCauseway(t, shared, roomyBudget).Addr
}

func connect(t *testing.T, addr string, o raw.Options) *raw.Client {
	t.Helper()
	o.Addr, o.DB = addr, "rw_main"
	o.Caps |= wire.CapMultiStatements
	return cluster.OpenRaw(t, o)
}
