package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"causeway/gtid"
)

// testClasses are labClasses and some that differ from them in one thing.
func testClasses(t *testing.T) map[string]*Class {
	t.Helper()
	list := labClasses(10*time.Millisecond, time.Second)
	list[1].MaxStaleness, list[2].MaxStaleness = 2*time.Second, 10*time.Second
	like := func(i int, name string, tune func(*Class)) {
		c := list[i]
		c.Name = name
		tune(&c)
		list = append(list, c)
	}
	like(2, "opted-out", func(c *Class) { c.PromoteOnToken = false })
	like(1, "eventual", func(c *Class) { c.Consistency = Eventual })
	like(0, "own", func(c *Class) { c.BudgetShare = .5; c.OnLag = []Step{{Kind: StepError}} })
	like(0, "global", func(c *Class) { c.Consistency = Global })
	like(1, "source", func(c *Class) { c.Consistency = OnSource })
	c, err := newClasses(list)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*Class{}
	for _, class := range c.all {
		out[class.Name] = class
	}
	return out
}

func TestAgree(t *testing.T) {
	classes := testClasses(t)
	for _, c := range []struct {
		class                string
		staleness            time.Duration
		hasToken, everywhere bool

		as           string
		steps        string
		share        float64
		token, floor bool
		bound        time.Duration
	}{
		{class: "F0", as: "F0", steps: "source, stale", share: .7, floor: true, bound: time.Hour},
		{class: "F0", staleness: time.Second, as: "F0", steps: "source, stale", share: .7, floor: true, bound: time.Second},
		{class: "F0", hasToken: true, as: "F0", steps: "wait:10ms, source, wait:1s, error", share: 1, token: true},
		{class: "F0", hasToken: true, everywhere: true, as: "F0", steps: "wait:10ms, source, wait:1s, error", share: 1, token: true},
		{class: "F0", staleness: time.Second, hasToken: true, as: "F0", steps: "wait:10ms, source, wait:1s, error", share: 1, token: true},
		{class: "global", as: "global", steps: "wait:10ms, source, wait:1s, error", share: 1, token: true},
		{class: "global", hasToken: true, everywhere: true, as: "global", steps: "wait:10ms, source, wait:1s, error", share: 1, token: true},
		{class: "own", as: "own", steps: "source, stale", share: .5, floor: true, bound: time.Hour},
		{class: "own", hasToken: true, as: "own", steps: "error", share: .5, token: true},
		{class: "F1", as: "F1", steps: "wait:10ms, source, stale", share: .7, bound: 2 * time.Second},
		{class: "F1", hasToken: true, as: "F0", steps: "wait:10ms, source, wait:1s, stale, error", share: 1, token: true, bound: 2 * time.Second},
		{class: "F1", hasToken: true, everywhere: true, as: "F1", steps: "wait:10ms, source, stale", share: .7, token: true, bound: 2 * time.Second},
		{class: "F1", staleness: time.Minute, as: "F1", steps: "wait:10ms, source, stale", share: .7, bound: time.Minute},
		{class: "F2", as: "F2", steps: "stale", bound: 10 * time.Second},
		{class: "F2", hasToken: true, as: "F0", steps: "wait:10ms, source, wait:1s, stale, error", share: 1, token: true, bound: 10 * time.Second},
		{class: "opted-out", hasToken: true, as: "opted-out", steps: "stale", bound: 10 * time.Second},
		{class: "eventual", as: "eventual", steps: "wait:10ms, source, stale", share: .7},
		{class: "eventual", hasToken: true, everywhere: true, as: "eventual", steps: "wait:10ms, source, stale", share: .7, token: true},
		{class: "eventual", staleness: time.Second, as: "eventual", steps: "wait:10ms, source, stale", share: .7, bound: time.Second},
	} {
		got := agree(choice{class: classes[c.class], staleness: c.staleness}, classes["F0"], c.hasToken, c.everywhere)
		if got.class.Name != c.as || stepsText(got.steps) != c.steps || got.share != c.share || got.token != c.token || got.floor != c.floor ||
			got.bound != c.bound || got.global != (c.class == "global") || got.promoted != (c.as != c.class) {
			t.Errorf("%+v:\ngot %s, %s, %+v", c, got.class.Name, stepsText(got.steps), got)
		}
	}
}

// TestPatient: where nothing is remembered a read waits as with a token, and then does
// what its class does without one.
func TestPatient(t *testing.T) {
	classes := testClasses(t)
	for name, want := range map[string]string{
		"F0": "F0 wait:10ms, source, wait:1s, stale, error 0.7", "F1": "F0 wait:10ms, source, wait:1s, stale, error 0.7",
		"F2": "F0 wait:10ms, source, wait:1s, stale, error 0.7", "own": "own source, stale, error 0.5",
	} {
		c := agree(choice{class: classes[name]}, classes["F0"], false, false)
		had := stepsText(c.steps)
		got := c.patient(classes[name], classes["F0"])
		if text := fmt.Sprintf("%s %s %v", got.class.Name, stepsText(got.steps), got.share); text != want || got.bound != c.bound {
			t.Errorf("%s: %s, want %s; bound %v, want %v", name, text, want, got.bound, c.bound)
		}
		if stepsText(c.steps) != had {
			t.Errorf("%s: the class's own steps have changed", name)
		}
	}
}

