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
	stmt  *stmt            // COM_STMT_EXECUTE and its kin
	exec  execution        // COM_STMT_EXECUTE
	text  string           // COM_STMT_PREPARE: the statement
	hints classifier.Hints // in comments and query attributes
	start time.Time
	seq   uint8 // number of the answer's first packet
	again bool  // it is sent for the second time

	before *backend.View  // when it was decided on
	under  *backend.State // the session's when it was sent: what its literals mean

	insertID string // SET LAST_INSERT_ID to this travels before it, see pipeInsertID
}

// Classes of commands that carry no text.
var (
	useClass     = &classifier.Class{Kind: classifier.Use, Statements: 1}
	commandClass = &classifier.Class{Kind: classifier.ReadSource, Flags: classifier.NoTable, Statements: 1}
	debugClass   = &classifier.Class{Kind: classifier.ReadSource, Flags: classifier.NoTable, Statements: 1}
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
		s.settleTold()
		return s.run1(&job{class: useClass, frame: f, want: expectSimple, start: now})
	case wire.ComFieldList:
		return s.run1(&job{class: commandClass, frame: f, want: expectColumns, start: now})
	case wire.ComStatistics:
		return s.run1(&job{class: commandClass, frame: f, want: expectText, start: now})
	case wire.ComDebug: // the source judges the account's rights, and its log has what is asked for
		return s.run1(&job{class: debugClass, frame: f, want: expectSimple, start: now})
	case wire.ComSetOption:
		return s.setOption(f, now)
	case wire.ComResetConnection:
		return s.resetConnection()
	case wire.ComChangeUser:
		return s.changeUser(f)
	default:
		return s.refuseCommand(cmd)
	}
}

// ping answers with the last statement's warning count, as MySQL does.
func (s *session) ping() error {
	s.settleTold()
	s.rowCount, s.lastAsked = 0, notHere
	return s.sendWarned(s.told)
}

// settleTold makes the last statement's warning count sure before a command that
// tells it again: an ERR has none, and the error may not have been all there was.
func (s *session) settleTold() {
	if s.last != nil && s.errors == 1 && s.told == 1 && s.warnings == 1 && s.gather() == nil {
		s.told = s.warnings
	}
}

// refuseCommand answers what a proxy cannot do for a client.
func (s *session) refuseCommand(cmd wire.Command) error {
	switch cmd {
	case wire.ComBinlogDump, wire.ComBinlogDumpGTID, wire.ComRegisterReplica, wire.ComTableDump, wire.ComClone, wire.ComSubscribeGroup:
		return s.failAdding(wire.NewError(wire.ErrNotSupportedYet,
			"Causeway does not relay %s: replicas and binary log readers must connect to a MySQL server directly", cmd))
	}
	return s.failAdding(wire.NewError(wire.ErrUnknownCommand, "Unknown command"))
}

