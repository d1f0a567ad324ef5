package classifier

import "strings"

func (s statement) begin() verdict {
	return verdict{kind: Begin, flags: ddlFlags}
}

// start judges START TRANSACTION, and START REPLICA and its kin.
func (s statement) start() verdict {
	if !s.is(1, "transaction") {
		return verdict{kind: DDL, flags: ddlFlags}
	}
	v := s.begin()
	for i := 2; i < len(s.toks); i++ {
		switch {
		case s.is(i, "read", "only"):
			v.trx.ReadOnly = true
		case s.is(i, "read", "write"):
			v.trx.ReadWrite = true
		case s.is(i, "consistent", "snapshot"):
			v.trx.Snapshot = true
		}
	}
	return v
}

func (s statement) commit() verdict {
	return verdict{kind: Commit, flags: MayCommit | s.completion()}
}

func (s statement) rollback() verdict {
	i := 1
	if s.is(i, "work") {
		i++
	}
	if s.is(i, "to") {
		return verdict{kind: Savepoint}
	}
	return verdict{kind: Rollback, flags: MayCommit | s.completion()}
}

// completion reads AND [NO] CHAIN and [NO] RELEASE.
func (s statement) completion() Flags {
	var f Flags
	for i := 1; i < len(s.toks); i++ {
		switch no := s.is(i-1, "no"); s.word(i) {
		case "chain":
			if !no {
				f |= Chain
			}
		case "release":
			if !no {
				f |= Release
			}
		}
	}
	return f
}

func (s statement) xa() verdict {
	if s.is(1, "recover") {
		return verdict{kind: XA}
	}
	return verdict{kind: XA, flags: MayCommit}
}

// characteristics reads what follows [scope] TRANSACTION in a SET.
func (s statement) characteristics(i int) (Trx, []string) {
	var t Trx
	var names []string
	for ; i < len(s.toks); i++ {
		switch {
		case s.is(i, "read", "only"):
			t.ReadOnly = true
			names = append(names, "transaction_read_only")
		case s.is(i, "read", "write"):
			t.ReadWrite = true
			names = append(names, "transaction_read_only")
		case s.is(i, "isolation", "level"):
			t.Isolation = isolation(s.word(i+2), s.word(i+3))
			names = append(names, "transaction_isolation")
			i += 2
		}
	}
	return t, names
}

func isolation(a, b string) string {
	switch a {
	case "serializable":
		return "SERIALIZABLE"
	case "repeatable", "read":
		return strings.ToUpper(a + "-" + b)
	}
	return ""
}
