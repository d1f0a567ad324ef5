package doubt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"causeway/tests/doubt/forward"
	"causeway/tests/session/raw"
	"causeway/wire"
)

// session is one client with a row of its own.
type session struct {
	run *run
	id  int // also its row's
	rng *rand.Rand
	c   *raw.Client
	v   int // the row's value, by the source's own word
}

func (s *session) loop(ctx context.Context) error {
	defer func() {
		if s.c != nil {
			s.c.Close()
		}
	}()
	for ctx.Err() == nil {
		n, more := s.run.next()
		if !more {
			return nil
		}
		if err := s.cut(ctx, n); err != nil {
			return fmt.Errorf("session %d: %w", s.id, err)
		}
	}
	return ctx.Err()
}

// trial is one write whose answer is cut off, and the reads after it.
type trial struct {
	kind    kind
	step    forward.Step
	blocked bool
	mark    string
	old     int
	new     int
	answer  string // what the client got
	ok      bool
	reads   []string
}

func (t *trial) String() string {
	lock := ""
	if t.blocked {
		lock = ", waiting for a lock"
	}
	return fmt.Sprintf("%s cut %s%s (%s): client got %s; value before %d, written %d, then read %v",
		t.kind.name, t.step, lock, t.mark, t.answer, t.old, t.new, t.reads)
}

// draw chooses what trial n does: every step in turn, half of them blocked.
func (s *session) draw(n int) *trial {
	t := &trial{step: forward.Step(n / 2 % forward.Steps), blocked: n%2 == 0, mark: fmt.Sprintf("cut%dx", n), old: s.v, new: n}
	for {
		t.kind = kinds[s.rng.IntN(len(kinds))]
		if t.kind.blocks || !t.blocked {
			return t
		}
	}
}

// cut runs one trial. Its error is one of the test, not of Causeway.
func (s *session) cut(ctx context.Context, n int) error {
	if s.c == nil {
		var err error
		if s.c, err = s.run.dial(); err != nil {
			return err
		}
	}
	t := s.draw(n)
	plan := s.run.source.Arm(t.mark, t.step)
	released, err := s.lock(ctx, t)
	if err != nil {
		return err
	}
	s.write(t)
	for range 3 {
		s.read(t)
		time.Sleep(time.Duration(s.rng.IntN(15)) * time.Millisecond)
	}
	if err := <-released; err != nil {
		return err
	}
	if err := s.settled(ctx, t, plan); err != nil {
		return err
	}
	s.read(t)
	return s.judge(ctx, t)
}

// lock takes the row's lock for a while, if the trial is a blocked one.
func (s *session) lock(ctx context.Context, t *trial) (released chan error, err error) {
	released = make(chan error, 1)
	if !t.blocked {
		released <- nil
		return released, nil
	}
	tx, err := shared.Source().DB.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, "SELECT v FROM doubt.d WHERE id = ? FOR UPDATE", s.id); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	time.AfterFunc(time.Duration(s.rng.IntN(200))*time.Millisecond, func() { released <- tx.Rollback() })
	return released, nil
}

// write runs the marked write and notes what the client got.
func (s *session) write(t *trial) {
	a, err := t.kind.do(s.c, t.mark, s.id, t.new)
	switch {
	case err != nil:
		t.answer = "no answer: " + err.Error()
		s.lost(t, err)
	case a.Err() == nil:
		t.answer, t.ok = "OK", true
	default:
		t.answer = a.Err().Error()
		t.ok = t.kind.errno != 0 && a.Code() == t.kind.errno
	}
	if t.ok || s.c == nil {
		return
	}
	for _, stmt := range t.kind.cleanup {
		if a, err := s.c.Query(stmt); err != nil || a.Err() != nil {
			t.answer += fmt.Sprintf("; %s after it: %v %v", stmt, a, err)
		}
	}
}

// lost notes that the session has ended; the next trial has a new one. That is
// right only where a part of the answer had reached the client, or where the
// session had state that nobody can replay.
func (s *session) lost(t *trial, err error) {
	var refused *wire.Error
	if errors.As(err, &refused) || errors.Is(err, errNotReached) {
		return
	}
	s.c.Close()
	s.c = nil
	if t.kind.ends || t.kind.parts {
		return
	}
	s.run.mu.Lock()
	defer s.run.mu.Unlock()
	s.run.lostSessions++
	s.run.faults = append(s.run.faults, "the session was ended: "+t.String())
}

// read notes what the session sees of its row.
func (s *session) read(t *trial) {
	if s.c == nil {
		return
	}
	a, err := s.c.Query(fmt.Sprintf("SELECT v FROM d WHERE id = %d", s.id))
	switch {
	case err != nil:
		t.reads = append(t.reads, "lost")
		s.lost(t, err)
	case a.Err() != nil:
		t.reads = append(t.reads, "error: "+a.Err().Error())
	default:
		t.reads = append(t.reads, a.Value())
	}
}

// settled waits until nothing can change the row any more: the cut was carried
// out and the server's thread has ended.
func (s *session) settled(ctx context.Context, t *trial, plan *forward.Cut) error {
	select {
	case <-plan.Done:
	default:
		s.run.source.Disarm(t.mark)
		s.run.mu.Lock()
		defer s.run.mu.Unlock()
		s.run.uncut++
		s.run.cuts++ // another one in its place
		s.run.outcomes["no cut: "+t.kind.name+": "+t.answer]++
		return nil
	}
	for ctx.Err() == nil {
		n, err := shared.Source().Value(ctx, "SELECT COUNT(*) FROM performance_schema.threads WHERE PROCESSLIST_ID = ?", plan.ThreadID)
		if err != nil || n == "0" {
			return err
		}
		time.Sleep(2 * time.Millisecond)
	}
	return ctx.Err()
}

// judge holds the reads against the truth.
func (s *session) judge(ctx context.Context, t *trial) error {
	truth, err := shared.Source().Value(ctx, "SELECT v FROM doubt.d WHERE id = ?", s.id)
	if err != nil {
		return err
	}
	if _, err := fmt.Sscan(truth, &s.v); err != nil {
		return err
	}
	r := s.run
	r.mu.Lock()
	defer r.mu.Unlock()
	committed := s.v == t.new
	if committed && !t.ok {
		r.hidden++
	}
	r.outcomes[outcome(t, committed)]++
	failed := false
	for _, v := range t.reads {
		switch {
		case v == "lost":
		case strings.HasPrefix(v, "error"):
			r.readErrors++
			failed = true
		case v != truth:
			r.faults = append(r.faults, fmt.Sprintf("the source has %s: %v", truth, t))
		}
	}
	if failed { // one fault a trial, and none that follows from it
		r.faults = append(r.faults, "a read failed: "+t.String())
		s.c.Close()
		s.c = nil
	}
	if t.ok && !committed {
		r.faults = append(r.faults, "acknowledged and not committed: "+t.String())
	}
	return nil
}

func outcome(t *trial, committed bool) string {
	client, fate, lock := "an error", "not committed", ""
	if t.ok {
		client = "the answer"
	}
	if committed {
		fate = "committed"
	}
	if t.blocked {
		lock = ", blocked"
	}
	return fmt.Sprintf("cut %s%s: client got %s, %s", t.step, lock, client, fate)
}

func sortedKeys(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }
