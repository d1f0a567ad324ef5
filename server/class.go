package server

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Consistency is what a read of a class is promised.
type Consistency uint8

// The consistencies, in the order of what they promise.
const (
	Eventual  Consistency = iota // any replica within the lag limit
	Bounded                      // one that is provably not older than MaxStaleness
	OwnWrites                    // one that has executed the session's token
	Global                       // one that has executed all that the source had when the read arrived
	OnSource                     // the source
)

var consistencyNames = [...]string{Eventual: "eventual", Bounded: "bounded", OwnWrites: "session", Global: "global", OnSource: "source"}

// String is the consistency as the configuration has it.
func (c Consistency) String() string { return consistencyNames[c] }

// ParseConsistency reads the configuration's word.
func ParseConsistency(word string) (Consistency, error) {
	i := slices.Index(consistencyNames[:], word)
	if i < 0 {
		return 0, fmt.Errorf("no consistency %q", word)
	}
	return Consistency(i), nil
}

// StepKind is what a step of on_lag does.
type StepKind uint8

// The steps.
const (
	StepWait   StepKind = iota // for a replica, up to Step.Wait after none qualified
	StepSource                 // within the fallback budget
	StepStale                  // the freshest replica, with a warning
	StepError
)

var stepNames = [...]string{StepWait: "wait", StepSource: "source", StepStale: "stale", StepError: "error"}

// ParseStepKind reads the configuration's word.
func ParseStepKind(word string) (StepKind, error) {
	i := slices.Index(stepNames[:], word)
	if i < 0 {
		return 0, fmt.Errorf("no step %q", word)
	}
	return StepKind(i), nil
}

// Step is one item of on_lag.
type Step struct {
	Kind StepKind
	Wait time.Duration
}

// String is the step as the configuration has it.
func (s Step) String() string {
	if s.Kind == StepWait {
		return "wait:" + s.Wait.String()
	}
	return stepNames[s.Kind]
}

// Class is a contract on how fresh a read is. Immutable; its place in
// Options.Classes is its number, Class.Index.
type Class struct {
	Index        int
	Name         string
	Consistency  Consistency
	MaxStaleness time.Duration // 0: any age
	OnLag        []Step
	OnLagEmpty   []Step // for a session class whose session has written nothing
	Priority     int    // 0: the highest
	BudgetShare  float64
	// EmptyShare is the share of a read by OnLagEmpty.
	EmptyShare float64
	LagLimit   time.Duration
	// ZoneLagLimit is the same for replicas of other zones, for people.
	ZoneLagLimit time.Duration
	// WarmupAllow: replicas serve its reads during a warm-up, proved or not.
	WarmupAllow    bool
	Monotonic      bool // its reads never go back in time
	PromoteOnToken bool
	Timeout        time.Duration // of a read; 0: none

	promoted []Step // see promotedSteps
	limit    int    // number of its lag limit, see balance.Need.Limit; -1: it has none
}

// HasLagLimit tells whether the class has a lag limit: one that names the source
// asks no replica. The limits of the others are numbered in the classes' order.
func (c *Class) HasLagLimit() bool { return c.Consistency != OnSource }

// classes are the configured ones; the first is F0, as which promoted reads
// are served.
type classes struct {
	all   []*Class
	stats []*classStats // by Class.Index
}

func newClasses(list []Class) (classes, error) {
	if len(list) == 0 || list[0].Consistency < OwnWrites {
		return classes{}, fmt.Errorf("the first class must see a session's own writes")
	}
	var c classes
	limits := 0
	for i := range list {
		class := list[i]
		class.Index, class.limit = i, -1
		if class.HasLagLimit() {
			class.limit = limits
			limits++
		}
		c.all = append(c.all, &class)
		c.stats = append(c.stats, &classStats{})
	}
	for _, class := range c.all {
		class.promoted = promotedSteps(c.all[0], class)
	}
	return c, nil
}

// named finds a class by its name, whatever the case; nil: there is none.
func (c *classes) named(name string) *Class {
	for _, class := range c.all {
		if strings.EqualFold(class.Name, name) {
			return class
		}
	}
	return nil
}

// takeClasses makes the classes and rules, and finds those that others name.
func (s *Server) takeClasses() (err error) {
	o := &s.opts
	if s.classes, err = newClasses(o.Classes); err != nil {
		return err
	}
	for _, class := range s.classes.all {
		s.monotonic = s.monotonic || class.Monotonic
	}
	if s.rules.rules, err = newRules(o.Rules, &s.classes); err != nil {
		return err
	}
	find := func(dst **Class, name string) {
		if *dst = s.classes.named(name); *dst == nil && name != "" && err == nil {
			err = fmt.Errorf("no class %q", name)
		}
	}
	find(&s.defaultClass, cmp.Or(o.DefaultClass, s.classes.all[0].Name))
	find(&s.listenClass, o.ListenClass)
	for _, a := range s.users {
		find(&a.class, a.Class)
		find(&a.maxClass, a.MaxClass)
	}
	return err
}
