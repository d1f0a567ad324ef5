package server

import (
	"errors"
	"strings"
	"time"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// stmt is a statement that the client has prepared. It is prepared on a
// backend connection when an execution first lands there.
type stmt struct {
	*sharedStmt
	id     uint32
	params int
	hints  classifier.Hints // of its text
	filled []int            // numbers of the parameters that long data was sent for, see fill
	types  string           // parameter types of the last execution that sent them
	kinds  string           // of the parameters, see kindsOf
	at     *backend.Conn
	atID   uint32      // the server's id of it there
	long   bool        // long data was sent to at
	failed *wire.Error // long data could not be sent; told at the execution
	local  bool        // it only concerns the token: no server knows of it
}

// MySQL's text for an id that the session has not prepared.
const errUnknownStmt = "Unknown prepared statement handler (%d) given to %s"

// unknownStmt answers a command for such an id. COM_STMT_FETCH adds to the
// diagnostics, the others clear them first.
func (s *session) unknownStmt(cmd wire.Command, id uint32, what string) error {
	e := wire.NewError(wire.ErrUnknownStmtHandler, errUnknownStmt, id, what)
	if cmd == wire.ComStmtFetch {
		return s.failAdding(e)
	}
	return s.refuseWith(e)
}

// prepare serves COM_STMT_PREPARE.
func (s *session) prepare(f wire.Frame, now time.Time) error {
	text := f.Payload[1:]
	class := s.srv.opts.Classifier.Classify(text, s.classifierMode(s.view()))
	if class.Kind == classifier.Causeway {
		return s.refuseWith(wire.NewError(wire.ErrUnsupportedPS, "This command is not supported in the prepared statement protocol yet"))
	}
	hints := classifier.CommentHints(text, s.mode)
	if e := s.refuseHidden(&job{class: class, frame: f, hints: hints, stmt: nil}); e != nil {
		return s.refuseWith(e)
	}
	s.knowCharset()
	st := &stmt{id: s.newStmtID(), sharedStmt: s.srv.shared.get(classifier.TrimComments(text, s.mode), class, s.state.Binding(), s.login.Caps&backend.MeaningCaps)}
	st.hints = hints
	if class.Is(classifier.NamesToken) {
		if done, err := s.prepareToken(st); done {
			return err
		}
	}
	s.relay.statementID, s.preparedOn = st.id, nil
	s.relay.prepared = prepared{}
	if err := s.run1(&job{class: class, frame: f, want: expectPrepare, text: st.Text, hints: st.hints, start: now}); err != nil {
		s.srv.shared.release(st.sharedStmt)
		return err
	}
	if s.relay.err != nil || s.preparedOn == nil {
		s.srv.shared.release(st.sharedStmt)
		return nil
	}
	st.params = int(s.relay.prepared.params)
	s.keepStmt(st)
	s.preparedOn.AddStatement(&st.Statement, s.relay.prepared.id)
	return nil
}

func (s *session) keepStmt(st *stmt) {
	if s.stmts == nil {
		s.stmts = map[uint32]*stmt{}
	}
	s.stmts[st.id] = st
}

// newStmtID returns an id that is not in use; ids wrap.
func (s *session) newStmtID() uint32 {
	for {
		s.nextStmt++
		if s.nextStmt == 0 {
			continue
		}
		if _, used := s.stmts[s.nextStmt]; !used {
			return s.nextStmt
		}
	}
}

// execute serves COM_STMT_EXECUTE; the route is decided now, not at PREPARE.
func (s *session) execute(f wire.Frame, now time.Time) error {
	id := stmtID(f.Payload)
	st := s.stmts[id]
	if st == nil {
		return s.unknownStmt(wire.ComStmtExecute, id, "mysql_stmt_precheck")
	}
	e, ok := parseExecute(f.Payload, st.params, s.login.Caps)
	if !ok {
		return s.fail(wire.NewError(wire.ErrMalformedPacket, "Malformed communication packet"))
	}
	if e.boundFlag > 0 && f.Payload[e.boundFlag] == 1 {
		if types := f.Payload[e.boundFlag+1 : e.typesEnd]; string(types) != st.types {
			st.types = string(types)
			st.kinds = kindsOf(types, st.params, st.kinds, s.login.Caps)
		}
	}
	j := &job{class: st.class, frame: f, want: expectResult, stmt: st, exec: e, start: now}
	if st.failed != nil {
		e := st.failed
		st.failed, st.long = nil, false
		return s.fail(e)
	}
	if done, err := s.tokens(j); done {
		return err
	}
	if st.long {
		return s.executeBound(j)
	}
	st.at = nil
	if done, err := s.executeHere(j); done {
		return err
	}
	if err := s.run1(j); err != nil {
		return err
	}
	if s.relay.err == nil && s.relay.ok.Status.Has(wire.StatusCursorExists) {
		st.at = s.last
	}
	return nil
}

// mayRunBound is what is asked before others run, too.
func (s *session) mayRunBound(j *job, c *backend.Conn) error {
	if c == s.home {
		return s.storeRefuses(j.class)
	}
	return s.renewBound(j)
}

// executeBound runs a statement where its long data has been sent.
func (s *session) executeBound(j *job) error {
	st := j.stmt
	c := st.at
	if c == nil || c.Broken || c != s.home && c != s.readTrx {
		st.long, st.at = false, nil
		return s.fail(wire.NewError(wire.ErrNetRead, "Causeway: the connection that had the statement's long data was lost; send it again"))
	}
	if e := s.applyRules(j); e != nil {
		return s.denied(j, e)
	}
	s.route = route{reason: reasonPrepared, digest: j.class.Digest}
	s.choice.class, s.relay.err = nil, nil
	s.runs.Store(j.class)
	s.sharing.begin()
	j.before = s.view()
	if e := s.mayRunBound(j, c); e != nil {
		return s.answerError(j, e)
	}
	if err := s.runOn(c, j); err != nil {
		return err
	}
	if s.relay.err == nil { // after an error the server wants COM_STMT_RESET first
		st.long, st.at = false, nil
	}
	return nil
}

// sendExecute writes an execution, preparing the statement first where this
// connection does not know it, which costs one round trip once.
func (s *session) sendExecute(c *backend.Conn, j *job) error {
	st := j.stmt
	p := &backend.Prepared{ID: st.atID}
	if !st.long { // else it is prepared where its data went
		var err error
		if p, err = s.prepareOn(c, st); err != nil {
			return alignError(err)
		}
	}
	f := j.frame
	wire.SetStatementID(f.Payload, p.ID)
	if j.exec.boundFlag > 0 && f.Payload[j.exec.boundFlag] == 0 && p.Types != st.types {
		f = wire.Frame{Payload: j.exec.withTypes(f.Payload, st.types)}
	}
	p.Types = st.types
	st.atID = p.ID
	if err := c.SendFrame(f); err != nil {
		return &backendError{err}
	}
	return nil
}

// prepareOn makes a statement known to a connection, under the schema and
// variables that it was prepared with.
func (s *session) prepareOn(c *backend.Conn, st *stmt) (*backend.Prepared, error) {
	if p := c.Statement(&st.Statement, st.kinds); p != nil {
		return p, nil
	}
	now := c.State()
	if err := c.AlignNow(now.WithBinding(st.State)); err != nil {
		return nil, err
	}
	if _, err := c.Prepare(&st.Statement); err != nil {
		var refused *wire.Error
		if errors.As(err, &refused) && c.AlignNow(now) == nil {
			return nil, &prepareRefused{refused}
		}
		return nil, err
	}
	return c.Statement(&st.Statement, st.kinds), c.AlignNow(now)
}

// refusePrepare refuses a write in a READ ONLY transaction that no server knows
// of yet. A server would see a mistake in the text first: it is asked for that.
func (s *session) refusePrepare(j *job) error {
	c, err := s.homeConn(j.start, false)
	if err != nil {
		return s.refuse(j.class)
	}
	s.keepDiagnostics(c)
	s.bound(c)
	defer c.SetDeadline(noDeadline)
	if err := c.AlignNow(s.reachable()); err != nil {
		c.Broken = !errors.As(err, new(*backend.NoSchema))
		return s.refuse(j.class)
	}
	st := &backend.Statement{Text: string(j.frame.Payload[1:]), State: s.state}
	_, err = c.Prepare(st)
	c.CloseStatement(st, "")
	var refused *wire.Error
	switch {
	case errors.As(err, &refused) && refused.Code == wire.ErrParse:
		s.noteLocal(reasonRefused)
		return s.refuseWith(refused)
	case err != nil && refused == nil:
		c.Broken = true
	}
	return s.refuse(j.class)
}

// prepareRefused: a server did not prepare a statement again, because what it
// names has changed. That is the answer to its execution; nothing else is lost.
type prepareRefused struct{ err *wire.Error }

func (e *prepareRefused) Error() string { return e.err.Error() }
func (e *prepareRefused) Unwrap() error { return e.err }

// longData serves COM_STMT_SEND_LONG_DATA, which has no answer. The data goes
// on at once, to the connection on which the execution will then run.
func (s *session) longData(f wire.Frame, now time.Time) error {
	st := s.stmts[stmtID(f.Payload)]
	if st == nil || st.failed != nil || s.aborted != "" {
		return nil // MySQL says nothing either
	}
	if st.local {
		st.failed = notLiteral()
		return nil
	}
	st.fill(f.Payload)
	if err := s.sendLongData(st, f, now); err != nil {
		st.failed = asClientError(err)
	}
	return nil
}

func (s *session) sendLongData(st *stmt, f wire.Frame, now time.Time) error {
	c := s.readTrx
	if c == nil {
		var err error
		if c, err = s.homeConn(now, false); err != nil {
			return err
		}
		j := &job{class: commandClass, want: expectResult, start: now}
		if c, err = s.enterSchema(c, j); err != nil {
			return err
		}
		if err := s.startTrx(c, j); err != nil {
			return err
		}
		if err := c.AlignNow(s.reachable()); err != nil {
			c.Broken = true
			return err
		}
	}
	p, err := s.prepareOn(c, st)
	if err != nil {
		return err
	}
	st.at, st.long, st.atID = c, true, p.ID
	wire.SetStatementID(f.Payload, p.ID)
	return c.SendFrame(f)
}

// onStatement serves COM_STMT_FETCH and COM_STMT_RESET, which concern the
// connection that has the statement's cursor or long data.
func (s *session) onStatement(f wire.Frame, now time.Time) error {
	id := stmtID(f.Payload)
	st := s.stmts[id]
	reset := wire.Command(f.Payload[0]) == wire.ComStmtReset
	switch {
	case st == nil && reset:
		return s.unknownStmt(wire.ComStmtReset, id, "mysql_stmt_precheck")
	case st == nil:
		return s.unknownStmt(wire.ComStmtFetch, id, "mysql_stmt_precheck")
	case st.at == nil && reset:
		st.failed = nil
		s.told, s.rowCount, s.lastAsked = 0, 0, notHere
		return s.sendOK()
	case st.at == nil || st.at.Broken:
		return s.failAdding(wire.NewError(errNoOpenCursor, "The statement (%d) has no open cursor.", id))
	}
	j := &job{class: commandClass, frame: f, want: expectRows, stmt: st, start: now}
	c := st.at
	if reset {
		j.want = expectSimple
		st.at, st.long, st.failed = nil, false, nil
	}
	s.route = route{reason: reasonPrepared, digest: st.class.Digest}
	if err := s.runOn(c, j); err != nil {
		return err
	}
	if s.relay.err == nil && s.relay.ok.Status.Has(wire.StatusLastRowSent) {
		st.at = nil // the server has closed the cursor
	}
	return nil
}

// errNoOpenCursor is MySQL's ER_STMT_HAS_NO_OPEN_CURSOR.
const errNoOpenCursor = 1421

// closeStmt serves COM_STMT_CLOSE, which has no answer. What is prepared on
// connections stays for others; a cursor or long data ends.
func (s *session) closeStmt(f wire.Frame) error {
	id := stmtID(f.Payload)
	st := s.stmts[id]
	if st == nil {
		return nil
	}
	delete(s.stmts, id)
	if c := st.at; c != nil && !c.Broken && (c == s.home || c == s.replicas[c.Node.Addr]) {
		c.CloseStatement(&st.Statement, st.kinds)
	}
	s.srv.shared.release(st.sharedStmt)
	return nil
}

func (s *session) closeStmts() {
	for _, st := range s.stmts {
		s.srv.shared.release(st.sharedStmt)
	}
	s.stmts = nil
}

// stateVariables lists the session's variables for SHOW CAUSEWAY ROUTE.
func stateVariables(s *backend.State) string { return strings.Join(s.Vars(), ",") }
