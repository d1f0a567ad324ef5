package server

import "causeway/classifier"

// reason is why a statement went where it went: one is counted for each.
type reason uint8

const (
	reasonNone        reason = iota
	reasonRead               // plain read without a token, on a replica that is fresh enough
	reasonToken              // plain read on a replica that covers the session's token
	reasonWaited             // as before, after waiting for the replica
	reasonFallback           // no replica qualified: the source, within the budget
	reasonStale              // budget used up, no token: the freshest live replica, with a warning
	reasonNoReplica          // no replica is usable at all
	reasonReadOnlyTrx        // read-only transaction on a replica
	reasonTransaction        // inside a transaction on the source
	reasonWrite
	reasonDDL
	reasonLockingRead
	reasonSourceOnly  // a read that only the source connection can answer
	reasonDiagnostics // must run where the last statement ran
	reasonSession     // SET, USE, PREPARE and other session commands
	reasonUnknown     // not understood
	reasonTempTables
	reasonLockedTables
	reasonXA
	reasonUserLocks  // GET_LOCK serialises with other sessions: their writes must be seen
	reasonUntracked  // a write without GTID, or a variable that nobody reports
	reasonDoubt      // the outcome of a write is not known yet
	reasonResent     // a replica could not answer: it would write, or lacks a table
	reasonLocal      // answered here
	reasonRefused    // an error from here
	reasonOneShot    // SET TRANSACTION holds for this statement
	reasonClass      // the class or a rule names the source
	reasonDenied     // by a rule
	reasonBrownout   // its class is refused, as reads wait too long for connections
	reasonStandIn    // no source serves: a replica in its place
	reasonSourceFull // all connections to the source are in use: a replica in its place
	reasonSticky     // shortly after a commit in its scope: the source, within the budget
	reasonPrepared   // long data or a cursor binds the statement to a connection
	reasonCount      = iota
)

var reasonNames = [reasonCount]string{
	reasonNone: "none", reasonRead: "read", reasonToken: "token_covered", reasonWaited: "token_waited",
	reasonFallback: "fallback", reasonStale: "stale", reasonNoReplica: "no_replica",
	reasonReadOnlyTrx: "read_only_transaction", reasonTransaction: "transaction", reasonWrite: "write",
	reasonDDL: "ddl", reasonLockingRead: "locking_read", reasonSourceOnly: "source_only",
	reasonDiagnostics: "diagnostics", reasonSession: "session", reasonUnknown: "unknown_statement",
	reasonTempTables: "temporary_tables", reasonLockedTables: "locked_tables", reasonXA: "xa", reasonUserLocks: "user_locks",
	reasonUntracked: "untracked", reasonDoubt: "doubt", reasonResent: "resent", reasonLocal: "local",
	reasonRefused: "refused", reasonOneShot: "set_transaction", reasonPrepared: "statement_bound",
	reasonClass: "class", reasonDenied: "denied", reasonBrownout: "brownout", reasonStandIn: "no_source", reasonSourceFull: "source_full", reasonSticky: "sticky",
}

// String is the reason as a metric label and in SHOW CAUSEWAY ROUTE.
func (r reason) String() string { return reasonNames[r] }

// kindReason is the reason of a statement that goes to the source by its kind.
func kindReason(k classifier.Kind) reason {
	switch k {
	case classifier.Write, classifier.Call, classifier.Do:
		return reasonWrite
	case classifier.DDL:
		return reasonDDL
	case classifier.LockingRead:
		return reasonLockingRead
	case classifier.Commit, classifier.Rollback, classifier.Savepoint, classifier.Begin:
		return reasonTransaction
	case classifier.XA:
		return reasonXA
	case classifier.LockTables, classifier.UnlockTables:
		return reasonLockedTables
	case classifier.Read, classifier.ReadSource, classifier.Diagnostics, classifier.Handler, classifier.Empty:
		return reasonSourceOnly
	case classifier.Unknown:
		return reasonUnknown
	default:
		return reasonSession
	}
}

// isOwnRead tells whether a read on the source is one that no replica could
// have served: the fallback budget grows with their rate.
func isOwnRead(c *classifier.Class, r reason) bool {
	switch c.Kind {
	case classifier.Read, classifier.ReadSource, classifier.LockingRead:
		return r != reasonFallback && r != reasonNoReplica && r != reasonResent && r != reasonSticky
	}
	return false
}
