package server

import (
	"testing"

	"causeway/classifier"
)

// class makes a class for a table.
func class(k classifier.Kind, f classifier.Flags) *classifier.Class {
	return &classifier.Class{Kind: k, Flags: f, Statements: 1}
}

func begin(trx classifier.Trx) *classifier.Class {
	return &classifier.Class{Kind: classifier.Begin, Trx: trx, Statements: 1}
}

// Situations of a session.
var (
	idle        = facts{}
	homeTrx     = facts{homeTrx: true}
	freshTrx    = facts{readOnlyTrx: true, fresh: true}
	usedTrx     = facts{readOnlyTrx: true}
	off         = facts{autocommitOff: true}
	offReadOnly = facts{autocommitOff: true, readOnly: true}
	offNext     = facts{autocommitOff: true, nextReadOnly: true}
	readOnly    = facts{readOnly: true}
	nextOnly    = facts{nextReadOnly: true}
	temp        = facts{homeOnly: reasonTempTables}
)

// Plans.
func home(r reason) plan { return plan{target: toHome, reason: r} }

var (
	replica     = plan{target: toReplica, reason: reasonRead}
	beginThere  = plan{target: toReplica, reason: reasonReadOnlyTrx, begin: true}
	inTrx       = plan{target: toTrx, reason: reasonReadOnlyTrx}
	moved       = plan{target: toHome, reason: reasonTransaction, move: true}
	last        = plan{target: toLast, reason: reasonDiagnostics}
	refused     = plan{target: toRefuse, reason: reasonReadOnlyTrx}
	refusedDML  = plan{target: toRefuse, reason: reasonWrite}
	beginAtHome = home(reasonTransaction)
)

func ending(p plan) plan { p.endTrx = true; return p }

// decision is a row of the table: what is decided on a statement in a situation.
type decision struct {
	name  string
	class *classifier.Class
	facts facts
	want  plan
}

const none = classifier.Flags(0)

