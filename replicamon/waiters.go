package replicamon

import (
	"container/list"
	"sync"
	"time"

	"causeway/backend"
	"causeway/gtid"
)

// waiter is somebody who waits until a replica covers need.
type waiter struct {
	need  gtid.Set
	addr  string // "": any replica
	until time.Time
	seq   uint64
	done  chan *backend.View // one value: the view in which it is covered, or nil
	place *list.Element
}

// wants tells whether node n is what w waits for.
func (w *waiter) wants(n *backend.Node) bool {
	return (w.addr == "" || w.addr == n.Addr) && n.Position.Contains(w.need)
}

// waitQueue holds the unmet waiters, the oldest first.
type waitQueue struct {
	limit int

	mu     sync.Mutex
	list   list.List
	seq    uint64
	closed bool
}

// add puts w in the queue; false if it is full or closed.
func (q *waitQueue) add(w *waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.list.Len() >= q.limit {
		return false
	}
	q.seq++
	w.seq = q.seq
	w.done = make(chan *backend.View, 1)
	w.place = q.list.PushBack(w)
	return true
}

// remove takes w out, if nobody did before.
func (q *waitQueue) remove(w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop(w)
}

func (q *waitQueue) drop(w *waiter) {
	if w.place != nil {
		q.list.Remove(w.place)
		w.place = nil
	}
}

// wake lets go all whose need one of the nodes covers.
func (q *waitQueue) wake(v *backend.View, nodes []*backend.Node) (woken int) {
	if len(nodes) == 0 {
		return 0
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	var next *list.Element
	for el := q.list.Front(); el != nil; el = next {
		next = el.Next()
		w := el.Value.(*waiter)
		for _, n := range nodes {
			if w.wants(n) {
				q.drop(w)
				w.done <- v
				woken++
				break
			}
		}
	}
	return woken
}

// pick returns the waiter that the watch of addr should serve now: the oldest
// after number after, or the oldest of all. Going on after a need that was not
// met in time keeps one lost GTID from hiding the needs of all others.
func (q *waitQueue) pick(addr string, after uint64, now time.Time) (w waiter, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var oldest *waiter
	for el := q.list.Front(); el != nil; el = el.Next() {
		c := el.Value.(*waiter)
		if c.addr != "" && c.addr != addr || !c.until.After(now) {
			continue
		}
		if c.seq > after {
			return *c, true
		}
		if oldest == nil {
			oldest = c
		}
	}
	if oldest == nil {
		return waiter{}, false
	}
	return *oldest, true
}

func (q *waitQueue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.list.Len()
}

// letGo ends all waits, uncovered.
func (q *waitQueue) letGo() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for el := q.list.Front(); el != nil; el = q.list.Front() {
		w := el.Value.(*waiter)
		q.drop(w)
		w.done <- nil
	}
}

// close ends all waits and admits nobody any more.
func (q *waitQueue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.letGo()
}
