package server

import (
	"errors"
	"time"

	"causeway/backend"
	"causeway/wire"
)

// checkSchema asks a server whether the account may use the schema of its
// login: the source, or any replica while there is none. What has been asked a
// moment ago is not asked again. While no server may be asked the client is let in,
// as one that names no schema is: an operator has to. The first statement that
// needs a server is told what this one would have been then.
func (s *session) checkSchema() error {
	if s.srv.schemas.fresh(s.login.User, s.login.Database) {
		return nil
	}
	err := s.checkOn(s.anyConn())
	if c := s.home; c != nil && c.Broken && !errors.As(err, new(*wire.Error)) && s.dropHome(err) == nil { // the source hangs, and it is not known yet
		err = s.checkOn(s.anyReplica())
	}
	switch {
	case err == errStandIn: // as it is, from anyReplica
		return nil
	case err != nil:
		return err
	}
	s.srv.schemas.note(s.login.User, s.login.Database)
	return nil
}

func (s *session) checkOn(c *backend.Conn, err error) error {
	if err != nil {
		return err
	}
	s.bound(c)
	if err := c.AlignNow(s.state); err != nil {
		c.Broken = true
		return err
	}
	c.SetDeadline(noDeadline)
	return nil
}

// anyConn leases a connection to the source, or to a replica if that can be had
// only after a wait.
func (s *session) anyConn() (*backend.Conn, error) {
	s.mayStandIn = true
	c, err := s.homeConn(time.Now(), false)
	s.mayStandIn = false
	if err != errStandIn {
		return c, err
	}
	return s.anyReplica()
}

// anyReplica leases a connection to a replica; errStandIn: none can be had.
func (s *session) anyReplica() (*backend.Conn, error) {
	for _, n := range s.view().Replicas {
		if !n.Usable() {
			continue
		}
		if c, err := s.replicaConn(n, true); err == nil || errors.As(err, new(*wire.Error)) {
			return c, err
		}
	}
	return nil, errStandIn
}
