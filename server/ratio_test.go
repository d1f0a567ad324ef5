package server

import (
	"fmt"
	"testing"
	"time"

	"causeway/backend"
	"causeway/classifier"
)

func TestRatioWindow(t *testing.T) {
	var w ratioWindow
	start := time.Now()
	var all, part uint64
	step := func(reads, fell uint64, after time.Duration) (uint64, uint64) {
		all, part = all+reads, part+fell
		a, p, _ := w.see(all, part, start.Add(after))
		return a, p
	}
	step(0, 0, 0)
	if a, p := step(100, 50, time.Second); a != 100 || p != 50 {
		t.Errorf("after a second: %d of %d", p, a)
	}
	for s := 10; s <= 290; s += 10 {
		step(10, 0, time.Duration(s)*time.Second)
	}
	if a, p := step(0, 0, 299*time.Second); a != 390 || p != 50 {
		t.Errorf("within 5 minutes: %d of %d", p, a)
	}
	if a, p := step(0, 0, 312*time.Second); a != 270 || p != 0 {
		t.Errorf("what is older than 5 minutes counts: %d of %d", p, a)
	}
	if a, p := step(7, 1, time.Hour); a != 0 || p != 0 {
		t.Errorf("after an hour: %d of %d", p, a) // nothing was seen meanwhile
	}
	if a, p := step(7, 1, time.Hour+time.Second); a != 7 || p != 1 {
		t.Errorf("a second later: %d of %d", p, a)
	}
}

func TestRatioAlert(t *testing.T) {
	var w ratioWindow
	for i, c := range []struct {
		all, part      uint64
		alert, changed bool
	}{
		{0, 0, false, false},
		{19, 19, false, false}, // too few
		{20, 3, false, false},  // 15 %
		{20, 4, true, true},
		{100, 12, true, false}, // between the two bounds it stays
		{100, 9, false, true},
		{100, 12, false, false},
		{100, 16, true, true},
		{0, 0, false, true},
	} {
		if _, changed := w.judge(c.all, c.part); changed != c.changed || w.alert != c.alert {
			t.Errorf("step %d: alert %v, changed %v", i, w.alert, changed)
		}
	}
}

func TestDigestRatios(t *testing.T) {
	var d digestRatios
	now := time.Now()
	read := func(c *classifier.Class, falls bool) {
		c.Usage.Reads.Add(1)
		if falls {
			d.fellBack(c, now)
		}
	}
	cl := classifier.New(classifier.Options{CacheEntries: 10000})
	class := func(i int) *classifier.Class {
		return cl.Classify([]byte(fmt.Sprintf("SELECT a FROM t%d", i)), classifier.Mode{})
	}
	never, often := class(-1), class(0)
	for range 30 {
		read(never, false)
		read(often, true)
	}
	var news []string
	look := func() {
		d.look(now, func(r *digestRatio) { news = append(news, fmt.Sprint(r.digest, r.window.alert)) })
	}
	look()
	look()
	if len(news) != 1 || news[0] != often.Digest+"true" {
		t.Errorf("news: %q", news)
	}
	if worst := d.worst(10); len(worst) != 1 || worst[0].digest != often.Digest || worst[0].fell != 30 {
		t.Errorf("worst: %+v", worst)
	}
	for i := range 3 * maxDigests {
		read(class(i+1), true)
	}
	if len(d.byUse) != maxDigests {
		t.Errorf("%d digests are followed", len(d.byUse))
	}
	if len(d.worst(10)) != 1 {
		t.Error("one that is raised was dropped")
	}
	for range 31 {
		now = now.Add(ratioSlot)
		look()
	}
	if len(d.byUse) != 0 || news[len(news)-1] != often.Digest+"false" {
		t.Errorf("after 5 quiet minutes %d are followed; news %q", len(d.byUse), news)
	}
}

// A READ ONLY transaction that the source serves for lack of a replica is not charged
// to the budget, but counts as a fallback of its class and digest, and none of its reads as the
// source's own.
func TestFallbackOfReadOnlyTransactions(t *testing.T) {
	for name, lose := range map[string]func(*backend.View){
		"too old":   func(v *backend.View) { v.Replicas[0].FreshAsOf = time.Time{} },
		"down":      func(v *backend.View) { v.Replicas[0].Up = false },
		"qualifies": func(*backend.View) {},
	} {
		t.Run(name, func(t *testing.T) {
			l := startLab(t, 1, stillBudget)
			l.publish(lose)
			k, left, want := l.client(), l.srv.opts.Budget.Left(time.Now()), uint64(3)
			for range 3 {
				k.run("START TRANSACTION READ ONLY", "SELECT a FROM t /*causeway_class='F1'*/", "SELECT b FROM t", "COMMIT")
			}
			if name == "qualifies" {
				want = 0
			}
			c := l.srv.classes.stats[1]
			if reads, fell := c.reads.Load(), c.fallbacks.Load(); reads != 3 || fell != want {
				t.Errorf("%d of %d reads fell back, want %d of 3", fell, reads, want)
			}
			var followed uint64
			for use := range l.srv.digests.byUse {
				followed += use.Fallbacks.Load()
			}
			if followed != want {
				t.Errorf("%d fallbacks by digest, want %d", followed, want)
			}
			if now := l.srv.opts.Budget.Left(time.Now()); now != left || valueOf(c.used) != 0 {
				t.Errorf("the budget went from %d to %d", left, now)
			}
			if own := l.srv.ownReads.Load(); own != 0 {
				t.Errorf("%d reads counted as the source's own", own)
			}
			k.run("START TRANSACTION", "SELECT a FROM t", "COMMIT")
			if own := l.srv.ownReads.Load(); own != 1 {
				t.Errorf("%d reads of a transaction of the source's own, want 1", own)
			}
		})
	}
}
