package server

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"causeway/backend"
	"causeway/balance"
	"causeway/wire"
)

// errBrownout: the read's class is refused now.
var errBrownout = errors.New("refused in a brownout")

// brownout refuses reads of the lowest classes while those of the others would
// wait too long for connections to the replicas. On the way of a read it is one
// atomic load.
type brownout struct {
	from  atomic.Int64 // reads of this priority and below it are refused
	state atomic.Pointer[brownState]
	// priorities are those of the classes that replicas serve, the lowest first.
	priorities []int
	turned     map[string]uint64 // by node at the last look; of Server.watch alone
}

// brownState is what the last look has found. It is immutable.
type brownState struct {
	balance.Brownout
	wait time.Duration
}

func newBrownout(c *classes) *brownout {
	b := &brownout{turned: map[string]uint64{}}
	for _, class := range c.all {
		if class.HasLagLimit() { // it asks replicas
			b.priorities = append(b.priorities, class.Priority)
		}
	}
	slices.SortFunc(b.priorities, func(x, y int) int { return cmp.Compare(y, x) })
	b.priorities = slices.Compact(b.priorities)
	b.from.Store(math.MaxInt64)
	b.state.Store(&brownState{})
	return b
}

// most is the greatest level: the highest priority is never refused.
func (b *brownout) most() int { return max(len(b.priorities)-1, 0) }

// refuses tells whether reads of a priority are refused now.
func (b *brownout) refuses(priority int) bool { return int64(priority) >= b.from.Load() }

// lookAtPressure measures and judges, at each tick of the watch.
func (s *Server) lookAtPressure(v *backend.View, now time.Time) {
	b := s.brown
	p := pressureOf(s.pools.Stats(), v, b.turned)
	was := b.state.Load().Brownout
	is := was.Next(s.opts.Brownout, p, b.most(), now)
	b.state.Store(&brownState{Brownout: is, wait: p.Wait})
	if is.Level == was.Level {
		return
	}
	from := int64(math.MaxInt64)
	if is.Level > 0 {
		from = int64(b.priorities[is.Level-1])
	}
	b.from.Store(from)
	s.tellBrownout(was.Level, p)
}

// pressureOf is what the queues for connections to usable replicas say. A read
// queues only where no replica that it may go to has a connection left, so one
// queue says enough.
func pressureOf(pools []backend.PoolStats, v *backend.View, turned map[string]uint64) (p balance.Pressure) {
	for _, pool := range pools {
		before, seen := turned[pool.Addr]
		turned[pool.Addr] = pool.Turned
		if n := v.Node(pool.Addr); n == nil || n.Role != backend.RoleReplica || !n.Usable() {
			continue
		}
		p.Wait = max(p.Wait, pool.Oldest)
		p.Turned = p.Turned || seen && pool.Turned > before
	}
	return p
}

// tellBrownout logs what changed.
func (s *Server) tellBrownout(before int, p balance.Pressure) {
	refused, rose := s.refusedClasses(), s.brown.state.Load().Level > before
	e, text := s.log.Info(), "brownout: a class is admitted again"
	switch {
	case rose:
		e, text = s.log.Warn(), "brownout: reads wait too long for connections to the replicas, so those of the lowest classes are refused; see SHOW CAUSEWAY POOLS"
	case len(refused) == 0:
		text = "brownout is over: all classes are admitted again"
	}
	e.Strs("refused", refused).Dur("longest_wait", p.Wait).Bool("turned_away", p.Turned).Msg(text)
}

// refusedClasses are the names of the classes that are refused now.
func (s *Server) refusedClasses() []string {
	names := []string{}
	for _, class := range s.classes.all {
		if s.classRefused(class) {
			names = append(names, class.Name)
		}
	}
	return names
}

func (s *Server) classRefused(c *Class) bool {
	return c.Consistency != OnSource && s.brown.refuses(c.Priority)
}

// brownedOut tells whether a read is refused now. One that must see its session's
// writes never is: nothing else can show a user what he has just done.
func (s *session) brownedOut(ch *choice, c *contract) bool {
	return s.srv.brown.refuses(ch.class.Priority) && !(c.token && c.class.Consistency >= OwnWrites)
}

// refuseBrownout answers a read that is refused.
func (s *session) refuseBrownout() error {
	s.stale = nil
	s.stats().brownout.Inc()
	s.noteLocal(reasonBrownout)
	return s.refuseWith(brownoutError(s.choice.class))
}

// brownoutError has a number of its own: 1040 has the SQLSTATE of a lost
// connection, which drivers close for it.
func brownoutError(c *Class) *wire.Error {
	return wire.NewError(wire.ErrServerIsntAvailable,
		"Causeway: brownout: reads of class %s (priority %d) are refused while reads wait too long for connections to the replicas; try again later, "+
			"or see SHOW CAUSEWAY STATUS and POOLS ([brownout], [pool] max_connections)", c.Name, c.Priority)
}

// brownoutText is the state for SHOW CAUSEWAY STATUS.
func (s *Server) brownoutText(now time.Time) string {
	st := s.brown.state.Load()
	switch {
	case s.opts.Brownout.Wait <= 0 || s.brown.most() == 0:
		return "off"
	case st.Level == 0:
		return fmt.Sprintf("none: a read waits up to %s for a connection to a replica", st.wait.Round(time.Millisecond))
	}
	return fmt.Sprintf("level %d of %d: refuses %s for %s; a read waits up to %s for a connection to a replica",
		st.Level, s.brown.most(), strings.Join(s.refusedClasses(), ", "), now.Sub(st.Since).Round(time.Second), st.wait.Round(time.Millisecond))
}
