package server

import (
	"strings"

	"causeway/classifier"
)

// target is where a statement goes.
type target uint8

const (
	toHome    target = iota // the session's connection to the source
	toReplica               // a replica that qualifies, else what on_lag says
	toTrx                   // the replica connection that holds the open read-only transaction
	toLast                  // the connection that ran the last statement
	toRefuse                // an error, without asking anyone
)

// facts is what a decision needs to know of a session. All of it is known
// without asking a server.
type facts struct {
	// readOnlyTrx: a read-only transaction is open on a replica; fresh until a
	// statement has read a table in it, after which its snapshot cannot move.
	readOnlyTrx, fresh bool
	// unread: no statement has read a table in it, but it has savepoints.
	unread bool
	// rereads: its isolation level keeps no snapshot: each read sees the latest.
	rereads bool
	// onlyLocks: of it only metadata locks are left, after a statement under
	// autocommit = 0 that failed.
	onlyLocks bool
	// homeTrx: the source connection is inside a transaction.
	homeTrx bool
	// lazy: a transaction has begun, but no server knows of it yet;
	// lazyReadOnly: it is READ ONLY.
	lazy, lazyReadOnly bool
	// autocommitOff: each statement that reads a table opens a transaction.
	autocommitOff bool
	// readOnly: the session's transactions are READ ONLY by default;
	// nextReadOnly: the next one is, by SET TRANSACTION.
	readOnly, nextReadOnly bool
	// homeOnly, if not empty, is why every read must stay on the source connection.
	homeOnly reason
	// tempFree: homeOnly is for temporary tables alone, none of which the statement names.
	tempFree bool
	// homeState: the isolation level is SERIALIZABLE, whose reads take locks; or user variables, text-prepared statements or handlers live on the
	// source connection, which statements of a transaction may use, or the client is to
	// be told of its transactions: they all begin there.
	homeState bool
}

// plan is the decision on one statement, with its reason. Later steps never
// look at the text again.
type plan struct {
	target target
	reason reason
	begin  bool // may open a read-only transaction on the replica that is picked
	endTrx bool // commits the read-only transaction on the replica first
	chain  bool // and the next one is like it
	move   bool // moves the read-only transaction to the source first
}

// decide says where a statement goes. It is pure.
func decide(c *classifier.Class, f facts) plan {
	switch {
	case f.readOnlyTrx:
		return decideInReadOnlyTrx(c, f)
	case c.Kind == classifier.Begin:
		return decideBegin(c, f)
	case c.Kind == classifier.Diagnostics && !c.Flags.Any(classifier.UsesLastInsertID|classifier.UsesUserVars|classifier.SetsUserVars):
		return plan{target: toLast, reason: reasonDiagnostics}
	case c.Kind == classifier.Read:
		return decideRead(c, f)
	case f.lazyReadOnly && c.Kind == classifier.Write && f.homeOnly == reasonNone:
		home := plan{target: toHome, reason: reasonWrite}
		return decideWriteInReadOnlyTrx(c, home, func() plan { return home })
	}
	return plan{target: toHome, reason: kindReason(c.Kind)}
}

// decidePrepare says where COM_STMT_PREPARE goes. It runs nothing: no
// transaction begins, moves or ends by it. But a server opens the tables for
// writing already now, and says where it must not.
func decidePrepare(c *classifier.Class, f facts) plan {
	switch {
	case f.readOnlyTrx && f.homeOnly != reasonTempTables && isPlainWrite(c): // it refuses, or finds a mistake before that
		return plan{target: toTrx, reason: reasonReadOnlyTrx}
	case (f.lazyReadOnly || f.nextReadOnly) && f.homeOnly != reasonTempTables && isPlainWrite(c):
		return plan{target: toRefuse, reason: reasonWrite}
	case f.readOnlyTrx && c.Kind == classifier.Read && !c.Flags.Any(homeFlags):
		return plan{target: toTrx, reason: reasonReadOnlyTrx}
	case f.readOnlyTrx:
		return plan{target: toHome, reason: reasonSession}
	case c.Kind == classifier.Read:
		p := decideRead(c, f)
		p.begin = false
		return p
	}
	return plan{target: toHome, reason: kindReason(c.Kind)}
}

