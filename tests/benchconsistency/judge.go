package main

import (
	"fmt"
	"strings"
)

// highestShare is what tokens may cost the source, as a part of what a window of
// three seconds does.
const highestShare = 1.0 / 3

// window is the mode with a window of three seconds that others are compared
// with: Causeway's own, or where it has none the application's.
func (r *report) window() string {
	for _, name := range []string{"sticky 3s by key", "cookie 3s"} {
		for _, m := range r.modes {
			if m.name == name && r.missing[name] == "" {
				return name
			}
		}
	}
	return ""
}

// overall is a mode's share of reads on the source over all lags, each lag
// weighing the same.
func (r *report) overall(mode string) (share float64) {
	for _, l := range r.lags {
		share += summarise(r.cells[l.name][mode]).onSource / float64(len(r.lags))
	}
	return share
}

// judge names what was not as hoped for.
func (r *report) judge() []string { return append(r.judgePromises(), r.judgeShares()...) }

// judgePromises names what was not as promised; without a control that misses
// writes the rest proves nothing.
func (r *report) judgePromises() (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	unprotected := 0
	for _, l := range r.lags {
		for _, m := range r.modes {
			f := summarise(r.cells[l.name][m.name])
			switch {
			case m.promise == nothing:
				unprotected += f.missedOwn
			case m.promise == all && f.missedAny > 0:
				fault("lag %s, %s: %d reads missed an acknowledged write", l.name, m.name, f.missedAny)
			case m.promise >= own && f.missedOwn > 0:
				fault("lag %s, %s: %d reads missed the user's own write", l.name, m.name, f.missedOwn)
			}
			if f.failed > 0 {
				fault("lag %s, %s: %d reads failed", l.name, m.name, f.failed)
			}
		}
	}
	if unprotected == 0 {
		fault("without protection no read missed a write either: this proves nothing")
	}
	return faults
}

// judgeShares compares the modes that carry a token, or have Causeway carry it.
func (r *report) judgeShares() (faults []string) {
	window := r.overall(r.window())
	for _, m := range r.modes {
		tokens := m.name == "key" || m.name == "own connection" || strings.HasPrefix(m.name, "token ")
		if got := r.overall(m.name); window > 0 && tokens && got > highestShare*window {
			faults = append(faults, fmt.Sprintf("%s: %.1f %% of the reads on the source over all lags, more than a third of the %.1f %% of %s",
				m.name, 100*got, 100*window, r.window()))
		}
	}
	return faults
}
