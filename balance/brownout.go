package balance

import "time"

// Defaults of [brownout].
//
// A read that waits a second for a connection is one that a user notices, and
// at the default of [pool] wait others begin to fail four seconds later: there is
// time to see whether refusing one class was enough before the next is refused.
const (
	DefaultBrownoutWait    = time.Second
	DefaultBrownoutStep    = 5 * time.Second
	DefaultBrownoutRecover = 10 * time.Second
)

// longestHold is how many times Recover the pressure must be gone after returns
// that were too early.
const longestHold = 8

// BrownoutLimits say what is pressure, and how quickly reads are refused for it
// and admitted again.
type BrownoutLimits struct {
	Wait    time.Duration // pressure begins there, and ends below half of it; 0: there is never any
	Step    time.Duration // of pressure after a class was refused, until the next is
	Recover time.Duration // without pressure, until a class is admitted again
}

// Pressure is what was measured at a moment.
type Pressure struct {
	// Wait is how long the read has waited that has waited longest for a
	// connection to a usable replica.
	Wait time.Duration
	// Turned: reads were turned away since the last look, for want of room in
	// the queue or because no connection came free in time.
	Turned bool
}

// Brownout is how many of the lowest priorities are refused now. It is a value:
// Next makes the next one. The zero Brownout refuses none.
type Brownout struct {
	Level int       // 0: all reads are admitted
	Since time.Time // of the last change of Level

	rose time.Time     // when Level grew last; zero: it fell since
	fell time.Time     // when it fell last
	calm time.Time     // since when there is no pressure; zero: there is some
	hold time.Duration // how long that must last before Level falls
}

// Next takes in what was measured at now. most is the greatest level there is.
//
// It rises at once, and one level at a time: whether refusing one more class
// helped shows only after a while (Step). It falls one level after each Recover
// without a break; where pressure came back soon after, that is doubled, so
// that a flood that goes on is not let in every few seconds.
func (b Brownout) Next(l BrownoutLimits, p Pressure, most int, now time.Time) Brownout {
	switch {
	case l.Wait <= 0 || most <= 0:
		return Brownout{}
	case p.Turned || p.Wait >= l.Wait:
		b.calm = time.Time{}
		return b.rise(l, most, now)
	case p.Wait >= l.Wait/2: // neither
		b.calm = time.Time{}
		return b
	case b.calm.IsZero():
		b.calm = now
	}
	if b.Level > 0 && now.Sub(b.calm) >= b.hold {
		b.Level, b.Since, b.fell, b.calm, b.rose = b.Level-1, now, now, now, time.Time{}
	}
	return b
}

func (b Brownout) rise(l BrownoutLimits, most int, now time.Time) Brownout {
	if b.Level >= most || !b.rose.IsZero() && now.Sub(b.rose) < l.Step {
		return b
	}
	switch {
	case b.hold == 0 || !b.fell.IsZero() && now.Sub(b.fell) > b.hold: // the last return was not too early
		b.hold = l.Recover
	case !b.fell.IsZero():
		b.hold = min(2*b.hold, longestHold*l.Recover)
	}
	b.Level, b.Since, b.rose, b.fell = b.Level+1, now, now, time.Time{}
	return b
}
