package server

import (
	"time"

	"causeway/backend"
	"causeway/classifier"
)

// observe counts the statement and its time.
func (s *session) observe(c *backend.Conn, j *job) {
	took := time.Since(j.start)
	s.route.node, s.route.role, s.route.took = c.Node.Addr, c.Node.Role, took
	target := sourceTarget
	if c.Node.Role == backend.RoleReplica {
		target = replicaTarget
	}
	if target == sourceTarget && j.class.Kind == classifier.Read {
		c.Node.Live.Picks.Add(1)
		c.Node.Live.Times.Add(took)
	}
	if target == sourceTarget && isOwnRead(j.class, s.route.reason) && !(s.borrowed && j.class.Kind == classifier.Read) {
		s.srv.ownReads.Add(1)
	}
	s.srv.metrics.count(target, s.route.reason)
	s.srv.metrics.seconds[target].Observe(took.Seconds())
}
