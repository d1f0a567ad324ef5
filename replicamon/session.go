package replicamon

import (
	"context"
	"errors"
	"time"

	"causeway/backend"
	"causeway/gtid"
)

// session is one connection to one node: all that the monitor ever asks.
// After an error it is closed and thrown away. One goroutine uses it at a time.
type session interface {
	// life tells which life of the server this connection belongs to.
	life(ctx context.Context) (life, error)
	position(ctx context.Context) (position, error)
	// await returns when the node has executed need or limit has passed; the
	// position is evaluated after the wait.
	await(ctx context.Context, need gtid.Set, limit time.Duration) (position, error)
	status(ctx context.Context) (status, error)
	defaults(ctx context.Context, names []string) (map[string]string, error)
	// replicas lists those that the server says replicate from it.
	replicas(ctx context.Context) ([]hint, error)
	// held tells what a connection of the server holds for itself.
	held(ctx context.Context, connID uint32) (backend.Held, error)
	close()
}

// dialer opens sessions. The address is one of Options.Servers.
type dialer func(ctx context.Context, addr string) (session, error)

// life is what a new connection tells about the server's present life.
type life struct {
	version string
	connID  uint32        // grows within one life
	uptime  time.Duration // whole seconds
}

// position is one answer to the position probe. Times are this process's.
type position struct {
	asked, answered time.Time
	uuid            string
	executed        gtid.Set
	readOnly        bool
	gtidMode        string
	clock           time.Time // the server's, when it began with the statement; zero: not asked
}

// errorKind says what a failed probe proves about the node.
type errorKind uint8

const (
	errSilent  errorKind = iota // nothing came in time: may be busy, may be dead
	errGone                     // connection refused or broken: nobody is there
	errDenied                   // it answers, but refuses the monitor's account
	errRefused                  // it answered with an error
)

// probeError is a failed probe in an operator's words.
type probeError struct {
	kind errorKind
	text string
	err  error
}

func (e *probeError) Error() string { return e.text }
func (e *probeError) Unwrap() error { return e.err }

// kindOf tells what err proves; an error of unknown origin proves nothing.
func kindOf(err error) errorKind {
	var pe *probeError
	if errors.As(err, &pe) {
		return pe.kind
	}
	return errSilent
}
