package server

import (
	"slices"
	"strings"
	"testing"

	"causeway/backend"
	"causeway/wire"
)

// vars are user variables as a server tells of them.
func vars(pairs ...string) map[string]string {
	sums := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		sums[pairs[i]] = backend.VarSum(pairs[i+1])
	}
	return sums
}

// A user variable that was set to a literal may have another value after what ran
// unseen, which is on that connection alone.
func TestSessionUserVariablesChangedUnseen(t *testing.T) {
	for _, c := range []struct {
		texts  []string
		vars   map[string]string // that the server has then
		pinned bool
	}{
		{[]string{"SET @a = 1", "CALL p()"}, vars("a", "300"), true},
		{[]string{"SET @a = 1", "CALL p()"}, vars("a", "1"), false},
		{[]string{"SET @a = 1", "CALL p()"}, nil, true}, // it is NULL now
		{[]string{"SET @a = 1", "CALL p()"}, vars("a", "1", "b", "2"), true},
		{[]string{"SET @a = 'it''s', @b = NULL", "CALL p()"}, vars("a", "it's"), false},
		{[]string{"SET @a = 'it''s', @b = NULL", "CALL p()"}, vars("b", "it's"), true},
		{[]string{"SET @a = 1", "SELECT f()"}, vars("a", "2"), true},
		{[]string{"SET @a = 1", "INSERT INTO t VALUES (f())"}, vars("a", "2"), true},
		{[]string{"SET @a = 1", "INSERT INTO with_trigger VALUES (1)"}, vars("a", "2"), true},
		{[]string{"SET @a = 1", "INSERT INTO with_trigger VALUES (1)"}, vars("a", "1"), false},
		{[]string{"INSERT INTO with_trigger VALUES (1)"}, vars("a", "2"), true},
		{[]string{"CALL p()"}, vars("a", "2"), true},
		{[]string{"CALL p()"}, nil, false},
		{[]string{"SET @causeway_key = 'x'", "CALL p()"}, vars("causeway_key", "x"), false},
		{[]string{"SET @a = 1", "INSERT INTO t VALUES (1)"}, vars("a", "2"), false}, // nobody asks
	} {
		l := startLab(t, 1)
		l.mon.held.Store(&backend.Held{UserVars: c.vars})
		l.source.on("INSERT INTO with_trigger", func(c *fakeConn, _ string) {
			c.ok(func(ok *wire.OK) { ok.Track = wire.AppendTrackStateChange(nil, true) })
		})
		k := l.client()
		k.run(c.texts...)
		pins := k.query("SHOW CAUSEWAY PINS").rows
		if pinned := len(pins) == 1 && pins[0][3] == "user_variables"; pinned != c.pinned || !pinned && len(pins) > 0 {
			t.Errorf("after %q the pins are %q", c.texts, pins)
		}
	}
}

// What was set before a statement failed is on that connection alone, too.
func TestSessionUserVariablesSetBeforeAFailure(t *testing.T) {
	for _, c := range []struct {
		text   string
		vars   map[string]string // that the server has then
		pinned bool
	}{
		{"SET @b = 6; DELETE FROM failing", vars("b", "6"), true},
		{"SET @b = 6; DELETE FROM failing", nil, false},
		{"SELECT @b := 5, EXP(1000)", vars("b", "5"), true},
		{"SELECT @b := 5, EXP(1000)", nil, false},
		{"SET @b = 5, time_zone = 'bogus'", nil, false},
	} {
		l := startLab(t, 1)
		l.mon.held.Store(&backend.Held{UserVars: c.vars})
		l.source.on(c.text, func(c *fakeConn, _ string) { c.fail(wire.ErrNoSuchTable, "failed") })
		k := l.client()
		if r := k.query(c.text); r.err == nil {
			t.Fatal("it did not fail")
		}
		pins := k.query("SHOW CAUSEWAY PINS").rows
		if pinned := len(pins) == 1 && strings.Contains(pins[0][3], "user_variables"); pinned != c.pinned {
			t.Errorf("after %q the pins are %q", c.text, pins)
		}
	}
}

// GET DIAGNOSTICS sets its variable though it has had that value before: another
// one was set meanwhile by what is not followed.
func TestSessionGetDiagnosticsSetsAgain(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("GET DIAGNOSTICS @n = NUMBER", "SET @y = (SELECT 1)", "SET @n = 7", "SELECT a FROM t")
	l.forget()
	k.run("GET DIAGNOSTICS @n = NUMBER", "SELECT @n")
	want := []string{"SET @`n`=CAST(0 AS UNSIGNED)", "SELECT @n"}
	if texts := l.source.texts(); !slices.Equal(texts, want) {
		t.Errorf("the source was asked %q, want %q", texts, want)
	}
}

// PREPARE drops the statement of that name, and the pin with it, though its new text fails.
func TestSessionPrepareFailsOverAName(t *testing.T) {
	for code, pinned := range map[uint16]bool{wire.ErrParse: false, wire.ErrLockWaitTimeout: false, wire.ErrQueryInterrupted: true} {
		l := startLab(t, 1)
		l.source.on("PREPARE s FROM 'SELEC'", func(c *fakeConn, _ string) { c.fail(code, "failed") })
		k := l.client()
		k.run("PREPARE s FROM 'SELECT 1'")
		k.query("PREPARE s FROM 'SELEC'")
		if pins := k.query("SHOW CAUSEWAY PINS").rows; len(pins) == 1 != pinned {
			t.Errorf("after error %d the pins are %q", code, pins)
		}
	}
}
