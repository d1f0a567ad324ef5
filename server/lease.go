package server

import (
	"errors"
	"time"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// lease takes a connection to a node from its pool, in whatever state it is:
// exchange aligns it. The session's own last one comes first, if nobody has had
// it since: what the server keeps of a statement is then still there.
func (s *session) lease(n *backend.Node, own *backend.Conn, free, wait bool) (*backend.Conn, error) {
	w := s.want(n, free)
	if own != nil && w.Attrs == nil && s.srv.pools.Retake(own, s.owner, w) {
		s.retaken(own)
		return own, nil
	}
	c, err := s.srv.pools.Get(s.ctx, w, wait)
	if s.schemaRefused(n, w, err) {
		return s.lease(n, own, free, wait)
	}
	if err == nil {
		s.knowCharset()
		s.retaken(c) // if it is the session's own
		return c, nil
	}
	var full *backend.PoolFull
	if errors.As(err, &full) {
		if !wait {
			return nil, err
		}
		return nil, wire.NewError(wire.ErrTooManyConnections, "Causeway: %v; end transactions sooner, or raise it", err)
	}
	if s.ctx.Err() != nil {
		return nil, err
	}
	if errors.As(err, new(*backend.Unreached)) {
		return nil, err // others have tried, and told
	}
	s.srv.dialFailed(n.Addr)
	var refused *wire.Error
	if errors.As(err, &refused) {
		s.srv.warnRefused(n.Addr, s.login.User, refused)
	} else {
		s.srv.opts.Monitor.Report(n.Addr, n.Incarnation.Generation, err.Error())
	}
	return nil, err
}

// retaken notes that nobody had a connection in between: what was left on it is
// there.
func (s *session) retaken(c *backend.Conn) {
	if s.insert.on == c && s.insert.turn == c.Turn {
		s.insert.left = nil
	}
	if s.hasLast(c) {
		s.lastLeft = nil
	}
	if s.hasFound(c) {
		s.found.left = nil
	}
}

// want describes a connection of this session to a node.
func (s *session) want(n *backend.Node, free bool) *backend.Want {
	s.knowCharset()
	w := &s.wanted
	*w = backend.Want{
		Node: n, State: s.reachable(), SchemaFree: free, Owner: s.owner,
		Account: backend.Account{
			User: s.login.User, Password: s.srv.users[s.login.User].Password,
			Caps: s.login.Caps & backend.MeaningCaps, Collation: s.login.Collation, TLS: s.login.TLS,
		},
	}
	if s.showsAttrs {
		w.Attrs = s.login.Attrs
		if w.Attrs == nil {
			w.Attrs = map[string]string{}
		}
	}
	if src := s.view().Source; src != nil {
		w.BaseSeq = src.DefaultsSeq
		if n.Role == backend.RoleReplica {
			w.Base = src.Defaults
		}
	}
	return w
}

// knowCharset makes what the login's collation set part of the state, as soon
// as a connection has told what it sets.
func (s *session) knowCharset() {
	if s.state.HasCharset() {
		return
	}
	if values, known := s.srv.pools.Charset(s.login.Collation); known {
		s.state = s.state.WithCharset(values)
	}
}

// schemaFree tells whether a statement means the same in any schema, so that a
// session without one can run it on a connection that has one. None that may keep
// the connection is: what comes after it would run in that schema.
func schemaFree(j *job) bool {
	return j.want != expectPrepare && j.stmt == nil && j.class.Kind == classifier.Use && !j.class.Is(classifier.MultiStatement)
}

// discard closes a connection of the session.
func (s *session) discard(c *backend.Conn) {
	if s.last == c {
		s.last = nil
	}
	if s.homeLast == c {
		s.homeLast = nil
	}
	if s.hasFound(c) && s.found.left == nil {
		s.found.on = nil
	}
	if s.insert.on == c && s.insert.turn == c.Turn && s.insert.left == nil {
		s.insert = insertID{} // MySQL would have closed the client's connection
	}
	s.srv.pools.Discard(c)
}

// settle gives back what the command just served has leased and nothing holds.
func (s *session) settle() {
	for addr, c := range s.replicas {
		if c == s.readTrx || s.hasCursor(c) {
			continue
		}
		delete(s.replicas, addr)
		s.give(c)
	}
	if s.home == nil {
		s.notePins(s.replicaPins())
		return
	}
	c, pins := s.home, s.homePins()
	if pins == pinTrackers && len(s.trackers.named) > 0 && !c.Broken { // what the client has set goes with the connection
		s.rearmTrackers(&job{want: expectSimple})
		pins = s.homePins()
	}
	if pins == pinTrackers { // whoever takes it has them right, see checkTrackers
		pins, c.Unclean = 0, true
		s.trackers.on, s.trackers.turn = c, c.Turn
	}
	s.notePins(pins | s.replicaPins())
	if pins != 0 {
		c.Dirty = c.Dirty || pins&leavesBehind != 0
		return
	}
	s.home = nil
	s.homeID.Store(0)
	s.homeLast = c
	if c.Dirty && !c.Broken {
		s.cleanse(c)
	}
	s.give(c)
}

// give puts a connection back into its pool.
func (s *session) give(c *backend.Conn) {
	if c.Broken || c.Private {
		s.discard(c)
		return
	}
	if c.Status.Has(wire.StatusInTrans) { // a fault of ours: nobody else may go on in this transaction
		s.log.Error().Str("node", c.Node.Addr).Str("digest", s.route.digest).Msg("BUG: a connection was to be shared inside a transaction; it is closed")
		s.discard(c)
		return
	}
	kind := s.leaves(c)
	if kind == 0 {
		s.srv.pools.Put(c, nil)
		return
	}
	left := backend.NewLeftover(kind, s.owner, int(s.warnings)-len(s.earlier))
	s.noteLeft(c, kind, left)
	s.srv.pools.Put(c, left)
}

// leaves tells what the session may still ask for of what it did on a connection.
func (s *session) leaves(c *backend.Conn) backend.LeftoverKind {
	var kind backend.LeftoverKind
	if s.insert.on == c && s.insert.turn == c.Turn {
		kind |= backend.LeftInsertID
	}
	if s.hasLast(c) && int(s.warnings) > len(s.earlier) {
		kind |= backend.LeftWarnings
	}
	if s.hasFound(c) && !s.found.known {
		kind |= backend.LeftFoundRows
	}
	return kind
}

func (s *session) noteLeft(c *backend.Conn, kind backend.LeftoverKind, left *backend.Leftover) {
	if kind&backend.LeftInsertID != 0 {
		s.insert.left = left
	}
	if kind&backend.LeftWarnings != 0 {
		s.lastLeft = left
	}
	if kind&backend.LeftFoundRows != 0 {
		s.found.left = left
	}
}

// cleanse undoes by COM_RESET_CONNECTION what replaying cannot, after keeping
// what the session may still ask for.
func (s *session) cleanse(c *backend.Conn) {
	if kind := s.leaves(c); kind != 0 {
		left := backend.NewLeftover(kind, s.owner, int(s.warnings)-len(s.earlier))
		s.noteLeft(c, kind, left)
		if c.Capture(left) != nil {
			return
		}
		s.capturedFound(c, left)
	}
	if s.insert.on == c && s.insert.turn == c.Turn {
		s.insert = insertID{value: s.insert.left.InsertID}
	}
	if s.last == c {
		s.last = nil
	}
	if s.homeLast == c {
		s.homeLast = nil
	}
	s.bound(c)
	if err := s.srv.pools.Reset(c); err != nil {
		c.Broken = true
		s.log.Debug().Err(err).Str("node", c.Node.Addr).Msg("cannot reset a connection")
		return
	}
	c.SetDeadline(noDeadline)
}

func (s *session) hasCursor(c *backend.Conn) bool {
	for _, st := range s.stmts {
		if st.at == c {
			return true
		}
	}
	return false
}

// closeBackends gives back what a session holds that ends, or begins anew.
func (s *session) closeBackends() {
	s.insert.left.Drop(backend.LeftInsertID)
	s.insert = insertID{}
	s.forgetConditions()
	s.setFound(foundRows{known: true})
	s.endLeases()
	s.homeLast = nil
	s.owner = &backend.Owner{} // whose connections are reset before it has them again
	s.notePins(0)
}

// endLeases resets and gives back all connections.
func (s *session) endLeases() {
	if c := s.home; c != nil {
		s.home = nil
		s.homeID.Store(0)
		c.Dirty = c.Dirty || s.sticky.any() || c.Status.Has(wire.StatusInTrans) || s.locks == c || s.oneShot || s.trackers.due || s.hasCursor(c) || c.Unclean || c.State().HasUserVars()
		s.giveClean(c)
	}
	for addr, c := range s.replicas {
		delete(s.replicas, addr)
		c.Dirty = c.Dirty || c == s.readTrx || s.hasCursor(c)
		s.giveClean(c)
	}
	s.readTrx, s.locks = nil, nil
}

func (s *session) giveClean(c *backend.Conn) {
	if c.Dirty && !c.Broken {
		s.bound(c)
		if err := s.srv.pools.Reset(c); err != nil {
			c.Broken = true
		}
		c.SetDeadline(noDeadline)
	}
	s.give(c)
}

// bound keeps Causeway's own exchanges with a backend short.
func (s *session) bound(c *backend.Conn) {
	c.SetDeadline(time.Now().Add(s.srv.opts.Backend.ConnectTimeout))
}
