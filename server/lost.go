package server

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"causeway/backend"
	"causeway/gtid"
	"causeway/wire"
)

const (
	maxAckedIntervals = 64   // beyond it the acknowledged set is widened
	maxLostRows       = 1000 // of SHOW CAUSEWAY LOST, the oldest go first
	lostCheckEvery    = 50 * time.Millisecond
)

// acknowledged is the set of all GTIDs that clients were told of, and what of
// it a change of the source has lost.
type acknowledged struct {
	mu   sync.Mutex // guards the fields up to the blank line
	set  gtid.Set
	lost gtid.Set
	rows []loss

	checking sync.Mutex    // one comparison at a time
	checked  atomic.Uint64 // lostKey of the last comparison
	late     atomic.Bool   // something was acknowledged by another server than the source
	version  atomic.Uint64 // grows with lost
	base     atomic.Pointer[sourceBase]
}

// loss is what one change of the source has lost: a row of SHOW CAUSEWAY LOST for each
// interval.
type loss struct {
	set      gtid.Set
	noticed  time.Time
	from, to string
}

// lostKey names a picture of the source that has to be compared once: it grows
// with each promotion, and with each epoch.
func lostKey(v *backend.View) uint64 { return v.Promotion.Seq + v.Epoch }

// sourceBase is what a source had when it was compared: all that is left of what was
// executed under those before it.
type sourceBase struct {
	source uint64 // lostKey
	has    gtid.Set
}

// ack adds what an OK brought to the acknowledged set. With gaps, which others
// filled, it is widened to what the source has executed: too much is kept, never
// too little. The look at the view comes last: a comparison that did not see
// the set is told that it came late.
func (s *Server) ack(set gtid.Set, on *backend.Conn) {
	a := &s.acked
	a.mu.Lock()
	a.set = a.set.Union(set)
	if a.set.Intervals() > maxAckedIntervals {
		a.set = a.set.Widen(s.opts.Monitor.View().SourcePosition, maxAckedIntervals)
	}
	if !a.lost.IsEmpty() {
		a.lost = a.lost.Subtract(set) // its number was given again
	}
	a.mu.Unlock()
	if src := s.opts.Monitor.View().Source; on != nil && (src == nil || src.Addr != on.Node.Addr) {
		a.late.Store(true)
	}
}

// lostKnown tells whether the acknowledged set has been compared with what the
// source has.
func (s *Server) lostKnown(v *backend.View) bool {
	return s.acked.checked.Load() == lostKey(v) && !s.acked.late.Load()
}

// compareLost finds out what was acknowledged and is not on the source, once it
// has applied all that it had received. false: it cannot be told yet.
func (s *Server) compareLost(ctx context.Context) bool {
	a := &s.acked
	if !a.checking.TryLock() {
		return false // somebody is at it; a source that hangs would line all up behind each other
	}
	defer a.checking.Unlock()
	v := s.opts.Monitor.View()
	switch {
	case s.lostKnown(v):
		return true
	case !v.Source.Usable() || !v.Promotion.Settled:
		return false
	}
	late := a.late.Swap(false)
	a.mu.Lock()
	acked := a.set
	a.mu.Unlock()
	// Asked for after the look at the acknowledged set: what the new source
	// itself acknowledged until then is in the answer.
	executed, _, err := s.opts.Monitor.FreshSource(ctx)
	if now := s.opts.Monitor.View(); err != nil || !sameSource(v, now) {
		if late {
			a.late.Store(true)
		}
		return false
	}
	s.noteFound(executed, v)
	if lost := acked.Subtract(executed); !lost.IsEmpty() {
		s.noteLost(lost, v)
	}
	a.base.Store(&sourceBase{lostKey(v), executed})
	a.checked.Store(lostKey(v))
	return true
}

// sameSource tells whether two views have the same life of the same source.
func sameSource(v, w *backend.View) bool {
	return w.Source != nil && v.Source.Addr == w.Source.Addr && v.Source.Incarnation == w.Source.Incarnation && lostKey(v) == lostKey(w)
}

func (s *Server) noteLost(lost gtid.Set, v *backend.View) {
	a := &s.acked
	from := v.Promotion.From
	if from == "" {
		from = v.Source.Addr // it was reset or restored
	}
	a.mu.Lock()
	a.set = a.set.Subtract(lost)
	a.lost = a.lost.Union(lost)
	a.rows = append(a.rows, loss{lost, time.Now(), from, v.Source.Addr})
	a.rows = a.rows[max(0, len(a.rows)-maxLostRows):]
	a.version.Add(1)
	a.mu.Unlock()
	s.metrics.lostWrites.Add(float64(lost.Count()))
	text := lost.Line()
	s.log.Error().Uint64("transactions", lost.Count()).Str("gtids", text[:min(len(text), 500)]).Str("from", from).Str("to", v.Source.Addr).
		Msg("acknowledged writes were lost: the source does not have them; SHOW CAUSEWAY LOST lists them")
}

