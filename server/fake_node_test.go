package server

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"causeway/backend"
	"causeway/gtid"
	"causeway/wire"
)

// fakeNode is a scripted MySQL server: it logs anybody in, follows the state
// that Causeway looks at, answers SELECT with its name, and everything else as
// its rules say. Rules are asked newest first.
type fakeNode struct {
	t    testing.TB
	name string
	uuid string
	// noGTIDs: its OKs report none, and what it has executed is from before.
	noGTIDs bool
	ln      net.Listener
	wg      sync.WaitGroup

	mu        sync.Mutex
	executed  gtid.Set
	gno       int
	log       []entry
	rules     []rule
	conns     map[uint32]*fakeConn
	threads   map[uint32]bool // in the process list
	thread    uint32
	refuse    *wire.Error // to new connections
	lacks     string      // a schema that it does not have
	owned     string      // its gtid_owned
	askedSeen int         // how often what it has shown was asked for
	lastExec  []byte      // the last COM_STMT_EXECUTE as it came
}

// entry is one command as a node got it. Causeway's own commands are not kept.
type entry struct {
	conn uint32
	text string // statement, or the command's name with its text
}

// rule answers a command if it can.
type rule func(c *fakeConn, text string) bool

const fakeCaps = serverCaps &^ wire.CapSSL

func startFakeNode(t testing.TB, name, uuid string, seed gtid.Set) *fakeNode {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &fakeNode{t: t, name: name, uuid: uuid, ln: ln, executed: seed, conns: map[uint32]*fakeConn{}, threads: map[uint32]bool{}}
	n.wg.Go(n.accept)
	t.Cleanup(func() {
		ln.Close()
		n.closeConns()
		n.wg.Wait()
	})
	return n
}

func (n *fakeNode) addr() string { return n.ln.Addr().String() }

func (n *fakeNode) accept() {
	for {
		nc, err := n.ln.Accept()
		if err != nil {
			return
		}
		n.mu.Lock()
		n.thread++
		c := &fakeConn{Conn: wire.NewConn(nc), node: n, id: n.thread, status: wire.StatusAutocommit, stmts: map[uint32]string{}, sets: map[string]string{}}
		n.conns[c.id], n.threads[c.id] = c, true
		n.mu.Unlock()
		n.wg.Go(func() {
			c.run()
			n.gone(c)
		})
	}
}

func (n *fakeNode) gone(c *fakeConn) {
	c.Close()
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.conns, c.id)
	if !c.lingers {
		delete(n.threads, c.id)
	}
}

// closeConns cuts all connections.
func (n *fakeNode) closeConns() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.conns {
		c.Close()
	}
}

// on answers statements that begin with prefix, whatever their case.
func (n *fakeNode) on(prefix string, fn func(c *fakeConn, text string)) {
	n.rule(func(c *fakeConn, text string) bool {
		if !hasPrefix(text, prefix) {
			return false
		}
		fn(c, text)
		return true
	})
}

func (n *fakeNode) rule(r rule) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rules = append(n.rules, r)
}

func hasPrefix(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

func (n *fakeNode) setExecuted(s gtid.Set) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.executed = s
}

func (n *fakeNode) serverUUID() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.uuid
}

// lastExecute returns the last COM_STMT_EXECUTE behind its fixed part.
func (n *fakeNode) lastExecute() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return string(n.lastExec[10:])
}

func (n *fakeNode) position() gtid.Set {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.executed
}

// commit executes one more transaction and returns its GTID.
func (n *fakeNode) commit() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gno++
	one := fmt.Sprintf("%s:%d", n.uuid, 100+n.gno)
	n.executed = n.executed.Union(gtid.MustParse(one))
	return one
}

// texts returns what the node was asked since the last call.
func (n *fakeNode) texts() []string {
	var out []string
	for _, e := range n.entries() {
		out = append(out, e.text)
	}
	return out
}

func (n *fakeNode) entries() []entry {
	n.mu.Lock()
	defer n.mu.Unlock()
	log := n.log
	n.log = nil
	return log
}

func (n *fakeNode) note(c *fakeConn, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.log = append(n.log, entry{c.id, text})
}

// fakeConn is one connection to a fakeNode, served by one goroutine.
type fakeConn struct {
	*wire.Conn
	node     *fakeNode
	id       uint32
	db       string
	user     string
	caps     wire.Capability
	status   wire.Status
	wrote    bool // in the open transaction
	stmts    map[uint32]string
	sets     map[string]string
	lastStmt uint32
	cursor   bool
	lingers  bool // the thread stays in the process list after the connection is gone
	closed   bool
	payload  []byte // of the command that is served
}

