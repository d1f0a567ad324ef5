package backend

import (
	"strings"

	"causeway/wire"
)

// Align queues what brings the connection from its own state to want, and
// returns how many answers to read with Confirm before the next command's. It
// sends nothing by itself: for a plain read the caller lets the query travel
// in the same write.
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
	if sets := diff(c.state, want, c.initial); len(sets) > 0 {
		if err := c.Send(wire.ComQuery, "SET SESSION "+strings.Join(sets, ", ")); err != nil {
			return 0, err
		}
		n++
	}
	if n == 0 {
		c.state = want
	}
	return n, nil
}

// Confirm reads the answers to what Align queued. After an error the
// connection is in neither state: close it.
func (c *Conn) Confirm(n int, want *State) error {
	var first error
	for range n {
		if _, err := c.ReadResult(); err != nil {
			if _, refused := err.(*wire.Error); !refused {
				return err
			}
			if first == nil {
				first = err
			}
		}
	}
	if first == nil {
		c.state = want
	}
	return first
}

// AlignNow brings the connection to a state and waits until it is there.
func (c *Conn) AlignNow(want *State) error {
	n, err := c.Align(want)
	if err != nil || n == 0 {
		return err
	}
	if err := c.Flush(); err != nil {
		return err
	}
	return c.Confirm(n, want)
}