// noteFound takes back what was lost and is on the source after all, as when an
// operator names the wrong server, and then the right one.
func (s *Server) noteFound(executed gtid.Set, v *backend.View) {
	a := &s.acked
	a.mu.Lock()
	defer a.mu.Unlock()
	found := a.lost.Intersect(executed)
	if found.IsEmpty() {
		return
	}
	a.lost = a.lost.Subtract(found)
	a.set = a.set.Union(found)
	for i := range a.rows {
		a.rows[i].set = a.rows[i].set.Subtract(found)
	}
	a.rows = slices.DeleteFunc(a.rows, func(l loss) bool { return l.set.IsEmpty() })
	text := found.Line()
	s.log.Warn().Uint64("transactions", found.Count()).Str("gtids", text[:min(len(text), 500)]).Str("source", v.Source.Addr).
		Msg("writes that were listed as lost are on this source; they are taken off SHOW CAUSEWAY LOST")
}

// intervalsOf takes a set apart: "uuid:1-3:7" is uuid:1-3 and uuid:7. A tag
// goes with what follows it.
func intervalsOf(set gtid.Set) []string {
	var out []string
	for _, element := range strings.Split(set.Line(), ",") {
		parts := strings.Split(strings.TrimSpace(element), ":")
		name := parts[0]
		for _, part := range parts[1:] {
			if part != "" && (part[0] < '0' || part[0] > '9') {
				name = parts[0] + ":" + part
				continue
			}
			out = append(out, name+":"+part)
		}
	}
	return out
}

// tendLost compares after each change of the source, whether anybody asks or not.
func (s *Server) tendLost(ctx context.Context) {
	tick := time.NewTicker(lostCheckEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if !s.lostKnown(s.opts.Monitor.View()) {
				s.compareLost(ctx)
			}
		}
	}
}

// knowLost comes before a statement runs on the source: what a new source has
// not got of the session's writes must be known by then, or a read there would
// miss them in silence.
func (s *session) knowLost() error {
	if s.token.Set.IsEmpty() && !s.common.reads() || s.homeInTrx() {
		return nil
	}
	deadline := time.Now().Add(s.srv.opts.FailoverWait)
	for !s.srv.lostKnown(s.view()) && !s.srv.compareLost(s.ctx) {
		if time.Now().After(deadline) {
			return wire.NewError(wire.ErrServerIsntAvailable,
				"Causeway: the source has changed, and it is not known yet whether it has this session's writes; try again")
		}
		if err := s.standBy(standByStep); err != nil {
			return err
		}
	}
	return s.tellLostWrites(s.view())
}

// tellLostWrites takes what was lost out of the session's token and of those it
// shares, and says so once if routing.on_lost_write wants it.
func (s *session) tellLostWrites(v *backend.View) error {
	a := &s.srv.acked
	version, void := a.version.Load(), s.token.Void(v.Epoch)
	if s.lostSeen == version && !void && !s.common.reads() {
		return nil
	}
	a.mu.Lock()
	lost := a.lost
	a.mu.Unlock()
	gone := s.forgetLost(lost, v, version)
	if void {
		s.token = gtid.Token{}
		return s.lostError("the source no longer has transactions that it had acknowledged")
	}
	if s.lostSeen != version {
		s.lostSeen = version
		gone = gone.Union(s.token.Set.Intersect(lost))
		s.token.Set = s.token.Set.Subtract(lost)
	}
	if gone.IsEmpty() {
		return nil
	}
	text := gone.Line()
	return s.lostError("the source that took over does not have " + text[:min(len(text), 200)] + "; see SHOW CAUSEWAY LOST")
}

// lostUntold is what of the session's own token was lost, while it was not told so.
func (s *session) lostUntold(v *backend.View) gtid.Set {
	if s.token.Void(v.Epoch) {
		return s.token.Set
	}
	a := &s.srv.acked
	if s.lostSeen == a.version.Load() {
		return gtid.Set{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return s.token.Set.Intersect(a.lost)
}

func (s *session) lostError(why string) error {
	s.srv.metrics.lostTokens.Inc()
	if s.srv.opts.ForgetLostWrites {
		return nil
	}
	return wire.NewError(wire.ErrServerIsntAvailable, "Causeway: writes of this session were lost: %s", why)
}

var lostColumns = textColumns("Gtids", "Noticed", "Old_source", "New_source")

// lostRows are the rows of SHOW CAUSEWAY LOST.
func (s *Server) lostRows() [][]string {
	s.acked.mu.Lock()
	defer s.acked.mu.Unlock()
	rows := make([][]string, 0, len(s.acked.rows))
	for _, l := range s.acked.rows {
		for _, interval := range intervalsOf(l.set) {
			rows = append(rows, []string{interval, l.noticed.UTC().Format(time.RFC3339), l.from, l.to})
		}
	}
	return rows[max(0, len(rows)-maxLostRows):]
}
