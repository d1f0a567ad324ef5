package cases

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"causeway/tests/cluster"
	"causeway/tests/session/raw"
	"causeway/wire"
)

// theCase is one trouble: a script, or a function where a script cannot do it.
type theCase struct {
	row     string // its number
	name    string
	classic bool // a client without session tracking and DEPRECATE_EOF
	options map[string]func(*raw.Options)
	steps   []step
	two     bool                // two sessions hold their connections at once: it needs a pool of two
	run     func(e *env) string // what it returns must be equal on MySQL and through Causeway

	// known is what Causeway does wrong today. The case then wants a difference,
	// so that it fails when that is mended: drop the word then.
	known string
}

// env is where a case's function runs.
type env struct {
	t        *testing.T
	addr     string
	direct   bool
	causeway *cluster.Causeway // nil on MySQL itself
	caps     wire.Capability
	problems []string
}

// errorf notes what is wrong; the case goes on.
func (e *env) errorf(format string, args ...any) {
	e.problems = append(e.problems, fmt.Sprintf(format, args...))
}

const modern = raw.Modern | wire.CapMultiStatements | wire.CapLocalFiles

func (c theCase) caps() wire.Capability {
	if c.classic {
		return wire.CapMultiStatements | wire.CapLocalFiles
	}
	return modern
}

var all = slices.Concat(autocommitCases, trxCases, isolationCases, leftCases, tempCases, variableCases, setCases, lockCases,
	preparedCases, longDataCases, multiCases, resetCases, killCases, loadCases, charsetCases, packetCases, ownCases, readOnlyCases, droppedCases, wrongCases, manyCases, turnCases)

// TestCases plays each case on MySQL and through each Causeway.
func TestCases(t *testing.T) {
	start(t)
	for _, c := range all {
		t.Run(c.row+"_"+strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			want, wrong := c.on(t, env{t: t, addr: lab.cluster.Source().Addr, direct: true})
			if len(wrong) > 0 {
				t.Fatalf("the case is wrong: MySQL itself does otherwise:\n%s", strings.Join(wrong, "\n"))
			}
			for _, p := range pools {
				if p.size == 1 && c.two || p.size == 2 && !c.two {
					continue
				}
				t.Run(p.name, func(t *testing.T) {
					got, wrong := c.on(t, env{t: t, addr: p.causeway.Addr, causeway: p.causeway})
					c.judge(t, append(wrong, c.differences(want, got)...))
				})
			}
		})
	}
}

// judge reports what is wrong, or that nothing is where something is known to be.
func (c theCase) judge(t *testing.T, wrong []string) {
	switch {
	case c.known == "" && len(wrong) > 0:
		t.Error(strings.Join(wrong, "\n"))
	case c.known != "" && len(wrong) == 0:
		t.Errorf("mended, so the case should not be marked any more: %s", c.known)
	case c.known != "":
		t.Logf("known: %s\n%s", c.known, strings.Join(wrong, "\n"))
	}
}

// on runs the case at one place and returns what was seen and what was not as
// the script says.
func (c theCase) on(t *testing.T, e env) ([]seen, []string) {
	lay(t, c.traces())
	e.caps = c.caps()
	if c.run != nil {
		text := c.run(&e)
		return []seen{{outcome: outcome{full: text}}}, e.problems
	}
	p := &player{addr: e.addr, direct: e.direct, options: c.options, caps: c.caps(),
		clients: map[string]*raw.Client{}, stmts: map[string]*raw.Stmt{}, vars: map[string]string{}, noisy: map[string]bool{}, settle: func() { lab.cluster.CatchUp(t) }}
	got := p.play(c.steps)
	var wrong []string
	if e.direct && !c.two {
		wrong = crowded(c.steps, got)
	}
	for i, s := range c.steps {
		if s.want != "" && got[i].short != s.want {
			wrong = append(wrong, fmt.Sprintf("step %d, %s: %s\n    gave %s, wanted %s", i+1, s.session, s.name, got[i].short, s.want))
		}
		if got[i].node != "" && got[i].node != s.node {
			wrong = append(wrong, fmt.Sprintf("step %d, %s: %s\n    ran on the %s (%s), wanted the %s", i+1, s.session, s.name, got[i].node, got[i].reason, s.node))
		}
		if e.direct && got[i].short == "CLIENT ERROR" {
			wrong = append(wrong, fmt.Sprintf("step %d: this client cannot read MySQL's answer: %s", i+1, got[i].full))
		}
	}
	return got, wrong
}

// differences compares what was seen on MySQL and through Causeway.
func (c theCase) differences(want, got []seen) []string {
	var list []string
	for i := range want {
		if got[i].full == want[i].full {
			continue
		}
		name := "the function"
		if c.run == nil {
			name = fmt.Sprintf("step %d, %s: %s", i+1, c.steps[i].session, c.steps[i].name)
		}
		list = append(list, fmt.Sprintf("%s\n%s", name, difference(want[i].full, got[i].full)))
	}
	return list
}

// difference shows two texts from a few lines before they begin to differ.
func difference(want, got string) string {
	a, b := strings.Split(strings.TrimSuffix(want, "\n"), "\n"), strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	from := 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		from++
	}
	from = max(0, from-12)
	part := func(lines []string) string {
		return "    " + strings.Join(lines[min(from, len(lines)):min(from+20, len(lines))], "\n    ")
	}
	return "  on MySQL:\n" + part(a) + "\n  through Causeway:\n" + part(b)
}
