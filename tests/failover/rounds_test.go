package failover

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// maxResume is what the median of the rounds may take from a server's becoming
// writable to the first write there.
const maxResume = 2 * time.Second

// times is how often each change is made.
func times(t *testing.T) int {
	n, err := strconv.Atoi(os.Getenv("CAUSEWAY_FAILOVER_TIMES"))
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// outcome is what one round of a change has shown.
type outcome struct {
	note                               string // what was special about it
	resumed                            time.Duration
	acked, reads, stale, missing, lost int
	errs                               map[string]int
}

// rounds makes a change so often and prints a table of what came of it. How soon
// writes went on is judged only where CAUSEWAY_FAILOVER_TIMED=1 says that the
// machine is the test's own.
func rounds(t *testing.T, change func(t *testing.T, round int) outcome) {
	var all []outcome
	for i := range times(t) {
		ok := t.Run(fmt.Sprint("round", i+1), func(t *testing.T) { all = append(all, change(t, i)) })
		if !ok {
			break // what it left behind would fail the next one
		}
	}
	t.Log("\n" + table(all))
	if len(all) == 0 {
		return
	}
	took := make([]time.Duration, len(all))
	for i, o := range all {
		took[i] = o.resumed
	}
	slices.Sort(took)
	median := took[len(took)/2]
	t.Logf("a write was acknowledged %v (median) and %v (longest) after the new source was writable", median.Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond))
	if os.Getenv("CAUSEWAY_FAILOVER_TIMED") == "1" && median > maxResume {
		t.Errorf("writes went on %v after the server was writable, in the median of %d rounds", median, len(took))
	}
}

func table(all []outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%5s %10s %8s %8s %6s %8s %6s %7s  %s\n", "round", "resumed", "acked", "reads", "stale", "missing", "lost", "errors", "")
	for i, o := range all {
		n := 0
		for _, c := range o.errs {
			n += c
		}
		fmt.Fprintf(&b, "%5d %10v %8d %8d %6d %8d %6d %7d  %s\n", i+1, o.resumed.Round(time.Millisecond), o.acked, o.reads, o.stale, o.missing, o.lost, n, o.note)
	}
	return b.String()
}

// again does without load, and without a table.
func again(t *testing.T, change func(t *testing.T)) {
	for i := range times(t) {
		if !t.Run(fmt.Sprint("round", i+1), change) {
			return
		}
	}
}
