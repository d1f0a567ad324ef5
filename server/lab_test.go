package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"causeway/backend"
	"causeway/balance"
	"causeway/classifier"
	"causeway/gtid"
	"causeway/wire"
)

func TestMain(m *testing.M) {
	backend.SetIdleCheck(0) // look at a connection before each use
	goleak.VerifyTestMain(m)
}

const (
	sourceUUID  = "11111111-1111-1111-1111-111111111111"
	replicaUUID = "2222222%d-2222-2222-2222-222222222222"
)

// lab is a Causeway before a scripted cluster, all over loopback.
type lab struct {
	t        testing.TB
	source   *fakeNode
	replicas []*fakeNode
	lives    map[string]*backend.Live
	mon      *fakeMonitor
	srv      *Server
	addr     string
	stop     func() error // ends the server as a signal does
	budget   *balance.Budget
	unproved bool // replicas' freshness is not known
	epoch    uint64
}

// r is the first replica.
func (l *lab) r() *fakeNode { return l.replicas[0] }

func startLab(t testing.TB, replicas int, tune ...func(*Options)) *lab {
	t.Helper()
	seed := gtid.MustParse(sourceUUID + ":1-100")
	l := &lab{t: t, source: startFakeNode(t, "source", sourceUUID, seed), lives: map[string]*backend.Live{}}
	for i := range replicas {
		l.replicas = append(l.replicas, startFakeNode(t, fmt.Sprintf("replica%d", i+1), fmt.Sprintf(replicaUUID, i), seed))
	}
	l.mon = newFakeMonitor(l.source)
	l.publish()
	l.budget = balance.NewBudget(1000, 1000, time.Now())
	o := Options{
		Users: []User{{Name: "app", Password: "app_pw"}, {Name: "empty"}}, Monitor: l.mon,
		Classifier: classifier.New(classifier.Options{CacheEntries: 1000}),
		Backend:    &backend.Config{TLSMode: backend.TLSDisabled, ConnectTimeout: loginTimeout, TrackedVariables: classifier.TrackedVariables},
		Pool:       backend.PoolOptions{Max: 20, Wait: loginTimeout, Queue: 100, Statements: 50},
		Budget:     l.budget, MaxWait: 50 * time.Millisecond, FailoverWait: 50 * time.Millisecond, PauseLimit: time.Minute,
		BudgetText: "qps=1000, burst=1000", MaxAllowedPacket: 64 << 20, TokenIntervals: 64,
		LoginTimeout: loginTimeout, DrainTimeout: loginTimeout,
		Log: zerolog.Nop(), Registerer: prometheus.NewRegistry(), Version: "test", loginKey: loginKey(),
	}
	for _, fn := range tune {
		fn(&o)
	}
	if o.Classes == nil {
		o.Classes = labClasses(time.Millisecond, o.MaxWait)
	}
	l.serve(o)
	return l
}

// labClasses are F0, F1 and F2 as they are built in, but for the times.
func labClasses(wait, maxWait time.Duration) []Class {
	empty := []Step{{Kind: StepSource}, {Kind: StepStale}}
	short := Step{Kind: StepWait, Wait: wait}
	return []Class{
		{Name: "F0", Consistency: OwnWrites, MaxStaleness: time.Hour, OnLagEmpty: empty, BudgetShare: 1, EmptyShare: .7, PromoteOnToken: true,
			OnLag: []Step{short, {Kind: StepSource}, {Kind: StepWait, Wait: maxWait}, {Kind: StepError}}},
		{Name: "F1", Consistency: Bounded, MaxStaleness: time.Hour, OnLagEmpty: empty, Priority: 1, BudgetShare: .7, EmptyShare: .7, PromoteOnToken: true,
			OnLag: []Step{short, {Kind: StepSource}, {Kind: StepStale}}},
		{Name: "F2", Consistency: Bounded, MaxStaleness: time.Hour, OnLagEmpty: empty, Priority: 2, EmptyShare: .7, PromoteOnToken: true,
			OnLag: []Step{{Kind: StepStale}}},
	}
}

