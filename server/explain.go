package server

import (
	"fmt"
	"time"

	"causeway/backend"
	"causeway/balance"
	"causeway/classifier"
	"causeway/gtid"
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
	attrs.Fill(classifier.CommentHints(sql, s.mode))
	defer func(held gtid.Token, c common) { s.token, s.common.keyed, s.common.key = held, c.keyed, c.key }(s.token, s.common)
	s.useKey(&job{hints: attrs})
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
	for _, text := range attrs.Tokens() {
		set, _, err := s.srv.opts.Tokens.Read(text)
		if err != nil {
			return append(rows, []string{"Choice", "an error: the token cannot be taken: " + err.Error()})
		}
		rows = append(rows, []string{"Token_handed_in", "taken as it is here; a statement that runs has it checked against the source"})
		s.take(set)
	}
	ch := choose(s.base, s.maxClass, r, s.wish, s.srv.classes.statementWish(&attrs))
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
	lost := s.lostUntold(v)
	if s.srv.opts.ForgetLostWrites && !lost.IsEmpty() { // explainRows takes the token back
		s.token.Set = s.token.Set.Subtract(lost)
	}
	d, now := s.demand(v), time.Now()
	c := s.agree(ch, &d, v)
	rows := choiceRows(&ch, &c)
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
	if !lost.IsEmpty() && !s.srv.opts.ForgetLostWrites {
		text := lost.Line()
		return append(rows, []string{"Choice", "an error, told once: writes of this session were lost: " + text[:min(len(text), 200)]})
	}
	if ch.toSource() {
		return append(rows, []string{"Choice", s.elsewhere(plan{}, v) + ", by " + reasonClass.String() + " or rule, without the fallback budget"})
	}
	if e := ch.lacksGTIDs(); e != nil && v.WithoutGTIDs {
		return append(rows, []string{"Choice", fmt.Sprintf("error %d: %s", e.Code, e.Message)})
	}
	if s.brownedOut(&ch, &c) {
		return append(rows, []string{"Choice", fmt.Sprintf("error %d, by %s: %s", wire.ErrServerIsntAvailable, reasonBrownout, s.srv.brownoutText(now))})
	}
	if s.srv.others != nil && s.common.reads() {
		rows = append(rows, []string{"Shared", "what other Causeways acknowledged is asked for when the read arrives"})
	}
	if c.global {
		d.token = d.token.Union(v.SourcePosition)
		rows = append(rows, []string{"Source_position", "asked for when the read arrives; now as last seen"})
	}
	f := foresight{contract: c, demand: d, plan: p, view: v, now: now, need: s.needOf(&c, &d, now), left: s.srv.windowLeft(d.until)}
	floor, again := s.foreseeSeen(v, &c, f.need)
	f.demand.mustSee(floor, &f.need)
	f.again, f.barred = again, s.barred(&c, v, now)
	if f.left > 0 {
		rows = append(rows, []string{"Sticky", f.left.String() + " left of the window after a commit"})
	}
	if f.barred {
		rows = append(rows, []string{"Warmup", v.WarmupUntil.Sub(now).Round(time.Second).String() + " left after a promotion: no GTID proves what this read would see on a replica"})
	}
	for _, verdict := range balance.Explain(v.Replicas, f.need, c.neededText(&f.demand)) {
		rows = append(rows, []string{"Candidate " + verdict.Node.Addr, verdict.Text})
	}
	return append(rows, []string{"On_lag", stepsText(c.steps)}, []string{"Choice", s.foresee(&f)})
}