var decisions = []decision{
	// Outside of transactions.
	{"read", class(classifier.Read, none), idle, replica},
	{"read of no table", class(classifier.Read, classifier.NoTable), idle, replica},
	{"read for the source", class(classifier.ReadSource, none), idle, home(reasonSourceOnly)},
	{"read of a user variable", class(classifier.Read, classifier.UsesUserVars), idle, home(reasonSourceOnly)},
	{"read that sets a user variable", class(classifier.Read, classifier.SetsUserVars), idle, home(reasonSourceOnly)},
	{"LAST_INSERT_ID()", class(classifier.Read, classifier.UsesLastInsertID), idle, home(reasonSourceOnly)},
	{"LAST_INSERT_ID(n)", class(classifier.Read, classifier.SetsLastInsertID), idle, home(reasonSourceOnly)},
	{"read of diagnostics", class(classifier.Read, classifier.UsesDiagnostics), idle, home(reasonSourceOnly)},
	{"GET_LOCK", class(classifier.Read, classifier.GetLock), idle, home(reasonSourceOnly)},
	{"RELEASE_LOCK", class(classifier.Read, classifier.ReleaseLock), idle, home(reasonSourceOnly)},
	{"read of an unknown function", class(classifier.Read, classifier.UnknownFunction), idle, home(reasonSourceOnly)},
	{"SHOW WARNINGS", class(classifier.Diagnostics, none), idle, last},
	{"diagnostics and a user variable", class(classifier.Diagnostics, classifier.UsesUserVars), idle, home(reasonSourceOnly)},
	{"GET DIAGNOSTICS @a", class(classifier.Diagnostics, classifier.SetsUserVars), idle, home(reasonSourceOnly)},
	{"diagnostics and LAST_INSERT_ID", class(classifier.Diagnostics, classifier.UsesLastInsertID), idle, home(reasonSourceOnly)},
	{"locking read", class(classifier.LockingRead, none), idle, home(reasonLockingRead)},
	{"write", class(classifier.Write, none), idle, home(reasonWrite)},
	{"DDL", class(classifier.DDL, classifier.ImplicitCommit), idle, home(reasonDDL)},
	{"CREATE TEMPORARY TABLE", class(classifier.Write, classifier.CreatesTemp), idle, home(reasonWrite)},
	{"CALL", class(classifier.Call, classifier.MayCommit), idle, home(reasonWrite)},
	{"DO", class(classifier.Do, none), idle, home(reasonWrite)},
	{"COMMIT", class(classifier.Commit, none), idle, home(reasonTransaction)},
	{"ROLLBACK", class(classifier.Rollback, none), idle, home(reasonTransaction)},
	{"SAVEPOINT", class(classifier.Savepoint, none), idle, home(reasonTransaction)},
	{"SET", class(classifier.Set, none), idle, home(reasonSession)},
	{"SET TRANSACTION", class(classifier.SetTransaction, none), idle, home(reasonSession)},
	{"USE", class(classifier.Use, none), idle, home(reasonSession)},
	{"LOCK TABLES", class(classifier.LockTables, none), idle, home(reasonLockedTables)},
	{"UNLOCK TABLES", class(classifier.UnlockTables, none), idle, home(reasonLockedTables)},
	{"XA START", class(classifier.XA, none), idle, home(reasonXA)},
	{"HANDLER", class(classifier.Handler, none), idle, home(reasonSourceOnly)},
	{"PREPARE FROM", class(classifier.TextPrepare, none), idle, home(reasonSession)},
	{"KILL of a server's id", class(classifier.Kill, none), idle, home(reasonSession)},
	{"other", class(classifier.Other, none), idle, home(reasonSession)},
	{"not understood", class(classifier.Unknown, classifier.MayCommit), idle, home(reasonUnknown)},
	{"empty", class(classifier.Empty, none), idle, home(reasonSourceOnly)},

	// Reads that the session's state binds.
	{"read with temporary tables", class(classifier.Read, none), temp, home(reasonTempTables)},
	{"read of none of the temporary tables", class(classifier.Read, none), tempFree(facts{}), replica},
	{"read of none of them in a transaction", class(classifier.Read, none), tempFree(facts{homeTrx: true}), home(reasonTempTables)},
	{"read of none of them, BEGIN not sent", class(classifier.Read, none), tempFree(facts{lazy: true, lazyReadOnly: true}), home(reasonTempTables)},
	{"read of none of them, autocommit=0", class(classifier.Read, none), tempFree(facts{autocommitOff: true, readOnly: true}), home(reasonTempTables)},
	{"read of none of them, next read only", class(classifier.Read, none), tempFree(nextOnly), home(reasonTempTables)},
	{"read of none of them with user variables", class(classifier.Read, classifier.UsesUserVars), tempFree(facts{}), home(reasonSourceOnly)},
	{"read under LOCK TABLES", class(classifier.Read, none), facts{homeOnly: reasonLockedTables}, home(reasonLockedTables)},
	{"read in doubt", class(classifier.Read, none), facts{homeOnly: reasonDoubt}, home(reasonDoubt)},
	{"read after an untracked write", class(classifier.Read, none), facts{homeOnly: reasonUntracked}, home(reasonUntracked)},
	{"read after SET TRANSACTION", class(classifier.Read, none), facts{homeOnly: reasonOneShot}, home(reasonOneShot)},
	{"read in an XA transaction", class(classifier.Read, none), facts{homeOnly: reasonXA, homeTrx: true}, home(reasonXA)},
	{"read in a transaction", class(classifier.Read, none), homeTrx, home(reasonTransaction)},
	{"read of no table in a transaction", class(classifier.Read, classifier.NoTable), homeTrx, home(reasonTransaction)},
	{"read with user variables elsewhere", class(classifier.Read, none), facts{homeState: true}, replica},
	{"read, transactions read only", class(classifier.Read, none), readOnly, replica},
	{"read, the next transaction read only", class(classifier.Read, none), nextOnly, home(reasonOneShot)},

	// autocommit=0.
	{"autocommit=0: read", class(classifier.Read, none), off, home(reasonTransaction)},
	{"autocommit=0, read only: read", class(classifier.Read, none), offReadOnly, beginThere},
	{"autocommit=0, next read only: read", class(classifier.Read, none), offNext, beginThere},
	{"autocommit=0, read only, user variables: read", class(classifier.Read, none), facts{autocommitOff: true, readOnly: true, homeState: true}, home(reasonTransaction)},
	{"autocommit=0, read only, in a transaction: read", class(classifier.Read, none), facts{autocommitOff: true, readOnly: true, homeTrx: true}, home(reasonTransaction)},
	{"autocommit=0, read only, temporary tables: read", class(classifier.Read, none), facts{autocommitOff: true, readOnly: true, homeOnly: reasonTempTables}, home(reasonTempTables)},
	{"autocommit=0, read only: write", class(classifier.Write, none), offReadOnly, home(reasonWrite)},
	{"autocommit=0, read only: locking read", class(classifier.LockingRead, none), offReadOnly, home(reasonLockingRead)},

	// BEGIN.
	{"BEGIN", begin(classifier.Trx{}), idle, beginAtHome},
	{"START TRANSACTION READ WRITE", begin(classifier.Trx{ReadWrite: true}), idle, beginAtHome},
	{"START TRANSACTION READ ONLY", begin(classifier.Trx{ReadOnly: true}), idle, beginThere},
	{"... WITH CONSISTENT SNAPSHOT", begin(classifier.Trx{ReadOnly: true, Snapshot: true}), idle, beginThere},
	{"BEGIN, transactions read only", begin(classifier.Trx{}), readOnly, beginThere},
	{"BEGIN, the next read only", begin(classifier.Trx{}), nextOnly, beginThere},
	{"READ WRITE, transactions read only", begin(classifier.Trx{ReadWrite: true}), readOnly, beginAtHome},
	{"READ WRITE, the next read only", begin(classifier.Trx{ReadWrite: true}), nextOnly, beginAtHome},
	{"READ ONLY in a transaction", begin(classifier.Trx{ReadOnly: true}), homeTrx, beginAtHome},
	{"READ ONLY with temporary tables", begin(classifier.Trx{ReadOnly: true}), temp, beginAtHome},
	{"READ ONLY with user variables", begin(classifier.Trx{ReadOnly: true}), facts{homeState: true}, beginAtHome},
	{"READ ONLY in doubt", begin(classifier.Trx{ReadOnly: true}), facts{homeOnly: reasonDoubt}, beginAtHome},
	{"READ ONLY among other statements", &classifier.Class{Kind: classifier.Begin, Flags: classifier.MultiStatement, Trx: classifier.Trx{ReadOnly: true}}, idle, beginAtHome},
	{"WITH CONSISTENT SNAPSHOT, in READ WRITE not sent", begin(classifier.Trx{Snapshot: true}), facts{lazy: true, readOnly: true}, beginAtHome},
	{"WITH CONSISTENT SNAPSHOT, in READ ONLY not sent", begin(classifier.Trx{Snapshot: true}), facts{lazy: true, lazyReadOnly: true}, beginThere},
	{"READ ONLY, autocommit=0", begin(classifier.Trx{ReadOnly: true}), off, beginThere},

	// In a transaction on the source all but diagnostics is at home anyway.
	{"trx: write", class(classifier.Write, none), homeTrx, home(reasonWrite)},
	{"trx: COMMIT", class(classifier.Commit, none), homeTrx, home(reasonTransaction)},
	{"trx: SHOW WARNINGS", class(classifier.Diagnostics, none), homeTrx, last},
	{"trx: DDL", class(classifier.DDL, classifier.ImplicitCommit), homeTrx, home(reasonDDL)},
	{"trx: BEGIN", begin(classifier.Trx{}), homeTrx, beginAtHome},

	// In a read-only transaction on a replica, nothing read yet.
	{"fresh: read", class(classifier.Read, none), freshTrx, inTrx},
	{"fresh: read for the source", class(classifier.ReadSource, none), freshTrx, inTrx},
	{"fresh: read of a user variable", class(classifier.Read, classifier.UsesUserVars), freshTrx, inTrx},
	{"fresh: read that sets one", class(classifier.Read, classifier.SetsUserVars), freshTrx, moved},
	{"fresh: @a alone", class(classifier.ReadSource, classifier.UsesUserVars|classifier.NoTable), freshTrx, home(reasonSourceOnly)},
	{"fresh: LAST_INSERT_ID() alone", class(classifier.ReadSource, classifier.UsesLastInsertID|classifier.NoTable), freshTrx, home(reasonSourceOnly)},
	{"fresh: an unknown function alone", class(classifier.Read, classifier.UnknownFunction|classifier.NoTable), freshTrx, moved},
	{"fresh: SHOW WARNINGS", class(classifier.Diagnostics, none), freshTrx, last},
	{"fresh: COMMIT", class(classifier.Commit, none), freshTrx, inTrx},
	{"fresh: ROLLBACK", class(classifier.Rollback, none), freshTrx, inTrx},
	{"fresh: SAVEPOINT", class(classifier.Savepoint, none), freshTrx, inTrx},
	{"fresh: empty", class(classifier.Empty, none), freshTrx, inTrx},
	{"fresh: BEGIN", begin(classifier.Trx{}), freshTrx, inTrx},
	{"fresh: START TRANSACTION READ WRITE", begin(classifier.Trx{ReadWrite: true}), freshTrx, inTrx},
	{"fresh: READ ONLY again", begin(classifier.Trx{ReadOnly: true}), freshTrx, inTrx},
	{"fresh: SET", class(classifier.Set, none), freshTrx, home(reasonSession)},
	{"fresh: SET TRANSACTION", class(classifier.SetTransaction, none), freshTrx, inTrx},
	{"fresh: USE", class(classifier.Use, none), freshTrx, home(reasonSession)},
	{"fresh: KILL", class(classifier.Kill, none), freshTrx, home(reasonSession)},
	{"fresh: write", class(classifier.Write, none), freshTrx, refusedDML},
	{"fresh: write by an unknown function", class(classifier.Write, classifier.UnknownFunction), freshTrx, inTrx},
	{"fresh: writes among others", class(classifier.Write, classifier.MultiStatement), freshTrx, inTrx},
	{"fresh: CREATE TEMPORARY TABLE", class(classifier.Write, classifier.CreatesTemp), freshTrx, refusedDML},
	{"fresh: DROP TEMPORARY TABLE", class(classifier.Write, classifier.DropsTemp), freshTrx, refusedDML},
	{"fresh: SELECT INTO @a", class(classifier.Write, classifier.SelectInto|classifier.SetsUserVars), freshTrx, moved},
	{"fresh: locking read", class(classifier.LockingRead, none), freshTrx, moved},
	{"fresh: CALL", class(classifier.Call, classifier.MayCommit), freshTrx, moved},
	{"fresh: DO", class(classifier.Do, none), freshTrx, moved},
	{"fresh: HANDLER", class(classifier.Handler, none), freshTrx, moved},
	{"fresh: PREPARE FROM", class(classifier.TextPrepare, none), freshTrx, moved},
	{"fresh: other", class(classifier.Other, none), freshTrx, moved},
	{"fresh: not understood", class(classifier.Unknown, classifier.MayCommit), freshTrx, moved},
	{"fresh: DDL", class(classifier.DDL, classifier.ImplicitCommit), freshTrx, ending(home(reasonDDL))},
	{"fresh: LOCK TABLES", class(classifier.LockTables, classifier.ImplicitCommit), freshTrx, ending(home(reasonLockedTables))},
	{"fresh: XA START", class(classifier.XA, none), freshTrx, moved},
	{"fresh: other with implicit commit", class(classifier.Other, classifier.ImplicitCommit), freshTrx, ending(home(reasonSession))},
	{"fresh: implicit commit among others", class(classifier.Other, classifier.ImplicitCommit|classifier.MultiStatement), freshTrx, moved},

	// After a read its snapshot cannot move.
	{"used: read", class(classifier.Read, none), usedTrx, inTrx},
	{"used: read for the source", class(classifier.ReadSource, none), usedTrx, inTrx},
	{"used: read of a user variable", class(classifier.Read, classifier.UsesUserVars), usedTrx, inTrx},
	{"used: read that sets one", class(classifier.Read, classifier.SetsUserVars), usedTrx, refused},
	{"used: @a alone", class(classifier.ReadSource, classifier.UsesUserVars|classifier.NoTable), usedTrx, home(reasonSourceOnly)},
	{"used: an unknown function", class(classifier.Read, classifier.UnknownFunction), usedTrx, refused},
	{"used: GET_LOCK alone", class(classifier.ReadSource, classifier.GetLock|classifier.NoTable), usedTrx, home(reasonSourceOnly)},
	{"used: SHOW WARNINGS", class(classifier.Diagnostics, none), usedTrx, last},
	{"used: COMMIT", class(classifier.Commit, none), usedTrx, inTrx},
	{"used: ROLLBACK", class(classifier.Rollback, none), usedTrx, inTrx},
	{"used: BEGIN", begin(classifier.Trx{}), usedTrx, inTrx},
	{"used: XA START", &classifier.Class{Kind: classifier.XA, Digest: "xa start ?"}, usedTrx, inTrx},
	{"used: XA RECOVER", &classifier.Class{Kind: classifier.XA, Digest: "XA RECOVER"}, usedTrx, home(reasonXA)},
	{"only locks left: XA COMMIT", class(classifier.XA, none), facts{readOnlyTrx: true, onlyLocks: true}, ending(home(reasonXA))},
	{"only locks left: GET_LOCK and a table", class(classifier.Read, classifier.GetLock), facts{readOnlyTrx: true, onlyLocks: true}, ending(home(kindReason(classifier.Read)))},
	{"used: HANDLER", class(classifier.Handler, none), usedTrx, inTrx},
	{"used: WITH CONSISTENT SNAPSHOT", begin(classifier.Trx{Snapshot: true}), usedTrx, inTrx},
	{"used: READ ONLY again", begin(classifier.Trx{ReadOnly: true}), usedTrx, inTrx},
	{"used: BEGIN, transactions read only", begin(classifier.Trx{}), facts{readOnlyTrx: true, readOnly: true}, inTrx},
	{"used: READ WRITE, transactions read only", begin(classifier.Trx{ReadWrite: true}), facts{readOnlyTrx: true, readOnly: true}, inTrx},
	{"used: SET", class(classifier.Set, none), usedTrx, home(reasonSession)},
	{"used: USE", class(classifier.Use, none), usedTrx, home(reasonSession)},
	{"used: write", class(classifier.Write, none), usedTrx, refusedDML},
	{"used: CREATE TEMPORARY TABLE", class(classifier.Write, classifier.CreatesTemp), usedTrx, refusedDML},
	{"used: read with LAST_INSERT_ID()", class(classifier.ReadSource, classifier.UsesLastInsertID), usedTrx, inTrx},
	{"used: read that sets LAST_INSERT_ID()", class(classifier.ReadSource, classifier.SetsLastInsertID), usedTrx, inTrx},
	{"used: read with GET_LOCK", class(classifier.ReadSource, classifier.GetLock), usedTrx, refused},
	{"used: SELECT INTO @a", class(classifier.Write, classifier.SelectInto), usedTrx, refused},
	{"used: locking read", class(classifier.LockingRead, none), usedTrx, inTrx},
	{"used: CALL", class(classifier.Call, classifier.MayCommit), usedTrx, inTrx},
	{"only locks left: GET_LOCK and a table", class(classifier.Read, classifier.GetLock), facts{readOnlyTrx: true, onlyLocks: true}, ending(home(kindReason(classifier.Read)))},
	{"used: HANDLER", class(classifier.Handler, none), usedTrx, inTrx},
	{"used: not understood", class(classifier.Unknown, classifier.MayCommit), usedTrx, inTrx},
	{"used: DDL", class(classifier.DDL, classifier.ImplicitCommit), usedTrx, ending(home(reasonDDL))},
	{"used: LOCK TABLES", class(classifier.LockTables, none), usedTrx, ending(home(reasonLockedTables))},
	{"used: UNLOCK TABLES", class(classifier.UnlockTables, none), usedTrx, inTrx},
}