// query serves COM_QUERY.
func (s *session) query(f wire.Frame, now time.Time) error {
	text, ok := queryText(f.Payload, s.login.Caps)
	if !ok {
		return s.fail(wire.NewError(wire.ErrMalformedPacket, "Malformed communication packet"))
	}
	class := s.srv.opts.Classifier.Classify(text, s.classifierMode(s.view()))
	if class.Kind == classifier.Causeway {
		return s.causeway(&job{class: class, frame: f, start: now}, text)
	}
	j := &job{class: class, frame: f, want: expectResult, start: now}
	if done, err := s.tokens(j); done {
		return err
	}
	if s.readTrx != nil {
		if done, err := s.reopenReadTrx(j); done {
			return err
		}
	}
	switch class.Kind {
	case classifier.Kill:
		if done, err := s.kill(j); done {
			return err
		}
	case classifier.SetTransaction:
		if s.holdSetTransaction(class, text) {
			return s.answeredHere(class)
		}
	case classifier.Begin:
		if s.choosesAtStart(j) {
			break
		}
		if done, err := s.answerHere(class, text); done {
			return err
		}
	case classifier.Commit, classifier.Rollback, classifier.Set:
		if done, err := s.answerHere(class, text); done {
			return err
		}
	case classifier.ReadSource:
		if done, err := s.ownFacts(class, text); done {
			return err
		}
	}
	return s.run1(j)
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

// setOption turns multi statements on or off. The capability belongs to the
// meaning of texts: from now on the session takes connections that have it, and
// those it holds are told.
func (s *session) setOption(f wire.Frame, now time.Time) error {
	if len(f.Payload) < 3 || f.Payload[1] > 1 || f.Payload[2] != 0 {
		return s.failAdding(wire.NewError(wire.ErrUnknownCommand, "Unknown command"))
	}
	caps := s.login.Caps | wire.CapMultiStatements
	if f.Payload[1] == 1 {
		caps &^= wire.CapMultiStatements
	}
	if caps == s.login.Caps {
		return s.sendEOF()
	}
	s.login.Caps = caps
	for _, c := range s.replicas { // they have a READ ONLY transaction or a cursor
		if err := s.tellOption(c, f.Payload); err != nil && c == s.readTrx {
			return s.answerError(&job{class: commandClass}, err)
		}
	}
	if s.home != nil {
		if err := s.tellOption(s.home, f.Payload); err != nil {
			return s.answerError(&job{class: commandClass}, err)
		}
	}
	return s.sendEOF()
}

func (s *session) tellOption(c *backend.Conn, payload []byte) error {
	s.bound(c)
	defer c.SetDeadline(noDeadline)
	if err := c.SetOption(payload, s.login.Caps&backend.MeaningCaps); err != nil {
		c.Broken = true
		return err
	}
	return nil
}

// sendEOF answers COM_SET_OPTION as MySQL does, with the last statement's warning
// count.
func (s *session) sendEOF() error {
	s.settleTold()
	s.rowCount, s.lastAsked = -1, notHere
	if s.login.Caps.Has(wire.CapDeprecateEOF) {
		ok := wire.OK{Header: wire.HeaderEOF, Status: s.status, Warnings: s.told}
		return s.send(ok.Append(nil, s.login.Caps))
	}
	return s.send(wire.AppendEOF(nil, s.told, s.status))
}

// resetConnection serves COM_RESET_CONNECTION: all state goes, the token and
// the schema stay. What the session holds is reset before the answer, so that
// its locks and its transaction are gone by then.
func (s *session) resetConnection() error {
	schema := s.state.Schema
	s.closeKeepingFound()
	s.closeStmts()
	s.reset()
	s.state = s.resetState(schema)
	return s.sendOK()
}

// closeKeepingFound is closeBackends, but for FOUND_ROWS(), which MySQL keeps.
func (s *session) closeKeepingFound() {
	found, err := s.foundValue()
	s.closeBackends()
	if err == nil {
		s.found.value = found
	}
}

// resetState is the state after COM_RESET_CONNECTION: the character set is the
// server's own then, whatever the login said.
func (s *session) resetState(schema string) *backend.State {
	state := backend.EmptyState.WithSchema(schema)
	src := s.view().Source
	if src == nil {
		return state
	}
	var values [4]string
	for i, name := range [...]string{"character_set_client", "character_set_results", "character_set_connection", "collation_connection"} {
		value, ok := src.Defaults[name]
		if !ok {
			return state
		}
		values[i] = value
	}
	return state.WithCharset(values)
}

// changeUser serves COM_CHANGE_USER: a new login on the same connection.
func (s *session) changeUser(f wire.Frame) error {
	login, err := s.srv.shake.ChangeUser(s.ctx, s.client, f.Payload, s.login)
	if err != nil {
		return fmt.Errorf("change of user: %w", err)
	}
	s.closeKeepingFound()
	s.closeStmts()
	s.srv.mu.Lock() // KILL asks for the user
	s.login = login
	s.srv.mu.Unlock()
	s.reset()
	if !s.greet() {
		return errQuit
	}
	return nil
}
