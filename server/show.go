package server

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"causeway/backend"
	"causeway/balance"
	"causeway/wire"
)

// route is where a statement went and why, for SHOW CAUSEWAY ROUTE.
type route struct {
	reason reason
	near   balance.Reason // of the replica that came nearest, when none qualified
	digest string
	rule   *ruleEntry // that matched it
	node   string
	role   backend.Role
	waited time.Duration
	took   time.Duration
	view   uint64
	queued bool // it has waited for a replica's pool, in vain or not
}

// causeway serves the statements to the proxy itself.
func (s *session) causeway(j *job, text []byte) error {
	class := j.class
	switch {
	case class.Names[0] == "causeway" && len(class.Names) > 1:
		return s.operate(class.Names)
	case class.Names[0] != "show":
		return s.explainCauseway(j, text)
	}
	words, like, ok := takeLike(class.Names, text)
	columns, rows := s.shown(strings.Join(words, " "))
	if ok && columns != nil {
		return s.rows(columns, liked(rows, like))
	}
	return s.fail(wire.NewError(wire.ErrParse,
		"Causeway does not know '%s'; it knows SHOW CAUSEWAY STATUS, SERVERS, LAG, POOLS, PINS, LOST, CLASSES, RULES and ROUTE, each with LIKE 'pattern' for the first column, and EXPLAIN CAUSEWAY with a statement", strings.Join(class.Names, " ")))
}

// shown is what a SHOW CAUSEWAY shows; no columns: there is none of that name.
func (s *session) shown(words string) ([]wire.Column, [][]string) {
	switch words {
	case "show causeway status":
		return statusColumns, s.statusRows()
	case "show causeway servers":
		return serverColumns, s.serverRows()
	case "show causeway lag":
		return lagColumns, s.lagRows()
	case "show causeway pins":
		return pinColumns, s.pinRows()
	case "show causeway pools":
		return poolColumns, s.poolRows()
	case "show causeway lost":
		return lostColumns, s.srv.lostRows()
	case "show causeway route":
		return statusColumns, s.routeRows()
	case "show causeway classes":
		return classColumns, s.srv.classRows()
	case "show causeway rules":
		return ruleColumns, s.srv.ruleRows()
	}
	return nil, nil
}

var (
	statusColumns = textColumns("Name", "Value")
	classColumns  = textColumns("Class", "Consistency", "Max_staleness", "On_lag", "On_lag_empty", "Priority", "Budget_share", "Lag_limit", "Promote_on_token", "Timeout",
		"Reads", "On_replicas", "Fallbacks", "Stale", "Fallback_ratio", "Refused", "Brownout")
	ruleColumns = textColumns("Rule", "Conditions", "Effects", "Hits", "Comment")
)

func textColumns(names ...string) []wire.Column {
	columns := make([]wire.Column, len(names))
	for i, name := range names {
		columns[i] = wire.Column{Name: name, Type: wire.TypeVarString, Charset: 255, Length: 1 << 16}
	}
	return columns
}

// routeRows tells of the session's last statement that was routed.
func (s *session) routeRows() [][]string {
	r, v := &s.route, s.view()
	rows := [][]string{
		{"Node", r.node}, {"Role", r.role.String()}, {"Reason", r.reason.String()},
		{"Statement", r.digest}, {"Waited", r.waited.String()}, {"Took", r.took.String()},
		{"Token", s.demand(v).token.Line()}, {"Scope", s.scopeText()}, {"Session_variables", stateVariables(s.state)},
		{"Schema", s.state.Schema}, {"View", strconv.FormatUint(r.view, 10)},
	}
	if r.near != balance.Eligible {
		rows = append(rows, []string{"Nearest_replica", r.near.String()})
	}
	if s.lateToken && s.status.Has(wire.StatusInTrans) {
		rows = append(rows, []string{"Token_note", "a token was handed in after the transaction began: it holds from the next one on, as a snapshot cannot move"})
	}
	if s.srv.others != nil {
		rows = append(rows, []string{"Shared", s.sharing.text()})
	}
	rows = append(append(rows, choiceRows(&s.choice, &s.contract)...), ruleRow(r.rule)...)
	now := s.base // for the same once more
	if s.choice.class != nil {
		now = s.choice
	}
	d := s.demand(v)
	c := s.agree(now, &d, v)
	need := s.needOf(&c, &d, time.Now())
	floor, _ := s.foreseeSeen(v, &c, need)
	d.mustSee(floor, &need)
	for _, verdict := range balance.Explain(v.Replicas, need, c.neededText(&d)) {
		rows = append(rows, []string{"Now " + verdict.Node.Addr, verdict.Text})
	}
	return rows
}