func (l *lab) serve(o Options) {
	srv, err := New(o)
	if err != nil {
		l.t.Fatal(err)
	}
	l.srv = srv
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		l.t.Fatal(err)
	}
	l.addr = ln.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ctx, ln) }()
	stopped := false
	l.stop = func() error {
		cancel()
		if stopped {
			return nil
		}
		stopped = true
		return <-done
	}
	l.t.Cleanup(func() {
		srv.eachSession(func(x *session) { x.client.Close() })
		if err := l.stop(); err != nil {
			l.t.Errorf("serve: %v", err)
		}
	})
}

// publish shows the cluster as its nodes are now.
func (l *lab) publish(tune ...func(*backend.View)) {
	node := func(n *fakeNode, role backend.Role) *backend.Node {
		if l.lives[n.name] == nil {
			l.lives[n.name] = &backend.Live{}
		}
		return n.view(role, l.lives[n.name])
	}
	src := node(l.source, backend.RoleSource)
	src.Defaults = map[string]string{"autocommit": "ON", "sql_mode": "", "time_zone": "SYSTEM"}
	v := &backend.View{Source: src, Nodes: []*backend.Node{src}, SourcePosition: l.source.position(), SourceAsked: time.Now(), Epoch: l.epoch}
	for _, r := range l.replicas {
		n := node(r, backend.RoleReplica)
		if !l.unproved {
			n.FreshAsOf = time.Now()
		}
		n.Defaults = src.Defaults
		v.Replicas, v.Nodes = append(v.Replicas, n), append(v.Nodes, n)
	}
	for _, fn := range tune {
		fn(v)
	}
	l.mon.publish(v)
}

// apply lets all replicas catch up.
func (l *lab) apply() {
	for _, r := range l.replicas {
		r.setExecuted(l.source.position())
	}
	l.publish()
}

// counted returns a counter's value, of queries by target and reason.
func (l *lab) counted(target targetLabel, r reason) int {
	return int(valueOf(l.srv.metrics.queries[target][r]))
}

// forget empties the nodes' logs.
func (l *lab) forget() {
	l.source.entries()
	for _, r := range l.replicas {
		r.entries()
	}
}

// client logs a client in. caps are added to those of every client.
func (l *lab) client(caps ...wire.Capability) *dbClient { return l.clientAs("app", "app_pw", caps...) }

func (l *lab) clientAs(user, password string, caps ...wire.Capability) *dbClient {
	l.t.Helper()
	k := &dbClient{t: l.t, testClient: &testClient{user: user, password: password, firstPlugin: wire.PluginNative, caps: clientCaps | wire.CapDeprecateEOF}}
	for _, c := range caps {
		k.caps |= c
	}
	if err := k.login(l.addr); err != nil {
		l.t.Fatalf("login: %v", err)
	}
	l.t.Cleanup(k.close)
	return k
}

// dbClient is a client that can run commands.
type dbClient struct {
	t testing.TB
	*testClient
}

// reply is an answer, or the last of several.
type reply struct {
	rows [][]string
	ok   wire.OK
	err  *wire.Error
	lost error // the connection ended
	more int   // results before this one
}

// first is the first value of the first row, what a fakeNode's SELECT puts its name into.
func (r reply) first() string {
	if len(r.rows) == 0 || len(r.rows[0]) == 0 {
		return ""
	}
	return r.rows[0][0]
}

func (k *dbClient) command(cmd wire.Command, args string) {
	k.c.ResetSequence()
	if err := k.send(append([]byte{byte(cmd)}, args...)); err != nil {
		k.t.Logf("client cannot send: %v", err)
	}
}

func (k *dbClient) query(sql string) reply {
	k.command(wire.ComQuery, sql)
	return k.answer(textValue)
}

// run fails the test unless the statement works.
func (k *dbClient) run(statements ...string) {
	k.t.Helper()
	for _, sql := range statements {
		if r := k.query(sql); r.err != nil || r.lost != nil {
			k.t.Fatalf("%s: %v%v", sql, r.err, r.lost)
		}
	}
}

// wantFrom fails unless the node of that name answers.
func (k *dbClient) wantFrom(node, sql string) {
	k.t.Helper()
	if r := k.query(sql); r.first() != node || r.err != nil || r.lost != nil {
		k.t.Errorf("%s: answered by %q (%v, %v), want %s", sql, r.first(), r.err, r.lost, node)
	}
}

