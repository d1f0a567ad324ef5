package replicamon

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"causeway/backend"
)

// A source that is lost has no position that a replica could be behind of.
func TestNoLagBehindALostSource(t *testing.T) {
	now := time.Now()
	n := &backend.Node{Addr: "b", Lag: backend.Lag{SampledAt: now, SourceAt: now, OldAfter: time.Second}}
	if emits(n, now, descPosLag) != 1 || emits(n, now, descTransport) != 1 {
		t.Error("no lag by position although the source's is known")
	}
	n.Lag.SourceAt = now.Add(-2 * time.Second)
	if emits(n, now, descPosLag) != 0 || emits(n, now, descTransport) != 0 || emits(n, now, descBusy) != 1 {
		t.Error("the lag by an old position, as if it were so now")
	}
}

// emits counts the metrics of a replica that have a description.
func emits(n *backend.Node, now time.Time, d *prometheus.Desc) (count int) {
	ch := make(chan prometheus.Metric, 50)
	emitter{ch}.replica(n, now)
	close(ch)
	for m := range ch {
		if m.Desc() == d {
			count++
		}
	}
	return count
}
