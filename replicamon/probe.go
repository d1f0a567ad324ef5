package replicamon

import (
	"context"
	"time"
)

// Limits of the probes' own manners.
const (
	kickGap      = 20 * time.Millisecond // between two probes, however often they are asked for
	slowestRetry = time.Second           // between two tries at a node that is down
	refusedRetry = 5 * time.Second       // at one that is of no use
	statusRetry  = 10 * time.Second      // at one whose SHOW REPLICA STATUS hangs
	nameHolds    = 30 * time.Second      // before a node given by name is looked up again
)

// positionProbe is the state of one node's position goroutine.
type positionProbe struct {
	m     *Monitor
	p     *probes
	s     session
	since time.Time // of s
	fresh *life     // of s, until an answer over s was taken in
	fails int
}

func (m *Monitor) runPosition(ctx context.Context, p *probes) {
	probe := positionProbe{m: m, p: p}
	defer probe.drop()
	for ctx.Err() == nil {
		began := time.Now()
		wait := m.hurried(probe.round(ctx))
		pause(ctx, time.Until(began.Add(wait)), p.position)
		pause(ctx, time.Until(began.Add(kickGap)), nil)
	}
}

// hurried shortens the time to the next probe while no source serves: writes
// wait for whoever becomes writable. Probes that hang or are refused keep theirs.
func (m *Monitor) hurried(wait time.Duration) time.Duration {
	if wait > slowestRetry || m.View().Source.Usable() {
		return wait
	}
	return min(wait, m.opts.PositionInterval)
}

// round asks once, over a new connection if the old one broke, and tells how
// long after its beginning the next round is due.
func (q *positionProbe) round(ctx context.Context) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, q.m.opts.Timeout)
	defer cancel()
	if q.p.redial.Swap(false) || q.s != nil && q.p.named && time.Since(q.since) > nameHolds {
		q.drop() // a name may lead elsewhere by now: only a new connection tells
	}
	old := q.s != nil
	refused, err := q.ask(ctx)
	if err != nil && old && kindOf(err) == errGone {
		// A broken connection is no dead server: only a new one can tell.
		refused, err = q.ask(ctx)
	}
	switch {
	case ctx.Err() != nil && context.Cause(ctx) == context.Canceled:
		return 0 // stopping: what failed says nothing
	case err != nil:
		q.m.count.failures[probePosition].Add(1)
		q.m.apply(q.p, failed{kind: kindOf(err), text: err.Error()})
		q.fails++
		return min(slowestRetry, q.m.opts.PositionInterval<<min(q.fails-1, 10))
	case refused:
		return refusedRetry
	}
	q.fails = 0
	return q.m.opts.PositionInterval
}

// ask does one probe. After an error the connection is gone.
func (q *positionProbe) ask(ctx context.Context) (refused bool, err error) {
	defer func() {
		if err != nil || refused {
			q.drop()
		}
	}()
	if q.s == nil {
		if q.s, err = q.m.dial(ctx, q.p.addr); err != nil {
			return false, err
		}
		q.since = time.Now()
		l, err := q.s.life(ctx)
		if err != nil {
			return false, err
		}
		if why := refuseVersion(l.version); why != "" {
			q.m.apply(q.p, refusal{text: why})
			return true, nil
		}
		q.fresh = &l
	}
	pos, err := q.s.position(ctx)
	if err != nil {
		return false, err
	}
	q.m.apply(q.p, answered{life: q.fresh, pos: pos})
	q.fresh = nil
	return false, nil
}

func (q *positionProbe) drop() {
	if q.s != nil {
		q.s.close()
	}
	q.s, q.fresh = nil, nil
}

// statusProbe is the state of one node's status goroutine.
type statusProbe struct {
	m          *Monitor
	p          *probes
	s          session
	gen        uint64 // of s: a later life needs another connection
	fails      int
	defaultsAt time.Time
	defaultsOf uint64 // generation
}

func (m *Monitor) runStatus(ctx context.Context, p *probes) {
	probe := statusProbe{m: m, p: p}
	defer probe.drop()
	for ctx.Err() == nil {
		began := time.Now()
		wait := m.hurried(probe.round(ctx))
		pause(ctx, time.Until(began.Add(wait)), p.status)
		pause(ctx, time.Until(began.Add(kickGap)), nil)
	}
}

// round asks once. A node without a position yet is left alone: its status
// could not be tied to a life.
func (q *statusProbe) round(ctx context.Context) time.Duration {
	n := q.m.View().Node(q.p.addr)
	if n == nil { // taken out: the goroutine ends
		q.drop()
		return q.m.opts.Interval
	}
	n.Live.Times.Refresh(time.Now())
	gen := n.Incarnation.Generation
	if !n.Up || gen == 0 || n.Incarnation.ServerUUID == "" {
		q.drop()
		q.fails = 0
		return q.m.opts.Interval
	}
	if q.gen != gen {
		q.drop()
		q.gen = gen
	}
	probeCtx, cancel := context.WithTimeout(ctx, q.m.opts.Timeout)
	defer cancel()
	old := q.s != nil
	err := q.ask(probeCtx, gen)
	if err != nil && old && kindOf(err) == errGone {
		err = q.ask(probeCtx, gen)
	}
	if ctx.Err() != nil {
		return 0
	}
	if err != nil {
		q.m.count.failures[probeStatus].Add(1)
		q.m.apply(q.p, statusFailed{gen: gen, text: err.Error(), at: time.Now()})
		q.fails++
		// A statement that hangs stays on the server: do not pile them up.
		return min(statusRetry, q.m.opts.Interval<<min(q.fails-1, 10))
	}
	q.fails = 0
	return q.m.opts.Interval
}

func (q *statusProbe) ask(ctx context.Context, gen uint64) (err error) {
	defer func() {
		if err != nil {
			q.drop()
		}
	}()
	if q.s == nil {
		if q.s, err = q.m.dial(ctx, q.p.addr); err != nil {
			return err
		}
	}
	st, err := q.s.status(ctx)
	if err != nil {
		return err
	}
	if n := q.m.View().Node(q.p.addr); n == nil || st.uuid != n.Incarnation.ServerUUID {
		// The address leads elsewhere by now: let the position probe find out.
		q.drop()
		q.p.redial.Store(true)
		kick(q.p.position)
		return nil
	}
	q.m.apply(q.p, statusAnswered{gen: gen, st: st})
	if q.defaultsOf == gen && time.Since(q.defaultsAt) < q.m.opts.DefaultsInterval {
		return nil
	}
	vars, err := q.s.defaults(ctx, q.m.opts.Defaults)
	if err != nil {
		return err
	}
	q.defaultsAt, q.defaultsOf = time.Now(), gen
	q.m.apply(q.p, defaultsAnswered{gen: gen, vars: vars})
	return nil
}

func (q *statusProbe) drop() {
	if q.s != nil {
		q.s.close()
	}
	q.s = nil
}
