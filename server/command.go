package server

import (
	"fmt"
	"time"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// job is one command on its way: what it is, what is sent, what comes back.
type job struct {
	class *classifier.Class
	frame wire.Frame
	want  expect
	stmt  *stmt     // COM_STMT_EXECUTE and its kin
	exec  execution // COM_STMT_EXECUTE
	text  string    // COM_STMT_PREPARE: the statement
	start time.Time
	seq   uint8 // number of the answer's first packet
	again bool  // it is sent for the second time
}

// Classes of commands that carry no text.
var (
	useClass     = &classifier.Class{Kind: classifier.Use, Statements: 1}
	commandClass = &classifier.Class{Kind: classifier.ReadSource, Flags: classifier.NoTable, Statements: 1}
)

// command serves one command of the client.
func (s *session) command(f wire.Frame, now time.Time) error {
	switch cmd := wire.Command(f.Payload[0]); cmd {
	case wire.ComQuit:
		return errQuit
	case wire.ComPing:
		return s.ping()
	case wire.ComQuery:
		return s.query(f, now)
	case wire.ComStmtExecute:
		return s.execute(f, now)
	case wire.ComStmtPrepare:
		return s.prepare(f, now)
	case wire.ComStmtSendLongData:
		return s.longData(f, now)
	case wire.ComStmtFetch, wire.ComStmtReset:
		return s.onStatement(f, now)
	case wire.ComStmtClose:
		return s.closeStmt(f)
	case wire.ComInitDB:
		return s.run1(&job{class: useClass, frame: f, want: expectSimple, start: now})
	case wire.ComFieldList:
		return s.run1(&job{class: commandClass, frame: f, want: expectColumns, start: now})
	case wire.ComStatistics:
		return s.run1(&job{class: commandClass, frame: f, want: expectText, start: now})
	case wire.ComSetOption:
		return s.setOption(f, now)
	case wire.ComResetConnection:
		return s.resetConnection(now)
	case wire.ComChangeUser:
		return s.changeUser(f)
	default:
		return s.refuseCommand(cmd)
	}
}

// ping answers with the last statement's warning count, as MySQL does.
func (s *session) ping() error {
	ok := wire.OK{Status: s.status, Warnings: s.warnings}
	return s.send(ok.Append(s.scratch[:0], s.login.Caps))
}

// refuseCommand answers what a proxy cannot do for a client.
func (s *session) refuseCommand(cmd wire.Command) error {
	switch cmd {
	case wire.ComBinlogDump, wire.ComBinlogDumpGTID, wire.ComRegisterReplica, wire.ComTableDump, wire.ComClone, wire.ComSubscribeGroup:
		return s.fail(wire.NewError(wire.ErrNotSupportedYet,
			"Causeway does not relay %s: replicas and binary log readers must connect to a MySQL server directly", cmd))
	case wire.ComProcessKill:
		return s.fail(wire.NewError(wire.ErrNotSupportedYet, "Causeway does not relay %s: use KILL", cmd))
	}
	return s.fail(wire.NewError(wire.ErrUnknownCommand, "Unknown command"))
}

// query serves COM_QUERY.
func (s *session) query(f wire.Frame, now time.Time) error {
	text, ok := queryText(f.Payload, s.login.Caps)
	if !ok {
		return s.fail(wire.NewError(wire.ErrMalformedPacket, "Malformed communication packet"))
	}
	class := s.srv.opts.Classifier.Classify(text, s.classifierMode(s.view()))
	switch class.Kind {
	case classifier.Causeway:
		return s.causeway(class)
	case classifier.Kill:
		if done, err := s.kill(class); done {
			return err
		}
	case classifier.SetTransaction:
		if s.holdSetTransaction(class, text) {
			return s.sendOK()
		}
	}
	return s.run1(&job{class: class, frame: f, want: expectResult, start: now})
}

// queryText returns the statement in a COM_QUERY payload, without attributes.
// Specification: page_protocol_com_query.
func queryText(p []byte, caps wire.Capability) ([]byte, bool) {
	p = p[1:]
	if !caps.Has(wire.CapQueryAttributes) {
		return p, true
	}
	params, n, ok := wire.ReadLenEncInt(p)
	if !ok {
		return nil, false
	}
	p = p[n:]
	if _, n, ok = wire.ReadLenEncInt(p); !ok { // number of sets, always 1
		return nil, false
	}
	p = p[n:]
	if params == 0 {
		return p, true
	}
	return skipAttributes(p, params)
}

// holdSetTransaction keeps SET TRANSACTION READ ONLY until the transaction
// starts, for only then it is known where.
func (s *session) holdSetTransaction(class *classifier.Class, text []byte) bool {
	v := s.view()
	f := s.facts(v)
	if !class.Trx.ReadOnly && len(s.nextTrx) == 0 || f.homeTrx || f.readOnlyTrx || s.aborted != "" ||
		f.homeOnly != reasonNone || class.Is(classifier.MultiStatement) {
		return false
	}
	s.nextTrx = append(s.nextTrx, string(text))
	s.route = route{reason: reasonLocal, digest: class.Digest}
	s.srv.metrics.count(localTarget, reasonLocal)
	return true
}

// setOption turns multi statements on or off. The capability belongs to the
// meaning of texts, so each connection of the session must know it.
func (s *session) setOption(f wire.Frame, now time.Time) error {
	if len(f.Payload) >= 3 {
		switch uint16(f.Payload[1]) | uint16(f.Payload[2])<<8 {
		case 0:
			s.login.Caps |= wire.CapMultiStatements
		case 1:
			s.login.Caps &^= wire.CapMultiStatements
		}
	}
	s.dropReplicasUnlessTrx()
	return s.run1(&job{class: commandClass, frame: f, want: expectSimple, start: now})
}

func (s *session) dropReplicasUnlessTrx() {
	for addr, c := range s.replicas {
		if c != s.readTrx {
			s.quit(c)
			delete(s.replicas, addr)
		}
	}
}

// resetConnection serves COM_RESET_CONNECTION: all state goes, the token and
// the schema stay.
func (s *session) resetConnection(time.Time) error {
	base := s.defaults(s.view())
	schema := s.state.Schema
	if s.home != nil {
		s.bound(s.home)
		if err := s.home.Reset(nil); err != nil {
			s.dropHome(err)
		} else {
			s.home.SetDeadline(time.Time{})
		}
	}
	for addr, c := range s.replicas {
		s.bound(c)
		if err := c.Reset(base); err != nil {
			s.quit(c)
			delete(s.replicas, addr)
			continue
		}
		c.SetDeadline(time.Time{})
	}
	s.reset()
	s.state = backend.EmptyState.WithSchema(schema)
	if s.home != nil && s.home.State().Schema == schema {
		s.home.SetState(s.state)
	}
	return s.sendOK()
}

// bound keeps Causeway's own exchanges with a backend short.
func (s *session) bound(c *backend.Conn) {
	c.SetDeadline(time.Now().Add(s.srv.opts.Backend.ConnectTimeout))
}

// changeUser serves COM_CHANGE_USER: a new login on the same connection.
func (s *session) changeUser(f wire.Frame) error {
	login, err := s.srv.shake.ChangeUser(s.ctx, s.client, f.Payload, s.login)
	if err != nil {
		return fmt.Errorf("change of user: %w", err)
	}
	s.closeBackends()
	s.srv.mu.Lock() // KILL asks for the user
	s.login = login
	s.srv.mu.Unlock()
	s.reset()
	if !s.greet() {
		return errQuit
	}
	return nil
}