func (s *session) statusRows() [][]string {
	v, srv := s.view(), s.srv
	now := time.Now()
	source := "none: " + whyNoSource(v)
	if v.Source != nil {
		source = v.Source.Addr
		if !v.Source.Usable() {
			source += " (" + v.Source.Exclude + ")"
		}
	}
	usable := 0
	for _, n := range v.Replicas {
		if n.Usable() {
			usable++
		}
	}
	qps, burst := srv.opts.Budget.Rate()
	rows := [][]string{
		{"Version", srv.opts.Version},
		{"Uptime", time.Since(srv.started).Round(time.Second).String()},
		{"Source", source},
		{"Replicas", fmt.Sprintf("%d of %d usable", usable, len(v.Replicas))},
		{"Zone", srv.opts.Zone},
		{"Discovery", cmp.Or(v.Discovery, "off")},
		{"Source_position", v.SourcePosition.Line()},
		{"Epoch", strconv.FormatUint(v.Epoch, 10)},
		{"Failovers", strconv.FormatUint(v.Promotion.Seq, 10)},
		{"Warmup", max(0, v.WarmupUntil.Sub(now).Round(time.Second)).String()},
		{"Writes", srv.writesText(now)},
		{"Writes_waiting", strconv.FormatInt(srv.waitingWrites.Load(), 10)},
		{"Open_transactions", strconv.Itoa(srv.openWrites())},
		{"Clients", strconv.FormatInt(srv.metrics.clients.Load(), 10)},
		{"Policy", srv.opts.Policy.String()},
		{"Fallback_budget", fmt.Sprintf("qps=%g burst=%g left=%d used=%d refused=%d",
			qps, burst, srv.opts.Budget.Left(time.Now()), srv.opts.Budget.Taken(), srv.opts.Budget.Refused())},
		{"Sticky", srv.stickyText()},
		{"Brownout", srv.brownoutText(now)}, {"Keys", strconv.Itoa(srv.scopes.keys.Len())},
	}
	rows = append(append(rows, srv.classStatus()...), srv.metrics.rows()...)
	return append(rows, srv.sharedStatus()...)
}

// rows answers by a result set of our own, all text.
func (s *session) rows(columns []wire.Column, rows [][]string) error {
	packets := make([][]byte, len(rows))
	for i, row := range rows {
		packets[i] = wire.AppendTextRowStrings(nil, row...)
	}
	return s.packets(columns, packets, 0)
}

// packets answers by a result set whose rows are encoded already.
func (s *session) packets(columns []wire.Column, rows [][]byte, warnings uint16) error {
	s.srv.metrics.count(localTarget, reasonLocal)
	s.told = warnings
	if err := s.client.WritePacket(wire.AppendColumnCount(nil, len(columns))); err != nil {
		return err
	}
	for _, c := range columns {
		if err := s.client.WritePacket(wire.AppendColumn(nil, c)); err != nil {
			return err
		}
	}
	old := !s.login.Caps.Has(wire.CapDeprecateEOF)
	if old {
		if err := s.client.WritePacket(wire.AppendEOF(nil, warnings, s.status)); err != nil {
			return err
		}
	}
	for _, row := range rows {
		if err := s.client.WritePacket(row); err != nil {
			return err
		}
	}
	if old {
		return s.send(wire.AppendEOF(nil, warnings, s.status))
	}
	ok := wire.OK{Header: wire.HeaderEOF, Status: s.status, Warnings: warnings}
	s.tell(&ok)
	return s.send(ok.Append(nil, s.login.Caps))
}
