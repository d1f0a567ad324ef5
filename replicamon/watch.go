package replicamon

import (
	"context"
	"time"

	"causeway/backend"
	"causeway/gtid"
)

// Wait says what to wait for.
type Wait struct {
	Need  gtid.Set
	Until time.Time
	Addr  string // only this replica will do; "": any
	// Untrusted marks a need that did not come from the source's own OK but from
	// a client: the source is asked first, and a need that it has not executed
	// is refused instead of watched for.
	Untrusted bool
}

// WaitCovered returns as soon as a view is published in which a usable replica
// covers need, with that view; or at until, or when ctx is done, or at once
// when too many wait, with ok false and the view of that moment.
//
// need must come from the source's own answers (its OK packets, or its
// gtid_executed): what the source has not executed is never met and only
// delays others. It belongs to an epoch: when the view that comes back has
// another one than the caller's token, the answer is void.
//
// To wait for freshness instead of a token, wait for View.SourcePosition: who
// covers it is fresh as of View.SourceAsked.
func (m *Monitor) WaitCovered(ctx context.Context, need gtid.Set, until time.Time) (v *backend.View, ok bool) {
	return m.Wait(ctx, Wait{Need: need, Until: until})
}

// Wait is WaitCovered with all its choices.
func (m *Monitor) Wait(ctx context.Context, want Wait) (v *backend.View, ok bool) {
	w := &waiter{need: want.Need, addr: want.Addr, until: want.Until}
	if v := m.View(); covered(v, w) {
		return v, true
	}
	limit := time.Until(want.Until)
	if limit <= 0 || ctx.Err() != nil || want.Untrusted && !m.executed(ctx, want) {
		return m.View(), false
	}
	if !m.queue.add(w) {
		m.count.refusedWaits.Add(1)
		return m.View(), false
	}
	defer m.queue.remove(w)
	// A view published between the first look and add woke nobody: look again.
	if v := m.View(); covered(v, w) {
		return v, true
	}
	for _, p := range *m.probes.Load() {
		kick(p.watch)
	}
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case v := <-w.done:
		if v != nil {
			return v, true
		}
	case <-t.C:
	case <-ctx.Done():
	}
	return m.View(), false
}

func covered(v *backend.View, w *waiter) bool {
	for _, n := range v.Replicas {
		if n.Usable() && w.wants(n) {
			return true
		}
	}
	return false
}

// executed tells whether the source has executed an untrusted need.
func (m *Monitor) executed(ctx context.Context, want Wait) bool {
	if m.View().SourcePosition.Contains(want.Need) {
		return true
	}
	ctx, cancel := context.WithDeadline(ctx, want.Until)
	defer cancel()
	set, _, err := m.FreshSource(ctx)
	return err == nil && set.Contains(want.Need)
}

// watchProbe is the state of one node's watch goroutine.
type watchProbe struct {
	m     *Monitor
	p     *probes
	s     session
	gen   uint64 // of s
	after uint64 // the last waiter whose need was not met in time
}

// runWatch sits in WAIT_FOR_EXECUTED_GTID_SET on one replica while somebody
// waits, and does nothing at all while nobody does.
func (m *Monitor) runWatch(ctx context.Context, p *probes) {
	watch := watchProbe{m: m, p: p}
	defer watch.drop()
	for ctx.Err() == nil {
		w, ok := watch.next()
		if !ok {
			select {
			case <-ctx.Done():
			case <-p.watch:
			}
			continue
		}
		if err := watch.await(ctx, w); err != nil && ctx.Err() == nil {
			m.count.failures[probeWatch].Add(1)
			kick(p.position) // it will tell whether the node is dead
			pause(ctx, m.opts.PositionInterval, nil)
		}
	}
}

// next returns whom to serve, if this node may serve anybody.
func (q *watchProbe) next() (waiter, bool) {
	n := q.m.View().Node(q.p.addr)
	if n == nil || n.Role != backend.RoleReplica || !n.Usable() {
		return waiter{}, false
	}
	if q.gen != n.Incarnation.Generation {
		q.drop()
		q.gen = n.Incarnation.Generation
	}
	return q.m.queue.pick(q.p.addr, q.after, time.Now())
}

// await waits for one need and publishes what the node has executed then.
func (q *watchProbe) await(ctx context.Context, w waiter) error {
	limit := min(q.m.opts.WatchTimeout, max(time.Until(w.until), time.Millisecond))
	ctx, cancel := context.WithTimeout(ctx, limit+q.m.opts.Timeout)
	defer cancel()
	if q.s == nil {
		var err error
		if q.s, err = q.m.dial(ctx, q.p.addr); err != nil {
			q.s = nil
			return err
		}
	}
	q.m.count.watchQueries.Add(1)
	pos, err := q.s.await(ctx, w.need, limit)
	if err != nil {
		q.drop()
		return err
	}
	if pos.executed.Contains(w.need) {
		q.m.count.watchWakeups.Add(1)
		q.after = 0
	} else {
		q.after = w.seq
	}
	if n := q.m.View().Node(q.p.addr); n == nil || pos.uuid != n.Incarnation.ServerUUID {
		q.drop()
		q.p.redial.Store(true)
		kick(q.p.position)
		pause(ctx, kickGap, nil)
		return nil
	}
	q.m.apply(q.p, answered{gen: q.gen, pos: pos})
	return nil
}

func (q *watchProbe) drop() {
	if q.s != nil {
		q.s.close()
	}
	q.s = nil
}
