package main

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"causeway/tests/session/raw"
	"causeway/wire"
)

func TestPlan(t *testing.T) {
	p := plan{2 * time.Minute}
	var all time.Duration
	for ph := range phase(phaseCount) {
		all += p.length(ph)
	}
	if all != p.total {
		t.Errorf("the phases take %v of %v", all, p.total)
	}
	if got := p.length(surge); got != 36*time.Second {
		t.Errorf("the surge takes %v", got)
	}
	text := p.config(true)
	for _, want := range []string{`lag_window = "6s"`, `recovery_window = "12s"`, `slow_start = "6s"`, "qps = 50\n", `max_staleness = "10s"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the configuration lacks %s:\n%s", want, text)
		}
	}
	if strings.Contains(p.config(false), "window") {
		t.Error("windows that were not asked for")
	}
	if p := (plan{shortest}); p.length(surge) <= behind*time.Second || p.scaled(30*time.Second) < time.Second {
		t.Errorf("the shortest drill: a surge of %v, lag_window %v", p.length(surge), p.scaled(30*time.Second))
	}
}

// TestLoad: the surge cannot use up the budget unless F1 wants more than F0 leaves.
func TestLoad(t *testing.T) {
	var a [kindCount]float64
	for k, c := range kinds {
		a[k] = float64(c.clients) / c.pause.Seconds()
	}
	if a[own] >= budgetQPS || a[own]+a[listing] <= 2*budgetQPS || clientCount() != 16 {
		t.Errorf("reads a second %v of %d clients, the budget is %d", a, clientCount(), budgetQPS)
	}
}

func TestClockAge(t *testing.T) {
	now := time.Now()
	var c clock
	c.wrote(now)                  // 0 was replaced
	c.wrote(now.Add(time.Second)) // 1 was
	for _, tc := range []struct {
		value int
		after time.Duration
		want  time.Duration
	}{
		{0, -time.Second, 0}, {0, 0, 0}, {0, 3 * time.Second, 3 * time.Second},
		{1, 500 * time.Millisecond, 0}, {1, 3 * time.Second, 2 * time.Second},
		{2, time.Hour, 0}, // the newest
	} {
		if got := c.age(tc.value, now.Add(tc.after)); got != tc.want {
			t.Errorf("value %d, %v later: %v old, want %v", tc.value, tc.after, got, tc.want)
		}
	}
}

func TestExclusions(t *testing.T) {
	for _, c := range []struct {
		row  map[string]string
		want map[string]bool
	}{
		{map[string]string{"Role": "source", "State": "up"}, nil},
		{map[string]string{"Role": "replica", "State": "up"}, map[string]bool{"all": false}},
		{map[string]string{"Role": "replica", "State": "excluded: the applier is stopped"}, map[string]bool{"all": true}},
		{map[string]string{"Role": "replica", "State": "up", "Limits": "F0: slow start, 40 %; F1: excluded, lag p95 3s: above 2s; F2: within"},
			map[string]bool{"all": false, "F0": false, "F1": true, "F2": false}},
	} {
		if got := exclusions(c.row); !maps.Equal(got, c.want) {
			t.Errorf("%v: %v", c.row, got)
		}
		if got := anyExcluded([]map[string]string{{"Role": "source"}, c.row}); got != (c.want["all"] || c.want["F1"]) {
			t.Errorf("%v: any excluded: %v", c.row, got)
		}
	}
}

func TestErrorsAreTold(t *testing.T) {
	for text, want := range map[string]outcome{
		"Causeway: no replica has this session's writes after 1s, and the fallback budget of the source is used up": refused,
		"Causeway: no server is there": failed,
	} {
		var r read
		r.judgeError(raw.Answer{{Err: wire.NewError(wire.ErrServerIsntAvailable, "%s", text)}})
		if r.outcome != want || r.err == "" {
			t.Errorf("%s: %+v", text, r)
		}
	}
	var r read
	if r.judgeError(raw.Answer{{}}); r.err != "" || r.outcome != fresh {
		t.Errorf("an answer: %+v", r)
	}
}

func TestTable(t *testing.T) {
	e := &evidence{}
	for i := range 100 {
		e.reads = append(e.reads, read{kind: listing, phase: surge, role: "replica", age: time.Duration(99-i) * time.Millisecond})
	}
	e.reads = append(e.reads,
		read{kind: listing, phase: surge, role: "replica", outcome: stale, age: time.Second},
		read{kind: listing, phase: surge, role: "source", fallback: true},
		read{kind: listing, phase: surge, outcome: refused, err: "budget"},
		read{kind: listing, phase: surge, outcome: failed, err: "gone"})
	var out strings.Builder
	if err := e.print(&out); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if f := strings.Join(strings.Fields(line), " "); strings.HasPrefix(f, "| F1 | surge") {
			if want := "| F1 | surge | 104 | 101 | 1 | 1 | 1 | 1 | 1 | 50ms | 99ms | 1s |"; f != want {
				t.Errorf("got  %s\nwant %s", f, want)
			}
			return
		}
	}
	t.Errorf("no line of F1 in the surge:\n%s", &out)
}

// TestDraw: what never was seen makes no line, and no error.
func TestDraw(t *testing.T) {
	for name, e := range map[string]*evidence{"good": good(), "empty": {end: time.Second}} {
		if err := e.draw(filepath.Join(t.TempDir(), name+".png")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if lines := good().excluded(); len(lines) != 2 || len(lines[1]) != 4 || lines[1][1].Y != 1 || lines[1][3].Y != 0 {
		t.Errorf("the steps of exclusions: %v", lines)
	}
}

func TestOptions(t *testing.T) {
	for args, ok := range map[string]bool{"": true, "--time 30s --plot x.png": true, "--time 1s": false, "--time 20m": false, "--speed 3": false} {
		if _, err := parseOptions(strings.Fields(args)); (err == nil) != ok {
			t.Errorf("%q: %v", args, err)
		}
	}
}
