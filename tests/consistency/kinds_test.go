package consistency

import (
	"context"
	"math/rand/v2"
)

// kind is one way to write. do writes, reads back through verify as often as
// it likes, and leaves the connection in autocommit, outside a transaction. Its
// error is one that MySQL itself would not have given.
type kind struct {
	name   string
	weight int
	do     func(ctx context.Context, w *worker) error
}

// kinds are all ways to write, the expensive ones rarer.
var kinds = []kind{
	{"update", 260, update},
	{"insert or update", 120, upsert},
	{"replace", 60, replace},
	{"delete", 60, remove},
	{"insert of a key that exists", 20, duplicate},
	{"LOAD DATA LOCAL", 8, loadData},
	{"another schema", 20, otherSchema},
	{"several statements", 50, several},
	{"several statements, one fails", 15, severalFail},
	{"LOCK TABLES", 10, lockTables},

	{"transaction", 110, transaction},
	{"long transaction", 30, longTransaction},
	{"savepoint", 20, savepoint},
	{"rollback", 20, rollback},
	{"COMMIT AND CHAIN", 10, chain},
	{"autocommit=0 and COMMIT", 40, autocommitOff},
	{"autocommit=0 and autocommit=1", 25, autocommitOn},
	{"autocommit=0 and BEGIN", 10, autocommitBegin},

	{"XA", 15, xaTwoPhases},
	{"XA in one phase", 10, xaOnePhase},
	{"XA ROLLBACK", 5, xaRollback},

	{"CALL", 50, call},
	{"CALL with results", 30, callResults},
	{"stored function", 40, function},
	{"DO of a stored function", 10, doFunction},
	{"view over a stored function", 12, viewFunction},

	{"DDL: life of a table", 3, tableLife},
	{"DDL: copy of a table", 1, tableCopy},
	{"DDL: view", 2, viewLife},
	{"DDL in a transaction", 2, ddlInTransaction},
	{"ANALYZE TABLE", 1, analyze},

	{"CREATE fails in a transaction", 15, createFails},
	{"ALTER fails in a transaction", 10, alterFails},
	{"LOCK TABLES fails in a transaction", 5, lockFails},
	{"CALL fails after its write", 25, callFails},
	{"MyISAM insert fails in the middle", 15, looseFails},
	{"MyISAM insert in a ROLLBACK", 12, looseRollback},
	{"MyISAM insert in a failing function", 8, looseFunctionFails},
}

var totalWeight = func() int {
	n := 0
	for _, k := range kinds {
		n += k.weight
	}
	return n
}()

// pick draws a kind by weight.
func pick(rng *rand.Rand) kind {
	n := rng.IntN(totalWeight)
	for _, k := range kinds {
		if n -= k.weight; n < 0 {
			return k
		}
	}
	panic("BUG: weights do not add up")
}
