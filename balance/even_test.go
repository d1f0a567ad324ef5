package balance

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/backend"
)

// Each round holds every eligible replica exactly as often as its weight.
func TestEveryRoundIsExact(t *testing.T) {
	for _, weights := range [][]int{{1}, {1, 1}, {5, 5, 5}, {1, 1, 1, 1, 1}, {5, 1, 1}, {1, 2}, {7, 3, 2}, {100, 1}, {97, 89, 3}, {1, 1000, 10}} {
		nodes, length := replicas(weights...), 0
		for _, w := range weights {
			length += w
		}
		for round := range 50 {
			got := shares(RoundRobin, nodes, Need{Now: now}, uint64(round*length), 1, length)
			for i, w := range weights {
				if got[nodes[i].Addr] != w {
					t.Fatalf("weights %v, round %d: %v", weights, round, got)
				}
			}
		}
	}
}

// Within a round the turns of a replica are spread, not in one lump.
func TestRoundsAreSmooth(t *testing.T) {
	for _, weights := range [][]int{{1, 1}, {5, 1, 1}, {5, 3, 2}, {10, 10, 20}, {97, 89, 3}} {
		nodes, length := replicas(weights...), 0
		for _, w := range weights {
			length += w
		}
		counts := make(map[string]float64)
		for k := range length { // the first round: it starts at place 0
			n, _ := Pick(RoundRobin, nodes, Need{Now: now}, uint64(k))
			counts[n.Addr]++
			for i, w := range weights {
				due := float64(k+1) * float64(w) / float64(length)
				if off := counts[nodes[i].Addr] - due; off > 2 || off < -2 {
					t.Fatalf("weights %v: after %d picks %s is %.1f turns off", weights, k+1, nodes[i].Addr, off)
				}
			}
		}
	}
}

// A rhythm in the sequence numbers, as when every second read may go to one
// replica only, must not favour one of those eligible for the others.
func TestNoResonance(t *testing.T) {
	for _, p := range []Policy{RoundRobin, LeastInFlight, Latency} { // Weighted has no rhythm
		for _, weights := range [][]int{{1, 1}, {1, 1, 1}, {1, 1, 1, 1, 1}} {
			for step := uint64(1); step <= 10; step++ {
				const picks = 12000
				want := picks / float64(len(weights))
				for name, n := range shares(p, replicas(weights...), Need{Now: now}, 5, step, picks) {
					if !even(n, want) {
						t.Errorf("%s, %d replicas, every %d. number: %s got %d of %d", p, len(weights), step, name, n, picks)
					}
				}
			}
		}
	}
}

// Evenness among the eligible while a third replica comes and goes.
func TestEvenAmongTheEligible(t *testing.T) {
	for _, p := range policies {
		nodes := replicas(1, 1, 1)
		nodes[2].Position = upTo(5)
		all, some := map[string]int{}, map[string]int{}
		for seq := range uint64(60000) {
			if seq%2 == 0 {
				n, _ := Pick(p, nodes, Need{Now: now, Token: upTo(9)}, seq)
				some[n.Addr]++
				continue
			}
			n, _ := Pick(p, nodes, Need{Now: now}, seq)
			all[n.Addr]++
		}
		for _, n := range nodes {
			if !even(all[n.Addr], 10000) {
				t.Errorf("%s: of the reads for all: %v", p, all)
			}
		}
		if !even(some["a"], 15000) || !even(some["b"], 15000) || some["c"] != 0 {
			t.Errorf("%s: of the reads for two: %v", p, some)
		}
	}
}

// Within 3 % under 32 threads for equal weights.
func TestEvenUnder32Goroutines(t *testing.T) {
	for _, p := range policies {
		for _, size := range []int{2, 3} {
			nodes := replicas([]int{1, 1, 1}[:size]...)
			const rounds = 500
			hammer(p, nodes, rounds)
			for _, n := range nodes {
				if got := int(n.Live.Picks.Load()); !even(got, 32*rounds/float64(size)) {
					t.Errorf("%s, %d replicas: %s got %d of %d", p, size, n.Addr, got, 32*rounds)
				}
			}
		}
	}
}

