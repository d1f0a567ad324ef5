package backend

import (
	"errors"
	"io"
	"testing"
	"time"

	"causeway/wire"
)

// oneValue is the answer to a SELECT of one column.
func oneValue(v string) []byte {
	col := wire.AppendColumn(nil, wire.Column{Name: "c", Type: wire.TypeVarString})
	return answers(wire.AppendColumnCount(nil, 1), col, wire.AppendTextRowStrings(nil, v), end(0))
}

func TestKillOfAThread(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []byte
		ok   bool
	}{
		{"killed", answers(okay(0)), true},
		{"gone already", answers(refusal(errNoSuchThread)), true},
		{"not allowed", answers(refusal(1095)), false},
		{"connection lost", nil, false},
	} {
		side, m := connTo(c.in)
		if err := kill(side, "KILL QUERY ", 1<<32-1); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		wantSent(t, m, "\x03KILL QUERY 4294967295")
	}
}

func TestThreadGone(t *testing.T) {
	for count, want := range map[string]bool{"0": true, "1": false} {
		side, m := connTo(oneValue(count))
		if gone, err := threadGone(side, 7); gone != want || err != nil {
			t.Errorf("%s in the process list: gone %v, %v", count, gone, err)
		}
		wantSent(t, m, "\x03SELECT COUNT(*) FROM performance_schema.processlist WHERE ID=7")
	}
	// Not knowing is not "gone".
	for _, in := range [][]byte{nil, answers(refusal(1142)), answers(okay(0))} {
		side, _ := connTo(in)
		if gone, err := threadGone(side, 7); gone || err == nil {
			t.Errorf("gone %v, %v", gone, err)
		}
	}
}

// Thread ids start anew with a server: one that was started after the lost
// connection has no such thread, whoever has its number now.
func TestRestartedSince(t *testing.T) {
	for _, c := range []struct {
		name   string
		uptime string
		age    time.Duration
		want   bool
	}{
		{"long before", "1000", 10 * time.Second, false},
		{"since", "3", 10 * time.Second, true},
		{"in the same second", "0", 0, false},
		{"just as long", "10", 10 * time.Second, false},
	} {
		side, _ := connTo(oneValue(c.uptime))
		if got, err := restartedSince(side, time.Now().Add(-c.age)); got != c.want || err != nil {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
	side, _ := connTo(oneValue("soon"))
	if _, err := restartedSince(side, time.Now()); err == nil {
		t.Error("an uptime that is no number was taken")
	}
	side, _ = connTo()
	if _, err := restartedSince(side, time.Now()); !errors.Is(err, io.EOF) {
		t.Errorf("connection lost: %v", err)
	}
}