func (c *fakeConn) run() {
	if !c.login() {
		return
	}
	for !c.closed {
		payload := c.read()
		if payload == nil || wire.Command(payload[0]) == wire.ComQuit {
			return
		}
		c.serve(payload)
	}
}

func (c *fakeConn) login() bool {
	c.node.mu.Lock()
	refuse, lacks := c.node.refuse, c.node.lacks
	c.node.mu.Unlock()
	if refuse != nil {
		c.send(refuse.Append(nil, 0))
		return false
	}
	c.send(wire.HandshakeV10{ServerVersion: "8.4.0", ConnectionID: c.id, AuthData: []byte("abcdefghijklmnopqrst"), Caps: fakeCaps, Charset: 255,
		Status: wire.StatusAutocommit, AuthPlugin: wire.PluginNative}.Append(nil))
	payload, err := c.ReadPacket()
	if err != nil {
		return false
	}
	r, err := wire.ParseHandshakeResponse(payload)
	if err != nil {
		c.node.t.Errorf("%s: login: %v", c.node.name, err)
		return false
	}
	if lacks != "" && r.Database == lacks {
		c.fail(wire.ErrBadDB, "Unknown database '"+lacks+"'")
		return false
	}
	c.db, c.user, c.caps = r.Database, r.User, r.Caps
	c.ok()
	return true
}

// read returns the next command, nil at the end.
func (c *fakeConn) read() []byte {
	c.ResetSequence()
	payload, err := c.ReadPacket()
	if err != nil || len(payload) == 0 {
		return nil
	}
	return append([]byte(nil), payload...)
}

func (c *fakeConn) send(payloads ...[]byte) {
	for _, p := range payloads {
		if c.WritePacket(p) != nil {
			return
		}
	}
	c.Flush()
}

// hangUp closes the connection instead of an answer; the thread stays.
func (c *fakeConn) hangUp() {
	c.lingers, c.closed = true, true
	c.Close()
}

func (c *fakeConn) ok(tune ...func(*wire.OK)) {
	ok := wire.OK{Status: c.status}
	for _, fn := range tune {
		fn(&ok)
	}
	if ok.Track != nil {
		ok.Status |= wire.StatusSessionStateChanged
	}
	c.send(ok.Append(nil, c.caps))
}

func (c *fakeConn) fail(code uint16, text string) {
	c.send(wire.NewError(code, "%s", text).Append(nil, c.caps))
}

// rows sends a result of text columns.
func (c *fakeConn) rows(columns int, rows ...[]string) { c.rowsWith(columns, nil, rows...) }

func (c *fakeConn) rowsWith(columns int, tune func(*wire.OK), rows ...[]string) {
	out := [][]byte{wire.AppendColumnCount(nil, columns)}
	for i := range columns {
		out = append(out, wire.AppendColumn(nil, wire.Column{Name: fmt.Sprintf("c%d", i), Type: wire.TypeVarString, Charset: 255}))
	}
	for _, r := range rows {
		out = append(out, wire.AppendTextRowStrings(nil, r...))
	}
	ok := wire.OK{Header: wire.HeaderEOF, Status: c.status}
	if tune != nil {
		tune(&ok)
	}
	c.send(append(out, ok.Append(nil, c.caps))...)
}

// serve answers one command.
func (c *fakeConn) serve(payload []byte) {
	c.payload = payload
	text := string(payload[1:])
	switch cmd := wire.Command(payload[0]); cmd {
	case wire.ComQuery:
		if c.caps.Has(wire.CapQueryAttributes) {
			plain, _ := queryText(payload, c.caps)
			text = string(plain)
		}
	case wire.ComStmtPrepare, wire.ComInitDB:
		text = cmd.String() + " " + text
	case wire.ComStmtExecute, wire.ComStmtClose, wire.ComStmtReset, wire.ComStmtFetch, wire.ComStmtSendLongData:
		text = cmd.String() + " " + c.stmts[stmtID(payload)]
	default:
		text = cmd.String()
	}
	if c.own(text) {
		return
	}
	c.node.note(c, text)
	c.node.mu.Lock()
	if wire.Command(payload[0]) == wire.ComStmtExecute {
		c.node.lastExec = payload
	}
	rules := c.node.rules
	c.node.mu.Unlock()
	for i := len(rules) - 1; i >= 0; i-- {
		if rules[i](c, text) {
			return
		}
	}
	c.answer(payload, text)
}

