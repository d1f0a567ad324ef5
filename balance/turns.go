package balance

// golden is 2^64 divided by the golden ratio.
const golden = 0x9e3779b97f4a7c15

// turn returns the index of the candidate whose turn seq is.
//
// Turns come in rounds as long as the weights together, in each of which every
// candidate has exactly its weight. Where a round starts moves from round to
// round, because which replicas are eligible can itself have a rhythm: if every
// second read needs a token that only one replica covers, the other reads have
// only even numbers, and "seq modulo 2" would send all of them to one replica
// of two. The starts follow multiples of the golden ratio, which spread evenly
// over any regular selection of rounds (Weyl's theorem).
func turn(cands []candidate, seq uint64) int {
	length, equal := int64(0), true
	for i := range cands {
		length += cands[i].weight
		equal = equal && cands[i].weight == cands[0].weight
	}
	if equal {
		return int(slot(seq, uint64(len(cands))))
	}
	return weightedTurn(cands, length, int64(slot(seq, uint64(length))))
}

// slot returns the place of seq in its round of n.
func slot(seq, n uint64) uint64 {
	start := below(seq/n*golden, n)
	return (seq%n + start) % n
}

// weightedTurn returns the index of the candidate that has place k in a round.
//
// Candidate i of n wants its j-th turn at the moment (j + (i+1/2)/n) / weight,
// the round being the moments 0 to 1: evenly spread, and shifted so that equal
// weights do not want the same moments. The round is all turns in the order of
// these moments. For place k it is enough to count the turns up to a moment a
// little before k/length, and to go on one by one from there: n*n small steps,
// whatever the weights.
func weightedTurn(cands []candidate, length, k int64) int {
	n := int64(len(cands))
	// At moment m the turns due are at most m*length + n/2 (each candidate's
	// share rounded up from its shift), so at k-n none after place k is counted.
	before, taken := max(0, k-n), int64(0)
	for i := range cands {
		c := &cands[i]
		// its turns j with (2nj + 2i+1) * length <= 2n * weight * before
		c.turns = (2*n*c.weight*before/length + 2*n - (2*int64(i) + 1)) / (2 * n)
		taken += c.turns
	}
	for ; ; taken++ {
		next := 0
		for i := 1; i < len(cands); i++ {
			if wants(cands, i)*cands[next].weight < wants(cands, next)*cands[i].weight {
				next = i
			}
		}
		if taken == k {
			return next
		}
		cands[next].turns++
	}
}

// wants returns candidate i's next moment times its weight times 2n.
func wants(cands []candidate, i int) int64 {
	return 2*int64(len(cands))*cands[i].turns + 2*int64(i) + 1
}
