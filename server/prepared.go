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
	cursor bool             // its last execution asked for a cursor
	long   bool             // long data was sent to at
	// own is a statement of the server on the connection at, which has the cursor
	// or the long data and ends with them. Nobody else executes it: what a server
	// keeps of them would be another's, and one that had a cursor is of no use any
	// more, as MySQL answers its execution without one by columns and an OK.
	own    *backend.Prepared
	at     *backend.Conn
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
		st.end()
		return s.fail(e)
	}
	if done, err := s.tokens(j); done {
		return err
	}
	st.cursor = e.flags&opensCursor != 0
	if st.long {
		return s.executeBound(j)
	}
	st.end() // the cursor of the execution before
	if done, err := s.executeHere(j); done {
		return err
	}
	if err := s.run1(j); err != nil {
		return err
	}
	if s.relay.err != nil || !s.hasOpened() {
		st.end()
	}
	return nil
}

// executeBound runs a statement that long data has been sent for.
func (s *session) executeBound(j *job) error {
	st, c := j.stmt, j.stmt.at
	s.relay.done = false
	err := s.run1(j)
	switch {
	case s.relay.err != nil: // what was refused here may be tried again; after an error the server wants COM_STMT_RESET first
	case s.relay.done && s.hasOpened():
		st.long = false
	case s.relay.done, c.Broken:
		st.end()
	}
	return err
}

// hasOpened tells whether the last execution has opened a cursor.
func (s *session) hasOpened() bool { return s.relay.ok.Status.Has(wire.StatusCursorExists) }

// end ends the statement's cursor and long data.
func (st *stmt) end() {
	st.closeOwn()
	st.long, st.failed = false, nil
}

// endNow is end where no execution follows.
func (st *stmt) endNow() {
	if c := st.at; c != nil {
		c.Broken = c.CloseNow(st.own) != nil
	}
	st.at, st.own, st.long, st.failed = nil, nil, false, nil
}

func (st *stmt) closeOwn() {
	if st.at != nil {
		st.at.CloseTaken(st.own)
	}
	st.at, st.own = nil, nil
}

// runBound runs a statement where its long data is, if it may still run there.
func (s *session) runBound(j *job) error {
	c := j.stmt.at
	s.route = route{reason: reasonPrepared, digest: j.class.Digest}
	s.choice.class = nil
	switch {
	case s.readTrx != nil && c == s.readTrx:
		if err := s.renewBound(j); err != nil {
			return s.answerError(j, err)
		}
		return s.runInReadTrx(j)
	case s.readTrx != nil, c == nil, c != s.home:
		return s.longDataLost(j.stmt)
	}
	if err := s.storeRefuses(j.class); err != nil {
		return s.answerError(j, err)
	}
	home, err := s.homeFor(j)
	switch {
	case err != nil:
		return s.answerError(j, err)
	case home != c: // the source is another one by now
		return s.longDataLost(j.stmt)
	}
	return s.runReady(c, j)
}

func (s *session) longDataLost(st *stmt) error {
	st.end()
	return s.fail(wire.NewError(wire.ErrNetRead, "Causeway: the connection that had the statement's long data was lost; send it again"))
}

// sendExecute writes an execution, preparing the statement first where this
// connection does not know it, which costs one round trip once.
func (s *session) sendExecute(c *backend.Conn, j *job) error {
	st := j.stmt
	p, err := s.prepareOn(c, st)
	if err != nil {
		return alignError(err)
	}
	f := j.frame
	wire.SetStatementID(f.Payload, p.ID)
	if j.exec.boundFlag > 0 && f.Payload[j.exec.boundFlag] == 0 && p.Types != st.types {
		f = wire.Frame{Payload: j.exec.withTypes(f.Payload, st.types)}
	}
	p.Types = st.types
	if err := c.SendFrame(f); err != nil {
		return &backendError{err}
	}
	return nil
}

// on returns the server's statement for an execution on a connection, nil if
// nothing fit is prepared there.
func (st *stmt) on(c *backend.Conn) *backend.Prepared {
	if !st.cursor && !st.long {
		return c.Statement(&st.Statement, st.kinds)
	}
	if st.at != c {
		st.closeOwn()
		if p := c.Take(&st.Statement, st.kinds); p != nil {
			st.own, st.at = p, c
		}
	}
	return st.own
}

// prepareOn makes a statement known to a connection, under the schema and
// variables that it was prepared with.
func (s *session) prepareOn(c *backend.Conn, st *stmt) (*backend.Prepared, error) {
	if p := st.on(c); p != nil {
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
	return st.on(c), c.AlignNow(now)
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
	if _, err = c.Prepare(st); err == nil {
		c.CloseTaken(c.Take(st, ""))
	}
	var refused *wire.Error
	switch {
	case errors.As(err, &refused) && (refused.Code == wire.ErrParse || refused.Code == wire.ErrNoDB):
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
	if !st.long { // else it follows what was sent before
		st.end()
		c, err := s.longDataConn(st, now)
		if err != nil {
			return err
		}
		st.long = true
		if _, err := s.prepareOn(c, st); err != nil {
			return err
		}
	}
	wire.SetStatementID(f.Payload, st.own.ID)
	return st.at.SendFrame(f)
}

// longDataConn returns the connection on which an execution will run whose data
// comes now. It waits where the execution would: that goes on in a transaction
// which begins here.
func (s *session) longDataConn(st *stmt, now time.Time) (*backend.Conn, error) {
	if s.readTrx != nil {
		return s.readTrx, nil
	}
	c, err := s.homeFor(&job{class: st.class, want: expectResult, stmt: st, start: now})
	if err != nil {
		return nil, err
	}
	j := &job{class: commandClass, want: expectResult, start: now}
	if c, err = s.enterSchema(c, j); err != nil {
		return nil, err
	}
	if err := s.startTrx(c, j); err != nil {
		return nil, err
	}
	if err := s.interruptibly(c, j, func() error { return c.AlignNow(s.reachable()) }); err != nil {
		c.Broken = true
		return nil, err
	}
	return c, nil
}

// onStatement serves COM_STMT_FETCH on the connection that has the cursor, and
// COM_STMT_RESET, to which no server could add anything.
func (s *session) onStatement(f wire.Frame, now time.Time) error {
	id := stmtID(f.Payload)
	st := s.stmts[id]
	reset := wire.Command(f.Payload[0]) == wire.ComStmtReset
	switch {
	case st == nil && reset:
		return s.unknownStmt(wire.ComStmtReset, id, "mysql_stmt_precheck")
	case st == nil:
		return s.unknownStmt(wire.ComStmtFetch, id, "mysql_stmt_precheck")
	case reset:
		st.endNow()
		s.told, s.rowCount, s.lastAsked = 0, 0, notHere
		return s.sendOK()
	case st.at == nil || st.at.Broken:
		return s.failAdding(wire.NewError(errNoOpenCursor, "The statement (%d) has no open cursor.", id))
	}
	s.route = route{reason: reasonPrepared, digest: st.class.Digest}
	if err := s.runOn(st.at, &job{class: commandClass, frame: f, want: expectRows, stmt: st, start: now, seq: s.client.Sequence()}); err != nil {
		return err
	}
	if s.relay.err == nil && s.relay.ok.Status.Has(wire.StatusLastRowSent) {
		st.end() // as the server has done with the cursor
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
	st.endNow()
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
