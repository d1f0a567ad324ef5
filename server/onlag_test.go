package server

import (
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/wire"
)

// waitsFor waits an hour before anything else, so that a wait in vain shows.
func waitsFor(o *Options) {
	o.Classes = labClasses(time.Millisecond, o.MaxWait)
	o.Classes[1].OnLag = []Step{{Kind: StepWait, Wait: time.Hour}, {Kind: StepError}}
}

// A read does not wait for replicas that would not serve it however much they
// apply: those excluded for their lag come back after their recovery window.
func TestNoWaitInVain(t *testing.T) {
	l := startLab(t, 2, waitsFor)
	over := func(v *backend.View) {
		for _, n := range v.Replicas {
			n.FreshAsOf = time.Time{}
			n.Limits = []backend.Limit{{Name: "F0", Share: 100}, {Name: "F1", Excluded: "lag p95 was 3s, the limit is 2s"}}
		}
	}
	l.publish(over)
	k := l.client()
	const sql = "SELECT a FROM t /*causeway_class='F1'*/"
	k.wantError(wire.ErrServerIsntAvailable, "no replica is fresh enough", sql)
	if got := k.explain("Choice", sql); !strings.HasPrefix(got, "does not wait") {
		t.Errorf("choice %q", got)
	}
	if got := k.route("Waited"); got != "0s" {
		t.Errorf("waited %s", got)
	}
}

// One of which nothing is known yet is waited for: the next probe may tell.
func TestWaitForOneThatIsNotJudged(t *testing.T) {
	l := startLab(t, 1, waitsFor)
	l.publish(func(v *backend.View) {
		v.Replicas[0].Limits = []backend.Limit{{Name: "F0", Share: 100}, {Name: "F1", Excluded: "its lag is not known yet", Unjudged: true}}
	})
	k := l.client()
	done := make(chan reply, 1)
	go func() { done <- k.query("SELECT a FROM t /*causeway_class='F1'*/") }()
	until(t, "it is under way", func() bool { return l.srv.classes.stats[1].reads.Load() == 1 })
	l.publish()
	if r := <-done; r.first() != "replica1" {
		t.Errorf("from %q: %v %v", r.first(), r.err, r.lost)
	}
}
