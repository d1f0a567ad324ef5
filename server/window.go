package server

import (
	"errors"
	"strings"
	"time"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// Sticky windows: for Options.Sticky after a commit the reads of its scope go to
// the source, which has it, as far as the fallback budget goes. What opens a window
// is what makes the token grow; tokens that are handed in open none. Reads beyond
// the budget go by their token, as without windows.

// windows are the ends of a session's own, as times since the server's start.
type windows struct {
	all     time.Duration // after any commit
	unkeyed time.Duration // after one under no key: those under a key are the key's
}

// of is what holds for a read under a key, "": under none. As with tokens, a key
// says whose commits are meant.
func (w *windows) of(key string) time.Duration {
	if key != "" {
		return w.unkeyed
	}
	return w.all
}

// windowEnd is the end of a window that is opened now; 0: there are none.
func (s *Server) windowEnd(window time.Duration) time.Duration {
	if window == 0 {
		return 0
	}
	return time.Since(s.started) + window
}

// windowLeft is how much is left of a window.
func (s *Server) windowLeft(end time.Duration) time.Duration {
	if end == 0 { // what a server without windows knows without a look at the clock
		return 0
	}
	return max(0, end-time.Since(s.started)).Round(time.Millisecond)
}

// openWindow comes with each commit of the session, or what may be one.
func (s *session) openWindow() (until time.Duration) {
	until = s.srv.windowEnd(s.srv.opts.Sticky)
	s.windows.all = until
	if !s.common.ownKey() {
		s.windows.unkeyed = until
	}
	return until
}

// showsNothing names what has a GTID though no reader sees anything of it: XA PREPARE,
// whose writes XA COMMIT shows, and XA ROLLBACK.
func showsNothing(c *classifier.Class) bool {
	if c == nil || c.Kind != classifier.XA || c.Is(classifier.MultiStatement) {
		return false
	}
	verb := strings.ToLower(c.Digest)
	return strings.HasPrefix(verb, "xa prepare") || strings.HasPrefix(verb, "xa rollback")
}

// mayStick tells whether a window means anything to a read of that contract now: it
// has a part in the budget, and source and replicas are there to choose from.
func (s *session) mayStick(c *contract, v *backend.View) bool {
	return c.share > 0 && v.Source.Usable() && anyUsable(v, nil)
}

// sticks tells whether a read is one of the source's because of a window. If the
// source cannot be connected to, the replicas are asked as ever.
func (s *session) sticks(j *job, v *backend.View) bool {
	if s.srv.windowLeft(s.demanded.until) == 0 || !s.mayStick(&s.contract, v) {
		return false
	}
	if !s.srv.opts.Budget.Ask(s.contract.share, time.Now()) {
		s.srv.metrics.unstuck.Inc()
		return false
	}
	_, err := s.homeConn(j.start, schemaFree(j))
	if err != nil && !errors.As(err, new(*wire.Error)) && !errors.As(err, new(*sessionGone)) {
		s.log.Debug().Err(err).Msg("a read within a window could not go to the source")
		return false
	}
	s.route.reason = reasonSticky // of what the server or the session refuses runOnHome tells
	return true
}

// stickyText is for SHOW CAUSEWAY STATUS.
func (s *Server) stickyText() string {
	if s.opts.Sticky == 0 {
		return "off"
	}
	text := s.opts.Sticky.String() + " after a commit reads go to the source, within the fallback budget"
	if s.opts.Monitor.View().WithoutGTIDs {
		text += "; the source has no GTIDs: nothing else is promised"
	}
	return text
}
