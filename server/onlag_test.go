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

// A read that is promoted goes to a replica that has the write, also where that is over
// the limit of F0: a token is a proof for it as for F0's own. EXPLAIN says so before.
func TestPromotedOverTheLimit(t *testing.T) {
	l := startLab(t, 2, stillBudget)
	k := l.client()
	k.run("SET @causeway_class = 'F2'", "INSERT INTO t VALUES (1)")
	l.replicas[1].setExecuted(l.source.position())
	l.publish(func(v *backend.View) {
		for _, n := range v.Replicas {
			n.Limits = []backend.Limit{{Name: "F0", Excluded: "lag p95 was 1s, the limit is 500ms"}, {Name: "F1", Share: 100}, {Name: "F2", Share: 100}}
		}
	})
	if got := k.explain("Choice", "SELECT a FROM t"); !strings.HasPrefix(got, l.replicas[1].addr()+", by") {
		t.Errorf("choice %q", got)
	}
	k.wantFrom("replica2", "SELECT a FROM t")
	if got := k.route("Promoted"); !strings.Contains(got, "F0") {
		t.Errorf("promoted: %q", got)
	}
	// Beyond the budget it waits for that, and EXPLAIN no longer calls it an error at once.
	for l.srv.opts.Budget.Take(1, time.Now()) {
	}
	k.run("INSERT INTO t VALUES (1)")
	l.publish(func(v *backend.View) {
		for _, n := range v.Replicas {
			n.Limits = []backend.Limit{{Name: "F0", Excluded: "lag p95 was 1s, the limit is 500ms"}, {Name: "F1", Share: 100}, {Name: "F2", Share: 100}}
		}
	})
	if got := k.explain("Choice", "SELECT a FROM t"); !strings.HasPrefix(got, "waits up to") || !strings.Contains(got, "takes a replica that has the token by then, stale") {
		t.Errorf("choice %q", got)
	}
}

// The error of a read that found no server names what the replicas really lack.
func TestErrorNamesWhatIsLacking(t *testing.T) {
	old := func(v *backend.View) {
		for _, n := range v.Replicas {
			n.FreshAsOf = time.Now().Add(-time.Hour)
		}
	}
	over := func(v *backend.View) {
		for _, n := range v.Replicas {
			n.Limits = []backend.Limit{{Name: "F0", Share: 100}, {Name: "F1", Excluded: "lag p95 was 3s, the limit is 2s"}}
		}
	}
	down := func(v *backend.View) {
		for _, n := range v.Replicas {
			n.Up = false
		}
	}
	fails := []Step{{Kind: StepError}}
	for _, tt := range []struct {
		name   string
		steps  []Step
		writes bool // and the replicas have it
		tune   func(*backend.View)
		want   string
	}{
		{"too old", fails, false, old, "none is provably within the bound of 1h0m0s, and class F1 asks for nothing else"},
		{"too old, with the writes", fails, true, old, "none that has this session's writes is provably within the bound of 1h0m0s"},
		{"too old, without budget", []Step{{Kind: StepSource}, {Kind: StepError}}, false, old, "none is provably within the bound of 1h0m0s, and the fallback budget"},
		{"over the limit", fails, false, over, "each is over the lag limit of class F1"},
		{"over the limit, with the writes", fails, true, over, "each that has this session's writes is over the lag limit of class F1"},
		{"down", fails, false, down, "no replica is usable, and class F1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := startLab(t, 2, stillBudget, func(o *Options) {
				o.Classes = labClasses(time.Millisecond, o.MaxWait)
				o.Classes[1].OnLag = tt.steps
			})
			for l.srv.opts.Budget.Take(1, time.Now()) {
			}
			k := l.client()
			if tt.writes {
				k.run("INSERT INTO t VALUES (1)")
				l.apply()
			}
			l.publish(tt.tune)
			k.wantError(wire.ErrServerIsntAvailable, tt.want, "SELECT a FROM t /*causeway_class='F1'*/")
		})
	}
}