// TestNeverStaleWithAToken: whatever the class, a read that is promoted or of a
// session class and holds a token asks for it.
func TestNeverStaleWithAToken(t *testing.T) {
	for name, class := range testClasses(t) {
		c := agree(choice{class: class}, testClasses(t)["F0"], true, false)
		if name != "opted-out" && !c.token {
			t.Errorf("%s does not ask for the token", name)
		}
		if class.Consistency == OwnWrites && c.has(StepStale) {
			t.Errorf("%s may be stale", name)
		}
	}
}

func TestShareWithoutReplicas(t *testing.T) {
	classes := testClasses(t)
	for name, want := range map[string]float64{"F0": 1, "F1": .7, "F2": lastShare, "own": 0} {
		c := agree(choice{class: classes[name]}, classes["F0"], true, true)
		if name == "F2" {
			c = agree(choice{class: classes[name]}, classes["F0"], false, false)
		}
		if got := c.withoutReplicas(); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestCoveredEverywhere(t *testing.T) {
	l := startLab(t, 2)
	v := l.mon.View()
	if !coveredEverywhere(v, gtid.MustParse(sourceUUID+":1-100")) || coveredEverywhere(v, gtid.MustParse(sourceUUID+":1-101")) {
		t.Error("two replicas with 1-100")
	}
	v.Replicas[1].Exclude = "joining"
	v.Replicas[1].Position = gtid.Set{}
	if !coveredEverywhere(v, gtid.MustParse(sourceUUID+":1-100")) {
		t.Error("a replica that serves nothing counts")
	}
}

func TestChoose(t *testing.T) {
	classes := testClasses(t)
	wished := func(class string, staleness time.Duration) wish {
		return wish{class: classes[class], staleness: staleness}
	}
	ruled := func(class, limit string) *ruleEntry {
		return &ruleEntry{class: classes[class], maxClass: classes[limit]}
	}
	for _, c := range []struct {
		name               string
		limit              string
		rule               *ruleEntry
		session, statement wish
		class, from        string
		capped             bool
		staleness          time.Duration
	}{
		{name: "nothing", class: "F0", from: fromUser},
		{name: "rule", rule: ruled("F1", ""), class: "F1", from: fromRule},
		{name: "a rule without class", rule: ruled("", ""), class: "F0", from: fromUser},
		{name: "session before rule", rule: ruled("F1", ""), session: wished("F2", 0), class: "F2", from: fromSession},
		{name: "statement before session", session: wished("F2", 0), statement: wished("F1", 0), class: "F1", from: fromStatement},
		{name: "session's bound", session: wished("", time.Second), class: "F0", from: fromUser, staleness: time.Second},
		{name: "a statement's class has its own bound", session: wished("F2", time.Second), statement: wished("F1", 0), class: "F1", from: fromStatement},
		{name: "statement's bound", session: wished("F2", time.Second), statement: wished("", time.Minute), class: "F2", from: fromSession, staleness: time.Minute},
		{name: "capped by the user", limit: "F2", statement: wished("F1", 0), class: "F2", from: fromStatement, capped: true},
		{name: "capped without a wish", limit: "F1", class: "F1", from: fromUser, capped: true},
		{name: "below the cap", limit: "F1", statement: wished("F2", 0), class: "F2", from: fromStatement},
		{name: "capped by the rule", rule: ruled("", "F2"), session: wished("F0", 0), class: "F2", from: fromSession, capped: true},
		{name: "a bound below the cap's", limit: "F1", statement: wished("F2", time.Millisecond), class: "F2", from: fromStatement, capped: true, staleness: 2 * time.Second},
	} {
		base := choice{class: classes["F0"], from: fromUser}
		got := choose(base, classes[c.limit], c.rule, c.session, c.statement)
		if got.class.Name != c.class || got.from != c.from || got.capped != c.capped || got.staleness != c.staleness || got.rule != c.rule {
			t.Errorf("%s: got %s %+v", c.name, got.class.Name, got)
		}
	}
}

func TestWishes(t *testing.T) {
	c, err := newClasses(labClasses(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		class, staleness string
		want             string
		bound            time.Duration
		ignored          string
	}{
		{class: "F2", want: "F2"},
		{class: "f2", want: "F2"},
		{class: "F9", ignored: `causeway_class "F9"`},
		{class: strings.Repeat("x", 1000), ignored: `causeway_class "` + strings.Repeat("x", 40) + `"`},
		{staleness: "500ms", bound: 500 * time.Millisecond},
		{staleness: "1.5", bound: 1500 * time.Millisecond},
		{staleness: " 2 ", bound: 2 * time.Second},
		{staleness: "0", ignored: `causeway_max_staleness "0"`},
		{staleness: "0s", ignored: `causeway_max_staleness "0s"`},
		{staleness: "-1", ignored: `causeway_max_staleness "-1"`},
		{staleness: "NaN", ignored: `causeway_max_staleness "NaN"`},
		{staleness: "1e300", ignored: `causeway_max_staleness "1e300"`},
		{staleness: "soon", ignored: `causeway_max_staleness "soon"`},
		{class: "F1", staleness: "1h", want: "F1", bound: time.Hour},
	} {
		w := c.wishOf(tc.class, tc.staleness)
		name := ""
		if w.class != nil {
			name = w.class.Name
		}
		if name != tc.want || w.staleness != tc.bound || !strings.HasPrefix(w.ignored, tc.ignored) || (w.ignored == "") != (tc.ignored == "") {
			t.Errorf("%q %q: %s %+v", tc.class, tc.staleness, name, w)
		}
	}
}

func TestClassesMustSeeOwnWrites(t *testing.T) {
	for name, list := range map[string][]Class{"none": nil, "bounded": {{Name: "F0", Consistency: Bounded}}} {
		if _, err := newClasses(list); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
