package server

import (
	"fmt"
	"time"

	"causeway/backend"
)

// writesText tells what becomes of a write that comes now, for SHOW CAUSEWAY STATUS.
func (s *Server) writesText(now time.Time) string {
	if p := s.pauseNow(now); p != nil {
		return p.text(now)
	}
	why, until := s.noWrites(s.opts.Monitor.View())
	switch {
	case why == "":
		return "served"
	case until.IsZero() || now.Before(until):
		return "waiting: " + why
	}
	return "refused: " + why
}

// noWrites tells why the source serves no write now as far as is known, "" if it
// does. Writes wait up to until and fail then; zero: each waits by itself. A source
// that is not known to be down may have died all the same: a probe of it, or an
// attempt to connect to it, that failed says so first.
func (s *Server) noWrites(v *backend.View) (why string, until time.Time) {
	src := v.Source
	switch {
	case src == nil:
		return "no source is known (" + whyNoSource(v) + ")", s.noSourceUntil()
	case !src.Up:
		return fmt.Sprintf("the source %s is %s", src.Addr, src.Exclude), src.LastAnswer.Add(s.opts.FailoverWait)
	case src.Exclude != "":
		return fmt.Sprintf("the source %s does not serve: %s", src.Addr, src.Exclude), time.Time{}
	case src.Missed != "":
		return fmt.Sprintf("the newest probe of the source %s failed: %s", src.Addr, src.Missed), time.Time{}
	}
	if err := s.pools.Missed(src); err != nil {
		return fmt.Sprintf("the source %s took no connection: %s", src.Addr, backend.Reason(err)), time.Time{}
	}
	return "", time.Time{}
}