// hammer lets 32 goroutines pick at once, each holding its read until all of
// the round have theirs: so a goroutine that the machine delays does not look
// like a slow replica.
func hammer(p Policy, nodes []*backend.Node, rounds int) {
	var seq atomic.Uint64
	for round := range rounds {
		moment := now.Add(time.Duration(round) * time.Millisecond)
		var picked, done sync.WaitGroup
		picked.Add(32)
		for range 32 {
			done.Go(func() {
				at := seq.Add(1) - 1
				n, _ := Pick(p, nodes, Need{AnyLive: true, Now: moment}, at)
				n.Live.InFlight.Add(1)
				n.Live.Picks.Add(1)
				picked.Done()
				picked.Wait()
				noise := time.Duration(mix(at)%200) * time.Microsecond
				Observe(n.Live, time.Millisecond+noise, false, moment)
				n.Live.InFlight.Add(-1)
			})
		}
		done.Wait()
	}
}

// The same by simulation, where the answer times differ at random and nothing
// depends on the machine: 32 sessions read one after the other.
func TestEvenWithRandomAnswerTimes(t *testing.T) {
	for _, p := range policies {
		for _, size := range []int{2, 3} {
			nodes := replicas([]int{1, 1, 1}[:size]...)
			const reads = 20000
			simulate(p, nodes, 32, reads)
			for _, n := range nodes {
				if got := int(n.Live.Picks.Load()); !even(got, reads/float64(size)) {
					t.Errorf("%s, %d replicas: %s got %d of %d", p, size, n.Addr, got, reads)
				}
			}
		}
	}
}

// simulate runs sessions in virtual time until so many reads were picked.
func simulate(p Policy, nodes []*backend.Node, sessions, reads int) {
	type session struct {
		free time.Time // when its read is answered
		took time.Duration
		node *backend.Node
	}
	r := rand.New(rand.NewPCG(5, 6))
	all := make([]session, sessions)
	for seq := range uint64(reads) {
		s := &all[0]
		for i := range all {
			if all[i].free.Before(s.free) {
				s = &all[i]
			}
		}
		if s.node == nil {
			s.free = now
		} else {
			s.node.Live.InFlight.Add(-1)
			Observe(s.node.Live, s.took, false, s.free)
		}
		s.node, _ = Pick(p, nodes, Need{AnyLive: true, Now: s.free}, seq)
		s.node.Live.InFlight.Add(1)
		s.node.Live.Picks.Add(1)
		s.took = time.Duration(500+r.IntN(1000)) * time.Microsecond
		s.free = s.free.Add(s.took)
	}
}

func TestWeightsChangeWhileRunning(t *testing.T) {
	for _, p := range policies {
		nodes := replicas(1, 1)
		before := shares(p, nodes, Need{Now: now}, 0, 1, 30000)
		nodes[0].Live.Weight.Store(3)
		heavier := shares(p, nodes, Need{Now: now}, 30000, 1, 40000)
		nodes[0].Live.Weight.Store(-1)
		drained := shares(p, nodes, Need{Now: now}, 70000, 1, 1000)
		nodes[0].Live.Weight.Store(0)
		after := shares(p, nodes, Need{Now: now}, 71000, 1, 30000)
		if !even(before["a"], 15000) || !even(heavier["a"], 30000) || drained["a"] != 0 || !even(after["a"], 15000) {
			t.Errorf("%s: %v, weight 3: %v, drained: %v, as configured: %v", p, before, heavier, drained, after)
		}
	}
}

func TestHugeWeights(t *testing.T) {
	nodes := replicas(1<<40, 1<<20, 1<<19)
	for _, p := range policies {
		got := shares(p, nodes, Need{Now: now}, 1<<63, 1, 50000)
		if !even(got["a"], 20000) || !even(got["b"], 20000) || !even(got["c"], 10000) {
			t.Errorf("%s: %v", p, got)
		}
	}
}