// isPlainWrite tells of DML that writes a table which is not temporary, if the
// session has no temporary tables.
func isPlainWrite(c *classifier.Class) bool {
	return c.Kind == classifier.Write && !c.Flags.Any(classifier.CreatesTemp|classifier.DropsTemp|classifier.SelectInto|classifier.UnknownFunction|classifier.MultiStatement)
}

// homeFlags bind a read to the connection that has what it uses.
const homeFlags = classifier.UsesUserVars | classifier.SetsUserVars | classifier.UsesLastInsertID |
	classifier.SetsLastInsertID | classifier.UsesDiagnostics | classifier.GetLock | classifier.ReleaseLock | classifier.UnknownFunction

func decideRead(c *classifier.Class, f facts) plan {
	switch {
	case c.Flags.Any(homeFlags):
		return plan{target: toHome, reason: reasonSourceOnly}
	case f.tempFree && !f.homeTrx && !f.lazy && !f.autocommitOff && !f.nextReadOnly:
		return plan{target: toReplica, reason: reasonRead}
	case f.homeOnly != reasonNone:
		return plan{target: toHome, reason: f.homeOnly}
	case f.lazyReadOnly && !f.homeState:
		return plan{target: toReplica, reason: reasonReadOnlyTrx, begin: true}
	case f.homeTrx, f.lazy:
		return plan{target: toHome, reason: reasonTransaction}
	case !f.autocommitOff && f.nextReadOnly:
		return plan{target: toHome, reason: reasonOneShot} // uses the characteristics up
	case !f.autocommitOff:
		return plan{target: toReplica, reason: reasonRead}
	case (f.readOnly || f.nextReadOnly) && !f.homeState:
		return plan{target: toReplica, reason: reasonReadOnlyTrx, begin: true}
	}
	return plan{target: toHome, reason: reasonTransaction}
}

func decideBegin(c *classifier.Class, f facts) plan {
	readOnly := f.readOnly || f.nextReadOnly
	if f.lazy { // a transaction that begins inside another one is like that
		readOnly = f.lazyReadOnly
	}
	readOnly = c.Trx.ReadOnly || readOnly && !c.Trx.ReadWrite
	if readOnly && !f.homeTrx && f.homeOnly == reasonNone && !f.homeState && !c.Is(classifier.MultiStatement) {
		return plan{target: toReplica, reason: reasonReadOnlyTrx, begin: true}
	}
	return plan{target: toHome, reason: reasonTransaction}
}

