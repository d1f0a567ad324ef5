package server

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"causeway/classifier"
)

// A class or digest whose reads fall back to the source this often has replicas
// that do not do their work: their problem has become the users'.
const (
	alertAbove   = 0.15 // of the reads of ratioTime
	alertBelow   = 0.10 // and it ends here, so that it does not flap
	alertMinimum = 20   // reads; of fewer a ratio says nothing
	ratioTime    = 5 * time.Minute
	ratioSlot    = 10 * time.Second
	ratioSlots   = int(ratioTime/ratioSlot) + 1
	maxDigests   = 256
)

// ratioWindow keeps what two counters were every 10 s for 5 minutes. Nothing is
// added to it on the way of a query: it looks at counters that only grow.
type ratioWindow struct {
	at    [ratioSlots]time.Time
	all   [ratioSlots]uint64
	part  [ratioSlots]uint64
	next  int
	alert bool
}

// see takes the counters at a moment and returns how much they grew in the last
// 5 minutes, or since the first look.
func (w *ratioWindow) see(all, part uint64, now time.Time) (allGrown, partGrown uint64, over time.Duration) {
	last := (w.next + len(w.at) - 1) % len(w.at)
	if w.at[last].IsZero() || now.Sub(w.at[last]) >= ratioSlot {
		w.at[w.next], w.all[w.next], w.part[w.next] = now, all, part
		w.next = (w.next + 1) % len(w.at)
	}
	for i := range w.at {
		k := (w.next + i) % len(w.at) // the oldest first
		if !w.at[k].IsZero() && now.Sub(w.at[k]) <= ratioTime {
			return all - w.all[k], part - w.part[k], now.Sub(w.at[k])
		}
	}
	return 0, 0, 0
}

// judge switches the alert; changed: that is news.
func (w *ratioWindow) judge(all, part uint64) (ratio float64, changed bool) {
	if all > 0 {
		ratio = float64(part) / float64(all)
	}
	was := w.alert
	switch {
	case all < alertMinimum || ratio < alertBelow:
		w.alert = false
	case ratio > alertAbove:
		w.alert = true
	}
	return ratio, was != w.alert
}

// classStats counts what becomes of the reads of one class.
type classStats struct {
	reads     atomic.Uint64 // that replicas could have served, or the class sends to the source
	fallbacks atomic.Uint64
	onReplica atomic.Uint64

	used, refused, stale, brownout prometheus.Counter

	fallbackRatio, replicaRatio, replicaRate gauge
	alert                                    atomic.Bool
	fell, served                             ratioWindow // of Server.ratios alone
}

// gauge is a number that one goroutine sets and all read.
type gauge struct{ bits atomic.Uint64 }

func (g *gauge) set(v float64)  { g.bits.Store(math.Float64bits(v)) }
func (g *gauge) value() float64 { return math.Float64frombits(g.bits.Load()) }

// digestRatios follows the digests that fell back: of the others there is
// nothing to tell.
type digestRatios struct {
	mu    sync.Mutex
	byUse map[*classifier.Usage]*digestRatio
}

type digestRatio struct {
	digest      string
	usage       *classifier.Usage
	window      ratioWindow
	reads, fell uint64 // of the last 5 minutes
	ratio       float64
}

// fellBack counts a fallback of a digest and follows it from now on. A full
// table takes no more until one of its digests falls back no more.
func (d *digestRatios) fellBack(c *classifier.Class, now time.Time) {
	if c.Usage == nil {
		return
	}
	reads, fell := c.Usage.Reads.Load(), c.Usage.Fallbacks.Add(1)-1
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byUse == nil {
		d.byUse = map[*classifier.Usage]*digestRatio{}
	}
	if d.byUse[c.Usage] != nil || len(d.byUse) >= maxDigests && !d.dropLeast() {
		return
	}
	r := &digestRatio{digest: shortDigest(c.Digest), usage: c.Usage}
	r.window.see(max(reads, 1)-1, fell, now) // this read is in it
	d.byUse[c.Usage] = r
}

func shortDigest(digest string) string { return digest[:min(len(digest), 200)] }

// dropLeast forgets the digest with the fewest reads of late, if that is not
// raised as an alert.
func (d *digestRatios) dropLeast() bool {
	var least *digestRatio
	for _, r := range d.byUse {
		if !r.window.alert && (least == nil || r.reads < least.reads) {
			least = r
		}
	}
	if least != nil {
		delete(d.byUse, least.usage)
	}
	return least != nil
}

// look judges all digests and calls changed for those whose alert did.
func (d *digestRatios) look(now time.Time, changed func(*digestRatio)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for use, r := range d.byUse {
		var news bool
		r.reads, r.fell, _ = r.window.see(use.Reads.Load(), use.Fallbacks.Load(), now)
		if r.ratio, news = r.window.judge(r.reads, r.fell); news {
			changed(r)
		}
		if r.fell == 0 && !r.window.alert {
			delete(d.byUse, use)
		}
	}
}

// worst are the digests that are raised, the worst first.
func (d *digestRatios) worst(most int) []digestRatio {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []digestRatio
	for _, r := range d.byUse {
		if r.window.alert {
			out = append(out, *r)
		}
	}
	slices.SortFunc(out, func(a, b digestRatio) int { return cmp.Compare(b.ratio, a.ratio) })
	return out[:min(len(out), most)]
}

// ratios looks at all counters, once a second, and raises what is above.
func (s *Server) ratios(now time.Time) {
	for _, class := range s.classes.all {
		c := s.classes.stats[class.Index]
		reads, fell, _ := c.fell.see(c.reads.Load(), c.fallbacks.Load(), now)
		ratio, changed := c.fell.judge(reads, fell)
		c.fallbackRatio.set(ratio)
		c.alert.Store(c.fell.alert)
		if changed {
			s.tellRatio(c.fell.alert, "class", class.Name, ratio, reads)
		}
		reads, served, over := c.served.see(c.reads.Load(), c.onReplica.Load(), now)
		c.replicaRatio.set(float64(served) / float64(max(reads, 1)))
		c.replicaRate.set(float64(served) / max(over.Seconds(), 1))
	}
	s.digests.look(now, func(r *digestRatio) {
		s.tellRatio(r.window.alert, "digest", r.digest, r.ratio, r.reads)
	})
}

func (s *Server) tellRatio(raised bool, what, name string, ratio float64, reads uint64) {
	e, text := s.log.Info(), "reads fall back to the source no more than usual again"
	if raised {
		e, text = s.log.Warn(), "many reads fall back to the source: no replica can answer them; see SHOW CAUSEWAY SERVERS"
	}
	e.Str(what, name).Float64("fallback_ratio", math.Round(ratio*1000)/1000).Uint64("reads", reads).Msg(text)
}
