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
	weight   int64 // >= 1, times part where a part is not whole
	part     int64 // of its weight that it may carry, in parts of whole
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
// Weight 0, or a negative Live.Weight, means: only if no other is eligible. One
// that comes back slowly after an exclusion has a part of its weight, and one
// whose answers are slow by Node.Slow half of it.
//
// Replicas of another zone (Node.Far) are eligible only if none of Causeway's own is.
//
// A read with a token may go to a replica that covers it but is over the lag
// limit, if none within the limit covers it. (See Need.Limit.)
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
	nearest, best, parts := NoReplica, unranked, false
	for _, n := range nodes {
		r := check(n, need)
		k := rankOf(n, r, need)
		switch {
		case k == unranked:
			nearest = max(nearest, r)
			continue
		case k > best:
			best, buf, parts = k, buf[:0], false // those before were worse
		case k < best:
			continue
		}
		c := candidate{node: n, weight: max(weight(n), 1), part: part(n, need)} // all 0: they are equal
		if n.Live != nil {
			c.inFlight = max(0, n.Live.InFlight.Load())
		}
		parts = parts || c.part != whole
		buf = append(buf, c)
	}
	if parts {
		takeParts(buf)
	}
	return buf, nearest
}

// The ranks of candidates: only those of the best rank there is are picked from.
// Within each, replicas of Causeway's own zone come before those of others.
const (
	unranked      = 2 * iota
	overWeight0   // over its lag limit, but covering the token
	over          // the same with a weight
	withinWeight0 // within its limit, and serves if no other can
	within
)

func rankOf(n *backend.Node, r Reason, need *Need) int {
	rank := unranked
	switch {
	case r == Eligible:
		rank = withinWeight0
	case r == OverLimit && need.proved():
		rank = overWeight0
	default:
		return unranked
	}
	if weight(n) > 0 {
		rank += over - overWeight0
	}
	if !n.Far {
		rank++
	}
	return rank
}

// whole is the part of its weight that a replica carries usually. The least
// part of a slow start is 2 of it, 1 where its answers are slow as well.
const whole = 20

// part returns how much of its weight n may carry, 1 to whole.
func part(n *backend.Node, need *Need) int64 {
	p := int64(whole)
	if l := limit(n, need); l.Excluded == "" {
		p = p * min(int64(l.Share), 100) / 100
	}
	if n.Slow {
		p /= 2
	}
	return max(p, 1)
}

// takeParts makes the weights what the candidates may carry.
func takeParts(cands []candidate) {
	for i := range cands {
		cands[i].weight = min(cands[i].weight, maxWeight/whole) * cands[i].part
	}
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
