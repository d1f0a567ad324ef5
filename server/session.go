package server

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"causeway/backend"
	"causeway/classifier"
	"causeway/gtid"
	"causeway/scope"
	"causeway/wire"
)

// session is one client's connection. Its own goroutine owns everything but
// the atomic fields.
type session struct {
	srv    *Server
	client *wire.Conn
	login  *Login
	id     uint32
	log    zerolog.Logger
	ctx    context.Context
	cancel context.CancelFunc

	state      *backend.State  // what other connections must be brought to
	mode       classifier.Mode // derived from modeState
	modeState  *backend.State
	modeSerial bool // and the isolation level is SERIALIZABLE
	modeView   uint64
	token      gtid.Token   // GTIDs that reads must see
	windows    windows      // after its commits
	trxWrote   bool         // the open transaction may have written, see followCommit
	trxRows    trxRows      // what it has changed and no GTID has told of
	handed     handedToken  // the last token that was handed in
	lateToken  bool         // it came in a transaction, which keeps its snapshot
	untracked  bool         // it wrote what no GTID tells of
	lostSeen   uint64       // acknowledged.version that the token was compared with
	status     wire.Status  // what the client was told last of its own transaction
	route      route        // where the last statement went
	trackers   trackerCheck // due before the next statement
	wants      trackerWants // what the client asked to be told of its session
	untold     []byte       // a session-state block that it has not been told yet
	trxState   string       // what it was told last of its transaction, see trxTold

	// Leases. Between commands only what something holds is kept, see settle.
	owner  *backend.Owner // a new one with each reset
	wanted backend.Want
	// showsAttrs: the statement looks at the connection attributes, which only a
	// connection of the session's own has.
	showsAttrs bool
	mayStandIn bool                     // a replica can run what runs now, see standIn
	home       *backend.Conn            // to the source: everything but plain reads
	replicas   map[string]*backend.Conn // by address
	homeLast   *backend.Conn            // the last one to the source, may be given back
	last       *backend.Conn            // ran the last statement, may be given back
	lastTurn   uint64                   // of last, see backend.Conn.Turn
	asked      uint64                   // Conn.Asked right after the statement that runs now
	lastAsked  uint64                   // of last, see Conn.Asked: as long as it stays, ROW_COUNT() there is rowCount
	lastLeft   *backend.Leftover        // what was left on last when it was given back
	earlier    []backend.Condition      // conditions that are on no connection, before those of last
	found      foundRows
	insert     insertID
	pinned     pinnedPointer

	dropped string // the session's schema does not exist any more, see enterSchema

	readTrx    *backend.Conn // replica connection with the open read-only transaction
	readKind   string        // SET TRANSACTION for another one like it
	rereads    bool          // its isolation level keeps no snapshot
	readPinned bool          // it has savepoints
	readTorn   bool          // a statement failed in it: there may be a snapshot of which nothing was seen
	readFresh  bool          // no table was read in it yet
	nextTrx    []string      // SET TRANSACTION statements for the next transaction, not sent yet
	oneShot    bool          // one was sent to the source and holds for its next statement
	lazy       *lazyTrx      // a transaction that was begun here only
	borrowed   bool          // the transaction on the source is one that a replica should have had
	locks      *backend.Conn // it may have metadata locks of a transaction that its flags do not tell of
	ownLevel   bool          // the transaction on the source has characteristics by SET TRANSACTION
	lostKind   string        // SET TRANSACTION for one like that which was lost, "": not known
	aborted    string        // the transaction was lost; why. Only ROLLBACK and its like go on
	homeOnly   reason        // why all reads stay on the source connection
	sticky     stickyState   // what of the source connection cannot be replayed
	doubts     []*doubt      // statements whose answers were lost, the oldest first
	warnings   uint16        // of the last statement
	errors     uint16        // among them
	told       uint16        // warnings that the last answer told of
	rowCount   int64         // ROW_COUNT() after it
	stale      *staleNote    // the last statement was served stale
	refusal    *wire.Error   // of the last replica that refused the account, for this read

	stmts      map[uint32]*stmt
	nextStmt   uint32
	preparedOn *backend.Conn // answered the last COM_STMT_PREPARE

	relay   relay
	current *backend.Conn // whose OK is being looked at
	tracked trackedNews
	scratch []byte

	base     choice           // the class by the configuration
	maxClass *Class           // of the account, nil: none
	rules    *ruleSet         // that can match, nil: none
	hints    classifier.Hints // by user variables that were set to literals
	wish     wish             // what hints ask for
	rule     *ruleEntry       // of the statement that runs
	choice   choice           // the class of the last read
	contract contract         // and what it asks for
	demanded demand           // and what it must see
	common   common           // what it shares with other sessions
	saw      scope.Seen       // if a class has monotonic reads
	sharing  sharing          // and over the store with other Causeways

	// Read by others.
	busySince atomic.Int64               // nanoseconds since the server's start; 0: waits for a command
	idleSince atomic.Int64               // as busySince: when the last command ended
	idleOut   atomic.Pointer[wire.Error] // why the session ends that is idle
	busyOn    atomic.Pointer[backend.Conn]
	lastStart atomic.Int64                     // of the last command, as busySince
	runs      atomic.Pointer[classifier.Class] // the statement
	seen      atomic.Pointer[backend.State]    // the state when it began
	plainRead atomic.Bool                      // what runs may be killed when the client goes away
	cut       cutGuard
	inTrx     atomic.Bool
	writing   atomic.Bool // has a transaction or a write on the source, see admitWrite
	killed    atomic.Bool

	interrupted atomic.Bool   // KILL QUERY came for the present command
	homeID      atomic.Uint32 // thread id of the source connection while it is leased, which CONNECTION_ID() in an expression shows
}

