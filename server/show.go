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

// route is where a statement went and why, for SHOW CAUSEWAY ROUTE.
type route struct {
	reason reason
	near   balance.Reason // of the replica that came nearest, when none qualified
	digest string
	node   string
	role   backend.Role
	waited time.Duration
	took   time.Duration
	view   uint64
	queued bool // it has waited for a replica's pool, in vain or not
}

// causeway serves the statements to the proxy itself.
func (s *session) causeway(class *classifier.Class) error {
	words := strings.Join(class.Names, " ")
	switch words {
	case "show causeway status":
		return s.rows(statusColumns, s.statusRows())
	case "show causeway servers":
		return s.rows(serverColumns, s.serverRows())
	case "show causeway pins":
		return s.rows(pinColumns, s.pinRows())
	case "show causeway pools":
		return s.rows(poolColumns, s.poolRows())
	case "show causeway route":
		return s.rows(statusColumns, s.routeRows())
	}
	return s.fail(wire.NewError(wire.ErrParse,
		"Causeway does not know '%s'; it knows SHOW CAUSEWAY STATUS, SERVERS, POOLS, PINS and ROUTE", words))
}

var (
	statusColumns = textColumns("Name", "Value")
	serverColumns = textColumns("Server", "Role", "State", "Weight", "Version", "Lag", "Apply_lag", "Threads", "Workers", "Unapplied", "In_flight", "Reads", "Position_age", "Executed", "Detail")
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
		{"Token", s.token.Set.Line()}, {"Session_variables", stateVariables(s.state)},
		{"Schema", s.state.Schema}, {"View", strconv.FormatUint(r.view, 10)},
	}
	if r.near != balance.Eligible {
		rows = append(rows, []string{"Nearest_replica", r.near.String()})
	}
	need := balance.Need{Token: s.token.Set, Now: time.Now()}
	if need.Token.IsEmpty() {
		need.Token, need.MaxStaleness = s.srv.floorSet(v), s.srv.opts.MaxStaleness
	}
	for _, verdict := range balance.Explain(v.Replicas, need) {
		rows = append(rows, []string{"Now " + verdict.Node.Addr, verdict.Text})
	}
	return rows
}

func (s *session) statusRows() [][]string {
	v, srv := s.view(), s.srv
	source := "none"
	if v.Source != nil {
		source = v.Source.Addr
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
		{"Source_position", v.SourcePosition.Line()},
		{"Epoch", strconv.FormatUint(v.Epoch, 10)},
		{"Clients", strconv.FormatInt(srv.metrics.clients.Load(), 10)},
		{"Policy", srv.opts.Policy.String()},
		{"Fallback_budget", fmt.Sprintf("qps=%g burst=%g left=%d used=%d refused=%d",
			qps, burst, srv.opts.Budget.Left(time.Now()), srv.opts.Budget.Taken(), srv.opts.Budget.Refused())},
	}
	return append(rows, srv.metrics.rows()...)
}

func (s *session) serverRows() [][]string {
	v, now := s.view(), time.Now()
	rows := make([][]string, 0, len(v.Nodes))
	for _, n := range v.Nodes {
		rows = append(rows, serverRow(n, now))
	}
	return rows
}

func serverRow(n *backend.Node, now time.Time) []string {
	state := "up"
	switch {
	case !n.Up:
		state = n.Exclude // begins with "down"
	case n.Exclude != "":
		state = "excluded: " + n.Exclude
	}
	lag, apply, threads := "", "", ""
	if n.Role == backend.RoleReplica {
		lag, apply = span(n.Lag.Position), span(n.Lag.Apply)
		threads = "io=" + n.Lag.IOThread + " sql=" + n.Lag.SQLThread
	}
	detail := n.Lag.LastError
	if detail == "" {
		detail = n.Lag.WorkerDetail
	}
	return []string{
		n.Addr, n.Role.String(), state, strconv.Itoa(n.CurrentWeight()), n.Version, lag, apply, threads,
		fmt.Sprintf("%d/%d busy", n.Lag.WorkersBusy, n.Lag.Workers), strconv.FormatUint(n.Lag.ReceivedUnapp, 10),
		strconv.FormatInt(n.Live.InFlight.Load(), 10), strconv.FormatUint(n.Live.Picks.Load(), 10),
		age(n.PositionAt, now), n.Position.Line(), detail,
	}
}

func span(d time.Duration) string {
	if d < 0 {
		return "unknown"
	}
	return d.Round(time.Millisecond).String()
}

func age(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return now.Sub(t).Round(time.Millisecond).String()
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
