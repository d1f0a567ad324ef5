package replicamon

import (
	"strings"
	"testing"
	"time"

	"causeway/backend"
)

// course drives one limit with a sample every half second.
type course struct {
	t    *testing.T
	l    limitState
	w    window
	at   time.Duration
	outs int // exclusions
}

const (
	step  = 500 * time.Millisecond
	limit = 500 * time.Millisecond
)

var back = recovery{window: 60 * time.Second, slowStart: 30 * time.Second}

func (c *course) sample(s lagSample) {
	was := c.l.phase
	s.at = t0.Add(c.at)
	c.w = c.w.add(s, 30*time.Second)
	c.l = c.l.next(limit, c.w, back)
	c.at += step
	if c.l.phase == limitExcluded && was != limitExcluded {
		c.outs++
	}
}

// lag is n samples of a lag.
func (c *course) lag(n int, lag time.Duration) {
	for range n {
		c.sample(known(0, lag))
	}
}

func (c *course) shown() backend.Limit { return c.l.shown("F0", t0.Add(c.at-step), back) }

func (c *course) want(excluded string, share uint8) {
	c.t.Helper()
	got := c.shown()
	if got.Share != share || (excluded == "") != (got.Excluded == "") || !strings.Contains(got.Excluded, excluded) {
		c.t.Errorf("at %v: %+v, want %q and %d %%", c.at, got, excluded, share)
	}
	if unknown := strings.Contains(got.Excluded, "not known"); got.Unjudged != unknown && c.l.phase != limitExcluded {
		c.t.Errorf("at %v: %+v: unjudged", c.at, got)
	}
}

func TestLimitCourses(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  func(c *course)
	}{
		{"not known yet", func(c *course) {
			if c.want("not known yet", 0); !c.shown().Unjudged {
				c.t.Error("judged")
			}
		}},
		{"serves from the first good sample, with all its weight", func(c *course) {
			c.lag(1, 0)
			c.want("", 100)
		}},
		{"excluded from the first bad one", func(c *course) {
			c.lag(1, limit+time.Millisecond)
			c.want("lag p95 was 501ms, the limit is 500ms", 0)
		}},
		{"a short lag under twice the limit is let pass", func(c *course) {
			c.lag(60, 0)
			c.lag(3, 2*limit)
			c.want("", 100)
			c.lag(60, 0)
			c.want("", 100)
		}},
		{"a longer one is not", func(c *course) {
			c.lag(60, 0)
			c.lag(4, 2*limit)
			c.want("lag p95 was 1s, the limit is 500ms", 0)
		}},
		{"above twice the limit it is out at once", func(c *course) {
			c.lag(60, 0)
			c.lag(1, 2*limit+time.Millisecond)
			c.want("lag p99 was 1.001s, more than twice the limit of 500ms", 0)
		}},
		{"the reason keeps the number of its moment", func(c *course) {
			c.lag(1, 3*time.Second)
			was := c.shown().Excluded
			c.lag(20, 9*time.Second)
			c.want(was, 0)
		}},
		{"back after the window, slowly", func(c *course) {
			c.lag(60, 0)
			c.lag(10, 5*time.Second)
			if c.lag(1, 2*limit); !c.shown().Returns.IsZero() {
				c.t.Error("recovers while it is behind")
			}
			c.lag(120, 0)
			if c.want("lag p99", 0); c.shown().Returns != t0.Add(c.at) {
				c.t.Errorf("returns at %v, not with the next sample", c.shown().Returns)
			}
			c.lag(1, 0) // 60 s after the first good one
			c.want("", 10)
			c.lag(30, 0)
			c.want("", 55)
			c.lag(30, 0)
			c.want("", 100)
		}},
		{"one bad sample begins the window anew", func(c *course) {
			c.lag(10, 5*time.Second)
			c.lag(119, 0)
			c.lag(1, limit+1)
			c.lag(120, 0)
			c.want("lag p99", 0)
			c.lag(1, 0)
			c.want("", 10)
		}},
		{"unknown excludes at once", func(c *course) {
			c.lag(60, 0)
			c.sample(unknown(0))
			c.want("its lag is unknown: the applier is stopped", 0)
			c.lag(120, 0)
			c.want("its lag is unknown", 0)
			c.lag(1, 0)
			c.want("", 10)
		}},
		{"unknown is not inside", func(c *course) {
			c.lag(1, 5*time.Second)
			c.lag(60, 0)
			c.sample(unknown(0))
			c.lag(120, 0)
			c.want("lag p99", 0)
		}},
		{"a source that is not known is nobody's exclusion", func(c *course) {
			c.lag(60, 0)
			c.sample(lagSample{apply: -1, judged: -1, blind: true})
			c.want("the source's position is not known", 0)
			c.lag(1, 0)
			c.want("", 100)
			if c.outs != 0 {
				c.t.Error("it counts as one")
			}
		}},
		{"but it is no time inside either", func(c *course) {
			c.lag(1, 5*time.Second)
			c.lag(119, 0)
			c.sample(lagSample{apply: -1, judged: -1, blind: true})
			c.lag(120, 0)
			c.want("lag p99", 0)
		}},
		{"out again during the slow start", func(c *course) {
			c.lag(1, 5*time.Second)
			c.lag(121, 0)
			c.lag(10, 0)
			c.lag(1, 2*limit+1)
			c.want("lag p99", 0)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(&course{t: t}) })
	}
}