// own answers what Causeway asks for itself.
func (c *fakeConn) own(text string) bool {
	switch {
	case strings.HasPrefix(text, "SET SESSION session_track_gtids="):
		c.ok()
	case strings.HasPrefix(text, "SELECT @@global.server_uuid, @@global.gtid_executed"):
		c.variables(text)
	case text == "SELECT @@GLOBAL.gtid_owned,@@GLOBAL.gtid_executed":
		c.node.mu.Lock()
		c.node.askedSeen++
		row := []string{c.node.owned, c.node.executed.Line()}
		c.node.mu.Unlock()
		c.rows(2, row)
	case strings.Contains(text, "VARIABLE_NAME='Uptime'"):
		c.rows(1, []string{"1000000"})
	default:
		return false
	}
	return true
}

// answer is what the node does without a rule.
func (c *fakeConn) answer(payload []byte, text string) {
	switch wire.Command(payload[0]) {
	case wire.ComQuery:
		c.query(text)
	case wire.ComInitDB:
		c.use(string(payload[1:]))
	case wire.ComStmtPrepare:
		c.prepare(string(payload[1:]))
	case wire.ComStmtExecute:
		c.execute(payload)
	case wire.ComStmtFetch:
		c.send(binaryRow(c.node.name), wire.OK{Header: wire.HeaderEOF, Status: c.status | wire.StatusLastRowSent}.Append(nil, c.caps))
	case wire.ComStmtClose:
		delete(c.stmts, stmtID(payload))
	case wire.ComStmtSendLongData:
	case wire.ComStatistics:
		c.send([]byte("Uptime: 1 " + c.node.name))
	case wire.ComFieldList:
		c.send(append(wire.AppendColumn(nil, wire.Column{Name: "c", Type: wire.TypeVarString}), 0), wire.OK{Header: wire.HeaderEOF, Status: c.status}.Append(nil, c.caps))
	case wire.ComSetOption:
		c.send(wire.OK{Header: wire.HeaderEOF, Status: c.status}.Append(nil, c.caps))
	case wire.ComResetConnection:
		c.status, c.wrote, c.stmts = wire.StatusAutocommit, false, map[uint32]string{}
		c.ok()
	default:
		c.ok()
	}
}

func (c *fakeConn) query(text string) {
	word, rest, _ := strings.Cut(text, " ")
	switch strings.ToLower(word) {
	case "select":
		c.selects(text)
	case "show":
		c.rows(3)
	case "set":
		c.set(rest)
	case "use":
		c.use(rest)
	case "begin", "start", "xa":
		c.status |= wire.StatusInTrans
		if strings.Contains(strings.ToLower(text), "read only") {
			c.status |= wire.StatusInTransReadonly
		}
		c.ok()
	case "commit", "rollback":
		gtids := c.endTrx(strings.EqualFold(word, "commit"))
		c.ok(gtids)
	case "insert", "update", "delete":
		c.write(1)
	case "create", "drop", "alter":
		c.endTrx(true)
		c.write(0)
	case "kill":
		c.kill(rest)
	default:
		c.ok()
	}
}

func (c *fakeConn) selects(text string) {
	switch {
	case strings.HasPrefix(text, "SELECT @@"):
		c.variables(text)
	case strings.Contains(text, "performance_schema.processlist"):
		var id uint32
		fmt.Sscanf(text[strings.Index(text, "ID="):], "ID=%d", &id)
		alive := "0"
		c.node.mu.Lock()
		if c.node.threads[id] {
			alive = "1"
		}
		c.node.mu.Unlock()
		c.rows(1, []string{alive})
	default:
		if c.status&wire.StatusAutocommit == 0 {
			c.status |= wire.StatusInTrans
		}
		c.rows(1, []string{c.node.name})
	}
}

// variables answers a SELECT of nothing but system variables.
func (c *fakeConn) variables(text string) {
	var row []string
	for name := range strings.SplitSeq(strings.TrimPrefix(text, "SELECT "), ", ") {
		name = strings.TrimPrefix(strings.TrimPrefix(name, "@@"), "global.")
		value, set := c.sets[name]
		switch {
		case set:
		case name == "server_uuid":
			value = c.node.serverUUID()
		case name == "gtid_executed":
			value = c.node.position().String()
		case strings.HasPrefix(name, "character_set_"):
			value = "utf8mb4"
		case name == "collation_connection":
			value = "utf8mb4_0900_ai_ci"
		case name == "session_track_schema":
			value = "1"
		case name == "session_track_gtids":
			value = "OFF"
		default:
			value = "0"
		}
		row = append(row, value)
	}
	c.rows(len(row), row)
}

