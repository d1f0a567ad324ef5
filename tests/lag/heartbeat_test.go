package lag

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
)

// interval is how often the monitor asks for positions, by default.
const interval = 100 * time.Millisecond

// heart is a row on the source that tells when it was written, by the test's
// own monotonic clock.
type heart struct{ start time.Time }

func beat(ctx context.Context, t *testing.T) heart {
	t.Helper()
	lay(ctx, t, "CREATE TABLE lagtest.heart (id INT PRIMARY KEY, at BIGINT)", "INSERT INTO lagtest.heart VALUES (1, 0)")
	h := heart{time.Now()}
	every(ctx, t, 20*time.Millisecond, func() error {
		return shared.Source().Exec(ctx, "UPDATE lagtest.heart SET at = ? WHERE id = 1", time.Since(h.start).Microseconds())
	})
	return h
}

// age is how old the row is that the node has.
func (h heart) age(ctx context.Context, n *cluster.Node) (time.Duration, error) {
	asked, at := time.Since(h.start), int64(0)
	err := n.DB.QueryRowContext(ctx, "SELECT at FROM lagtest.heart WHERE id = 1").Scan(&at)
	return (asked+time.Since(h.start))/2 - time.Duration(at)*time.Microsecond, err
}

// pair is both measures of the same moment.
type pair struct{ row, position time.Duration }

// TestHeartbeat compares the lag by position, as SHOW CAUSEWAY SERVERS shows
// it, with the age of a heartbeat row at the same moments. The medians must be
// within two sampling intervals of each other.
func TestHeartbeat(t *testing.T) {
	shared.HealAfter(t)
	ctx := limited(t)
	n := shared.Replica(1)
	h := beat(ctx, t)
	m := watch(ctx, t, nil)
	look := func() (p pair) {
		var err error
		p.row, err = h.age(ctx, n)
		check.Must(t, err)
		p.position = node(m, n).Lag.Position
		return p
	}
	t.Logf("%-10s %12s %12s %12s %8s", "lag", "heartbeat", "by position", "difference", "looks")
	for _, tt := range []struct {
		name  string
		stage func(look func() pair) []pair
	}{
		{"0", func(look func() pair) []pair { return looks(look) }},
		{"0.2 s", func(look func() pair) []pair { return pauses(ctx, t, n, h, 180*time.Millisecond, look) }},
		{"1 s", func(look func() pair) []pair { return pauses(ctx, t, n, h, 950*time.Millisecond, look) }},
		{"5 s", delayedLooks(ctx, t, n, 5)},
	} {
		pairs := tt.stage(look)
		row := median(pairs, func(p pair) time.Duration { return p.row })
		position := median(pairs, func(p pair) time.Duration { return p.position })
		differ := median(pairs, func(p pair) time.Duration { return p.position - p.row })
		t.Logf("%-10s %12s %12s %12s %8d", tt.name, ms(row), ms(position), ms(differ), len(pairs))
		if differ.Abs() > 2*interval {
			t.Errorf("%s: the lag by position is %s off the heartbeat's age", tt.name, ms(differ))
		}
	}
}

// looks takes 60 of them over about 3 s.
func looks(look func() pair) (out []pair) {
	for range 60 {
		time.Sleep(50 * time.Millisecond)
		out = append(out, look())
	}
	return out
}

// delayedLooks looks while the applier is so many seconds behind.
func delayedLooks(ctx context.Context, t *testing.T, n *cluster.Node, seconds int) func(func() pair) []pair {
	return func(look func() pair) []pair {
		check.Must(t, n.Lag(ctx, seconds))
		lag := time.Duration(seconds) * time.Second
		until(ctx, t, fmt.Sprintf("%v behind", lag), func() bool { p := look(); return p.row > lag/2 && p.position > lag/2 })
		time.Sleep(time.Second) // until the first held back ones are applied: only steadier, not needed
		out := looks(look)
		check.Must(t, n.Lag(ctx, 0))
		check.Must(t, shared.WaitCaughtUp(ctx))
		return out
	}
}

// pauses stops the applier again and again, and looks when the row is so old:
// SOURCE_DELAY knows only whole seconds, and gives one more than it says.
func pauses(ctx context.Context, t *testing.T, n *cluster.Node, h heart, old time.Duration, look func() pair) (out []pair) {
	for range 20 {
		check.Must(t, n.Pause(ctx))
		until(ctx, t, "old enough", func() bool {
			age, err := h.age(ctx, n)
			check.Must(t, err)
			return age >= old
		})
		out = append(out, look())
		check.Must(t, n.Resume(ctx))
		until(ctx, t, "caught up", func() bool { p := look(); return p.row < 120*time.Millisecond })
	}
	return out
}

func median(pairs []pair, of func(pair) time.Duration) time.Duration {
	values := make([]time.Duration, len(pairs))
	for i, p := range pairs {
		values[i] = of(p)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func ms(d time.Duration) string { return d.Round(time.Millisecond).String() }