// errQuit ends a session without an error.
var errQuit = errors.New("quit")

func newSession(srv *Server, client *wire.Conn, login *Login, id uint32) *session {
	s := &session{srv: srv, client: client, login: login, id: id, status: wire.StatusAutocommit}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.log = srv.log.With().Uint32("connection", id).Str("user", login.User).Str("host", login.Host).Logger()
	client.SetMaxPacket(srv.opts.MaxAllowedPacket)
	s.relay.onOK = s.onOK
	s.relay.track = s.filterTrack
	s.owner, s.lostSeen = &backend.Owner{}, srv.acked.version.Load()
	s.found.known = true // 0
	s.reset()
	s.idleSince.Store(int64(time.Since(srv.started)))
	return s
}

// reset puts the session into the state of a new one; the token stays.
func (s *session) reset() {
	s.state = backend.EmptyState.WithSchema(s.login.Database)
	s.modeState = nil
	s.readTrx, s.nextTrx, s.oneShot, s.lazy, s.aborted = nil, nil, false, nil, ""
	s.homeOnly, s.sticky, s.stale, s.locks = reasonNone, stickyState{}, nil, nil
	s.untracked, s.trxWrote, s.trxRows, s.ownLevel = false, false, trxRows{}, false
	s.last, s.stmts, s.dropped = nil, nil, ""
	s.wants, s.trackers = defaultWants(s.view().Source), trackerCheck{}
	s.status = wire.StatusAutocommit
	if s.isOff("autocommit", s.view()) {
		s.status = 0
	}
	s.rowCount, s.told, s.untold, s.trxState = 0, 0, nil, ""
	s.base, s.maxClass = s.srv.startClass(s.login.User)
	s.hints, s.wish = classifier.Hints{}, wish{}
	s.common = common{wide: s.srv.wideEntry(s.login.User)}
	s.hints.Key = s.login.hintAttr(classifier.HintKey)
	s.rules = s.srv.rules.forLogin(s.login.User, s.login.Host)
	s.inTrx.Store(false)
}

// run serves the client until it leaves.
func (s *session) run() {
	defer s.cancel()
	defer s.closeStmts()
	defer s.closeBackends()
	defer s.leaveDoubts()
	if !s.greet() {
		return
	}
	for {
		s.client.ResetSequence()
		f, err := s.client.ReadFrame()
		if why := s.idleOut.Load(); why != nil {
			s.client.SetDeadline(time.Now().Add(time.Second))
			s.fail(why)
			return
		}
		if err != nil {
			s.readFailed(err)
			return
		}
		if s.killed.Load() {
			return // what it sent before that is not run any more
		}
		if err := s.serve(f); err != nil {
			if !errors.Is(err, errQuit) {
				s.log.Debug().Err(err).Msg("session ended")
			}
			return
		}
		if s.srv.draining.Load() && !s.inTrx.Load() {
			return
		}
	}
}