// set reports each assignment as the trackers do.
func (c *fakeConn) set(rest string) {
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "SESSION "), "session ")
	var track []byte
	for part := range strings.SplitSeq(rest, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || strings.HasPrefix(name, "@") {
			continue
		}
		value = strings.Trim(value, "'")
		c.sets[strings.ToLower(name)] = value
		if strings.EqualFold(name, "autocommit") {
			c.status |= wire.StatusAutocommit
			if value == "0" || strings.EqualFold(value, "off") {
				c.status &^= wire.StatusAutocommit
			}
			value = map[bool]string{true: "ON", false: "OFF"}[c.status.Has(wire.StatusAutocommit)]
		}
		track = wire.AppendTrackVariable(track, name, value)
	}
	c.ok(func(ok *wire.OK) { ok.Track = track })
}

func (c *fakeConn) use(db string) {
	c.node.mu.Lock()
	lacks := c.node.lacks
	c.node.mu.Unlock()
	if lacks != "" && db == lacks {
		c.fail(wire.ErrBadDB, "Unknown database '"+lacks+"'")
		return
	}
	c.db = db
	c.ok(func(ok *wire.OK) { ok.Track = wire.AppendTrackSchema(nil, db) })
}

func (c *fakeConn) write(rows uint64) {
	if c.status.Has(wire.StatusInTrans) {
		c.wrote = true
		c.ok(func(ok *wire.OK) { ok.AffectedRows = rows })
		return
	}
	one := c.node.commit()
	c.ok(func(ok *wire.OK) { ok.AffectedRows, ok.Track = rows, c.node.track(one) })
}

// endTrx ends the transaction and returns what its OK reports.
func (c *fakeConn) endTrx(commit bool) func(*wire.OK) {
	wrote := c.wrote && commit
	c.status &^= wire.StatusInTrans | wire.StatusInTransReadonly
	c.wrote = false
	if !wrote {
		return func(ok *wire.OK) { ok.Status = c.status }
	}
	one := c.node.commit()
	return func(ok *wire.OK) { ok.Track, ok.Status = c.node.track(one), c.status }
}

// track reports a GTID, if the node has any.
func (n *fakeNode) track(one string) []byte {
	if n.noGTIDs {
		return nil
	}
	return wire.AppendTrackGTIDs(nil, one)
}

func (c *fakeConn) kill(rest string) {
	var id uint32
	fmt.Sscanf(strings.TrimPrefix(rest, "QUERY "), "%d", &id)
	c.node.mu.Lock()
	alive := c.node.threads[id]
	if target := c.node.conns[id]; target != nil {
		target.Close()
	}
	delete(c.node.threads, id)
	c.node.mu.Unlock()
	if !alive {
		c.fail(wire.ErrNoSuchThread, "Unknown thread id")
		return
	}
	c.ok()
}

func (c *fakeConn) prepare(text string) {
	c.lastStmt += 3 // never the client's own numbers
	c.stmts[c.lastStmt] = text
	params := strings.Count(text, "?")
	columns := 0
	if hasPrefix(text, "select") {
		columns = 1
	}
	id := c.lastStmt
	out := [][]byte{{0, byte(id), byte(id >> 8), byte(id >> 16), byte(id >> 24), byte(columns), 0, byte(params), 0, 0, 0, 0}}
	for range params + columns {
		out = append(out, wire.AppendColumn(nil, wire.Column{Name: "c", Type: wire.TypeVarString}))
	}
	c.send(out...)
}

func (c *fakeConn) execute(payload []byte) {
	text, known := c.stmts[stmtID(payload)]
	if !known {
		c.fail(wire.ErrUnknownStmtHandler, "Unknown prepared statement handler")
		return
	}
	if !hasPrefix(text, "select") {
		c.query(text)
		return
	}
	status := c.status
	rows := [][]byte{binaryRow(c.node.name)}
	if payload[5]&1 != 0 {
		status |= wire.StatusCursorExists
		rows = nil
	}
	out := append([][]byte{{1}, wire.AppendColumn(nil, wire.Column{Name: "c", Type: wire.TypeVarString})}, rows...)
	c.send(append(out, wire.OK{Header: wire.HeaderEOF, Status: status}.Append(nil, c.caps))...)
}

// binaryRow is a row of one text column in the binary protocol.
func binaryRow(v string) []byte { return wire.AppendLenEncString([]byte{0, 0}, v) }

// view is the node as a monitor shows it.
func (n *fakeNode) view(role backend.Role, live *backend.Live) *backend.Node {
	return &backend.Node{
		Addr: n.addr(), Role: role, Weight: 1, Up: true, Version: "8.4.0", Charset: 255, Live: live,
		Incarnation: backend.Incarnation{ServerUUID: n.uuid, Generation: 1}, Position: n.position(),
	}
}
