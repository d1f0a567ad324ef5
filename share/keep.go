package share

import (
	"context"
	"time"
)

// rest is how long a member stays Out at least, so that all that wait for it go on.
const rest = 20 * time.Millisecond

// Run keeps the lease until ctx ends. It must outlast those who publish.
func (m *Member) Run(ctx context.Context) {
	for ctx.Err() == nil {
		m.mu.Lock()
		phase, outAt, changed := m.phase, m.outAt, m.changed
		m.mu.Unlock()
		switch phase {
		case Out:
			pause(ctx, rest, nil)
			m.join(ctx)
		case Joined:
			if !pause(ctx, m.o.Lease/3, changed) {
				m.renew(ctx)
			}
		default:
			if m.o.fault != moveAtOnce {
				pause(ctx, time.Until(outAt), nil)
			}
			m.mu.Lock()
			m.enter(Out)
			m.mu.Unlock()
		}
	}
}

// pause waits; it tells whether changed ended that.
func pause(ctx context.Context, d time.Duration, changed <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	case <-changed:
		return true
	}
	return false
}

// join begins a turn: from now on nothing is acknowledged without the store, then the
// source is asked, so that the floor has all that was acknowledged before, and only
// then a lease is asked for.
func (m *Member) join(ctx context.Context) {
	if _, err := m.look(ctx); err != nil { // while nobody waits for it
		m.failed(err)
		pause(ctx, m.o.Lease/2, nil)
		return
	}
	m.mu.Lock()
	m.turn++
	turn := m.turn
	m.outAt = time.Now()
	m.enter(Joining)
	m.mu.Unlock()
	s, err := m.look(ctx)
	if err != nil {
		m.leave(turn, err)
		return
	}
	m.answered(&s)
	floor, err := m.newFloor(ctx, &s)
	if err != nil && m.o.fault != joinNoFloor {
		m.leave(turn, err)
		return
	}
	if m.o.fault == joinNoFloor && s.Floor.Life == s.Life {
		floor = Floor{}
	}
	if err := m.order(ctx, s.Life, floor); err != nil {
		m.leave(turn, err)
		return
	}
	m.mu.Lock()
	m.life, m.state.Error, m.doubled = s.Life, "", false
	m.enter(Joined)
	m.mu.Unlock()
}

// renew prolongs the lease, and renews the floor where that is due.
func (m *Member) renew(ctx context.Context) {
	m.mu.Lock()
	turn, life, due := m.turn, m.life, !time.Now().Before(m.floorDue)
	m.mu.Unlock()
	var floor Floor
	if due {
		if s, err := m.look(ctx); err == nil && s.Life == life {
			floor, _ = m.newFloor(ctx, &s) // without it readers go global in the end
		}
	}
	if err := m.order(ctx, life, floor); err != nil {
		m.leave(turn, err)
	}
}

func (m *Member) look(ctx context.Context) (Sight, error) {
	ctx, cancel := context.WithTimeout(ctx, m.o.Timeout)
	defer cancel()
	s, err := m.o.Store.Look(ctx, nil)
	if err == nil && s.Life == "" {
		err = refusal(OtherLife)
	}
	return s, err
}

// newFloor asks the source after the store told its time.
func (m *Member) newFloor(ctx context.Context, s *Sight) (Floor, error) {
	ctx, cancel := context.WithTimeout(ctx, m.o.Timeout)
	defer cancel()
	set, err := m.o.Source(ctx)
	if err != nil {
		return Floor{}, err
	}
	m.mu.Lock()
	m.floorDue = time.Now().Add(m.o.TTL / 4)
	m.mu.Unlock()
	return Floor{Life: s.Life, Begun: s.Now, Until: s.Now + Millis((m.o.TTL / 2).Milliseconds()), Set: set.Line()}, nil
}

// answered takes the store's clock from an answer. All leases that are asked for from
// now on end one lease time after that moment, which was before the answer came.
func (m *Member) answered(s *Sight) {
	m.base = s.Now
	m.mu.Lock()
	m.outAt = time.Now().Add(m.runsOut())
	m.mu.Unlock()
}

func (m *Member) order(ctx context.Context, life string, floor Floor) error {
	ctx, cancel := context.WithTimeout(ctx, m.o.Timeout)
	defer cancel()
	end := m.base + Millis(m.o.Lease.Milliseconds())
	if m.o.fault == longLease {
		end += 500
	}
	s, verdict, err := m.o.Store.Lease(ctx, LeaseOrder{Name: m.o.Name, Lease: Lease{life, m.proc, m.list, end}, Floor: floor})
	switch {
	case err != nil:
		return err
	case verdict != Done:
		m.mu.Lock()
		m.doubled = m.doubled || verdict == Taken
		m.mu.Unlock()
		return refusal(verdict)
	}
	m.answered(&s)
	m.note(&s)
	return nil
}

// failed keeps why the store cannot be joined.
func (m *Member) failed(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state.Error != err.Error() {
		m.state.Error = err.Error()
		m.tell()
	}
}