// serve runs one command between the marks that the watchdog looks at.
func (s *session) serve(f wire.Frame) error {
	if len(f.Payload) == 0 {
		return s.fail(wire.NewError(wire.ErrMalformedPacket, "Malformed communication packet"))
	}
	now := time.Now()
	since := int64(now.Sub(s.srv.started)) | 1
	s.busySince.Store(since)
	s.lastStart.Store(since)
	err := s.command(f, now)
	s.lateToken = s.lateToken && s.status.Has(wire.StatusInTrans)
	s.settle()
	s.keepKeys()
	s.doneWriting()
	s.idleSince.Store(int64(time.Since(s.srv.started)))
	s.seen.Store(s.state)
	s.busySince.Store(0)
	s.cut.await()
	s.interrupted.Store(false)
	return err
}

// greet checks the schema named at login, as MySQL does, and welcomes the client.
func (s *session) greet() bool {
	if s.login.Database != "" {
		err := s.checkSchema()
		s.settle()
		if err != nil {
			s.client.WritePacket(asClientError(err).Append(nil, s.login.Caps))
			s.client.Flush()
			return false
		}
	}
	if e := s.loginToken(); e != nil {
		s.client.WritePacket(e.Append(nil, s.login.Caps))
		s.client.Flush()
		return false
	}
	if s.sendOK() != nil {
		return false
	}
	s.client.Compress(wire.CompressionOf(s.login.Caps), s.login.ZstdLevel)
	return true
}

// readFailed tells the client why its connection ends, where MySQL would.
func (s *session) readFailed(err error) {
	switch {
	case errors.Is(err, wire.ErrPacketTooLarge):
		s.client.SetDeadline(time.Now().Add(skipTimeout))
		if s.client.SkipRest() != nil {
			return
		}
		s.fail(wire.NewError(wire.ErrNetPacketTooLarge, "Got a packet bigger than 'max_allowed_packet' bytes"))
	case errors.Is(err, wire.ErrSequence):
		s.client.SetSequence(1)
		s.fail(wire.NewError(wire.ErrPacketsOutOfOrder, "Got packets out of order"))
	case errors.Is(err, wire.ErrCompressed):
		s.client.SetSequence(1)
		s.fail(wire.NewError(wire.ErrNetUncompress, "Couldn't uncompress communication packet"))
	case !errors.Is(err, io.EOF):
		s.log.Debug().Err(err).Msg("client connection lost")
	}
}

// skipTimeout bounds the reading of a command that is too large, whose rest
// must be read before the client listens to an answer.
const skipTimeout = 30 * time.Second

// facts gathers what decide needs.
func (s *session) facts(v *backend.View) facts {
	return facts{
		readOnlyTrx:   s.readTrx != nil,
		fresh:         s.readFresh && !s.readPinned,
		unread:        s.readFresh,
		rereads:       s.rereads,
		onlyLocks:     s.readTrx != nil && !s.readTrx.Status.Has(wire.StatusInTrans),
		homeTrx:       s.homeInTrx(),
		lazy:          s.lazy != nil,
		lazyReadOnly:  s.lazy != nil && s.lazy.readOnly,
		autocommitOff: s.isOff("autocommit", v),
		readOnly:      s.isOn("transaction_read_only"),
		nextReadOnly:  len(s.nextTrx) > 0,
		homeOnly:      s.homeOnlyReason(),
		homeState:     s.serializable(v) || s.sticky.userVars || len(s.sticky.prepared) > 0 || len(s.sticky.handlers) > 0 || s.state.HasUserVarsBut(hintVariables[:]) || s.tracksTrx(v),
	}
}

func (s *session) homeOnlyReason() reason {
	switch {
	case s.sticky.locked.any():
		return reasonLockedTables
	case s.sticky.temp.any():
		return reasonTempTables
	}
	return s.homeOnlyBesides()
}

// homeOnlyBesides is homeOnlyReason of a session without temporary tables.
func (s *session) homeOnlyBesides() reason {
	switch {
	case s.sticky.xa:
		return reasonXA
	case s.sharedInDoubt():
		return reasonDoubt
	case s.oneShot:
		return reasonOneShot
	case s.dropped != "" && s.dropped == s.state.Schema:
		return reasonSourceOnly
	case s.isOn("sql_auto_is_null"): // a read may ask for the last insert id
		return reasonSourceOnly
	case classifier.SystemSchema(s.state.Schema): // tables named without a schema are that node's own
		return reasonSourceOnly
	case s.sticky.locks: // what others did under the same lock must be seen
		return reasonUserLocks
	case s.homeOnly == reasonNone && len(s.doubts) > 0:
		return reasonDoubt
	}
	return s.homeOnly
}

