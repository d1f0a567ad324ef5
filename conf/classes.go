package conf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The values of Class.Consistency.
const (
	ConsistencyEventual = "eventual" // any replica within the lag limit
	ConsistencyBounded  = "bounded"  // one that is provably not older than MaxStaleness
	ConsistencySession  = "session"  // one that has executed the session's token
	ConsistencyGlobal   = "global"   // one that has all that the source had when the read arrived
	ConsistencySource   = "source"   // the source
)

// Class is a contract on how fresh a read is, by name.
type Class struct {
	Name         string
	Consistency  string
	MaxStaleness time.Duration // 0: any age
	// OnLag is what is tried in order when no replica qualifies; OnLagEmpty is
	// the same for a read of a session class whose session has written nothing.
	OnLag, OnLagEmpty []Step
	Priority          int     // 0: the highest
	BudgetShare       float64 // of the fallback budget
	LagLimit          time.Duration
	ZoneLagLimit      time.Duration // in other zones
	PromoteOnToken    bool
	Monotonic         bool          // never back in time
	Timeout           time.Duration // 0: none
}

// The values of Step.Kind.
const (
	StepWait   = "wait"
	StepSource = "source"
	StepStale  = "stale"
	StepError  = "error"
)

// Step is one item of on_lag. Wait is measured from when the read found no
// replica, so "wait:10ms", "source", "wait:1s" ends after one second in all.
type Step struct {
	Kind string
	Wait time.Duration
}

// String is the step as the file has it.
func (s Step) String() string {
	if s.Kind == StepWait {
		return "wait:" + s.Wait.String()
	}
	return s.Kind
}

const exampleSteps = `["wait:10ms", "source", "stale"]`

func stepList() kind[[]Step] {
	const instead = `write a list of "wait:10ms" (any time), "source", "stale" and "error", such as ` + exampleSteps
	return kind[[]Step]{"list of steps", func(v any) ([]Step, *fault) {
		words, f := stringList(v, instead)
		if f != nil {
			return nil, f
		}
		var steps []Step
		for _, word := range words {
			step, ok := parseStep(word)
			if !ok {
				return nil, &fault{strconv.Quote(word) + " is no step", instead}
			}
			steps = append(steps, step)
		}
		if len(steps) == 0 {
			return nil, &fault{"the list is empty", `write ["error"] for an error at once`}
		}
		if wrong := misplaced(steps); wrong != "" {
			return nil, &fault{wrong, instead}
		}
		return steps, nil
	}}
}

func parseStep(word string) (Step, bool) {
	switch word {
	case StepSource, StepStale, StepError:
		return Step{Kind: word}, true
	}
	text, ok := strings.CutPrefix(word, "wait:")
	if !ok {
		return Step{}, false
	}
	d, err := time.ParseDuration(strings.TrimSpace(text))
	return Step{StepWait, d}, err == nil && d > 0 && d <= 10*time.Minute
}

// misplaced says which step of a list has no effect, "" if all have one.
func misplaced(steps []Step) string {
	var waited time.Duration
	for i, s := range steps {
		switch {
		case i > 0 && steps[i-1].Kind == StepError:
			return fmt.Sprintf("%q comes after \"error\", which ends the list", s)
		case s.Kind == StepWait && s.Wait <= waited:
			return fmt.Sprintf("%q is over before it begins: waits count from when the read found no replica", s)
		case s.Kind != StepWait && slices.Contains(steps[:i], s):
			return fmt.Sprintf("%q is named twice", s)
		}
		waited = max(waited, s.Wait)
	}
	return ""
}

