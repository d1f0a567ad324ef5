package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"causeway/tests/cluster"
)

// present are the modes that this Causeway has. Whoever adds a feature that a row
// of the table waits for adds the row's name here.
var present = []string{"no protection", "cookie 3s", "cookie 10s", "sticky 3s by key", "sticky 10s by key", "own connection",
	"token in a variable", "token in a comment", "key", "scope user", "scope proxy", "global"}

// TestModes is make bench-consistency in a minute: with appliers that stand and
// with ones that stop at random, each mode that is there keeps its promise, and
// reads without protection miss writes.
func TestModes(t *testing.T) {
	c := cluster.Start(t, cluster.Options{})
	o := options{time: time.Second, warmUp: time.Second / 2, rounds: 1, users: 20, connections: 8, think: 100 * time.Millisecond, writes: .3}
	wrong := mode{name: "wrong", routing: "nonsense = true\n"}
	broken := mode{name: "broken", promise: own, routing: useEventual}
	under := []lag{stopped, {name: "stopping", keep: stopping}}
	r, err := measure(t.Context(), o, append([]mode{wrong, broken}, modes...), under, c, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.print(os.Stdout); err != nil {
		t.Fatal(err)
	}
	for _, fault := range r.judgePromises() {
		t.Error(fault)
	}
	checkAvailable(t, r)
	checkStopped(t, r)
	checkFiles(t, r)
}

// checkAvailable: what is refused or breaks its promise is not measured, and
// what is there is.
func checkAvailable(t *testing.T, r *report) {
	t.Helper()
	if why := r.missing["wrong"]; !strings.Contains(why, "nonsense") || strings.Contains(why, "causeway.toml") {
		t.Errorf("a mode that the configuration refuses: %q", why)
	}
	if why := r.missing["broken"]; !strings.Contains(why, "missed the user's own write") {
		t.Errorf("a mode that breaks its promise: %q", why)
	}
	for _, name := range present {
		if why := r.missing[name]; why != "" {
			t.Errorf("%s is not available: %s", name, why)
		}
		for _, l := range r.lags {
			if len(r.cells[l.name][name]) != 1 {
				t.Errorf("lag %s, %s was measured %d times", l.name, name, len(r.cells[l.name][name]))
			}
		}
	}
	for name, why := range r.missing {
		if len(r.cells[stopped.name][name]) != 0 {
			t.Errorf("%s was measured, although %s", name, why)
		}
	}
}

// checkStopped: with no applier running nobody sees a new comment but on the source.
func checkStopped(t *testing.T, r *report) {
	t.Helper()
	free, cookie := summarise(r.cells["stopped"]["no protection"]), summarise(r.cells["stopped"]["cookie 10s"])
	if free.missedOwn == 0 || free.missedAny < free.missedOwn || free.onSource != 0 {
		t.Errorf("no protection: %+v", free)
	}
	if cookie.missedOwn != 0 || cookie.onSource == 0 { // the run is shorter than the window
		t.Errorf("cookie 10s: %+v", cookie)
	}
}

// checkFiles: plot and data are written.
func checkFiles(t *testing.T, r *report) {
	t.Helper()
	plot, data := filepath.Join(t.TempDir(), "x.png"), filepath.Join(t.TempDir(), "x.csv")
	if err := r.draw(plot); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(plot); err != nil || info.Size() < 10_000 {
		t.Errorf("the plot: %v, %v", info, err)
	}
	if err := r.writeData(data); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range present {
		if !strings.Contains(string(text), "\nstopping,"+name+",1,") {
			t.Errorf("the data have no line of %s", name)
		}
	}
}
