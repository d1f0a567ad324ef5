package backend

import (
	"strings"
	"time"

	"causeway/wire"
)

var noDeadline time.Time

func deadlineIn(d time.Duration) time.Time { return time.Now().Add(d) }

// Align queues what brings the connection from its own state to want, and
// returns how many answers to read with Confirm before the next command's. It
// sends nothing by itself: for a plain read the caller lets the query travel
// in the same write. A schema cannot be left without another: a connection
// that has one, where the session has none, keeps it.
func (c *Conn) Align(want *State) (int, error) {
	if c.state == want {
		return 0, nil
	}
	n := 0
	if want.Schema != c.state.Schema && want.Schema != "" {
		if err := c.SendBytes(append([]byte{byte(wire.ComInitDB)}, want.Schema...)); err != nil {
			return 0, err
		}
		n++
	}
	role := c.Node.Role
	// Literals are read under the character set of before their statement, so
	// user variables come in one of their own.
	for _, sets := range [][]string{diff(c.state, want, role, c.initial), userDiff(c.state, want, role)} {
		if len(sets) == 0 {
			continue
		}
		scope := "SET SESSION "
		if sets[0][0] == '@' || strings.HasPrefix(sets[0], "NAMES ") {
			scope = "SET "
		}
		if err := c.Send(wire.ComQuery, scope+strings.Join(sets, ", ")); err != nil {
			return 0, err
		}
		n++
	}
	if n == 0 {
		c.aligned(want)
	}
	return n, nil
}

// aligned notes the state that was reached.
func (c *Conn) aligned(want *State) {
	if want.Schema == "" {
		want = want.WithSchema(c.state.Schema)
	}
	c.state = want
}

// Confirm reads the answers to what Align queued. After an error the
// connection is in neither state: close it, unless it is a *NoSchema.
func (c *Conn) Confirm(n int, want *State) error {
	var first error
	var missing *NoSchema
	for range n {
		if _, err := c.ReadResult(); err != nil {
			refused, ok := err.(*wire.Error)
			if !ok {
				return err
			}
			// Of what Align sends only COM_INIT_DB, its first, gets this error.
			switch {
			case refused.Code == wire.ErrBadDB && missing == nil:
				missing = &NoSchema{refused}
			case first == nil:
				first = err
			}
		}
	}
	switch {
	case first != nil && missing != nil:
		return missing.err
	case first != nil:
		return first
	case missing != nil:
		c.aligned(want.WithSchema(c.state.Schema))
		return missing
	}
	c.aligned(want)
	return nil
}

// NoSchema is why a connection stayed in its schema, or without one: the wanted
// one does not exist. All else of the state has been reached.
type NoSchema struct{ err *wire.Error }

func (e *NoSchema) Error() string { return e.err.Error() }
func (e *NoSchema) Unwrap() error { return e.err }

// AlignNow brings the connection to a state and waits until it is there.
func (c *Conn) AlignNow(want *State) error {
	n, err := c.Align(want)
	if err != nil || n == 0 {
		return err
	}
	return c.ConfirmNow(n, want)
}

// ConfirmNow sends what Align queued and waits for the answers.
func (c *Conn) ConfirmNow(n int, want *State) error {
	if err := c.Flush(); err != nil {
		return err
	}
	return c.Confirm(n, want)
}

// hasUserVars tells whether some are set; replicas do not get those of a state.
func (c *Conn) hasUserVars() bool { return c.Node.Role != RoleReplica && c.state.HasUserVars() }