// decideInReadOnlyTrx: the transaction lives on a replica. What cannot run
// there runs on the source, if the transaction can still be moved.
func decideInReadOnlyTrx(c *classifier.Class, f facts) plan {
	inTrx := plan{target: toTrx, reason: reasonReadOnlyTrx}
	moved := plan{target: toHome, reason: reasonTransaction, move: true}
	home := plan{target: toHome, reason: kindReason(c.Kind)}
	elsewhere := func() plan {
		switch {
		case f.fresh:
			return moved
		case f.onlyLocks: // there is no snapshot to keep
			home.endTrx = true
			return home
		}
		return plan{target: toRefuse, reason: reasonReadOnlyTrx}
	}
	switch c.Kind {
	case classifier.Read, classifier.ReadSource:
		switch {
		case c.Is(classifier.NoTable) && !c.Is(classifier.UnknownFunction) && (c.Kind == classifier.ReadSource || c.Flags.Any(homeFlags)):
			return home
		case !c.Flags.Any(homeFlags &^ (classifier.UsesUserVars | classifier.UsesLastInsertID | classifier.SetsLastInsertID)):
			return inTrx // user variables are set on both connections, see mirrorSet; an insert id is brought there
		}
		return elsewhere()
	case classifier.Diagnostics:
		return plan{target: toLast, reason: reasonDiagnostics}
	case classifier.Commit, classifier.Rollback, classifier.Savepoint, classifier.Empty:
		return inTrx
	case classifier.Begin:
		return inTrx // reopens has seen to what begins anew; a server judges other texts
	case classifier.Set, classifier.Use, classifier.Kill:
		switch {
		case c.Kind == classifier.Set && setsOutsideOnly(c):
			return inTrx // the error that the source would give
		case f.fresh && c.Kind == classifier.Set && !startsNoTrx(c):
			return moved
		}
		home.endTrx = c.Is(classifier.SetsAutocommit) && f.autocommitOff // to switch it on commits
		return home
	case classifier.SetTransaction:
		return inTrx // 1568, as the source would say
	case classifier.Write:
		return decideWriteInReadOnlyTrx(c, inTrx, elsewhere)
	case classifier.Do:
		return decideDoInReadOnlyTrx(c, inTrx, home, elsewhere, f)
	case classifier.UnlockTables:
		if !c.Is(classifier.MultiStatement) {
			return inTrx // it commits only where LOCK TABLES holds
		}
		return elsewhere()
	case classifier.XA:
		if f.fresh {
			return moved
		}
		if isRecover(c) {
			return home
		}
		if !f.onlyLocks {
			return inTrx // an error wherever it runs: this transaction is no XA transaction
		}
		home.endTrx = true
		return home
	case classifier.DDL, classifier.LockTables:
		home.endTrx = true
		return home
	default:
		if c.Is(classifier.ImplicitCommit) && !c.Is(classifier.MultiStatement) {
			home.endTrx = true
			return home
		}
		switch {
		case f.fresh:
			return moved
		}
		if ends, chains := endsFirst(c); ends { // what follows begins another one, which may write, or must see more
			home.endTrx, home.chain = true, chains
			return home
		}
		return inTrx
	}
}

// endsFirst tells of several statements of which the first only ends a transaction;
// chains: and begins one of the same kind.
func endsFirst(c *classifier.Class) (ends, chains bool) {
	first, _, several := strings.Cut(strings.ToLower(c.Digest), ";")
	if !several || !c.Is(classifier.MultiStatement) {
		return false, false
	}
	switch verb, chain, _ := strings.Cut(strings.TrimSpace(first), " and chain"); verb {
	case "commit", "commit work", "rollback", "rollback work":
		return chain == "", strings.HasSuffix(strings.TrimSpace(first), " and chain")
	}
	return false, false
}

// setsOutsideOnly: variables that no server lets a transaction set.
func setsOutsideOnly(c *classifier.Class) bool {
	for _, name := range c.Names {
		switch name {
		case "session_track_gtids", "gtid_next", "sql_log_bin", "binlog_format", "binlog_direct_non_transactional_updates":
			return true
		}
	}
	return false
}

// decideDoInReadOnlyTrx: named locks and user variables are on the source.
func decideDoInReadOnlyTrx(c *classifier.Class, inTrx, home plan, elsewhere func() plan, f facts) plan {
	switch {
	case c.Flags.Any(classifier.GetLock|classifier.ReleaseLock) && !c.Is(classifier.UnknownFunction) && !strings.Contains(c.Digest, "select"):
		return home
	case f.fresh, c.Is(classifier.SetsUserVars):
		return elsewhere()
	}
	return inTrx
}

func isRecover(c *classifier.Class) bool {
	return strings.HasPrefix(strings.ToLower(c.Digest), "xa recover")
}

// decideWriteInReadOnlyTrx: plain DML is refused as the source would refuse
// it; what only may write (a stored function) is tried where it is.
func decideWriteInReadOnlyTrx(c *classifier.Class, inTrx plan, elsewhere func() plan) plan {
	switch {
	case c.Is(classifier.SelectInto):
		return elsewhere()
	case c.Flags.Any(classifier.UnknownFunction | classifier.MultiStatement):
		return inTrx
	}
	return plan{target: toRefuse, reason: reasonWrite}
}