// wantError fails unless the statement fails so.
func (k *dbClient) wantError(code uint16, text, sql string) {
	k.t.Helper()
	r := k.query(sql)
	if r.err == nil || r.err.Code != code || !strings.Contains(r.err.Message, text) {
		k.t.Errorf("%s: got %v (%v), want error %d with %q", sql, r.err, r.lost, code, text)
	}
}

// route returns one value of SHOW CAUSEWAY ROUTE.
func (k *dbClient) route(name string) string {
	k.t.Helper()
	for _, row := range k.query("SHOW CAUSEWAY ROUTE").rows {
		if row[0] == name {
			return row[1]
		}
	}
	k.t.Errorf("SHOW CAUSEWAY ROUTE has no %s", name)
	return ""
}

type readValue func(p []byte) (string, []byte, bool)

func textValue(p []byte) (string, []byte, bool) {
	v, n, ok := wire.ReadTextValue(p)
	if !ok {
		return "", nil, false
	}
	return string(v), p[n:], true
}

// answer reads results to the last one.
func (k *dbClient) answer(read readValue) reply {
	for more := 0; ; more++ {
		r := k.result(read)
		r.more = more
		if r.err != nil || r.lost != nil || !r.ok.Status.Has(wire.StatusMoreResults) {
			return r
		}
	}
}

func (k *dbClient) result(read readValue) (r reply) {
	p := k.packet(&r)
	switch {
	case r.lost != nil:
		return r
	case p[0] == wire.HeaderERR:
		r.err, r.lost = wire.ParseError(p)
		return r
	case p[0] == wire.HeaderOK || p[0] == wire.HeaderEOF:
		return k.end(r, p)
	}
	columns := int(p[0])
	for range columns {
		k.packet(&r)
	}
	if !k.caps.Has(wire.CapDeprecateEOF) {
		e, err := wire.ParseEOF(k.packet(&r))
		r.ok.Status, r.lost = e.Status, errors.Join(r.lost, err)
		if e.Status.Has(wire.StatusCursorExists) {
			return r
		}
	}
	return k.readRows(r, columns, read)
}

func (k *dbClient) readRows(r reply, columns int, read readValue) reply {
	for r.lost == nil {
		p := k.packet(&r)
		switch {
		case r.lost != nil:
		case p[0] == wire.HeaderERR:
			r.err, r.lost = wire.ParseError(p)
			return r
		case p[0] == wire.HeaderEOF && len(p) < wire.MaxPayload:
			return k.end(r, p)
		default:
			var row []string
			for range columns {
				v, rest, ok := read(p)
				if !ok {
					r.lost = wire.ErrMalformed
					return r
				}
				row, p = append(row, v), rest
			}
			r.rows = append(r.rows, row)
		}
	}
	return r
}

// end takes in an OK or EOF; its slices are copied.
func (k *dbClient) end(r reply, p []byte) reply {
	if p[0] == wire.HeaderEOF && !k.caps.Has(wire.CapDeprecateEOF) {
		e, err := wire.ParseEOF(p)
		r.ok.Status, r.ok.Warnings, r.lost = e.Status, e.Warnings, err
		return r
	}
	r.ok, r.lost = wire.ParseOK(bytes.Clone(p), k.caps)
	return r
}

func (k *dbClient) packet(r *reply) []byte {
	if r.lost != nil {
		return []byte{0}
	}
	p, err := k.c.ReadPacket()
	if err == nil && len(p) == 0 {
		err = wire.ErrMalformed
	}
	if err != nil {
		r.lost = err
		return []byte{0}
	}
	return p
}

// wantGone fails unless the server has closed the connection.
func (k *dbClient) wantGone() {
	k.t.Helper()
	if p, err := k.c.ReadPacket(); err == nil {
		k.t.Errorf("the connection is open: % x", p)
	}
}

// wantTexts fails unless the node was asked exactly that since the last look.
func wantTexts(t testing.TB, n *fakeNode, want ...string) {
	t.Helper()
	if got := n.texts(); !slices.Equal(got, want) {
		t.Errorf("%s was asked %q, want %q", n.name, got, want)
	}
}

func gtidMust(s string) gtid.Set { return gtid.MustParse(s) }

// noSource makes a view one of a cluster whose source is not known.
func noSource(v *backend.View) { v.Source = nil }
