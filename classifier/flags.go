package classifier

import (
	"math/bits"
	"strings"
)

// Flags says what a statement reads and changes besides its kind.
type Flags uint64

// The flags.
const (
	MayCommit         Flags = 1 << iota // its ERR may hide a committed GTID
	ImplicitCommit                      // ends an open transaction before it runs
	UsesUserVars                        // reads @x
	SetsUserVars                        // assigns @x (SET, :=, INTO @x, GET DIAGNOSTICS)
	UsesLastInsertID                    // LAST_INSERT_ID(), @@last_insert_id, @@identity
	SetsLastInsertID                    // LAST_INSERT_ID(expr), SET last_insert_id
	UsesDiagnostics                     // reads the diagnostics of the statement before
	FoundRows                           // SQL_CALC_FOUND_ROWS: a FOUND_ROWS() may follow
	CreatesTemp                         // CREATE TEMPORARY TABLE
	DropsTemp                           // DROP TEMPORARY TABLE, or DROP TABLE that may name one
	GetLock                             // GET_LOCK()
	ReleaseLock                         // RELEASE_LOCK(), RELEASE_ALL_LOCKS()
	UnknownFunction                     // calls a stored or loadable function nobody vouched for
	ReadsSystemVars                     // reads @@x
	ExecutableComment                   // has /*! code */
	MultiStatement                      // more than one statement in the text
	SetsTracker                         // assigns a session_track_* variable
	SetsReadOnly                        // assigns transaction_read_only, or SESSION TRANSACTION READ ...
	SetsAutocommit                      // assigns autocommit
	SetsLogBin                          // assigns sql_log_bin
	SetsGlobal                          // assigns a GLOBAL or PERSIST variable
	SetsUntracked                       // assigns session state that no tracked variable shows
	MayChangeState                      // may change session state: ask the state-change tracker
	Chain                               // COMMIT or ROLLBACK AND CHAIN
	Release                             // COMMIT or ROLLBACK RELEASE
	NoTable                             // a read without any table, as SELECT 1
	SelectInto                          // SELECT ... INTO OUTFILE, DUMPFILE or variables
	SetsNextTrx                         // assigns the next transaction's characteristics only
	Opaque                              // runs what the text does not show: CALL, a stored function, EXECUTE, or it was not understood
	LocksTables                         // LOCK TABLES, FLUSH TABLES t WITH READ LOCK or FOR EXPORT
	LocksServer                         // FLUSH TABLES WITH READ LOCK: the global read lock
	LocksInstance                       // LOCK INSTANCE
	UnlocksTables                       // UNLOCK TABLES: these, and the global read lock
	UnlocksInstance                     // UNLOCK INSTANCE
	NamesToken                          // names @causeway_token or @causeway_gtids
	SetsHint                            // SET @causeway_key = ..., or another variable that holds a hint
	HidesHint                           // may assign one of these in a way that is not followed: :=, INTO, OUT parameters
)

var flagNames = [...]string{
	"MayCommit", "ImplicitCommit", "UsesUserVars", "SetsUserVars", "UsesLastInsertID",
	"SetsLastInsertID", "UsesDiagnostics", "FoundRows", "CreatesTemp", "DropsTemp", "GetLock",
	"ReleaseLock", "UnknownFunction", "ReadsSystemVars", "ExecutableComment", "MultiStatement",
	"SetsTracker", "SetsReadOnly", "SetsAutocommit", "SetsLogBin", "SetsGlobal", "SetsUntracked",
	"MayChangeState", "Chain", "Release", "NoTable", "SelectInto", "SetsNextTrx",
	"Opaque", "LocksTables", "LocksServer", "LocksInstance", "UnlocksTables", "UnlocksInstance", "NamesToken", "SetsHint", "HidesHint",
}

// unknownFlags is what a text that was not understood may do.
const (
	unknownFlags = MayCommit | MayChangeState
	opaqueFlags  = unknownFlags | Opaque
)

// Has reports whether all of want are set.
func (f Flags) Has(want Flags) bool { return f&want == want }

// Any reports whether at least one of want is set.
func (f Flags) Any(want Flags) bool { return f&want != 0 }

// String lists the names of the flags, joined with |.
func (f Flags) String() string {
	if f == 0 {
		return "0"
	}
	var names []string
	for f != 0 {
		i := bits.TrailingZeros64(uint64(f))
		f &^= 1 << i
		if i < len(flagNames) {
			names = append(names, flagNames[i])
		}
	}
	return strings.Join(names, "|")
}
