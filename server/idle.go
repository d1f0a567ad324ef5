package server

import (
	"strconv"
	"time"

	"causeway/backend"
	"causeway/wire"
)

// errIdle is MySQL's ER_CLIENT_INTERACTION_TIMEOUT.
const errIdle = 4031

// lookIdle ends a session that has been idle for longer than it may: by its own
// wait_timeout, as MySQL would, or by the limits of its account on open
// transactions and other pins. The session's own goroutine tells the client.
func (s *Server) lookIdle(x *session, v *backend.View, now time.Time) {
	idle := now.Sub(s.started) - time.Duration(x.idleSince.Load())
	if x.busySince.Load() != 0 || idle < time.Second/10 || x.idleOut.Load() != nil {
		return
	}
	why := s.idleTooLong(x, v, idle)
	if why == nil {
		return
	}
	x.idleOut.Store(why)
	x.client.SetDeadline(now) // wakes the session
}

func (s *Server) idleTooLong(x *session, v *backend.View, idle time.Duration) *wire.Error {
	login := s.loginOf(x)
	acc := s.users[login.User]
	if acc == nil {
		return nil
	}
	p := x.pinned.Load()
	switch {
	case p == nil:
	case p.pin&pinTransaction != 0 && acc.IdleInTransaction > 0 && idle > acc.IdleInTransaction:
		return wire.NewError(errIdle, "Causeway: closed after %v idle inside a transaction, which is rolled back ([[users]] idle_in_transaction = %v)",
			idle.Round(time.Millisecond), acc.IdleInTransaction)
	case acc.IdlePinned > 0 && p.pin&^pinTransaction != 0 && idle > acc.IdlePinned:
		return wire.NewError(errIdle, "Causeway: closed after %v idle with a connection of its own, for %s ([[users]] idle_pinned = %v)",
			idle.Round(time.Millisecond), p.pin, acc.IdlePinned)
	}
	if limit := waitTimeout(x, login, v); limit > 0 && idle > limit {
		return wire.NewError(errIdle, "The client was disconnected by the server because of inactivity. See wait_timeout and interactive_timeout for configuring this behavior.")
	}
	return nil
}

// waitTimeout is the session's wait_timeout, which its shared connections
// cannot keep for it.
func waitTimeout(x *session, login *Login, v *backend.View) time.Duration {
	name := "wait_timeout"
	if login.Caps.Has(wire.CapInteractive) {
		name = "interactive_timeout"
	}
	var value string
	if state := x.seen.Load(); state != nil {
		if set, ok := state.Var("wait_timeout"); ok { // which a login copies interactive_timeout to
			value = set
		}
	}
	if value == "" && v.Source != nil {
		value = v.Source.Defaults[name]
	}
	seconds, err := strconv.Atoi(value)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
