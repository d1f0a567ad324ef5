package server

import (
	"errors"
	"time"

	"causeway/backend"
	"causeway/wire"
)

// checkSchema asks a server whether the account may use the schema of its
// login: the source, or any replica while there is none or it has no connection
// free. What has been asked a moment ago is not asked again. While no server may be
// asked the client is let in, as one that names no schema is: an operator has to. The
// first statement that needs a server is told what this one would have been then.
// While all connections are in use that is so with a schema that the account has used
// before: it may have come to KILL what uses them.
func (s *session) checkSchema() error {
	if s.srv.schemas.fresh(s.login.User, s.login.Database) {
		return nil
	}
	err := s.checkOn(s.anyConn())
	if err == errSourceFull {
		err = s.checkAtFullSource()
	}
	if c := s.home; c != nil && c.Broken && !errors.As(err, new(*wire.Error)) && s.dropHome(err) == nil { // the source hangs, and it is not known yet
		err = s.checkOn(s.anyReplica(true))
	}
	switch {
	case err == errStandIn: // as it is, from anyReplica or checkAtFullSource
		return nil
	case err != nil:
		return err
	}
	s.srv.schemas.note(s.login.User, s.login.Database)
	return nil
}

// checkAtFullSource is checkSchema while all connections to the source are in use.
// What a replica refuses the source decides: the schema may be new.
func (s *session) checkAtFullSource() error {
	if c, err := s.anyReplica(false); err == nil && s.checkOn(c, nil) == nil {
		return nil
	} else if err == errStandIn && s.srv.schemas.known(s.login.User, s.login.Database) {
		return errStandIn
	}
	return s.checkOn(s.homeConn(time.Now(), false))
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

// anyConn leases a connection to the source, or to a replica if no source serves;
// errSourceFull: one does, and has none free.
func (s *session) anyConn() (*backend.Conn, error) {
	s.mayStandIn = true
	c, err := s.homeConn(time.Now(), false)
	s.mayStandIn = false
	if err != errStandIn {
		return c, err
	}
	return s.anyReplica(true)
}

// anyReplica leases a connection to a replica; errStandIn: none can be had. wait
// false: it takes what is free.
func (s *session) anyReplica(wait bool) (*backend.Conn, error) {
	for _, n := range s.view().Replicas {
		if !n.Usable() {
			continue
		}
		c, err := s.replicaConn(n, wait)
		if !wait && backend.Full(err) {
			continue
		}
		if err == nil || errors.As(err, new(*wire.Error)) {
			return c, err
		}
	}
	return nil, errStandIn
}
