package fidelity

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"causeway/tests/cluster"
	"causeway/tests/fidelity/seq"
	"causeway/tests/session/raw"
)

// sharing tells that sessions have to share one connection to each node: a script
// must then leave no session pinned when it goes on to another one.
var sharing = os.Getenv("CAUSEWAY_FIDELITY_POOL") != "wide"

// poolLines are the lines of the configuration that make them.
func poolLines() string {
	if !sharing {
		return ""
	}
	return "\n[pool]\nmax_connections = 1\nwait = \"3s\"\n"
}

// patient makes Causeway wait for a replica rather than go to the source, so
// that reads run on replicas even on a slow machine.
const patient = "\n[routing]\nwait = \"3s\"\nmax_wait = \"10s\"\n"

// lane plays sequences one after the other, on schemas of its own.
type lane struct {
	direct, proxied seq.Side
	base            uint64
	log             func(format string, args ...any)
}

// slow is what no step should take; one that does is worth a line.
const slow = 2 * time.Second

// newLane makes the lane's schemas and starts its Causeway. With addr it goes
// there instead.
func newLane(t *testing.T, number int, addr string) *lane {
	t.Helper()
	l := &lane{direct: side('d', number), proxied: side('p', number), log: t.Logf}
	if addr == "" {
		addr = cluster.StartCauseway(t, shared, patient+poolLines()).Addr
	}
	l.direct.Idle, l.proxied.Idle = &seq.Idle{}, &seq.Idle{}
	t.Cleanup(l.direct.Idle.Close)
	t.Cleanup(l.proxied.Idle.Close)
	l.direct.Addr, l.proxied.Addr = shared.Source().Addr, addr
	if before, ok := laid.Swap(number, l); ok {
		l.base = before.(*lane).base
	} else {
		l.lay(t)
	}
	return l
}

// laid are the lanes by number: schemas take seconds to create, and tests that
// run one after the other can use the same.
var laid sync.Map

func side(letter rune, number int) seq.Side {
	return seq.Side{
		Word:    fmt.Sprintf("f%c%d", letter, number%10),
		Options: raw.Options{User: cluster.AppUser, Password: cluster.AppPassword, Attrs: map[string]string{"program_name": "fidelity test"}},
	}
}

// lay creates the lane's schemas anew, on all nodes.
func (l *lane) lay(t *testing.T) {
	t.Helper()
	shared.Lay(t, slices.Concat(seq.Schemas(l.direct.Word), seq.Schemas(l.proxied.Word))...)
}

// differs plays a script on both sides at the same time. After a difference
// the sides' ids may be out of step: anew brings them back.
func (l *lane) differs(s seq.Script, anew bool) *seq.Difference {
	var base uint64
	if anew {
		l.base += 10000
		base = 100000 + l.base
	}
	var want []seq.Entry
	done := make(chan struct{})
	go func() {
		defer close(done)
		want = seq.Play(l.direct, s, base)
	}()
	got := seq.Play(l.proxied, s, base)
	<-done
	for _, e := range slices.Concat(want, got) {
		if e.Took > slow {
			l.log("seed %d: slow, %v: %s\n%s", s.Seed, e.Took, e.Step, e.Answer)
		}
	}
	return seq.Compare(want, got, l.direct.Word, l.proxied.Word)
}

// shrunk shortens a script that differs. What
// differs only after the sequences before it is returned whole, with false.
func (l *lane) shrunk(s seq.Script, tries int) (seq.Script, *seq.Difference, bool) {
	last := l.differs(s, true)
	if last == nil {
		return s, nil, false
	}
	deadline := time.Now().Add(2 * time.Minute)
	short := seq.Shrink(s, tries, func(candidate seq.Script) bool {
		if time.Now().After(deadline) {
			return false
		}
		d := l.differs(candidate, true)
		if d != nil {
			last = d
		}
		return d != nil
	})
	return short, last, true
}

// anew lets both sides go on with equal rows and ids, by new schemas if need be.
func (l *lane) anew(t *testing.T) {
	t.Helper()
	if l.differs(seq.Everyone(), true) == nil {
		return
	}
	l.lay(t)
	if d := l.differs(seq.Everyone(), true); d != nil {
		t.Fatalf("with new schemas both sides still differ at %s", d)
	}
}
