package replicamon

import (
	"time"

	"causeway/backend"
)

// clockFor is how long the best look at a node's clock is kept before a worse
// one takes its place: clocks drift, and are set.
const clockFor = 5 * time.Second

// clock is a node's clock by one answer: the server looked at it somewhere
// between the question and the answer, so the middle is wrong by half the round
// trip at most.
type clock struct {
	at     time.Time // zero: none yet
	offset time.Duration
	err    time.Duration
}

// seen takes another answer in. Of those of the last seconds the quickest is
// the most exact, and it is kept, unless another proves that the clock was set.
func (c clock) seen(p position) clock {
	if p.clock.IsZero() {
		return c
	}
	half := p.answered.Sub(p.asked) / 2
	// Round strips the monotonic reading: it is the wall clocks that are compared.
	n := clock{at: p.answered, err: half, offset: p.clock.Sub(p.asked.Add(half).Round(0))}
	if c.at.IsZero() || n.err <= c.err || p.answered.Sub(c.at) > clockFor || !c.agrees(n) {
		return n
	}
	return c
}

// agrees tells whether both can be true.
func (c clock) agrees(o clock) bool { return (c.offset - o.offset).Abs() <= c.err+o.err }

func (c clock) picture() backend.Clock {
	return backend.Clock{Known: !c.at.IsZero(), Offset: c.offset, Error: c.err}
}

// shiftOf is how far node n's clock is ahead of the source's, as far as both are
// known.
func (s *state) shiftOf(n *node) (ahead time.Duration, known bool) {
	if s.source < 0 {
		return 0, false
	}
	src := s.nodes[s.source].clock
	if n.clock.at.IsZero() || src.at.IsZero() {
		return 0, false
	}
	return n.clock.offset - src.offset, true
}