// A lag that swings around the limit excludes once, however it swings.
func TestNoFlapping(t *testing.T) {
	for _, period := range []int{1, 2, 5, 20, 60, 110} { // samples
		c := &course{t: t}
		for i := range 10_000 {
			lag := limit / 2
			if i/period%2 == 1 {
				lag = limit + limit/2
			}
			c.lag(1, lag)
		}
		if c.outs != 1 || c.l.phase != limitExcluded {
			t.Errorf("half a swing of %v: %d exclusions, phase %d", time.Duration(period)*step, c.outs, c.l.phase)
		}
	}
}

// A recovery window that is shorter than the window of the samples ends all the
// same: what is from before the return is not judged again.
func TestShortRecovery(t *testing.T) {
	c := &course{t: t}
	short := recovery{window: time.Second, slowStart: time.Second}
	for i := range 40 {
		lag := time.Duration(0)
		if i < 20 {
			lag = 10 * time.Second
		}
		c.w = c.w.add(known(time.Duration(i)*step, lag), 30*time.Second)
		c.l = c.l.next(limit, c.w, short)
		if want := i < 22; want != (c.l.phase == limitExcluded) {
			t.Fatalf("sample %d: phase %d", i, c.l.phase)
		}
	}
}

// Replicas of other zones are judged by a limit of their own.
func TestLimitOfOtherZones(t *testing.T) {
	near, far := site{}, site{far: true}
	for _, c := range []struct {
		limit LagLimit
		at    site
		want  time.Duration
	}{
		{LagLimit{P95: 2 * time.Second}, near, 2 * time.Second},
		{LagLimit{P95: 2 * time.Second}, far, time.Second},
		{LagLimit{P95: 2 * time.Second, FarP95: 300 * time.Millisecond}, near, 2 * time.Second},
		{LagLimit{P95: 2 * time.Second, FarP95: 300 * time.Millisecond}, far, 300 * time.Millisecond},
	} {
		if got := c.limit.of(c.at); got != c.want {
			t.Errorf("%+v, far %v: %v, want %v", c.limit, c.at.far, got, c.want)
		}
	}
	o := Options{Servers: []string{"a", "b", "c"}, Zone: "x", Zones: map[string]string{"a": "x", "b": "x", "c": "y"},
		LagLimits: []LagLimit{{Name: "F1", P95: 2 * time.Second}}}
	m := newSim(t)
	m.s = newState(o.withDefaults())
	m.connect(0, 1, "1:1-10", false)
	m.connect(1, 2, "1:1-10", true)
	m.connect(2, 3, "1:1-10", true)
	m.status(0, writable)
	m.status(1, replicaOf(1))
	m.status(2, replicaOf(1))
	m.tick(100 * time.Millisecond)
	m.answer(0, 1, "1:1-10")
	m.want("a source", "b replica", "c replica")
	m.tick(100 * time.Millisecond)
	m.answer(0, 1, "1:1-11")
	m.tick(1500 * time.Millisecond) // what both are behind: more than half, less than the whole
	m.answer(0, 1, "1:1-11")
	for _, i := range []int{1, 2} {
		m.status(i, replicaOf(1))
	}
	if near, far := m.s.nodes[1].shown[0], m.s.nodes[2].shown[0]; near.Excluded != "" || far.Excluded == "" {
		t.Errorf("%v behind: in its own zone %+v, in the other one %+v", m.s.nodes[1].posLag, near, far)
	}
}