// classOptions are the keys of each [[class]]; their defaults are those of a
// class with a new name, which is made like F1.
var classOptions = []option[Class]{
	row("name", text(`"F1"`), func(c *Class) *string { return &c.Name }, "",
		"The class. `F0`, `F1` and `F2` are built in; a table of that name changes what it names of it. Another name makes a new class, like F1 but for what it names."),
	row("consistency", oneOf(ConsistencyEventual, ConsistencyBounded, ConsistencySession, ConsistencyGlobal, ConsistencySource), func(c *Class) *string { return &c.Consistency }, `"bounded"`,
		"What a read of the class sees: any replica's data, data that is provably not older than `max_staleness`, the session's own writes, all that anybody had committed when the read arrived (the source is asked for its position, once for all reads that wait), or the source's data."),
	row("max_staleness", duration(0, day), func(c *Class) *time.Duration { return &c.MaxStaleness }, `"2s"`,
		"How old the data of a bounded class may be, and that of a session class as long as the session has written nothing. `0s`: any age (not for bounded)."),
	row("on_lag", stepList(), func(c *Class) *[]Step { return &c.OnLag }, exampleSteps,
		"What is tried, in this order, when no replica qualifies: `wait:TIME` (counted from the moment in which none did), `source` (within the fallback budget), `stale` (the freshest replica, with a warning), `error`. A class that does not name `stale` is never stale; one that does not name `source` reads there only when no replica is usable and it does not name `error`."),
	row("on_lag_empty", stepList(), func(c *Class) *[]Step { return &c.OnLagEmpty }, `["source", "stale"]`,
		"The same for a session class as long as the session has written nothing. Such reads have F1's share of the budget."),
	row("priority", integer(0, 100), func(c *Class) *int { return &c.Priority }, "1",
		"Which classes come first: 0 is the highest. `max_class` goes by it. New classes with `consistency` `source` or `global` have F0's, if they name none."),
	row("budget_share", number(0, 1), func(c *Class) *float64 { return &c.BudgetShare }, "0.7",
		"The part of the fallback budget that the class may use up; what is above is reserved for classes with a greater one. 0: it never asks."),
	row("lag_limit", duration(0, day), func(c *Class) *time.Duration { return &c.LagLimit }, `"0s"`,
		"The lag (p95 over `monitor.lag_window`) above which a replica serves this class no more, until it has been within it for `monitor.recovery_window`; a read whose writes it has may go there all the same. `0s`: `max_staleness`, or 10s where that is any age."),
	row("zone_lag_limit", duration(0, day), func(c *Class) *time.Duration { return &c.ZoneLagLimit }, `"0s"`,
		"The same for replicas in other zones than `cluster.zone`; not more than `lag_limit`. `0s`: half of it."),
	row("promote_on_token", boolean(), func(c *Class) *bool { return &c.PromoteOnToken }, "true",
		"Serve the reads of a session that has written as F0 until every usable replica has its writes. false: such reads may miss them."),
	row("monotonic", boolean(), func(c *Class) *bool { return &c.Monotonic }, "false",
		"A session, or a key, never sees an older state than it saw before, whichever server answered: each read must find what the last one's server had executed. Reads stay on one replica as long as it will do; a change may cost a question to the last one."),
	row("timeout", duration(0, day), func(c *Class) *time.Duration { return &c.Timeout }, `"0s"`,
		"A read that runs longer is killed and gets error 3024. `0s`: never."),
}

// builtIn returns the classes that need no configuration. Those of [routing]
// are F0's.
func builtIn(r Routing) []Class {
	var f1 Class
	fill(&f1, classOptions)
	f0, f2 := f1, f1
	f0.Name, f1.Name, f2.Name = "F0", "F1", "F2"
	f0.Consistency, f0.MaxStaleness, f0.Priority, f0.BudgetShare = ConsistencySession, r.MaxStaleness, 0, 1
	f0.OnLag = neverStale(r)
	f2.MaxStaleness, f2.Priority, f2.BudgetShare = 10*time.Second, 2, 0
	f2.OnLag = []Step{{Kind: StepStale}}
	return []Class{f0, f1, f2}
}

// neverStale is the on_lag of F0 and of session classes that have none.
func neverStale(r Routing) []Step {
	var steps []Step
	if r.Wait > 0 {
		steps = append(steps, Step{StepWait, r.Wait})
	}
	steps = append(steps, Step{Kind: StepSource})
	if r.MaxWait > r.Wait {
		steps = append(steps, Step{StepWait, r.MaxWait})
	}
	return append(steps, Step{Kind: StepError})
}

// readClasses reads [[class]] on top of the built-in classes. It comes after
// [routing], whatever the order in the file.
func (r *reader) readClasses() {
	r.cfg.Classes = builtIn(r.cfg.Routing)
	seen := map[string]int{}
	for i, raw := range r.tablesOf(classKey) {
		prefix := tablePrefix(classKey, i)
		c := r.startOfClass(raw)
		for _, name := range sortedKeys(raw) {
			r.given[prefix+name] = true
			set(r, classOptions, &c, name, prefix+name, raw[name])
		}
		if c.seesWrites() && !r.given[prefix+"on_lag"] && !isBuiltIn(c.Name) {
			c.OnLag = neverStale(r.cfg.Routing)
		}
		if c.BudgetShare == 0 && !r.given[prefix+"on_lag"] {
			c.OnLag = slices.DeleteFunc(slices.Clone(c.OnLag), func(s Step) bool { return s.Kind == StepSource })
		}
		r.required(prefix+"name", c.Name, `name the class, such as name = "F1"`)
		if j, taken := seen[c.Name]; taken && c.Name != "" {
			r.problem(prefix+"name", fmt.Sprintf("%q is the name of class[%d] too", c.Name, j+1), "name each class once")
			continue
		}
		seen[c.Name] = i
		r.checkClass(prefix, &c)
		r.keepClass(c)
	}
	r.rankLikeF0(seen)
	r.cfg.Classes = withLagLimits(r.cfg.Classes)
	r.checkZoneLimits(seen)
	for _, name := range r.cfg.Cluster.WarmupAllow {
		if r.classIndex(name) < 0 {
			r.problem("cluster.warmup_allow", fmt.Sprintf("there is no class %q", name), "name one of [[class]], or of F0, F1 and F2")
		}
	}
}

