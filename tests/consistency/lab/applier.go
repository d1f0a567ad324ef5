package lab

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Applier is a replica whose SQL thread can be stopped and started;
// *cluster.Node is one.
type Applier interface {
	// Pause returns when no further transaction gets applied.
	Pause(ctx context.Context) error
	Resume(ctx context.Context) error
}

// Account says which appliers stand and for how long they have stood so far.
// The zero value is not ready for use: see NewAccount.
type Account struct {
	mu      sync.Mutex
	now     func() time.Time
	start   time.Time
	last    time.Time
	stopped []bool
	stood   []time.Duration
	all     time.Duration
	epoch   uint64 // grows when the last running applier stops or starts
}

// NewAccount starts the account of n appliers, all running. now is the clock.
func NewAccount(n int, now func() time.Time) *Account {
	t := now()
	return &Account{now: now, start: t, last: t, stopped: make([]bool, n), stood: make([]time.Duration, n)}
}

// Set notes that applier i stands or runs from now on.
func (a *Account) Set(i int, stopped bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settle()
	before := a.allStopped()
	a.stopped[i] = stopped
	if a.allStopped() != before {
		a.epoch++
	}
}

// Phase tells whether at least one applier runs, and a number that changes
// with that answer: two equal phases mean that nothing changed in between.
func (a *Account) Phase() (anyRuns bool, epoch uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.allStopped(), a.epoch
}

// Shares returns, of the time since the account began, the share that each
// applier stood and the share that all stood together.
func (a *Account) Shares() (each []float64, all float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settle()
	total := a.last.Sub(a.start).Seconds()
	if total <= 0 {
		return make([]float64, len(a.stood)), 0
	}
	for _, d := range a.stood {
		each = append(each, d.Seconds()/total)
	}
	return each, a.all.Seconds() / total
}

// String tells which appliers run, for messages.
func (a *Account) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := ""
	for i, stopped := range a.stopped {
		word := "runs"
		if stopped {
			word = "stands"
		}
		s += fmt.Sprintf("applier %d %s; ", i+1, word)
	}
	return s
}

func (a *Account) settle() {
	t := a.now()
	d := t.Sub(a.last)
	a.last = t
	for i, stopped := range a.stopped {
		if stopped {
			a.stood[i] += d
		}
	}
	if a.allStopped() {
		a.all += d
	}
}

func (a *Account) allStopped() bool {
	for _, stopped := range a.stopped {
		if !stopped {
			return false
		}
	}
	return len(a.stopped) > 0
}
