package server

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// runInReadTrx runs a statement in the read-only transaction on its replica.
func (s *session) runInReadTrx(j *job) error {
	c := s.readTrx
	s.lateToken = s.lateToken || j.hints.Key != "" && !s.readFresh
	if why := s.unfit(c, s.view().Node(c.Node.Addr), j.start); why != "" {
		s.relay.started = false
		return s.lostReplicaAnswer(c, j, errString(why))
	}
	if j.want == expectResult && mayUseInsertID(j.class) {
		if err := s.bringInsertID(c, j.class); err != nil {
			return s.answerError(j, err)
		}
	}
	if err := s.runOn(c, j); err != nil {
		return err
	}
	switch {
	case j.want != expectResult:
	case j.class.Is(classifier.MultiStatement) && j.class.Is(classifier.SetsUserVars): // those before the one that failed, too
		s.carryUserVars(c, j)
	case s.relay.err != nil:
	case j.stmt == nil && outlivesTrx(j.class):
		s.mirror(j)
	case j.class.Kind == classifier.Call && j.class.Is(classifier.UsesUserVars):
		s.carryUserVars(c, j)
	}
	return nil
}

// followReadTrx notes what a statement in the read-only transaction has made of it.
func (s *session) followReadTrx(class *classifier.Class) {
	r, c := &s.relay, s.readTrx
	switch {
	case r.err != nil: // a snapshot may have been made, of which the client has seen something or not
		s.readFresh = s.readFresh && !r.started
		s.readTorn = s.readTorn || !class.Is(classifier.NoTable)
	case !c.Status.Has(wire.StatusInTrans) && s.locks != c:
		s.readTrx = nil
	case class.Kind == classifier.Begin:
		s.readFresh = !class.Trx.Snapshot
	case class.Kind == classifier.Savepoint:
		s.readPinned = true
	case !class.Is(classifier.NoTable):
		s.readFresh = false
	}
}

// userVars are the user variables that a digest names.
var userVars = regexp.MustCompile("(?i)(?:^|[^@a-z0-9_$.`])(@(?:[a-z0-9_$.]+|`[^`]+`))")

// asLiteral is SQL for a literal with the value of a user variable.
const asLiteral = `IF(%[1]s IS NULL, 'NULL', IF(LEFT(JSON_ARRAY(%[1]s), 2) = '["', ` +
	`CONCAT('CONVERT(X''', HEX(%[1]s), ''' USING ', CHARSET(%[1]s), ') COLLATE ', COLLATION(%[1]s)), ` +
	`SUBSTRING(JSON_ARRAY(%[1]s), 2, CHAR_LENGTH(JSON_ARRAY(%[1]s)) - 2)))`

// carryUserVars sets on the source what a procedure has set on the replica of a
// read-only transaction by its OUT parameters, or several statements in one text:
// user variables are read there, and outlive the transaction.
func (s *session) carryUserVars(c *backend.Conn, j *job) {
	if c.Broken {
		return
	}
	text := j.class.Digest
	if j.class.Is(classifier.MultiStatement) {
		text = s.textOf(j) // a long digest is cut
	}
	var values, sets []string
	for _, m := range userVars.FindAllStringSubmatch(text, -1) {
		values, sets = append(values, fmt.Sprintf(asLiteral, m[1])), append(sets, m[1]+" = ")
	}
	if len(values) == 0 {
		return
	}
	s.keepDiagnostics(c)
	s.bound(c)
	defer c.SetDeadline(noDeadline)
	row, err := c.Query("SELECT " + strings.Join(values, ", "))
	if err != nil || len(row) != len(sets) {
		c.Broken = true // the next statement tells
		return
	}
	for i, value := range row {
		sets[i] += value
	}
	home, err := s.homeConn(j.start, false)
	if err == nil {
		s.sticky.userVars = true
		s.bound(home)
		defer home.SetDeadline(noDeadline)
		if err = home.AlignNow(s.reachable()); err == nil {
			_, err = s.askHome("SET " + strings.Join(sets, ", "))
		}
	}
	if err != nil {
		s.log.Warn().Err(err).Str("digest", j.class.Digest).Msg("user variables set in a READ ONLY transaction on a replica are lost")
	}
}

// outlivesTrx names what makes or ends something that no transaction ends:
// PREPARE and DEALLOCATE, HANDLER OPEN and CLOSE.
func outlivesTrx(c *classifier.Class) bool {
	switch {
	case c.Is(classifier.MultiStatement):
		return false
	case c.Kind == classifier.TextPrepare:
		return !slices.Contains(c.Names, "execute")
	}
	return c.Kind == classifier.Handler && !(len(c.Names) > 0 && c.Names[0] == "read")
}

// mirror repeats a statement on the source connection.
func (s *session) mirror(j *job) {
	c, err := s.homeConn(j.start, false)
	if err != nil {
		s.log.Debug().Err(err).Msg("cannot repeat on the source what outlives a transaction")
		return
	}
	_ = s.repeat(c, j) // an error as the one that the client has, or the connection is broken
	if j.class.Kind == classifier.Handler {
		s.sticky.followHandler(j.class)
	} else {
		s.sticky.followPrepare(j.class)
	}
}

// leavesUnseen names the statements that may leave something on the connection
// of a read-only transaction that only a reset undoes.
func leavesUnseen(c *classifier.Class) bool {
	switch c.Kind {
	case classifier.Call, classifier.TextPrepare, classifier.Handler, classifier.Unknown, classifier.Other, classifier.Do:
		return true
	}
	return c.Flags.Any(classifier.Opaque | classifier.SetsUserVars | classifier.GetLock)
}

// begunOn tells whether a transaction is open on a replica after the statement
// that was to begin it, or to be its first. If that failed the connection is
// asked: an ERR has no status flags, and BEGIN was sent before.
func (s *session) begunOn(c *backend.Conn, j *job) bool {
	if s.relay.err == nil {
		return s.relay.ok.Status.Has(wire.StatusInTrans) || s.leavesLocks(j) // which has to be ended there as well
	}
	if s.askStatus(c) == nil {
		s.noteLocks(c)
		return c.Status.Has(wire.StatusInTrans) || s.locks == c
	}
	s.dropReplica(c)
	s.abort("replica "+c.Node.Addr+" was lost", "")
	return false
}

type errString string

func (e errString) Error() string { return string(e) }

// endReadTrx ends the read-only transaction on its replica, because the next
// statement commits implicitly. Nothing can be lost by it.
func (s *session) endReadTrx(how string) {
	c := s.readTrx
	if s.insert.on == c { // what comes next, elsewhere, may ask for it
		value, err := s.insertValue()
		if err == nil {
			s.insert = insertID{value: value}
		}
	}
	s.readTrx = nil
	s.status &^= trxStatus
	s.inTrx.Store(false)
	s.closeTrx(c, how)
}

func (s *session) closeTrx(c *backend.Conn, how string) {
	if s.locks == c {
		s.locks = nil
	}
	s.bound(c)
	if _, err := c.Query(how + " AND NO CHAIN NO RELEASE"); err != nil { // whatever completion_type says
		s.dropReplica(c)
		return
	}
	c.SetDeadline(noDeadline)
}

// moveReadTrx gives up a read-only transaction that has read nothing yet: the
// same transaction is begun on the source.
func (s *session) moveReadTrx() {
	s.leaveReadTrx("ROLLBACK")
	s.goOnLater(false)
}
