package seq

import (
	"math/rand/v2"
	"slices"

	"causeway/tests/session/raw"
	"causeway/wire"
)

// Kind is one row of the table: a thing that applications do. Make returns its
// steps; the first comes at once, the others soon after, with other steps of
// the same session and of others in between.
type Kind struct {
	Name   string
	Weight int // 0 counts as 10
	Make   func(g *Gen) []Step
}

// Gen is what a kind may ask while it makes its steps.
type Gen struct {
	rnd     *rand.Rand
	session *session
	weights int
}

// session is the generator's picture of one session.
type session struct {
	state    state
	pending  []Step
	before   []Step // what it has done
	prepared []prepared
	count    int // of names given out
}

// prepared is a statement that a session may execute again.
type prepared struct {
	name string
	make func(g *Gen, name string) Step
}

// pick returns one of a list.
func pick[T any](g *Gen, list ...T) T { return list[g.rnd.IntN(len(list))] }

// chance is true p times out of 100.
func (g *Gen) chance(p int) bool { return g.rnd.IntN(100) < p }

// Options say what scripts to make.
type Options struct {
	Polite bool // leave no session pinned when going on to another one
	Owed   bool // also make what is known to differ
}

// Block is how many seeds in a row give the same capabilities, so that their
// sequences can use the same connections one after the other.
const Block = 8

// maxSteps is after how many steps a script only ends what is open, maxTries
// after how many steps that are owed a session is reset.
const maxSteps, maxTries = 120, 200

// Generate makes the script of a seed.
func Generate(seed uint64, o Options) Script {
	g := &Gen{rnd: rand.New(rand.NewPCG(seed/Block, 0xca9))}
	s := Script{Seed: seed, Polite: o.Polite, Caps: g.caps()}
	g.rnd = rand.New(rand.NewPCG(seed, 0x5e9))
	for _, k := range Kinds {
		g.weights += k.weight()
	}
	var sessions [Sessions]session
	on := g.rnd.IntN(Sessions)
	for left := 8 + g.rnd.IntN(24); left > 0; left-- {
		g.session = &sessions[on]
		step := g.next(o.Polite)
		for tries := 0; !o.Owed && isOwed(g.session, step) || len(s.Steps) > maxSteps; tries++ {
			if step = g.next(o.Polite); tries > maxTries || len(s.Steps) > maxSteps {
				step = resetStep // ends whatever there is no other way out of
				step.Kind = "release"
				break
			}
		}
		step.On, step.runs = on, g.session.preparedText(step)
		g.session.before = append(g.session.before, step)
		g.session.state = g.session.state.after(step)
		s.Steps = append(s.Steps, step)
		if o.Polite && g.session.state.pins != 0 {
			left = max(left, 2) // until the pins are gone
		} else if g.chance(60) {
			on = g.rnd.IntN(Sessions)
		}
	}
	return s
}

// preparedText is the text of the statement that a step executes; "": a reset has
// forgotten it.
func (s *session) preparedText(step Step) string {
	for _, b := range slices.Backward(s.before) {
		if b.resets {
			return ""
		}
		if b.op == opPrepare && b.stmt == step.stmt {
			return b.text
		}
	}
	return ""
}

// caps gives the sessions what well-known drivers ask for. Those that change
// the meaning of statements are mostly the same for all four, as connections
// are shared only among equals.
func (g *Gen) caps() [Sessions]wire.Capability {
	meaning := func() wire.Capability {
		c := wire.CapMultiStatements | wire.CapLocalFiles
		if g.chance(25) {
			c |= wire.CapFoundRows
		}
		if g.chance(15) {
			c |= wire.CapIgnoreSpace
		}
		return c
	}
	common := meaning()
	var caps [Sessions]wire.Capability
	for i := range caps {
		caps[i] = common
		if g.chance(15) {
			caps[i] = meaning()
		}
		caps[i] |= pick(g, 0, wire.CapDeprecateEOF, wire.CapSessionTrack, raw.Modern, raw.Modern|wire.CapQueryAttributes)
	}
	return caps
}

const modernCaps = raw.Modern | wire.CapMultiStatements | wire.CapLocalFiles

func (k Kind) weight() int {
	if k.Weight == 0 {
		return 10
	}
	return k.Weight
}

// next is the session's next step.
func (g *Gen) next(polite bool) Step {
	s := g.session
	if polite && s.state.pins != 0 && g.chance(25) {
		return g.release(s.state.pins)
	}
	if len(s.pending) > 0 && g.chance(70) {
		step := s.pending[0]
		s.pending = s.pending[1:]
		return step
	}
	steps := g.kind().steps(g)
	s.pending = append(steps[1:len(steps):len(steps)], s.pending...)
	if len(s.pending) > 8 {
		s.pending = s.pending[:8]
	}
	return steps[0]
}

// steps makes a kind's steps and names the kind in each.
func (k Kind) steps(g *Gen) []Step {
	steps := k.Make(g)
	for i := range steps {
		steps[i].Kind = k.Name
		if steps[i].resets {
			g.session.prepared = nil
		}
	}
	return steps
}

func (g *Gen) kind() Kind {
	n := g.rnd.IntN(g.weights)
	for _, k := range Kinds {
		if n -= k.weight(); n < 0 {
			return k
		}
	}
	panic("BUG: weights do not add up")
}

// release returns a step that surely ends one of the pins.
func (g *Gen) release(pins Pin) Step {
	var ways []Step
	for _, r := range releases {
		if pins&r.pin != 0 && pins&r.step.unless == 0 {
			ways = append(ways, r.step)
		}
	}
	step := resetStep
	if len(ways) > 0 && g.chance(85) {
		step = pick(g, ways...)
	}
	step.Kind = "release"
	if step.resets {
		g.session.prepared, g.session.pending = nil, nil
	}
	return step
}

var resetStep = Step{op: opReset, resets: true}

// releases end pins. What is not here is ended by COM_RESET_CONNECTION only.
var releases = []struct {
	pin  Pin
	step Step
}{
	{PinTrx, q("COMMIT").free(PinTrx | PinNext)},
	{PinTrx, q("ROLLBACK").free(PinTrx | PinNext)},
	{PinNext, q("COMMIT").free(PinTrx | PinNext)},
	{PinChain, q("SET completion_type = 0").free(PinChain)},
	{PinTemp, t("DROP TEMPORARY TABLE IF EXISTS $0.temp1").free(PinTemp)},
	{PinShadow, t("DROP TEMPORARY TABLE IF EXISTS $1.t").free(PinShadow)},
	{PinLock, q("SELECT RELEASE_ALL_LOCKS()").free(PinLock)},
	{PinTables, q("UNLOCK TABLES").free(PinTables)},
	{PinXAActive, xaEnd},
	{PinXA, xaRollback},
	{PinText, q("DEALLOCATE PREPARE txt").free(PinText)},
	{PinHandler, q("HANDLER hand CLOSE").free(PinHandler)},
	{PinCursor | PinUser | PinChain, resetStep},
}
