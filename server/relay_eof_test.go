package server

import (
	"testing"

	"causeway/classifier"
	"causeway/wire"
)

// What an older client is told after the columns, by what was before and by the
// statement; the values were seen on a server.
func TestStatusAfterColumns(t *testing.T) {
	const auto, trx, more = wire.StatusAutocommit, wire.StatusInTrans, wire.StatusMoreResults
	for _, c := range []struct {
		name, in, want string
		before         wire.Status
		class          classifier.Class
	}{
		{"autocommit", "n1 d r fe", "n1 d EOF r EOF", auto, classifier.Class{Kind: classifier.Read, Statements: 1}},
		{"in a transaction", "n1 d r fe+trx", "n1 d EOF+trx r EOF+trx", auto | trx, classifier.Class{Kind: classifier.Read, Statements: 1}},
		{"two statements", "n1 d r fe+more n1 d r fe", "n1 d EOF+more r EOF+more n1 d EOF r EOF", auto, classifier.Class{Kind: classifier.Read, Statements: 2}},
		{"BEGIN and a read", "ok+more+trx n1 d r fe+trx", "ok+more+trx n1 d EOF+trx r EOF+trx", auto, classifier.Class{Kind: classifier.Unknown, Statements: 2}},
		{"CALL", "n1 d r fe+more n1 d r fe+more ok", "n1 d EOF+more r EOF+more n1 d EOF+more r EOF+more ok", auto, classifier.Class{Kind: classifier.Call, Statements: 1}},
	} {
		tune := func(r *relay) {
			r.first = firstEOF{before: c.before}
			r.first.expect(&c.class)
		}
		r := relayPieces(expectResult, old, tune, framed(1, answer(t, c.in)...))
		t.Log(c.name)
		wantBytes(t, r.out, framed(1, answer(t, c.want)...))
	}
	r := &relay{first: firstEOF{before: 0}}
	r.first.expect(&classifier.Class{Kind: classifier.Read, Statements: 1})
	if got := r.statusAhead(); got != trx {
		t.Errorf("reading a table while autocommit is off: %x", got)
	}
	r.first = firstEOF{before: more | auto}
	r.first.expect(&classifier.Class{Kind: classifier.Read, Flags: classifier.NoTable, Statements: 1})
	if got := r.statusAhead(); got != auto {
		t.Errorf("reading no table: %x", got)
	}
}