// rankLikeF0 gives new classes that ask more of the source than F0 does the priority of
// F0, if they name none, so that a max_class holds for them.
func (r *reader) rankLikeF0(tables map[string]int) {
	for i := range r.cfg.Classes {
		c := &r.cfg.Classes[i]
		j, ok := tables[c.Name]
		asksSource := c.Consistency == ConsistencySource || c.Consistency == ConsistencyGlobal
		if ok && asksSource && !isBuiltIn(c.Name) && !r.given[tablePrefix(classKey, j)+"priority"] {
			c.Priority = r.cfg.Classes[0].Priority
		}
	}
}

// checkZoneLimits is for limits that are known only with their defaults.
func (r *reader) checkZoneLimits(tables map[string]int) {
	for _, c := range r.cfg.Classes {
		if i, ok := tables[c.Name]; ok && c.ZoneLagLimit > c.LagLimit {
			r.problem(tablePrefix(classKey, i)+"zone_lag_limit",
				fmt.Sprintf("%q is more than the class's lag limit of %q: replicas of other zones are not to be worse than the own", c.ZoneLagLimit, c.LagLimit), "write a shorter time")
		}
	}
}

// withLagLimits gives the classes that name none the limit of their staleness.
func withLagLimits(list []Class) []Class {
	for i := range list {
		if c := &list[i]; c.LagLimit == 0 {
			c.LagLimit = 10 * time.Second
			if c.Consistency != ConsistencyEventual && c.MaxStaleness > 0 {
				c.LagLimit = c.MaxStaleness
			}
		}
		if c := &list[i]; c.ZoneLagLimit == 0 {
			c.ZoneLagLimit = c.LagLimit / 2
		}
	}
	return list
}

func isBuiltIn(name string) bool { return name == "F0" || name == "F1" || name == "F2" }

// startOfClass is what a [[class]] changes: the built-in one of its name, or
// the defaults.
func (r *reader) startOfClass(raw map[string]any) (c Class) {
	name, _ := raw["name"].(string)
	if i := r.classIndex(name); i >= 0 && isBuiltIn(name) {
		return r.cfg.Classes[i]
	}
	fill(&c, classOptions)
	return c
}

func (r *reader) keepClass(c Class) {
	if i := r.classIndex(c.Name); i >= 0 {
		r.cfg.Classes[i] = c
		return
	}
	r.cfg.Classes = append(r.cfg.Classes, c)
}

func (r *reader) classIndex(name string) int {
	return slices.IndexFunc(r.cfg.Classes, func(c Class) bool { return c.Name == name })
}

// seesWrites tells whether a read of the class needs a replica that has executed
// certain transactions.
func (c *Class) seesWrites() bool {
	return c.Consistency == ConsistencySession || c.Consistency == ConsistencyGlobal
}

// checkClass looks at what no key of a class can know alone.
func (r *reader) checkClass(prefix string, c *Class) {
	stale := Step{Kind: StepStale}
	for _, other := range r.cfg.Classes {
		if c.Name != other.Name && strings.EqualFold(c.Name, other.Name) {
			r.problem(prefix+"name", fmt.Sprintf("%q differs from %q in its case only, which hints do not tell apart", c.Name, other.Name), "write another name, or "+strconv.Quote(other.Name))
		}
	}
	switch {
	case c.Name == "F0" && !c.seesWrites() && c.Consistency != ConsistencySource:
		r.problem(prefix+"consistency", fmt.Sprintf("%q is too little for F0: sessions that have written are served as F0", c.Consistency),
			`write "session", and choose another class by routing.default_class`)
	case c.Consistency == ConsistencyBounded && c.MaxStaleness == 0:
		r.problem(prefix+"max_staleness", `"0s" is no bound for a bounded class`, `write a time, or consistency = "eventual"`)
	case c.seesWrites() && slices.Contains(c.OnLag, stale):
		r.problem(prefix+"on_lag", `"stale" would let a session miss its own writes`, `remove it, or write consistency = "bounded"`)
	}
	if c.Consistency == ConsistencySource && r.given[prefix+"lag_limit"] {
		r.problem(prefix+"lag_limit", `"lag_limit" has no effect with consistency = "source"`, "remove it: the class asks no replica")
	}
	if c.BudgetShare == 0 && c.Consistency != ConsistencySource && slices.Contains(c.OnLag, Step{Kind: StepSource}) {
		r.problem(prefix+"on_lag", `"source" has no effect with budget_share = 0`, "remove it, or give the class a share")
	}
}

// checkClassName refuses the name of a class that does not exist.
func (r *reader) checkClassName(key, name string) {
	if name == "" || r.classIndex(name) >= 0 || r.hasProblem(key) {
		return
	}
	var known []string
	for _, c := range r.cfg.Classes {
		known = append(known, c.Name)
	}
	r.problem(key, strconv.Quote(name)+" is no class", "write one of "+strings.Join(known, ", ")+", or make it by [[class]]")
}
