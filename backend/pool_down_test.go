package backend

import (
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"causeway/wire"
)

// What needs a server that is known to be down fails at once when another attempt
// has just failed, and the server's next sign of life ends that.
func TestPoolRemembersASilentServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var dialed atomic.Int64
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			dialed.Add(1)
			defer nc.Close() // it never greets
		}
	}()
	p := NewPools(&Config{ConnectTimeout: 50 * time.Millisecond}, PoolOptions{Max: 2, Queue: 1, Wait: time.Minute})
	n := &Node{Addr: l.Addr().String(), Role: RoleSource}
	get := func(want int64, remembered bool) {
		t.Helper()
		_, err := p.Get(t.Context(), wantOf(n, EmptyState, &Owner{}), true)
		if got := errors.As(err, new(*Unreached)); err == nil || got != remembered {
			t.Errorf("error %v; remembered: %v, want %v", err, got, remembered)
		}
		if got := Reason(err); got != "no answer within [backend] connect_timeout" {
			t.Errorf("reason %q", got)
		}
		waitFor(t, func() bool { return dialed.Load() == want })
		if s := p.Stats()[0]; s.Open != 0 {
			t.Errorf("%d connections are counted as open", s.Open)
		}
	}
	get(1, false)
	get(1, true)
	p.of(n.Addr).deafAt = time.Now().Add(-2 * heardFor)
	get(2, false)
	get(2, true)
	n.Up = true
	get(3, false)
	get(4, false)
}

// An idle connection to a server that is down is asked for a sign of life first.
func TestPoolAsksASilentServer(t *testing.T) {
	p, n := poolOf(PoolOptions{Max: 1})
	state := charsetState(vars())
	alive, _ := adopt(p, n, state, answers(okay(wire.StatusAutocommit)))
	n.Up = false
	got, err := p.Get(t.Context(), wantOf(n, state, &Owner{}), true)
	if err != nil || got != alive {
		t.Fatalf("got %p, %v, want %p", got, err, alive)
	}
	owner := &Owner{}
	alive.owner = owner
	p.Put(alive, nil)
	if p.Retake(alive, owner, wantOf(n, state, owner)) {
		t.Error("taken back without a sign of life")
	}
	if _, err := p.Get(t.Context(), wantOf(n, state, owner), true); !errors.As(err, new(*Unreached)) || Reason(err) != "connection broken" {
		t.Errorf("a connection that answers nothing: %v", err)
	}
	if !alive.Broken {
		t.Error("a connection that owes an answer is kept")
	}
}
