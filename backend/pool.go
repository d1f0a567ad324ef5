package backend

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"causeway/wire"
)

// PoolOptions bound the shared connections to each node.
type PoolOptions struct {
	Max         int           // connections to one node, of all accounts together
	MinIdle     int           // kept open, though nobody needs them now
	IdleTimeout time.Duration // one above MinIdle that is idle for longer is closed
	Lifetime    time.Duration // an older one is closed once it is idle
	Wait        time.Duration // how long a statement waits for a connection
	Queue       int           // how many may wait for one node
	Statements  int           // prepared statements kept on one connection
}

// Pools holds the connections that no session is using, by node. Sessions take
// one for a statement and give it back; see Get, Retake, Put and Discard.
type Pools struct {
	cfg  *Config
	opts PoolOptions

	mu    sync.Mutex
	nodes map[string]*pool
	last  atomic.Pointer[Want] // that opened a connection, see warm
	age   atomic.Uint64        // see Renew

	// charsets remembers what a login with a collation sets the variables of
	// charsetVariables to, by collation.
	charsets sync.Map
	// described remembers how results are described, see LearnTextColumns.
	described sync.Map

	// Counters, for metrics.
	Opened, Waited, TimedOut, Refused, Resets, Captures atomic.Uint64
}

// NewPools returns empty pools.
func NewPools(cfg *Config, opts PoolOptions) *Pools {
	return &Pools{cfg: cfg, opts: opts, nodes: map[string]*pool{}}
}

// Owner marks whose a connection was last. A session has one of its own.
type Owner struct{ _ byte }

// Want says what kind of connection a statement needs.
type Want struct {
	Node    *Node
	Account Account
	State   *State // to be preferred; the caller aligns the connection itself
	// SchemaFree: the statement means the same in any schema.
	SchemaFree bool
	// Attrs: a connection of the session's own is needed, which shows these
	// connection attributes; it is opened for it and serves nobody else.
	Attrs   map[string]string
	Base    map[string]string // see Open
	BaseSeq uint64            // of the source's defaults, see Node.DefaultsSeq
	Owner   *Owner
}

// key is what must be equal for a connection to serve an account's statements.
type key struct {
	user      string
	caps      wire.Capability
	tls       bool
	collation uint16 // results are described by it
}

func keyOf(a Account) key { return key{a.User, a.Caps, a.TLS, a.Collation} }

// pool is the connections to one node.
type pool struct {
	addr string
	full *PoolFull // what one who does not wait is told

	mu      sync.Mutex
	idle    []*Conn // in the order of their return
	open    int     // idle, in use, or being opened
	waiters []*waiter
	limit   int       // below the configured one, because the server refused more,
	until   time.Time // until then
	deaf    *Unreached
	deafAt  time.Time // see unreached
	gone    bool      // its node was taken out, and nobody has anything of it any more

	turned atomic.Uint64 // see PoolStats
}

func (p *Pools) of(addr string) *pool {
	p.mu.Lock()
	defer p.mu.Unlock()
	pl := p.nodes[addr]
	if pl == nil {
		pl = &pool{addr: addr, full: &PoolFull{Addr: addr, Limit: p.maxText()}}
		p.nodes[addr] = pl
	}
	return pl
}

// Get leases a connection: an idle one, a new one, or the next that comes free.
// wait false: it does not wait, but returns a *PoolFull at once.
func (p *Pools) Get(ctx context.Context, w *Want, wait bool) (*Conn, error) {
	pl := p.of(w.Node.Addr)
	for {
		if err := pl.unreached(w.Node, time.Now()); err != nil {
			return nil, err
		}
		c, open, err := p.lease(ctx, pl, w, wait)
		if err == errNodeGone { // and perhaps put back
			pl = p.of(w.Node.Addr)
			continue
		}
		if err != nil {
			return nil, err
		}
		if open {
			c, err := p.openNew(ctx, pl, w)
			if wait && tooMany(err) && pl.others() {
				continue // the server has no room: wait for one that is there
			}
			return c, err
		}
		err = pl.alive(c, w.Node, p.cfg.ConnectTimeout)
		if err == nil {
			err = p.takeOver(c, w.Owner)
		}
		if err == nil {
			return c, nil
		}
		p.Discard(c)
	}
}

// Reach tells whether a node that is down can be reached all the same: by a
// connection that lies idle, or a new one.
func (p *Pools) Reach(ctx context.Context, w *Want) error {
	if w.Node.Up {
		return nil
	}
	c, err := p.Get(ctx, w, false)
	if err == nil {
		p.Put(c, nil)
	}
	if err == nil || errors.As(err, new(*PoolFull)) || errors.As(err, new(*wire.Error)) {
		return nil
	}
	return err
}

// lease returns an idle connection or true: the caller may open one.
func (p *Pools) lease(ctx context.Context, pl *pool, w *Want, wait bool) (*Conn, bool, error) {
	pl.mu.Lock()
	if pl.gone {
		pl.mu.Unlock()
		return nil, false, errNodeGone
	}
	if len(pl.waiters) == 0 {
		if c := pl.take(w, pl.open >= pl.max(p.opts.Max)); c != nil {
			pl.mu.Unlock()
			return c, false, nil
		}
		if pl.open < pl.max(p.opts.Max) {
			pl.open++
			pl.mu.Unlock()
			return nil, true, nil
		}
		if len(pl.idle) > 0 { // of another account, or another kind: its place is needed
			victim := pl.idle[0]
			pl.idle = append(pl.idle[:0], pl.idle[1:]...)
			victim.idle = false
			pl.mu.Unlock()
			p.retire(victim)
			return nil, true, nil
		}
	}
	if !wait {
		pl.mu.Unlock()
		return nil, false, pl.full
	}
	if len(pl.waiters) >= p.opts.Queue {
		pl.mu.Unlock()
		p.Refused.Add(1)
		pl.turned.Add(1)
		return nil, false, &PoolFull{Addr: pl.addr, Limit: fmt.Sprintf("[pool] queue=%d statements wait already", p.opts.Queue)}
	}
	me := newWaiter(w)
	pl.waiters = append(pl.waiters, me)
	pl.mu.Unlock()
	return p.await(ctx, pl, me)
}

// takeLimit bounds how many idle connections are looked at for a better one.
const takeLimit = 64

// take removes the idle connection that fits best: one in the wanted state,
// else one in its schema, else the one used last. One on which another session
// may still ask for its last insert id comes after all others, and one that would
// lose more than that only if it must be.
func (pl *pool) take(w *Want, must bool) *Conn {
	if w.Attrs != nil {
		return nil
	}
	best, score := -1, -1
	for i, seen := len(pl.idle)-1, 0; i >= 0 && seen < takeLimit; i, seen = i-1, seen+1 {
		c := pl.idle[i]
		if !c.Fits(w) || !must && c.owner != w.Owner && c.loses() {
			continue
		}
		s := c.rank(w)
		if s > score {
			best, score = i, s
		}
		if s == topRank {
			break
		}
	}
	if best < 0 {
		return nil
	}
	c := pl.idle[best]
	pl.idle = append(pl.idle[:best], pl.idle[best+1:]...)
	c.idle = false
	return c
}

// loses tells whether taking a connection from its last session costs more than
// one question: it must be reset, or cannot tell all that it knows.
func (c *Conn) loses() bool {
	return c.Unclean || c.hasUserVars() || c.left != nil && c.left.Kind != LeftInsertID
}

const topRank = 7

// rank tells how little work a connection needs before it can serve.
func (c *Conn) rank(w *Want) int {
	r := 0
	if c.left == nil || c.left.owner == w.Owner {
		r += 4
	}
	switch {
	case c.state.Same(w.State):
		r += 3
	case c.state.Schema == w.State.Schema && c.state.sameMeaning(w.State):
		r += 2
	case c.state.Schema == w.State.Schema:
		r++
	}
	return r
}

// Fits tells whether a connection may be used for what is wanted at all.
func (c *Conn) Fits(w *Want) bool { return c.baseSeq == w.BaseSeq && c.StillFits(w) }

// StillFits is Fits for a connection that a session has held since it fitted: what
// SET GLOBAL has changed since then is for new connections.
func (c *Conn) StillFits(w *Want) bool {
	return c.Node.Addr == w.Node.Addr && keyOf(c.account) == keyOf(w.Account) &&
		c.Node.Incarnation.Generation == w.Node.Incarnation.Generation && c.Node.Role == w.Node.Role &&
		c.servesCharset(w) &&
		(w.SchemaFree || w.State.Schema != "" || c.state.Schema == "")
}

// servesCharset: as long as it is not known what a login's collation means, a
// login with it has to tell.
func (c *Conn) servesCharset(w *Want) bool {
	return w.State.HasCharset() || c.account.Collation == w.Account.Collation && c.state.charsetIs(c.charset)
}

// openNew opens a connection for which there is room.
func (p *Pools) openNew(ctx context.Context, pl *pool, w *Want) (*Conn, error) {
	schema, age := w.State.Schema, p.age.Load()
	c, err := Open(ctx, p.cfg, w.Node, w.Account, w.Attrs, schema, w.Base)
	if ctx.Err() == nil {
		pl.heard(err, time.Now())
	}
	if err != nil {
		pl.failed(err)
		return nil, err
	}
	c.Private = w.Attrs != nil
	p.Opened.Add(1)
	p.last.Store(&Want{Account: w.Account, State: w.State, Base: w.Base, BaseSeq: w.BaseSeq})
	c.pool, c.owner, c.baseSeq, c.age = pl, w.Owner, w.BaseSeq, age
	c.maxStatements = p.opts.Statements
	p.charsets.LoadOrStore(w.Account.Collation, c.charset)
	p.LearnTextColumns(c, c.state)
	return c, nil
}

