package tokens

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/rig"
	"causeway/tests/session/raw"
)

const (
	floodClients = 16
	floodRate    = 1000 // bad tokens a second, all clients together
)

// TestFlood: who hands in bad tokens, a thousand a second, changes nothing for others.
// What a reader's answers took before, during and after is told; it is judged, with the
// memory, in a long run (CAUSEWAY_TESTS=long), which has the machine to itself.
func TestFlood(t *testing.T) {
	lay(t)
	cw := cluster.StartCauseway(t, shared, "")
	uuid, err := shared.Source().Value(t.Context(), "SELECT @@server_uuid")
	check.Must(t, err)
	span := 2 * time.Second
	if cluster.Long() {
		span = 30 * time.Second
	}
	honest := dial(t, cw.Addr, nil)
	calm := reading(t, honest, span/2)
	ctx, stop := context.WithCancel(t.Context())
	tokens := bad(uuid)
	for i := range tokens { // a hundred times a MB a second would measure what the machine copies
		tokens[i] = tokens[i][:min(len(tokens[i]), 64<<10)]
	}
	sent := flood(ctx, t, cw, tokens)
	flooded := reading(t, honest, span/4)
	memory, err := rig.RSS(cw.Pid) // all have their buffers by now
	check.Must(t, err)
	flooded = append(flooded, reading(t, honest, span)...)
	stop()
	n := sent()
	calm = append(calm, reading(t, honest, span/2)...)
	grown, err := rig.RSS(cw.Pid)
	check.Must(t, err)
	grown -= memory
	t.Logf("%d bad tokens in %v; a reader's p50 and p95 without them %v, %v, with them %v, %v; memory grew by %d KB",
		n, span, quantile(calm, .5), quantile(calm, .95), quantile(flooded, .5), quantile(flooded, .95), grown>>10)
	if n == 0 {
		t.Error("no bad token was sent")
	}
	if !cluster.Long() {
		return
	}
	if quantile(flooded, .5) > 2*quantile(calm, .5) || quantile(flooded, .95) > 3*quantile(calm, .95) {
		t.Error("the reader was slowed down")
	}
	if grown > 16<<20 {
		t.Error("the memory grew")
	}
}

// flood sends bad tokens until ctx ends; the function that it returns waits for that
// and tells how many were sent.
func flood(ctx context.Context, t *testing.T, cw *cluster.Causeway, tokens []string) func() int64 {
	var sent atomic.Int64
	var wg sync.WaitGroup
	texts := make([]string, len(tokens)) // made once: the clients share the machine with Causeway
	for i, token := range tokens {
		texts[i] = "SELECT v FROM r /*causeway_token='" + token + "'*/"
	}
	for i := range floodClients {
		c := dial(t, cw.Addr, nil)
		wg.Go(func() {
			tick := time.NewTicker(time.Second * floodClients / floodRate)
			defer tick.Stop()
			for n := i; ctx.Err() == nil; n++ {
				<-tick.C
				if a, err := c.Query(texts[n%len(texts)]); err != nil || a.Err() == nil {
					t.Errorf("%.60s was taken: %v", tokens[n%len(tokens)], err)
					return
				}
				sent.Add(1)
			}
		})
	}
	return func() int64 {
		wg.Wait()
		return sent.Load()
	}
}

// reading is how long each read of one client took.
func reading(t *testing.T, c *raw.Client, span time.Duration) []time.Duration {
	t.Helper()
	var took []time.Duration
	for end := time.Now().Add(span); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		start := time.Now()
		raw.Query(t, c, "SELECT v FROM r WHERE id = 1")
		took = append(took, time.Since(start))
	}
	return took
}

func quantile(list []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[int(q*float64(len(sorted)-1))].Round(10 * time.Microsecond)
}