func (s *session) isOn(name string) bool {
	v, ok := s.state.Var(name)
	return ok && (strings.EqualFold(v, "ON") || v == "1")
}

// variable is the session's value of one, by default the source's global one.
func (s *session) variable(name string, v *backend.View) string {
	value, ok := s.state.Var(name)
	if !ok && v.Source != nil {
		value = v.Source.Defaults[name]
	}
	return value
}

// isOff tells of a variable whose default is the source's global.
func (s *session) isOff(name string, view *backend.View) bool {
	v, ok := s.state.Var(name)
	if !ok && view.Source != nil {
		v, ok = view.Source.Defaults[name]
	}
	return ok && (strings.EqualFold(v, "OFF") || v == "0")
}

// classifierMode follows sql_mode and the client's charset.
func (s *session) classifierMode(v *backend.View) classifier.Mode {
	if s.modeState == s.state && s.modeView == v.Epoch+1 {
		return s.mode
	}
	sqlMode, ok := s.state.Var("sql_mode")
	if !ok && v.Source != nil {
		sqlMode = v.Source.Defaults["sql_mode"]
	}
	charset, ok := s.state.Var("character_set_client")
	s.modeSerial = strings.EqualFold(s.variable("transaction_isolation", v), "SERIALIZABLE")
	s.mode = classifier.Mode{
		ANSIQuotes:         strings.Contains(sqlMode, "ANSI_QUOTES"),
		NoBackslashEscapes: strings.Contains(sqlMode, "NO_BACKSLASH_ESCAPES"),
		PipesAsConcat:      strings.Contains(sqlMode, "PIPES_AS_CONCAT"),
		IgnoreSpace:        strings.Contains(sqlMode, "IGNORE_SPACE") || s.login.Caps.Has(wire.CapIgnoreSpace),
		UnsafeCharset:      ok && unsafeCharset(charset) || !ok && unsafeCollation(s.login.Collation),
	}
	if v.Source != nil {
		s.modeState, s.modeView = s.state, v.Epoch+1
	}
	return s.mode
}

func unsafeCharset(name string) bool {
	switch strings.ToLower(name) {
	case "gbk", "gb18030", "big5", "sjis", "cp932":
		return true
	}
	return false
}

// unsafeCollation knows the ids of the collations of those charsets.
func unsafeCollation(id uint16) bool {
	switch id {
	case 1, 84, 13, 88, 28, 87, 95, 96, 248, 249, 250:
		return true
	}
	return false
}

// sendOK answers by an OK of our own.
func (s *session) sendOK() error {
	return s.sendWarned(0)
}

// sendWarned answers by an OK of our own with a number of warnings.
func (s *session) sendWarned(warnings uint16) error {
	s.told = warnings
	ok := wire.OK{Status: s.status, Warnings: warnings}
	s.tell(&ok)
	return s.send(ok.Append(s.scratch[:0], s.login.Caps))
}

// fail answers by an error; only a failing write ends the session.
func (s *session) fail(e *wire.Error) error {
	s.told = 1
	return s.sendError(e)
}

// sendError is fail for an error that has been counted.
func (s *session) sendError(e *wire.Error) error { return s.send(e.Append(nil, s.login.Caps)) }

func (s *session) send(payload []byte) error {
	if err := s.client.WritePacket(payload); err != nil {
		return err
	}
	return s.client.Flush()
}

// asClientError turns any error into one for the client.
func asClientError(err error) *wire.Error {
	var e *wire.Error
	if errors.As(err, &e) {
		return e
	}
	if text := err.Error(); strings.HasPrefix(text, "read: ") || strings.HasPrefix(text, "write: ") { // of package wire
		return wire.NewError(wire.ErrServerIsntAvailable, "Causeway: a server was asked for something first, in vain: %s", backend.Reason(err))
	}
	return wire.NewError(wire.ErrServerIsntAvailable, "Causeway: %v", err)
}
