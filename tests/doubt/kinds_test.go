package doubt

import (
	"errors"
	"fmt"

	"causeway/tests/session/raw"
	"causeway/wire"
)

const kindCaps = wire.CapMultiStatements

// kind is one way to write row id = i to value v. The statement whose answer
// is lost has the mark in its text.
type kind struct {
	name string
	// blocks: the marked statement itself waits for the row's lock.
	blocks bool
	// errno is what MySQL answers though the write is committed, 0: OK.
	errno uint16
	// parts: the answer has more than one packet. If some have reached the
	// client already, Causeway can only end the session.
	parts bool
	// ends: the session has state that is lost with the connection (XA), so
	// Causeway may end it.
	ends bool
	// cleanup is what a client does after an error inside its transaction. Not
	// needed where the lost statement itself ended the transaction.
	cleanup []string
	do      func(c *raw.Client, mark string, i, v int) (raw.Answer, error)
}

var kinds = []kind{
	{name: "UPDATE", blocks: true, do: texts("UPDATE d SET v = %[3]d WHERE id = %[2]d /* %[1]s */")},
	{name: "prepared UPDATE", blocks: true, do: preparedUpdate},
	{name: "BEGIN; UPDATE; COMMIT in one text", blocks: true, parts: true, do: texts("/* %[1]s */ BEGIN; UPDATE d SET v = %[3]d WHERE id = %[2]d; COMMIT")},
	{name: "CALL", blocks: true, do: texts("CALL put(%[2]d, %[3]d) /* %[1]s */")},
	{name: "CALL that fails after its write", blocks: true, errno: 1644, do: texts("CALL put_and_fail(%[2]d, %[3]d) /* %[1]s */")},
	{name: "stored function", blocks: true, parts: true, do: texts("SELECT /* %[1]s */ put_fn(%[2]d, %[3]d)")},
	{name: "COMMIT", do: texts("BEGIN", "UPDATE d SET v = %[3]d WHERE id = %[2]d", "COMMIT /* %[1]s */")},
	{name: "prepared COMMIT", do: preparedCommit},
	{name: "autocommit=1", cleanup: []string{"ROLLBACK", "SET autocommit = 1"}, do: texts("SET autocommit = 0", "UPDATE d SET v = %[3]d WHERE id = %[2]d", "SET autocommit = 1 /* %[1]s */")},
	{name: "CREATE TABLE that fails", errno: 1050, do: texts("BEGIN", "UPDATE d SET v = %[3]d WHERE id = %[2]d", "CREATE TABLE d (id INT) /* %[1]s */")},
	{name: "DDL", do: texts("BEGIN", "UPDATE d SET v = %[3]d WHERE id = %[2]d", "ALTER TABLE d COMMENT = '%[1]s'")},
	{name: "XA COMMIT ONE PHASE", ends: true, do: texts("XA START 'xa%[3]d'", "UPDATE d SET v = %[3]d WHERE id = %[2]d", "XA END 'xa%[3]d'", "/* %[1]s */ XA COMMIT 'xa%[3]d' ONE PHASE")},
}

// texts runs statements in turn: mark, row and value are their arguments 1 to
// 3. All but the last must succeed.
func texts(stmts ...string) func(c *raw.Client, mark string, i, v int) (raw.Answer, error) {
	return func(c *raw.Client, mark string, i, v int) (raw.Answer, error) {
		var a raw.Answer
		for n, s := range stmts {
			var err error
			// %[4]v takes what a statement without arguments leaves over.
			a, err = c.Query(fmt.Sprintf(s+"%[4]v", mark, i, v, ""))
			if err != nil || a.Err() != nil {
				if n < len(stmts)-1 {
					err = errors.Join(err, fmt.Errorf("%s: %w", s, errNotReached))
				}
				return a, err
			}
		}
		return a, nil
	}
}

// errNotReached: a statement before the marked one failed.
var errNotReached = errors.New("the marked statement was not reached")

func preparedUpdate(c *raw.Client, mark string, i, v int) (raw.Answer, error) {
	s, err := c.Prepare(fmt.Sprintf("UPDATE d SET v = ? WHERE id = ? /* %s */", mark))
	if err != nil {
		return nil, err
	}
	a, err := s.Execute(raw.NoCursor, raw.Int64(int64(v)), raw.Int64(int64(i)))
	if err == nil {
		err = s.Close()
	}
	return a, err
}

func preparedCommit(c *raw.Client, mark string, i, v int) (raw.Answer, error) {
	s, err := c.Prepare(fmt.Sprintf("COMMIT /* %s */", mark))
	if err != nil {
		return nil, err
	}
	a, err := texts("BEGIN", "UPDATE d SET v = %[3]d WHERE id = %[2]d")(c, mark, i, v)
	if err == nil && a.Err() == nil {
		a, err = s.Execute(raw.NoCursor)
	}
	return a, errors.Join(err, s.Close())
}
