package replicamon

import (
	"context"
	"errors"
	"time"

	"causeway/backend"
	"causeway/gtid"
)

// freshProbe is the state of the goroutine that asks one node.
type freshProbe struct {
	m   *Monitor
	p   *probes
	s   session
	gen uint64
}

func (m *Monitor) runFresh(ctx context.Context, p *probes) {
	probe, calls := freshProbe{m: m, p: p}, p.fresh
	defer probe.drop()
	defer calls.close()
	for ctx.Err() == nil {
		c, wait := calls.take(time.Now())
		if c == nil {
			calls.await(ctx, wait)
			continue
		}
		m.count.freshQueries.Add(1)
		c.set, c.asked, c.err = probe.ask(ctx)
		if c.err != nil {
			m.count.failures[probeFresh].Add(1)
		}
		calls.finish(c)
	}
}

// ask does one probe of the node in its present life.
func (q *freshProbe) ask(ctx context.Context) (gtid.Set, time.Time, error) {
	n := q.m.View().Node(q.p.addr)
	if n == nil || n.Incarnation.Generation == 0 {
		return gtid.Set{}, time.Time{}, errors.New("the server has never answered")
	}
	if q.gen != n.Incarnation.Generation {
		q.drop()
		q.gen = n.Incarnation.Generation
	}
	ctx, cancel := context.WithTimeout(ctx, q.m.opts.Timeout)
	defer cancel()
	pos, err := q.askLife(ctx, n)
	if err != nil {
		kick(q.p.position)
		return gtid.Set{}, time.Time{}, err
	}
	q.m.apply(q.p, answered{gen: q.gen, pos: pos})
	return pos.executed, pos.asked, nil
}

func (q *freshProbe) askLife(ctx context.Context, n *backend.Node) (position, error) {
	old := q.s != nil
	pos, err := q.once(ctx)
	if err != nil && old && kindOf(err) == errGone {
		pos, err = q.once(ctx)
	}
	if err == nil && pos.uuid != n.Incarnation.ServerUUID {
		q.drop()
		err = errors.New("another server answers at the address")
	}
	return pos, err
}

func (q *freshProbe) once(ctx context.Context) (pos position, err error) {
	if q.s == nil {
		if q.s, err = q.m.dial(ctx, q.p.addr); err != nil {
			q.s = nil
			return position{}, err
		}
	}
	if pos, err = q.s.position(ctx); err != nil {
		q.drop()
	}
	return pos, err
}

func (q *freshProbe) drop() {
	if q.s != nil {
		q.s.close()
	}
	q.s = nil
}
