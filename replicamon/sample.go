package replicamon

import (
	"cmp"
	"slices"
	"time"

	"causeway/backend"
)

// lagRules are the options that lag is judged by.
type lagRules struct {
	window   time.Duration
	oldAfter time.Duration // a sample of that age tells nothing of the present
	recovery recovery
	limits   []LagLimit
}

// takeLag takes a new status of node i into its window and judges it by every
// limit. A gap before it that was too long is an unknown sample of its own.
func (s *state) takeLag(i int) {
	n, rules := s.nodes[i], s.rules.lag // edited by the caller
	if !s.counts(i) {
		return // what it does before it is a replica of ours is not its lag
	}
	if i == s.source || !n.status.isReplica() {
		n.window, n.limits = nil, make([]limitState, len(rules.limits))
	} else {
		s.noteGap(n, n.status.asked)
		s.noteLink(n)
		s.addSample(n, s.lagSample(n))
	}
	n.showLag(n.status.asked, rules)
}

// showLag brings what the View tells of the window and the limits up to date.
// It is computed here, twice a second, and not with each picture of the node.
func (n *node) showLag(now time.Time, rules *lagRules) {
	n.apply = n.window.quantiles(time.Time{}, applyOf)
	n.shown = make([]backend.Limit, len(n.limits))
	for k, l := range n.limits {
		n.shown[k] = l.shown(rules.limits[k].Name, now, rules.recovery)
	}
}

// addSample lets every limit see the sample.
func (s *state) addSample(n *node, sample lagSample) {
	rules := s.rules.lag
	n.window = n.window.add(sample, rules.window)
	judged := make([]limitState, len(rules.limits))
	copy(judged, n.limits)
	for k := range judged {
		judged[k] = judged[k].next(rules.limits[k].of(n.site), n.window, rules.recovery)
	}
	n.limits = judged
}

// noteGap adds an unknown sample if the newest one is too old by now.
func (s *state) noteGap(n *node, now time.Time) (noted bool) {
	last := n.window.last()
	if last.at.IsZero() || now.Sub(last.at) <= s.rules.lag.oldAfter {
		return false
	}
	s.addSample(n, lagSample{at: now.Add(-1), apply: -1, judged: -1, why: "its newest sample was too old"})
	return true
}

// silent is called when a status probe of node i got no answer.
func (s *state) silent(i int, now time.Time) {
	n := s.nodes[i] // edited by the caller
	if len(n.window) == 0 || !s.noteGap(n, now) {
		return
	}
	n.showLag(now, s.rules.lag)
}

// lagSample measures node n as of its newest status.
func (s *state) lagSample(n *node) lagSample {
	st := n.status
	sample := lagSample{at: st.asked, apply: -1, judged: -1}
	applier, receiver := st.unsteady()
	lost := s.sourceLost()
	sample.held = lost && !n.joining
	switch {
	case !lost && s.waitsForSource(st), lost && st.halted(): // it is about to be led to the new source, and its threads stop for that
		applier, receiver, sample.blind = "", "", true
	case receiver != "" && (lost || s.reconnects(n)):
		sample.held = sample.held || !n.joining && !n.link.lost && s.unanswered(n)
		receiver, sample.blind = "", true // what it cannot receive is not its fault
	}
	if sample.why = cmp.Or(applier, receiver); sample.why != "" {
		sample.blind, sample.held = false, false
		return sample
	}
	switch {
	case sample.blind, n.joining, !s.history.known, st.asked.Sub(s.history.latest.asked) > s.rules.lag.oldAfter:
		sample.blind = true
	case s.gtids == gtidsOff:
		if sample.apply = n.ownLag(); sample.apply < 0 {
			sample.why = "Seconds_Behind_Source is NULL"
		}
		sample.judged = sample.apply
	case n.posLag < 0:
		sample.why = "it is further behind than is remembered of the source"
	case n.transport < 0:
		sample.why = "what it received is further behind than is remembered of the source"
	default:
		if sample.apply = n.lag().Apply; sample.apply < 0 {
			sample.apply = n.posLag
		}
		// The position needs no host's clock, and bounds what the timestamps say.
		sample.judged = max(min(sample.apply, n.posLag), n.transport)
	}
	return sample
}

// sourceLost tells whether there is no source now that answers.
func (s *state) sourceLost() bool { return s.source < 0 || !s.nodes[s.source].up }

// waitsForSource tells of a replica none of whose channels has reached the source, directly
// or over another replica: it still follows one that was the source.
func (s *state) waitsForSource(st *status) bool {
	for _, c := range st.channels {
		if c.sourceUUID == "" {
			continue
		}
		j := s.byUUID(c.sourceUUID)
		if j < 0 || j == s.source || s.nodes[j].up && s.nodes[j].status != nil && s.nodes[j].status.isReplica() {
			return false
		}
	}
	return true
}

// retryWithin is how long a receiver may take to notice that its source is back: it tries
// again every 60 s, if nothing else was set.
const retryWithin = 90 * time.Second

// link is what the statuses of a life told of the receiver.
type link struct {
	ran  bool      // it ran at last, or had no source to connect to
	lost bool      // the latter
	cut  time.Time // when it was first seen to do neither after that
}

// noteLink takes in what the newest status shows of the link.
func (s *state) noteLink(n *node) {
	_, receiver := n.status.unsteady()
	switch {
	case receiver == "":
		n.link = link{ran: true}
	case s.sourceLost():
		n.link = link{ran: true, lost: true}
	case n.link.cut.IsZero():
		n.link.cut = n.status.asked
	}
}

// reconnects tells of a replica whose receiver connects, as far as is known, because its
// source was lost: that is not noticed yet, or is over while the receiver has not tried again.
func (s *state) reconnects(n *node) bool {
	switch {
	case !n.link.ran || !n.status.connecting():
		return false
	case s.unanswered(n):
		return true
	}
	return n.link.lost && n.status.asked.Sub(n.link.cut) < retryWithin
}

// unanswered tells whether the source has said nothing since the replica lost it: the
// replica may have noticed first.
func (s *state) unanswered(n *node) bool { return !s.history.latest.asked.After(n.link.cut) }

// connecting tells whether each receiver runs, or would if its source let it.
func (st *status) connecting() bool {
	return !slices.ContainsFunc(st.channels, func(c channel) bool { return c.io != "Yes" && c.io != "Connecting" })
}

// halted tells whether no thread runs, as between STOP REPLICA and START REPLICA.
func (st *status) halted() bool {
	return !slices.ContainsFunc(st.channels, func(c channel) bool { return c.io != "No" || c.sql != "No" })
}

// unsteady says which replication threads do not run; "" if they do.
func (st *status) unsteady() (applier, receiver string) {
	for _, c := range st.channels {
		if c.sql != "Yes" {
			applier = "the applier is stopped"
		}
		switch {
		case c.io == "Connecting":
			receiver = "the receiver is connecting"
		case c.io != "Yes":
			receiver = "the receiver is stopped"
		}
	}
	return applier, receiver
}

// distrust makes a node that begins another life show again under each limit that
// it keeps up; it joins with its caches cold, so slowly.
func (n *node) distrust() {
	limits := slices.Clone(n.limits)
	for k, l := range limits {
		if l.phase == limitServing {
			limits[k] = limitState{cold: true}
		}
	}
	n.window, n.limits = nil, limits
	n.showLag(time.Time{}, n.rules)
}
