package server

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"causeway/backend"
	"causeway/balance"
	"causeway/classifier"
	"causeway/wire"
)

// Explain says where a statement of a new session would go now, and why, as
// rows of name and value. Nothing runs, and nothing is counted.
func (s *Server) Explain(user, schema, sql string) ([][]string, error) {
	if s.users[user] == nil {
		return nil, fmt.Errorf("no [[users]] table names %q", user)
	}
	x := &session{srv: s, login: &Login{User: user, Database: schema, Caps: wire.CapProtocol41, Collation: uint16(s.serverCharset())}, owner: &backend.Owner{}}
	x.reset()
	return x.explainRows([]byte(sql), classifier.Hints{}), nil
}

// explainCauseway serves EXPLAIN CAUSEWAY.
func (s *session) explainCauseway(j *job, text []byte) error {
	target, ok := classifier.ExplainTarget(text, s.mode)
	if !ok {
		return s.fail(wire.NewError(wire.ErrParse, "Causeway: EXPLAIN CAUSEWAY needs a statement after it, such as EXPLAIN CAUSEWAY SELECT 1"))
	}
	return s.rows(statusColumns, s.explainRows(target, s.attributeHints(j)))
}

// explainRows go the way of a query up to the choice of a node. attrs are the
// hints of query attributes.
func (s *session) explainRows(sql []byte, attrs classifier.Hints) [][]string {
	v := s.view()
	class := s.srv.opts.Classifier.Classify(sql, s.classifierMode(v))
	f := s.facts(v)
	f.tempFree = f.homeOnly == reasonTempTables && s.homeOnlyBesides() == reasonNone && !s.sticky.temp.mayBeIn(class)
	p := decide(class, f)
	rows := [][]string{{"Statement", class.Digest}, {"Kind", class.Kind.String()}}
	var r *ruleEntry
	if s.rules != nil {
		r = s.rules.match(class, s.state.Schema, s.mode)
	}
	if r != nil {
		rows = append(rows, []string{"Rule", r.Name + ": " + r.Effects()})
	} else {
		rows = append(rows, []string{"Rule", "none"})
	}
	attrs.Fill(classifier.CommentHints(sql, s.mode))
	switch {
	case class.Kind == classifier.Causeway:
		return append(rows, []string{"Choice", "Causeway itself"})
	case class.Is(classifier.HidesHint), class.Is(classifier.SetsHint | classifier.MultiStatement):
		return append(rows, []string{"Choice", "an error: " + hintNotAlone().Message})
	case attrs.Unread == classifier.HintKey, attrs.Unread == classifier.HintToken:
		return append(rows, []string{"Choice", "an error: " + unreadHint(attrs.Unread).Message})
	case class.Is(classifier.NamesToken):
		return append(rows, []string{"Choice", "Causeway itself, or an error: @causeway_token stands alone"})
	case r != nil && r.Deny:
		return append(rows, []string{"Choice", "error 1227: the rule denies it"})
	}
	if text := s.pausedText(class, p, time.Now()); text != "" {
		rows = append(rows, []string{"Writes", text})
	}
	if p.target != toReplica {
		return append(rows, []string{"Reason", p.reason.String()}, []string{"Choice", s.elsewhere(p, v)})
	}
	held, keyed := s.token, s.common.keyed
	defer func() { s.token, s.common.keyed = held, keyed }()
	for _, text := range attrs.Tokens() {
		set, _, err := s.srv.opts.Tokens.Read(text)
		if err != nil {
			return append(rows, []string{"Choice", "an error: the token cannot be taken: " + err.Error()})
		}
		rows = append(rows, []string{"Token_handed_in", "taken as it is here; a statement that runs has it checked against the source"})
		s.take(set)
	}
	ch := choose(s.base, s.maxClass, r, s.wish, s.srv.classes.wishOf(attrs.Class, attrs.MaxStaleness))
	return append(rows, s.explainRead(ch, p, v)...)
}

// elsewhere names the target of what is no read for a replica.
func (s *session) elsewhere(p plan, v *backend.View) string {
	switch {
	case p.target == toTrx:
		return s.readTrx.Node.Addr + ", which has the READ ONLY transaction"
	case p.target == toLast:
		return "where the last statement ran"
	case p.target == toRefuse:
		return "an error: the transaction is READ ONLY"
	case v.Source == nil && time.Now().Before(s.srv.noSourceUntil()):
		return "none yet, and an error in the end: no source is known"
	case v.Source == nil:
		return "an error: no source is known"
	}
	if !v.Source.Usable() {
		return v.Source.Addr + ", the source, which does not serve: " + v.Source.Exclude
	}
	return v.Source.Addr + ", the source"
}

// pausedText says what a pause of writes means for a statement, "" if nothing.
func (s *session) pausedText(class *classifier.Class, p plan, now time.Time) string {
	held := s.srv.pauseNow(now)
	if held == nil || s.writing.Load() || s.holdsWrite() || !s.mayBePaused(&job{class: class, want: expectResult}) {
		return ""
	}
	what, does := "it", " waits"
	if class.Kind == classifier.Begin {
		what = "it, or the first statement of its transaction,"
	}
	if held.over(now) {
		does = " fails"
	}
	switch p.target {
	case toHome:
		return held.text(now) + "; " + what + does
	case toReplica:
		return held.text(now) + "; if it has to go to the source, it" + does
	}
	return ""
}

