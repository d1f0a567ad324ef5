package backend

import (
	"errors"
	"time"

	"causeway/wire"
)

// Settings of what to do when a server has no room for more connections.
const (
	headroom    = 5 // left to the monitor and to people
	refusedTime = 30 * time.Second
)

// tooMany tells whether a server refused a connection for want of room: 1040,
// or 1203, 1226 for one account.
func tooMany(err error) bool {
	var refused *wire.Error
	return errors.As(err, &refused) && (refused.Code == wire.ErrTooManyConnections || refused.Code == 1203 || refused.Code == wire.ErrTooManyUserConns)
}

// max is how many connections the pool may have now.
func (pl *pool) max(configured int) int {
	if pl.limit > 0 && time.Now().Before(pl.until) {
		return min(configured, pl.limit)
	}
	return configured
}

// failed gives back the place of a connection that could not be opened. A
// server that has no room for more must not lose its monitor's as well.
func (pl *pool) failed(err error) {
	if tooMany(err) {
		pl.mu.Lock()
		pl.limit, pl.until = max(1, pl.open-1-headroom), time.Now().Add(refusedTime)
		pl.mu.Unlock()
	}
	pl.freed()
}

// others tells whether the pool has connections that can come free.
func (pl *pool) others() bool {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	return pl.open > 0
}
