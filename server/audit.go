package server

import (
	"math/rand/v2"

	"causeway/backend"
	"causeway/gtid"
)

// audit asks a replica, for a sample of the reads that must see the session's
// writes, what it has executed, on the connection that the read goes out on and
// before it does: what the read then sees cannot be older. It changes nothing for
// the read; that a replica was chosen without the writes would be a fault of
// Causeway, which is counted and logged.
func (s *session) audit(c *backend.Conn, j *job) {
	sample := s.srv.opts.AuditSample
	if sample <= 0 || !s.contract.token || rand.Float64() >= sample {
		return
	}
	s.bound(c)
	defer c.SetDeadline(noDeadline)
	row, err := c.Query("SELECT @@GLOBAL.gtid_executed")
	if err != nil || len(row) != 1 {
		return // the read will tell
	}
	executed, err := gtid.Parse(row[0])
	if err != nil {
		s.log.Error().Err(err).Str("node", c.Node.Addr).Msg("audit: cannot read gtid_executed")
		return
	}
	s.srv.metrics.audited.Inc()
	if missing := s.demanded.token.Subtract(executed); !missing.IsEmpty() {
		s.srv.metrics.violations.Inc()
		s.log.Error().Str("node", c.Node.Addr).Str("digest", j.class.Digest).Str("missing", missing.Line()).
			Msg("audit: a read went to a replica that lacks the session's own writes")
	}
}
