package classifier

import "strconv"

// Kind is what a statement is, as far as routing cares.
type Kind uint8

// The kinds. Read is the only one that a replica may answer outside a
// transaction.
const (
	Empty          Kind = iota // nothing but comments and blanks; the server answers OK or 1065
	Read                       // plain read: no state, no locks, any covered replica
	ReadSource                 // a read that only the source or the home connection can answer
	Diagnostics                // must run where the last statement ran: SHOW WARNINGS, ROW_COUNT()
	LockingRead                // FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE anywhere in it
	Write                      // DML, SELECT ... INTO, unknown stored functions, temporary tables
	DDL                        // commits implicitly
	Begin                      // BEGIN, START TRANSACTION
	Commit                     // COMMIT
	Rollback                   // ROLLBACK of the whole transaction
	Savepoint                  // SAVEPOINT, RELEASE SAVEPOINT, ROLLBACK TO
	Set                        // SET of variables, names, roles
	SetTransaction             // characteristics of the next transaction only
	Use                        // USE schema
	Call                       // CALL
	LockTables                 // LOCK TABLES, LOCK INSTANCE, FLUSH TABLES ... WITH READ LOCK
	UnlockTables               // UNLOCK TABLES, UNLOCK INSTANCE
	XA                         // XA ...
	Handler                    // HANDLER ...
	TextPrepare                // PREPARE, EXECUTE, DEALLOCATE PREPARE
	Kill                       // KILL [QUERY] id
	Do                         // DO expr
	Other                      // known, for the home connection, no implicit commit
	Unknown                    // not understood: the source, may commit, may change anything
	Causeway                   // a statement to the proxy itself
)

var kindNames = [...]string{
	Empty: "empty", Read: "read", ReadSource: "read_source", Diagnostics: "diagnostics",
	LockingRead: "locking_read", Write: "write", DDL: "ddl", Begin: "begin", Commit: "commit",
	Rollback: "rollback", Savepoint: "savepoint", Set: "set", SetTransaction: "set_transaction",
	Use: "use", Call: "call", LockTables: "lock_tables", UnlockTables: "unlock_tables", XA: "xa",
	Handler: "handler", TextPrepare: "text_prepare", Kill: "kill", Do: "do", Other: "other",
	Unknown: "unknown", Causeway: "causeway",
}

// String is the kind's name as it appears in logs and metrics.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}
