package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"causeway/tests/cluster"
)

// phase is a part of the drill.
type phase int32

const (
	calm phase = iota
	surge
	recovery
	after
	phaseCount = iota
)

var phaseNames = [phaseCount]string{"calm", "surge", "recovery", "after"}

func (p phase) String() string { return phaseNames[p] }

const (
	worth  = 10 * time.Minute // what --time is a scaled picture of
	behind = 3                // seconds, SOURCE_DELAY in the surge

	// The budget is small so that the surge uses it up: F0's reads fit into it,
	// those of F1 do not.
	budgetQPS, budgetBurst = 50, 50
)

// lengths are the phases of a drill that takes all of its worth. The recovery is
// long enough for lag_window, recovery_window and slow_start in a row.
var lengths = [phaseCount]time.Duration{
	calm: 2 * time.Minute, surge: 3 * time.Minute, recovery: 3 * time.Minute, after: 2 * time.Minute,
}

// plan is the drill scaled to a length.
type plan struct{ total time.Duration }

// scaled is what a time of the full drill takes in this one.
func (p plan) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) * float64(p.total) / float64(worth)).Round(time.Millisecond)
}

func (p plan) length(ph phase) time.Duration { return p.scaled(lengths[ph]) }

// config is what the drill's Causeway is told beside the README's lines. The
// bounds are the built-in ones, named because the drill judges by them. F1's lag
// limit is the one for general use, 2 s: the interactive one of 500 ms would
// be passed by the load of a small machine alone.
func (p plan) config(windows bool) string {
	monitor := ""
	if windows {
		monitor = fmt.Sprintf("[monitor]\nlag_window = %q\nrecovery_window = %q\nslow_start = %q\n",
			p.scaled(30*time.Second), p.scaled(time.Minute), p.scaled(30*time.Second))
	}
	return monitor + fmt.Sprintf(`
[fallback]
qps = %d
burst = %d
[routing]
max_staleness = %q
[[class]]
name = "F1"
max_staleness = %q
lag_limit = "2s"
[[class]]
name = "F2"
max_staleness = %q
`, budgetQPS, budgetBurst, kinds[unwritten].bound, kinds[listing].bound, kinds[report].bound)
}

// hasWindows tells whether this Causeway excludes replicas by lag limits: each
// option is in the example of all options.
func hasWindows() (bool, error) {
	text, err := os.ReadFile(filepath.Join(cluster.Root(), "conf", "causeway.toml"))
	return strings.Contains(string(text), "recovery_window"), err
}