func TestDecide(t *testing.T) {
	for _, c := range decisions {
		t.Run(c.name, func(t *testing.T) {
			if got := decide(c.class, c.facts); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

var allKinds = func() []classifier.Kind {
	var out []classifier.Kind
	for k := classifier.Empty; k < classifier.Causeway; k++ {
		out = append(out, k)
	}
	return out
}()

// eachSituation runs fn for all combinations of the facts.
func eachSituation(fn func(f facts)) {
	for bits := range 1 << 7 {
		on := func(i int) bool { return bits&(1<<i) != 0 }
		for _, r := range []reason{reasonNone, reasonTempTables, reasonDoubt} {
			fn(facts{
				readOnlyTrx: on(0), fresh: on(1), homeTrx: on(2), autocommitOff: on(3), readOnly: on(4), nextReadOnly: on(5),
				homeOnly: r, homeState: on(6),
			})
		}
	}
}

// Whatever the session's state: what is not a plain read, or a read-only
// transaction's beginning, is never sent to a replica that was picked for it,
// and nothing at all goes to a replica for a session that must read at home.
func TestDecideNeverSendsAWriteToAReplica(t *testing.T) {
	eachSituation(func(f facts) {
		for _, k := range allKinds {
			for bit := range 30 {
				c := class(k, 1<<bit)
				p := decide(c, f)
				if p.target != toReplica {
					continue
				}
				if k != classifier.Read && k != classifier.Begin {
					t.Fatalf("%v %v in %+v: %+v", k, c.Flags, f, p)
				}
				if c.Flags.Any(homeFlags) && k == classifier.Read || f.homeOnly != reasonNone {
					t.Fatalf("%v %v in %+v: %+v", k, c.Flags, f, p)
				}
				if f.homeTrx && !f.readOnlyTrx {
					t.Fatalf("%v in a transaction on the source %+v: %+v", k, f, p)
				}
			}
		}
	})
}

// Every decision has a reason, and one that ends or moves a transaction is in one.
func TestDecideIsComplete(t *testing.T) {
	eachSituation(func(f facts) {
		for _, k := range allKinds {
			p := decide(class(k, 0), f)
			if p.reason == reasonNone {
				t.Fatalf("%v in %+v: no reason", k, f)
			}
			if (p.endTrx || p.move || p.target == toTrx) && !f.readOnlyTrx {
				t.Fatalf("%v in %+v: %+v", k, f, p)
			}
			if p.move && !f.fresh {
				t.Fatalf("%v in %+v moves a snapshot", k, f)
			}
		}
	})
}

// PREPARE runs nothing: it neither begins, moves or ends a transaction, and only
// what writes is refused before its execution.
func TestDecidePrepare(t *testing.T) {
	eachSituation(func(f facts) {
		for _, k := range allKinds {
			for bit := range 30 {
				p := decidePrepare(class(k, 1<<bit), f)
				if p.begin || p.endTrx || p.move || p.target == toRefuse && k != classifier.Write || p.target == toLast || p.reason == reasonNone {
					t.Fatalf("%v in %+v: %+v", k, f, p)
				}
				if p.target != toHome && p.target != toRefuse && k != classifier.Read && !(k == classifier.Write && p.target == toTrx) {
					t.Fatalf("%v in %+v: %+v", k, f, p)
				}
			}
		}
	})
	for _, c := range []struct {
		name  string
		class *classifier.Class
		facts facts
		want  plan
	}{
		{"read", class(classifier.Read, 0), idle, replica},
		{"read, autocommit=0 and read only", class(classifier.Read, 0), offReadOnly, plan{target: toReplica, reason: reasonReadOnlyTrx}},
		{"read in a read-only transaction", class(classifier.Read, 0), usedTrx, inTrx},
		{"DDL in a read-only transaction", class(classifier.DDL, classifier.ImplicitCommit), usedTrx, home(reasonSession)},
		{"write in a read-only transaction", class(classifier.Write, 0), freshTrx, plan{target: toTrx, reason: reasonReadOnlyTrx}},
		{"write, the next transaction read only", class(classifier.Write, 0), nextOnly, plan{target: toRefuse, reason: reasonWrite}},
		{"write with temporary tables in one not begun", class(classifier.Write, 0), facts{lazy: true, lazyReadOnly: true, homeOnly: reasonTempTables}, home(reasonWrite)},
		{"write", class(classifier.Write, 0), idle, home(reasonWrite)},
	} {
		if got := decidePrepare(c.class, c.facts); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// tempFree adds temporary tables of which the statement names none.
func tempFree(f facts) facts {
	f.homeOnly, f.tempFree = reasonTempTables, true
	return f
}