// Adopt puts a connection that was opened elsewhere into the pool of its node,
// as an idle one that serves w. For tests.
func (p *Pools) Adopt(c *Conn, w *Want) {
	pl := p.of(c.Node.Addr)
	pl.mu.Lock()
	pl.open++
	pl.mu.Unlock()
	c.pool, c.account, c.baseSeq, c.cfg, c.age = pl, w.Account, w.BaseSeq, p.cfg, p.age.Load()
	p.charsets.LoadOrStore(w.Account.Collation, c.charset)
	c.state = c.state.WithCharset(c.charset)
	p.Put(c, nil)
}

// idleCheck is how long a connection must have been idle to be looked at
// before it is used again.
var idleCheck atomic.Int64

func init() { idleCheck.Store(int64(200 * time.Millisecond)) }

// SetIdleCheck changes it, for tests.
func SetIdleCheck(d time.Duration) { idleCheck.Store(int64(d)) }

// Closed tells whether the server has closed a connection that was idle.
func (c *Conn) Closed(now time.Time) bool {
	return now.Sub(c.LastUsed) > time.Duration(idleCheck.Load()) && c.PeerClosed()
}

// gone is Closed for one that comes from the pool: to the source each is looked
// at, since a write cannot be sent again.
func (c *Conn) gone() bool {
	return c.Node.Role == RoleSource && c.PeerClosed() || c.Closed(time.Now())
}

// takeOver makes an idle connection that of another session: it is looked at
// without a round trip, and what its last session may still ask for is kept.
func (p *Pools) takeOver(c *Conn, owner *Owner) error {
	if c.gone() {
		return errPeerClosed
	}
	if c.left != nil && c.left.owner != owner {
		p.Captures.Add(1)
		if err := c.Capture(c.left); err != nil {
			return err
		}
	}
	c.left = nil
	if c.owner == owner {
		return nil
	}
	c.owner = owner
	c.Turn++
	if c.Unclean || c.hasUserVars() { // one cannot be unset: NULL has a type
		c.SetDeadline(deadlineIn(p.cfg.ConnectTimeout))
		defer c.SetDeadline(noDeadline)
		return p.Reset(c)
	}
	return nil
}

// errNodeGone: the pool was forgotten since it was looked up.
var errNodeGone = errors.New("the pool is gone")

var errPeerClosed = errors.New("the server closed the connection")

// Retake takes a connection back that was given back, if nobody has had it
// since; what the server keeps of its last statement is still there. With w it
// must fit that as well.
func (p *Pools) Retake(c *Conn, owner *Owner, w *Want) bool {
	pl := p.of(c.Node.Addr)
	pl.mu.Lock()
	if !c.idle || c.owner != owner || w != nil && (!c.Fits(w) || !w.Node.Up) {
		pl.mu.Unlock()
		return false
	}
	for i := len(pl.idle) - 1; i >= 0; i-- {
		if pl.idle[i] == c {
			pl.idle = append(pl.idle[:i], pl.idle[i+1:]...)
			break
		}
	}
	c.idle = false
	pl.mu.Unlock()
	if c.gone() {
		if c.left != nil {
			c.left.lost(errPeerClosed)
		}
		p.Discard(c)
		return false
	}
	c.left = nil
	return true
}

// Put gives a connection back. It must not be in a transaction or hold
// anything that its session alone may see; left, which may be nil, is what the
// session may still ask for.
func (p *Pools) Put(c *Conn, left *Leftover) {
	if c.Broken {
		p.Discard(c)
		return
	}
	c.left = left
	c.Rest()
	if c.age != p.age.Load() {
		pl := c.pool
		p.retire(c)
		pl.freed()
		return
	}
	pl := c.pool
	pl.mu.Lock()
	if pl.limit > 0 && pl.open > pl.limit && time.Now().Before(pl.until) {
		pl.mu.Unlock()
		p.retire(c)
		pl.freed()
		return
	}
	if len(pl.waiters) == 0 {
		c.idle = true
		pl.idle = append(pl.idle, c)
		pl.mu.Unlock()
		return
	}
	w := pl.next()
	if c.Fits(w.want) && w.want.Attrs == nil {
		w.grant <- grant{c}
		pl.mu.Unlock()
		return
	}
	pl.mu.Unlock()
	p.retire(c)
	w.grant <- grant{}
}

// Discard closes a connection for good.
func (p *Pools) Discard(c *Conn) {
	if c.left != nil {
		c.left.lost(errDiscarded)
		c.left = nil
	}
	c.Quit()
	c.Broken = true
	if c.pool != nil {
		c.pool.freed()
		c.pool = nil
	}
}

var errDiscarded = errors.New("the connection was closed")

// retire closes a connection whose place is used otherwise.
func (p *Pools) retire(c *Conn) {
	if c.left != nil {
		c.Capture(c.left)
		c.left = nil
	}
	c.Quit()
	c.Broken = true
	c.pool = nil
}

// Reset brings a connection back into the state of a new one.
func (p *Pools) Reset(c *Conn) error {
	p.Resets.Add(1)
	err := c.Reset()
	if err == nil {
		p.LearnTextColumns(c, c.state)
	}
	return err
}
