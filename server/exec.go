package server

import (
	"cmp"
	"errors"
	"strings"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

func (s *session) view() *backend.View { return s.srv.opts.Monitor.View() }

// run1 runs a command. An error ends the session. What ends a transaction and finds
// it lost tells so once: the client has none then.
func (s *session) run1(j *job) error {
	known := s.aborted != ""
	if j.class.Kind == classifier.Diagnostics && isShowDiagnostics(j.class) { // who reads a warning asks next how the read went that has it
		defer func(r route, c choice) { s.route, s.choice = r, c }(s.route, s.choice)
	}
	err := s.decideAndRun(j)
	if !known && s.aborted != "" && j.want != expectPrepare && !j.class.Is(classifier.MultiStatement) &&
		(endsTrx(j.class) || j.class.Kind == classifier.Begin || j.class.Is(classifier.SetsAutocommit)) {
		s.aborted = ""
	}
	return err
}

// decideAndRun decides where a command goes and sees it through.
func (s *session) decideAndRun(j *job) error {
	s.relay.err, s.relay.ok, s.relay.started = nil, wire.OK{}, false
	j.seq = s.client.Sequence()
	s.runs.Store(j.class)
	s.seen.Store(s.state)
	if j.class.Kind == classifier.Rollback && j.want != expectPrepare {
		s.noticeLoss(j)
	}
	if s.aborted != "" {
		if done, err := s.whileAborted(j); done {
			return err
		}
	}
	if s.trackers.due && s.trackers.on == nil && s.home != nil && !s.home.Broken && j.class.Kind != classifier.Diagnostics {
		s.rearmTrackers(j)
	}
	s.useKey(j)
	s.sharing.begin()
	if e := s.applyRules(j); e != nil {
		return s.denied(j, e)
	}
	s.settleDoubts()
	j.before = s.view()
	if j.stmt != nil && j.stmt.long {
		return s.runBound(j)
	}
	if j.class.Kind == classifier.Begin {
		defer s.unlessBegun()
	}
	if s.readTrx != nil && j.want == expectResult {
		if done, err := s.reopenReadTrx(j); done {
			return err
		}
	}
	p, err := s.planned(j)
	if err != nil {
		return s.answerError(j, err)
	}
	s.choice.class = nil
	if p.target == toHome && j.want == expectResult {
		if e := s.storeRefuses(j.class); e != nil {
			return s.answerError(j, e)
		}
	}
	switch {
	case p.target == toRefuse && j.want == expectPrepare:
		return s.refusePrepare(j)
	case p.target == toRefuse:
		return s.refuse(j.class)
	case p.endTrx && j.class.Is(classifier.SetsAutocommit) && s.switchesOff(j):
	case p.endTrx:
		s.endReadTrx("COMMIT")
		if p.chain {
			s.nextTrx = []string{s.readKind}
		}
		if j.class.Is(classifier.SetsAutocommit) { // the next one is READ ONLY too then, as on a server
			s.nextTrx = []string{"SET TRANSACTION READ ONLY"}
		}
		s.tellTrx(trxEnded)
	case p.move:
		s.moveReadTrx()
	}
	if isGetDiagnostics(j) {
		if done, err := s.getDiagnostics(j); done {
			return err
		}
	}
	switch p.target {
	case toReplica:
		return s.runOnReplica(j, p)
	case toTrx:
		return s.runInReadTrx(j)
	case toLast:
		return s.runOnLast(j)
	}
	if e := s.refusedInReadTrx(j); e != nil {
		return s.refuseWith(e)
	}
	return s.runOnHome(j)
}

const errReadOnly = "Cannot execute statement in a READ ONLY transaction."

// refuse answers a statement that a read-only transaction cannot run.
func (s *session) refuse(c *classifier.Class) error {
	s.noteLocal(reasonRefused)
	if c.Kind == classifier.Write && !c.Is(classifier.SelectInto) {
		return s.refuseWith(wire.NewError(wire.ErrReadOnlyTransaction, errReadOnly))
	}
	return s.refuseWith(wire.NewError(wire.ErrReadOnlyTransaction,
		"Causeway: cannot execute this statement in a READ ONLY transaction that has read from a replica; run it before the first read, or use START TRANSACTION READ WRITE"))
}

// noteLocal counts a statement that was answered here.
func (s *session) noteLocal(r reason) {
	s.route.reason, s.route.node = r, ""
	s.srv.metrics.count(localTarget, r)
}

// runOnHome runs a command on the connection to the source.
func (s *session) runOnHome(j *job) error {
	s.showsAttrs = j.class.Kind == classifier.ReadSource && strings.Contains(j.class.Digest, "connect_attrs")
	c, done, err := s.homeOrStandIn(j)
	s.showsAttrs = false
	if done {
		return err
	}
	if err != nil {
		return s.answerError(j, err)
	}
	return s.runReady(c, j)
}

// runReady brings to the connection to the source what a command needs there, and
// runs it.
func (s *session) runReady(c *backend.Conn, j *job) error {
	c, err := s.enterSchema(c, j)
	if err != nil {
		return s.notEntered(c, j, err)
	}
	about := asksAboutLast(j)
	if about && j.class.Kind == classifier.Diagnostics && !(s.holds(c, asksFor(j.class)) && s.hasDiagnostics(c, j)) {
		if _, own := parseOwn(s.textOf(j)); own || isShowDiagnostics(j.class) {
			return s.diagnosticsLost(j)
		}
	}
	s.checkTrackers(c, j)
	if c.Broken {
		return s.lostBefore(c, j)
	}
	held, lazy := s.nextTrx, s.lazy
	if err := s.startTrx(c, j); err != nil {
		if c.Broken && !errors.As(err, new(*wire.Error)) { // before the statement was sent
			s.nextTrx, s.lazy = held, lazy
			return s.lostBefore(c, j)
		}
		return s.answerError(j, err)
	}
	usesID := mayUseInsertID(j.class) || j.class.Kind == classifier.Read && s.isOn("sql_auto_is_null") || about && runsTriggers(j)
	if j.want == expectResult && usesID {
		if err := s.bringInsertID(c, j.class); err != nil {
			return s.answerError(j, err)
		}
	}
	switch {
	case about:
		if err := s.bringDiagnostics(c, j); err != nil {
			return s.answerError(j, err)
		}
	case runsTriggers(j):
		s.pipeInsertID(c, j)
	case j.want == expectColumns:
		if err := s.beforeFieldList(c, j); err != nil {
			return s.answerError(j, err)
		}
	}
	if s.looksAtTrackers(j) {
		return s.runAsWanted(c, j)
	}
	return s.runOn(c, j)
}

// hasDiagnostics tells whether a connection can answer what asks for those of the
// last statement: it ran there, and nothing has to be brought there first.
func (s *session) hasDiagnostics(c *backend.Conn, j *job) bool {
	return c == s.last && c.Turn == s.lastTurn &&
		(!j.class.Is(classifier.UsesLastInsertID) || s.insert.on == c && s.insert.turn == c.Turn || s.insert.on == nil && c.InsertID == cmp.Or(s.insert.value, "0"))
}

// answerError tells the client why a command was not run; the session goes on
// unless the client cannot.
func (s *session) answerError(j *job, err error) error {
	var gone *sessionGone
	s.route.reason = reasonRefused
	s.srv.metrics.count(localTarget, reasonRefused)
	if errors.As(err, &gone) {
		s.fail(asClientError(err))
		return err
	}
	return s.refuseWith(asClientError(err))
}

// runOn runs a command on one connection, without a second try, unless a
// replica turns out not to be able to answer a plain read.
func (s *session) runOn(c *backend.Conn, j *job) error {
	if c.Broken {
		return s.lostBefore(c, j)
	}
	onHome, before, state := c == s.home, c.Status, s.state
	if err := s.exchange(c, j, false); err != nil {
		return s.lostAnswer(c, j, err)
	}
	r := &s.relay
	if r.err != nil {
		if onHome {
			s.askUntold(c, j)
		}
		s.afterError(c, j)
		if onHome {
			s.followFailed(j.class)
		}
		if r.err.Code == errNoOpenCursor && j.stmt != nil { // it names the id of the backend's statement
			r.err = wire.NewError(errNoOpenCursor, "The statement (%d) has no open cursor.", j.stmt.id)
		}
	}
	if r.err == nil && onHome && j.want == expectPrepare && j.class.Kind == classifier.Call && s.login.Caps.Has(wire.CapSessionTrack) {
		s.fetchUntold(c) // a routine of another schema was looked at; an answer to PREPARE has no room for news
	}
	if r.err != nil && c == s.readTrx && r.err.Code == wire.ErrOptionPreventsStmt { // the source would have said it otherwise
		r.err, r.ours = wire.NewError(wire.ErrReadOnlyTransaction, errReadOnly), true
	}
	if !onHome {
		s.noteInsertID(c, j)
		c.Unclean = c.Unclean || leavesUnseen(j.class)
	}
	s.finish(c, j)
	s.tellDropped(j)
	if onHome && r.err == nil && j.class.Is(classifier.SetsAutocommit) && before.Has(wire.StatusInTransReadonly) && !c.Status.Has(wire.StatusInTrans) {
		s.oneShot = true // a server that commits by this leaves the next transaction READ ONLY
	}
	if onHome {
		s.noteTrackers(j)
		s.afterHome(j, before.Has(wire.StatusInTrans))
		s.noteKnownSet(c, j, state)
	}
	if err := s.respond(); err != nil {
		return err
	}
	if r.err == nil && j.want == expectResult && s.releases(j.class) {
		return errQuit // MySQL disconnects after its OK
	}
	return nil
}

// trxStatus are the flags that tell of a transaction.
const trxStatus = wire.StatusInTrans | wire.StatusInTransReadonly

const sessionStatus = wire.StatusAutocommit | wire.StatusNoBackslashEscapes | trxStatus

// respond sends the client what is still due: an ERR, or nothing.
func (s *session) respond() error {
	if s.relay.lost != nil {
		return s.relay.lost
	}
	if s.relay.err != nil && s.relay.ours {
		return s.refuseWith(s.relay.err)
	}
	if s.relay.err != nil {
		return s.sendError(s.relay.err)
	}
	return nil
}

// exchange sends a command on a connection and relays the answer; an ERR stays
// in s.relay.err. plain: the command is a plain read, so what brings the
// connection into the session's state may travel in the same write.
func (s *session) exchange(c *backend.Conn, j *job, plain bool) error {
	r := &s.relay
	*r = relay{
		from: c.Conn, fromCaps: c.Caps, to: s.client, toCaps: s.login.Caps,
		onOK: r.onOK, track: r.track, scratch: r.scratch, statementID: r.statementID,
		command: j.frame.Payload, finish: mayHaveCommitted(j.class), first: firstEOF{before: s.status}, untold: s.untold,
	}
	s.untold = nil
	if !s.login.Caps.Has(wire.CapDeprecateEOF) {
		r.first.expect(j.class)
		r.first.readOnly = s.isOn("transaction_read_only")
	}
	if j.want == expectSimple && j.class == useClass {
		r.fixWarnings, r.warnings = true, s.told // COM_INIT_DB leaves the diagnostics alone
	}
	if c == s.home && s.readTrx != nil {
		r.addStatus = s.readTrx.Status & trxStatus // the client's transaction is on the replica
	}
	if j.want == expectRows { // of a cursor: it need not be where the session's transaction is
		r.dropStatus, r.addStatus = sessionStatus, s.status&sessionStatus
	}
	if s.stale != nil {
		s.addStaleNote(r, j, c)
	}
	live := c.Node.Live
	s.current = c
	s.tracked = trackedNews{}
	s.preparedOn = nil
	s.busyOn.Store(c)
	s.plainRead.Store(!r.finish)
	live.InFlight.Add(1)
	limit := s.startTimeout(c, j)
	var err error
	if s.interrupted.Load() {
		r.err, r.ours = wire.NewError(wire.ErrQueryInterrupted, errInterrupted), true
	} else {
		err = s.sendAndRelay(c, j, plain)
	}
	live.InFlight.Add(-1)
	if limit.stop() {
		err = s.timedOut(c, err)
	}
	s.busyOn.Store(nil)
	s.cut.await()
	s.untold, s.asked = r.untold, c.Asked()
	if r.copied {
		j.frame = wire.Frame{Payload: r.command}
	}
	r.command = nil
	if err != nil {
		if r.started { // rows that came before the loss were seen
			s.noteSeen()
		}
		var unprepared *prepareRefused
		if !errors.As(err, &unprepared) {
			c.Broken = true
			return err
		}
		r.err = unprepared.err
	}
	c.LastUsed = j.start
	if j.want == expectPrepare && r.err == nil {
		s.preparedOn = c
	}
	return nil
}

func (s *session) sendAndRelay(c *backend.Conn, j *job, plain bool) error {
	queued, err := 0, error(nil)
	want := s.reachable()
	j.under = want
	if j.class.Kind == classifier.Use { // it leaves the schema, which may be gone
		want = want.WithSchema(c.State().Schema)
	}
	if c.State() != want {
		if queued, err = c.Align(want); err != nil {
			return alignError(err)
		}
		if queued > 0 {
			s.srv.metrics.replays.Inc()
		}
		if queued > 0 && (!plain || j.insertID != "" || s.mustPrepare(c, j)) {
			if err := c.ConfirmNow(queued, want); err != nil {
				return alignError(err)
			}
			queued = 0
		}
	}
	if j.insertID != "" {
		return s.sendWithInsertID(c, j)
	}
	if err := s.sendCommand(c, j); err != nil {
		return err
	}
	if queued > 0 {
		seq := c.Sequence()
		if err := c.Confirm(queued, want); err != nil {
			return alignError(err)
		}
		c.SetSequence(seq)
	}
	return s.relay.run(j.want)
}

// mustPrepare tells whether an execution needs its statement prepared here first,
// whose answer would come behind those of what was queued.
func (s *session) mustPrepare(c *backend.Conn, j *job) bool {
	return j.stmt != nil && j.stmt.on(c) == nil
}

// stateRefused: a node would not take the session's state.
type stateRefused struct{ err error }

func (e *stateRefused) Error() string { return "session state refused: " + e.err.Error() }
func (e *stateRefused) Unwrap() error { return e.err }

func alignError(err error) error {
	var refused *wire.Error
	if errors.As(err, &refused) {
		return &stateRefused{err}
	}
	return &backendError{err}
}

// sendCommand writes the client's command as it stands, but for the
// statement's id where it has one.
func (s *session) sendCommand(c *backend.Conn, j *job) error {
	if j.stmt != nil && wire.Command(j.frame.Payload[0]) == wire.ComStmtExecute {
		return s.sendExecute(c, j)
	}
	if j.stmt != nil {
		wire.SetStatementID(j.frame.Payload, j.stmt.own.ID)
	}
	if err := c.SendFrame(j.frame); err != nil {
		return &backendError{err}
	}
	return nil
}

// finish notes what a statement's answer says of the session, whichever
// connection it ran on, and counts it.
func (s *session) finish(c *backend.Conn, j *job) {
	r := &s.relay
	s.applyNews(c, j)
	s.noteCounts(c, j)
	if r.err == nil && j.want != expectPrepare && j.want != expectText {
		s.followLocks(c, j)
		c.Status = r.ok.Status
	}
	if !keepsDiagnostics(j, r.err) && (j.want == expectResult || j.want == expectPrepare) {
		if c.Node.Role != backend.RoleReplica || s.relay.extraWarnings == 0 {
			s.stale = nil
		}
	}
	if (c == s.readTrx || c == s.home) && s.lazy == nil {
		s.status = c.Status&sessionStatus | r.addStatus
	}
	if c == s.readTrx && j.want == expectResult {
		s.followReadTrx(j.class)
	}
	s.inTrx.Store(s.status.Has(wire.StatusInTrans))
	if r.err != nil && r.started { // rows were read all the same
		s.noteSeen()
	}
	s.observe(c, j)
}

// afterHome follows session state that only the source connection has. wasInTrx: a
// transaction was open before the command.
func (s *session) afterHome(j *job, wasInTrx bool) {
	c, r := j.class, &s.relay
	if j.want == expectPrepare {
		return
	}
	inTrx := s.home.Status.Has(wire.StatusInTrans)
	s.ownLevel = s.ownLevel && inTrx
	if s.oneShot && r.err == nil && usesNextTrx(c) && !(wasInTrx && inTrx) { // what goes on uses up nothing
		s.oneShot, s.ownLevel = false, inTrx
	}
	s.common.plain = s.common.plain || s.common.key == "" && mayWrite(c)
	s.noteInsertID(s.home, j)
	s.followSticky(j)
	if r.err != nil && !c.Is(classifier.MultiStatement) && !(setsSeveral(c) && s.failedPart(j)) {
		s.trxRows.ended(!s.home.Status.Has(wire.StatusInTrans))
		return
	}
	if c.Is(classifier.SetsGlobal) || changesAccounts(c) {
		s.srv.pools.Renew() // new sessions begin with the new values
	}
	s.followUntracked(j)
	s.followCharset(s.home, c)
	s.mirrorSet(j)
	s.followHints(j)
	if c.Flags.Any(classifier.SetsNextTrx) || c.Kind == classifier.SetTransaction || inTrx && setsTrxDefault(c) ||
		c.Kind == classifier.Savepoint && s.home.Status&(wire.StatusInTrans|wire.StatusAutocommit) == 0 { // no flag tells of it
		s.oneShot = true
	}
}

// changesAccounts names what servers take over with the next login only: global
// privileges, roles, locks and passwords.
func changesAccounts(c *classifier.Class) bool {
	verb, rest, _ := strings.Cut(strings.ToLower(c.Digest), " ")
	what, _, _ := strings.Cut(rest, " ")
	switch verb {
	case "grant", "revoke":
		return true
	case "alter", "drop", "rename":
		return what == "user" || what == "role"
	case "set":
		return what == "default" || what == "password"
	}
	return false
}
