package fidelity

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/fidelity/seq"
)

var shared *cluster.Cluster

// An AUTO_INCREMENT id after SET insert_id depends on the increment that the
// server's cached table object was last used with, and so on which of its
// caches a connection uses: with one cache both sides are alike.
func TestMain(m *testing.M) {
	cluster.Main(m, cluster.Options{Set: []string{"table_open_cache_instances=1", "innodb_lock_wait_timeout=1"}}, cluster.Keep(&shared))
}

// maxReports is how many differences are shortened and shown.
const maxReports = 12

// playedSeed is the first seed if none is given. These sequences have been made
// to pass and stay so; of others about one in ten thousand still differs (a pin that
// stays longer than it need, mostly).
const playedSeed = 300000

// TestSequences is the property. Each sequence has a seed of its own, the first
// one's plus its place.
func TestSequences(t *testing.T) {
	first := check.Number(t, "CAUSEWAY_FIDELITY_SEED", uint64(playedSeed))
	count := check.Number(t, "CAUSEWAY_FIDELITY_SEQUENCES", uint64(2000))
	lanes := check.Number(t, "CAUSEWAY_FIDELITY_LANES", 2)
	expect := os.Getenv("CAUSEWAY_FIDELITY_EXPECT_FAIL")
	t.Logf("CAUSEWAY_FIDELITY_SEED=%d CAUSEWAY_FIDELITY_SEQUENCES=%d plays these sequences again", first, count)

	c := &campaign{first: first, count: count, expect: expect}
	begin := time.Now()
	t.Run("lanes", func(t *testing.T) {
		for i := range lanes {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				c.play(t, newLane(t, i, ""))
			})
		}
	})
	t.Logf("%v: %d sequences of %d steps in all, %d that differ", time.Since(begin).Round(time.Second), c.played.Load(), c.steps.Load(), c.found.Load())
	if expect != "" && !c.expected.Load() {
		t.Errorf("no difference names %s: this test does not see what was broken on purpose", expect)
	}
}

// campaign is what all lanes share.
type campaign struct {
	first, count uint64
	expect       string

	next, played, steps, found atomic.Uint64
	expected                   atomic.Bool
}

// play takes one block of seeds after the other until none is left.
func (c *campaign) play(t *testing.T, l *lane) {
	for {
		from := c.next.Add(seq.Block) - seq.Block
		for n := from; n < from+seq.Block; n++ {
			if n >= c.count || c.found.Load() >= maxReports && c.expect == "" || c.expected.Load() {
				return
			}
			s := script(c.first + n)
			c.played.Add(1)
			c.steps.Add(uint64(len(s.Steps)))
			if d := l.differs(s, false); d != nil {
				c.found.Add(1)
				c.report(t, l, s, d)
				l.anew(t)
			}
		}
	}
}

// script makes the sequence of a seed. Where sessions have connections of their
// own, half of the sequences go from one session to another at any moment.
func script(seed uint64) seq.Script {
	return seq.Generate(seed, seq.Options{Polite: sharing || seed%2 == 0, Owed: os.Getenv("CAUSEWAY_FIDELITY_OWED") != ""})
}

func (c *campaign) report(t *testing.T, l *lane, s seq.Script, d *seq.Difference) {
	began := time.Now()
	short, last, alone := l.shrunk(s, 60)
	text := fmt.Sprintf("seed %d (CAUSEWAY_FIDELITY_SEED=%d CAUSEWAY_FIDELITY_SEQUENCES=1 plays it again)\n", s.Seed, s.Seed)
	if alone {
		d = last
	} else {
		text += fmt.Sprintf("it does not differ alone: something that one of the up to %d sequences before it left, or chance\n", seq.Block-1)
	}
	text += fmt.Sprintf("%s\nDIFFERENT AT %s(shortened in %v)", short, d, time.Since(began).Round(time.Second))
	switch {
	case c.expect == "":
		t.Error(text)
	case c.expect == "1" || strings.Contains(strings.ToLower(short.String()), strings.ToLower(c.expect)):
		c.expected.Store(true)
		t.Logf("found, as expected: %s", text)
	default:
		t.Logf("found, but it does not name %s: %s", c.expect, text)
	}
}

// TestMended: what the sequences have found stays mended.
func TestMended(t *testing.T) {
	l := newLane(t, 0, "")
	for _, m := range seq.MendedSoFar {
		t.Run(m.Why, func(t *testing.T) {
			if d := l.differs(m.Script(), true); d != nil {
				t.Errorf("%s\nDIFFERENT AT %s", m.Script(), d)
			}
		})
	}
}

// TestOwed: what is known to differ still does. A row of the table that no
// longer differs must go, as the sequences leave out what it is about.
func TestOwed(t *testing.T) {
	l := newLane(t, 0, "")
	for _, o := range seq.OwedNow {
		t.Run(o.Why, func(t *testing.T) {
			d := l.differs(o.Script(), true)
			if d == nil {
				t.Fatalf("mended: take it out of seq.OwedNow:\n%s", o.Script())
			}
			t.Logf("%s\nDIFFERENT AT %s", o.Script(), d)
		})
	}
}
