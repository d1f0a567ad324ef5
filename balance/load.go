package balance

import "time"

// leastInFlight returns the index of the candidate with the fewest commands in
// flight for its weight. Equals take turns, so an idle cluster does not send
// every read to its first replica. The equals end up in front of cands.
func leastInFlight(cands []candidate, seq uint64) int {
	least := cands[0]
	for i := range cands {
		if lighter(&cands[i], &least) {
			least = cands[i]
		}
	}
	equals := cands[:0]
	for _, c := range cands {
		if !lighter(&least, &c) {
			equals = append(equals, c)
		}
	}
	return turn(equals, seq)
}

// lighter compares in-flight over weight by cross multiplication.
func lighter(a, b *candidate) bool { return a.inFlight*b.weight < b.inFlight*a.weight }

// tolerance is how much dearer a replica may be before Latency leaves it for
// another. Two healthy replicas always differ by some noise; without it the
// one that is 1 % faster would get nearly every read.
const tolerance = 1.25

// fasterOfTwo takes the candidate whose turn it is and another one at random,
// and returns the index of the second only if it is clearly cheaper. Looking at
// two instead of all keeps many proxies, which all see the same numbers a
// little late, from rushing to the same replica (Mitzenmacher: The Power of Two
// Choices in Randomized Load Balancing, 2001).
func fasterOfTwo(cands []candidate, seq uint64, now time.Time) int {
	first := turn(cands, seq)
	second := int(below(mix(seq), uint64(len(cands)-1)))
	if second >= first {
		second++
	}
	var total int64
	for i := range cands {
		total += cands[i].weight
	}
	mean := float64(total) / float64(len(cands))
	// One that is to carry less must not be rushed to because it has little to do.
	if cands[second].part == whole && cost(&cands[second], mean, now)*tolerance < cost(&cands[first], mean, now) {
		return second
	}
	return first
}

// cost is the answer time to expect: the present one, times the commands that
// would then be in flight, a replica of twice the mean weight carrying twice as
// many. The turns already honour the weights, so an idle heavy replica is not
// cheaper than an idle light one.
func cost(c *candidate, meanWeight float64, now time.Time) float64 {
	load := 1 + float64(c.inFlight)*meanWeight/float64(c.weight)
	ewma := ExpectedLatency(c.node.Live, now)
	if ewma == 0 && c.inFlight > 0 {
		// Nothing known and the first answer still out: do not pile up on it.
		ewma = errorPenalty
	}
	return float64(ewma) * load
}
