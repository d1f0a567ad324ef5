package server

import (
	"strconv"
	"strings"
	"time"

	"causeway/backend"
	"causeway/balance"
)

// foresight is what EXPLAIN CAUSEWAY knows of a read.
type foresight struct {
	contract contract
	demand   demand
	need     balance.Need
	plan     plan
	view     *backend.View
	now      time.Time
	left     time.Duration // of a window after a commit
	again    *backend.Node // which served what a monotonic read has seen
	barred   bool          // by the warm-up
}

// foresee tells what becomes of a read if nothing changes meanwhile. It goes the way
// of reader.
func (s *session) foresee(f *foresight) string {
	c, v := &f.contract, f.view
	switch {
	case f.left > 0 && s.mayStick(c, v) && s.leftFor(f) > 0:
		return s.elsewhere(plan{}, v) + ", by " + reasonSticky.String() + ", within the budget: " + s.leftText(c.share, f.now)
	case v.WithoutGTIDs && c.token && anyUsable(v, nil):
		return s.elsewhere(plan{}, v) + ", once the budget lets it, or an error; " + s.leftText(c.share, f.now)
	case f.again != nil && !f.barred:
		return f.again.Addr + ", which served all that was seen last"
	}
	if f.barred {
		if text, found := s.foreseeSteps(f, true); found {
			return text
		} // a warm-up makes no errors
	}
	if n, _ := balance.Pick(s.srv.opts.Policy, v.Replicas, f.need, s.srv.turn.Load()+1); n != nil {
		return n.Addr + ", by " + s.srv.opts.Policy.String()
	}
	if !anyUsable(v, nil) {
		return s.foreseeAlone(f)
	}
	text, _ := s.foreseeSteps(f, false)
	return text
}

// foreseeAlone goes the way of withoutReplicas.
func (s *session) foreseeAlone(f *foresight) string {
	share := f.contract.withoutReplicas()
	switch {
	case len(f.view.Replicas) == 0 || f.plan.begin:
		return s.elsewhere(plan{}, f.view)
	case share == 0:
		return "an error: no replica is usable"
	case s.srv.opts.Budget.LeftFor(share, f.now) == 0:
		return s.elsewhere(plan{}, f.view) + ", as no replica is usable, once the budget lets it, or an error after " + s.srv.opts.MaxWait.String() + "; " + s.leftText(share, f.now)
	}
	return s.elsewhere(plan{}, f.view) + ", as no replica is usable; " + s.leftText(share, f.now)
}

// foreseeSteps goes the way of onLag. found: a server is.
func (s *session) foreseeSteps(f *foresight, barred bool) (text string, found bool) {
	c, v := &f.contract, f.view
	waits := !barred && balance.WaitHelps(v.Replicas, f.need)
	var out []string
	waited := false
	end := func(text string) string { return strings.Join(append(out, text), ", then ") }
	for _, step := range c.steps {
		switch step.Kind {
		case StepWait:
			switch {
			case !waits && !barred && len(out) == 0:
				out = append(out, "does not wait: no replica would serve it however much it applies")
			case waits && !awaited(&f.need, v).IsEmpty():
				waited, out = true, append(out, "waits up to "+step.Wait.String())
			}
		case StepSource:
			switch {
			case !v.Source.Usable():
			case f.plan.begin:
				return end(s.elsewhere(plan{}, v)), true
			case s.leftFor(f) > 0:
				return end(s.elsewhere(plan{}, v) + ", within the budget: " + s.leftText(c.share, f.now)), true
			default:
				out = append(out, "is refused the source: "+s.leftText(c.share, f.now))
			}
		case StepStale:
			if barred {
				continue // a replica that qualifies is not stale
			}
			if n, stale := balance.Freshest(s.coveringFor(c, &f.demand, v.Replicas), f.now); n != nil {
				return end(n.Addr + ", stale with a warning, " + staleText(stale)), true
			}
			if waited {
				out = append(out, "takes a replica that has "+c.neededText(&f.demand)+" by then, stale with a warning")
			}
		}
	}
	return end("an error"), false
}

func (s *session) leftFor(f *foresight) int {
	return s.srv.opts.Budget.LeftFor(f.contract.share, f.now)
}

func (s *session) leftText(share float64, now time.Time) string {
	return strconv.Itoa(s.srv.opts.Budget.LeftFor(share, now)) + " reads left"
}

func staleText(d time.Duration) string {
	if d < 0 {
		return "of unproved age"
	}
	return "up to " + d.Round(time.Millisecond).String() + " old"
}
