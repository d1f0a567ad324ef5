package balance

import (
	"math/bits"

	"causeway/backend"
)

// maxWeight keeps the arithmetic of turns far from overflow; greater weights
// count as this.
const maxWeight = 1 << 20

// candidate is an eligible replica with its changing numbers read once, so one
// choice does not see two values of the same number.
type candidate struct {
	node     *backend.Node
	weight   int64 // >= 1
	inFlight int64
	turns    int64 // scratch of weightedTurn
}

// Pick chooses the replica for a read among nodes, which is usually the View's
// Replicas. It returns Eligible with the node, or nil with the reason of the
// candidate that came nearest to being eligible.
//
// seq is the number of the choice, one greater for each: a counter shared by
// all sessions. It stands in for both the turn and the dice.
//
// A replica's weight is Live.Weight if that is not zero, else Node.Weight.
// Weight 0, or a negative Live.Weight, means: only if no other is eligible.
//
//	replicas (weight)   eligible   policy           seq 0, 1, 2, ...
//	a(1) b(1)           a b        round_robin      each once in every two
//	a(1) b(1) c(1)      a c        round_robin      a and c each once in every two
//	a(2) b(1)           a b        round_robin      a twice, b once in every three
//	a(1) b(0)           a b        any              a
//	a(1) b(0)           b          any              b
//	a(1) b(1)           none       any              nil
func Pick(p Policy, nodes []*backend.Node, need Need, seq uint64) (*backend.Node, Reason) {
	var buf [16]candidate // append moves to the heap only beyond it
	cands, nearest := eligible(buf[:0], nodes, &need)
	switch {
	case len(cands) == 0:
		return nil, nearest
	case len(cands) == 1:
		return cands[0].node, Eligible
	}
	var i int
	switch p {
	case Weighted:
		i = drawn(cands, seq)
	case LeastInFlight:
		i = leastInFlight(cands, seq)
	case Latency:
		i = fasterOfTwo(cands, seq, need.Now)
	default:
		i = turn(cands, seq)
	}
	return cands[i].node, Eligible
}

// eligible appends the candidates to buf; without any, the nearest miss tells why.
func eligible(buf []candidate, nodes []*backend.Node, need *Need) ([]candidate, Reason) {
	nearest, weighted := NoReplica, false
	for _, n := range nodes {
		if r := check(n, need); r != Eligible {
			nearest = max(nearest, r)
			continue
		}
		w := weight(n)
		switch {
		case w > 0 && !weighted:
			weighted, buf = true, buf[:0] // those before had weight 0
		case w == 0 && weighted:
			continue
		}
		c := candidate{node: n, weight: max(w, 1)} // all 0: they are equal
		if n.Live != nil {
			c.inFlight = max(0, n.Live.InFlight.Load())
		}
		buf = append(buf, c)
	}
	return buf, nearest
}

// weight returns the node's weight now, 0 to maxWeight.
func weight(n *backend.Node) int64 {
	return min(max(int64(n.CurrentWeight()), 0), maxWeight)
}

// drawn returns the index of a candidate drawn by lot, the weight being the chance.
func drawn(cands []candidate, seq uint64) int {
	var total int64
	for i := range cands {
		total += cands[i].weight
	}
	point := int64(below(mix(seq), uint64(total)))
	for i := range cands {
		if point -= cands[i].weight; point < 0 {
			return i
		}
	}
	panic("BUG: weights changed during a draw")
}

// mix turns a counter into evenly spread bits: the finaliser of SplitMix64
// (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
func mix(x uint64) uint64 {
	x += golden
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below maps evenly spread bits to 0 <= result < n without division.
func below(x, n uint64) uint64 {
	hi, _ := bits.Mul64(x, n)
	return hi
}
