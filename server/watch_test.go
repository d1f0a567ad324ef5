package server

import (
	"testing"
	"time"

	"causeway/backend"
)

// Who waits for an answer that may never come is cut off, a write only when
// another node has taken its node's place.
func TestMustCut(t *testing.T) {
	now := time.Now()
	const mine, other = "a:3306", "b:3306"
	node := func(addr string, up bool, silent time.Duration, generation uint64) *backend.Node {
		return &backend.Node{Addr: addr, Up: up, PositionAt: now.Add(-silent), Incarnation: backend.Incarnation{Generation: generation}}
	}
	for _, c := range []struct {
		name        string
		node        *backend.Node // as the view has it; nil: not at all
		failedOver  bool
		read, write bool
	}{
		{"it answers", node(mine, true, 0, 1), false, false, false},
		{"it is slow", node(mine, false, time.Second, 1), false, false, false},
		{"it hangs", node(mine, false, time.Minute, 1), false, true, false},
		{"it hangs, and another one is the source", node(mine, false, time.Minute, 1), true, true, true},
		{"another one is the source, it answers", node(mine, true, 0, 1), true, false, false},
		{"another server answers", node(mine, true, 0, 2), false, true, false},
		{"it is not known", nil, true, false, false},
	} {
		v := &backend.View{Source: c.node}
		if c.node != nil {
			v.Nodes = append(v.Nodes, c.node)
		}
		if c.failedOver {
			v.Source = node(other, true, 0, 1)
			v.Nodes = append(v.Nodes, v.Source)
		}
		on := node(mine, true, 0, 1)
		if got := mustCut(on, v.Node(on.Addr), true, false, v, now); got != c.read {
			t.Errorf("%s: a read: %v", c.name, got)
		}
		if got := mustCut(on, v.Node(on.Addr), false, false, v, now); got != c.write {
			t.Errorf("%s: a write: %v", c.name, got)
		}
		hangs := c.node != nil && !c.node.Up && c.node.PositionAt.Before(now.Add(-cutAfter))
		if got := mustCut(on, v.Node(on.Addr), false, true, v, now); got != hangs {
			t.Errorf("%s: a write whose client left: %v", c.name, got)
		}
	}
}

// A node that hung when it was taken out of the cluster is not waited for.
func TestGoneNodes(t *testing.T) {
	now := time.Now()
	node := func(addr string, up bool) *backend.Node {
		return &backend.Node{Addr: addr, Up: up, PositionAt: now.Add(-time.Minute)}
	}
	gone := goneNodes{down: map[string]*backend.Node{}}
	on := []*backend.Node{node("hung:1", false), node("fine:1", true), node("stays:1", true)}
	left := &backend.View{Nodes: on[2:]}
	for _, v := range []*backend.View{{Nodes: on}, left, left} {
		gone.follow(v)
	}
	for i, want := range []bool{true, false, false} {
		if got := mustCut(on[i], gone.node(left, on[i].Addr), true, false, left, now); got != want {
			t.Errorf("%s: cut off %v, want %v", on[i].Addr, got, want)
		}
	}
	back := &backend.View{Nodes: []*backend.Node{node("hung:1", true)}}
	gone.follow(back)
	if mustCut(on[0], gone.node(back, "hung:1"), true, false, back, now) {
		t.Error("cut off although it is back")
	}
}
