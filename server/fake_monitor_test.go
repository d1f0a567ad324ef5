package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"causeway/backend"
	"causeway/gtid"
)

// fakeMonitor implements Monitor: it shows what a test publishes.
type fakeMonitor struct {
	current atomic.Pointer[backend.View]
	panics  atomic.Int32                 // so many calls of View panic
	noFresh atomic.Bool                  // FreshSource fails
	locks   atomic.Bool                  // connections hold named locks
	held    atomic.Pointer[backend.Held] // what they hold besides
	source  *fakeNode

	asked, askedSoon atomic.Int32 // calls of SourceNow and SourceSoon

	mu      sync.Mutex
	changed chan struct{} // closed at each new view
	reports []string
	named   []string // what SetSource was called with
	refuses error    // its answer
	onNamed func()   // runs before it
}

var _ Monitor = (*fakeMonitor)(nil)

func newFakeMonitor(source *fakeNode) *fakeMonitor {
	return &fakeMonitor{source: source, changed: make(chan struct{})}
}

// publish shows v.
func (m *fakeMonitor) publish(v *backend.View) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.current.Load(); old != nil {
		v.Seq = old.Seq + 1
	}
	m.current.Store(v)
	close(m.changed)
	m.changed = make(chan struct{})
}

func (m *fakeMonitor) View() *backend.View {
	if m.panics.Load() > 0 && m.panics.Add(-1) >= 0 {
		panic("BUG: asked for by a test")
	}
	return m.current.Load()
}

func (m *fakeMonitor) WaitCovered(ctx context.Context, need gtid.Set, until time.Time) (*backend.View, bool) {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	for {
		m.mu.Lock()
		changed := m.changed
		m.mu.Unlock()
		v := m.current.Load()
		for _, n := range v.Replicas {
			if n.Usable() && n.Position.Contains(need) {
				return v, true
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return v, false
		}
	}
}

func (m *fakeMonitor) FreshSource(context.Context) (gtid.Set, time.Time, error) {
	if m.noFresh.Load() {
		return gtid.Set{}, time.Time{}, errors.New("not now")
	}
	return m.source.position(), time.Now(), nil
}

func (m *fakeMonitor) SourceNow(ctx context.Context, _ time.Time) (gtid.Set, error) {
	m.asked.Add(1)
	set, _, err := m.FreshSource(ctx)
	return set, err
}

func (m *fakeMonitor) SourceSoon(ctx context.Context, _ time.Time) (gtid.Set, error) {
	m.askedSoon.Add(1)
	set, _, err := m.FreshSource(ctx)
	return set, err
}

func (m *fakeMonitor) Report(addr string, generation uint64, why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reports = append(m.reports, fmt.Sprintf("%s/%d: %s", addr, generation, why))
}

func (m *fakeMonitor) reported() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.reports
	m.reports = nil
	return out
}

func (m *fakeMonitor) Held(context.Context, string, uint32) (backend.Held, error) {
	var held backend.Held
	if h := m.held.Load(); h != nil {
		held = *h
	}
	held.UserLocks = held.UserLocks || m.locks.Load()
	return held, nil
}

func (m *fakeMonitor) SetSource(addr string) error {
	m.mu.Lock()
	then := m.onNamed
	m.mu.Unlock()
	if then != nil {
		then()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.named = append(m.named, addr)
	return m.refuses
}

func (m *fakeMonitor) AddServer(addr string, weight int, zone string) error {
	return m.SetSource(fmt.Sprintf("add %s %d %q", addr, weight, zone))
}

func (m *fakeMonitor) RemoveServer(addr string) error { return m.SetSource("remove " + addr) }

// refuse makes SetSource fail, AddServer and RemoveServer too.
func (m *fakeMonitor) refuse(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuses = err
}

// whenNamed runs fn at each SetSource.
func (m *fakeMonitor) whenNamed(fn func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.onNamed = fn
}

// names returns what SetSource, AddServer and RemoveServer were called with.
func (m *fakeMonitor) names() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.named)
}