// explainRead shows the contract of a read and what each replica says to it.
func (s *session) explainRead(ch choice, p plan, v *backend.View) [][]string {
	d, now := s.demand(v), time.Now()
	c := s.agree(ch, &d, v)
	shown := ch
	shown.rule = nil // shown already
	rows := choiceRows(&shown, &c)
	token := d.token.Line()
	switch {
	case s.token.Void(v.Epoch):
		token += " (void: the source lost transactions of it)"
	case v.WithoutGTIDs:
		token = "none: the source has no GTIDs, see Sticky"
	case token == "":
		token = "none: nothing was written in this scope"
	case !c.token:
		token += " (not asked for: promote_on_token = false)"
	}
	rows = append(rows, []string{"Consistency", c.class.Consistency.String()}, []string{"Scope", s.scopeText()}, []string{"Token", token}, []string{"Bound", orNone(c.bound)})
	if ch.toSource() {
		return append(rows, []string{"Choice", s.elsewhere(plan{}, v) + ", by " + reasonClass.String() + " or rule, without the fallback budget"})
	}
	if e := ch.lacksGTIDs(); e != nil && v.WithoutGTIDs {
		return append(rows, []string{"Choice", fmt.Sprintf("error %d: %s", e.Code, e.Message)})
	}
	if s.brownedOut(&ch, &c) {
		return append(rows, []string{"Choice", fmt.Sprintf("error %d, by %s: %s", wire.ErrServerIsntAvailable, reasonBrownout, s.srv.brownoutText(now))})
	}
	if c.global {
		d.token = d.token.Union(v.SourcePosition)
		rows = append(rows, []string{"Source_position", "asked for when the read arrives; now as last seen"})
	}
	need := needOf(&c, &d, now)
	left := s.srv.windowLeft(d.until)
	if left > 0 {
		rows = append(rows, []string{"Sticky", left.String() + " left of the window after a commit"})
	}
	for _, verdict := range balance.Explain(v.Replicas, need) {
		rows = append(rows, []string{"Candidate " + verdict.Node.Addr, verdictText(&c, verdict.Text)})
	}
	rows = append(rows, []string{"On_lag", stepsText(c.steps)})
	if left > 0 && s.mayStick(&c, v) && s.srv.opts.Budget.LeftFor(c.share, now) > 0 {
		return append(rows, []string{"Choice", s.elsewhere(plan{}, v) + ", by " + reasonSticky.String() + ", within the budget: " + s.leftText(c.share, now)})
	}
	if v.WithoutGTIDs && c.token && anyUsable(v, nil) {
		return append(rows, []string{"Choice", s.elsewhere(plan{}, v) + ", once the budget lets it, or an error; " + s.leftText(c.share, now)})
	}
	if n, _ := balance.Pick(s.srv.opts.Policy, v.Replicas, need, s.srv.turn.Load()+1); n != nil {
		return append(rows, []string{"Choice", n.Addr + ", by " + s.srv.opts.Policy.String()})
	}
	return append(rows, []string{"Choice", s.foresee(&c, &d, p, v, now)})
}

// verdictText is a verdict's text where what the read must see is no token, but the floor.
func verdictText(c *contract, text string) string {
	if c.token {
		return text
	}
	return strings.ReplaceAll(text, "the token", "the source's position when Causeway began")
}

// foresee tells what on_lag comes to if nothing changes meanwhile.
func (s *session) foresee(c *contract, d *demand, p plan, v *backend.View, now time.Time) string {
	steps, waits := c.steps, balance.WaitHelps(v.Replicas, needOf(c, d, now))
	if !anyUsable(v, nil) {
		switch share := c.withoutReplicas(); {
		case len(v.Replicas) == 0 || p.begin:
			return s.elsewhere(plan{}, v)
		case share == 0:
			return "an error: no replica is usable"
		default:
			return s.elsewhere(plan{}, v) + ", as no replica is usable; " + s.leftText(share, now)
		}
	}
	var out []string
	waited := false
	for _, step := range steps {
		switch step.Kind {
		case StepWait:
			if !waits {
				if len(out) == 0 {
					out = append(out, "does not wait: no replica would serve it however much it applies")
				}
				continue
			}
			waited, out = true, append(out, "waits up to "+step.Wait.String())
			continue
		case StepSource:
			if !v.Source.Usable() {
				continue
			}
			if p.begin {
				return strings.Join(append(out, s.elsewhere(plan{}, v)), ", then ")
			}
			if s.srv.opts.Budget.LeftFor(c.share, now) > 0 {
				return strings.Join(append(out, s.elsewhere(plan{}, v)+", within the budget: "+s.leftText(c.share, now)), ", then ")
			}
			out = append(out, "is refused the source: "+s.leftText(c.share, now))
		case StepStale:
			if n, stale := balance.Freshest(s.coveringFor(c, d, v.Replicas), now); n != nil {
				return strings.Join(append(out, n.Addr+", stale with a warning, "+staleText(stale)), ", then ")
			}
			if waited {
				out = append(out, "takes a replica that has the token by then, stale with a warning")
			}
		}
	}
	return strings.Join(append(out, "an error"), ", then ")
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
