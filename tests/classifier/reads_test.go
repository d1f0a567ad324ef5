package classifier

import (
	"testing"

	"causeway/classifier"
	"causeway/classifier/cases"
)

const (
	errReadOnlyTrx   = 1792
	errNoFunction    = 1305
	errFunctionSpace = 1630 // "check the Function Name Parsing and Resolution section"
)

// reads are the texts of the table that are called plain reads.
func reads(t *testing.T) []string {
	c := classifier.New(classifier.Options{})
	var all []string
	for _, tc := range cases.All() {
		if c.Classify([]byte(tc.SQL), classifier.Mode{}).Kind == classifier.Read {
			all = append(all, tc.SQL)
		}
	}
	if len(all) < 100 {
		t.Fatalf("%d reads in the table", len(all))
	}
	return all
}

// invalid are reads in the table that are not valid on purpose, or need
// parameters: an error is the same on every node.
var invalid = map[string]bool{
	"SELECT a FROM t */": true,
	"SELECT ?":           true,
	"SELECT a FROM t WHERE id = ? AND c IN (?, ?)": true,
}

func TestReadsRunInReadOnlyTransactions(t *testing.T) {
	s := newSession(t)
	for _, text := range reads(t) {
		s.must("START TRANSACTION READ ONLY")
		switch err := s.exec(text); {
		case errno(err) == errReadOnlyTrx:
			t.Errorf("MISS: called a read, but: %v\n%s", err, text)
		case err != nil && !invalid[text]:
			t.Errorf("not a valid statement: %v\n%s", err, text)
		}
		s.must("ROLLBACK")
	}
}

func TestReadsLeaveNoGTID(t *testing.T) {
	s := newSession(t)
	before := s.executed()
	for _, text := range reads(t) {
		_ = s.exec(text)
		if after := s.executed(); after != before {
			t.Errorf("MISS: called a read, but gtid_executed went from %s to %s\n%s", before, after, text)
			before = after
		}
	}
}

// TestWritingFunctionsAreSeen: without this the two tests above could pass for
// want of anything that writes.
func TestWritingFunctionsAreSeen(t *testing.T) {
	s := newSession(t)
	c := classifier.New(classifier.Options{})
	for _, text := range []string{
		"SELECT wr_f(1)", "SELECT WR_F (1)", "SELECT `wr_f`(1)", "SELECT cases.wr_f(1)",
		"SELECT now ()", "SELECT now/**/()", "SELECT `now`()", "SELECT cases.now()",
		"SELECT a FROM t ORDER BY wr_f(a)", "VALUES ROW(wr_f(1))", "DO wr_f(1)", "SET @x = wr_f(1)",
	} {
		s.must("START TRANSACTION READ ONLY")
		if err := s.exec(text); errno(err) != errReadOnlyTrx {
			t.Errorf("%s: %v, want error %d", text, err, errReadOnlyTrx)
		}
		s.must("ROLLBACK")
		if class := c.Classify([]byte(text), classifier.Mode{}); !class.Is(classifier.UnknownFunction) {
			t.Errorf("%s: %s %s", text, class.Kind, class.Flags)
		}
	}
	s.must("SET sql_mode = 'IGNORE_SPACE'")
	s.must("START TRANSACTION READ ONLY")
	s.must("SELECT now ()") // built in again
	if err := s.exec("SELECT now/**/()"); errno(err) != errReadOnlyTrx {
		t.Errorf("now/**/() with IGNORE_SPACE: %v", err)
	}
}

// components are built-in functions of older servers that MySQL 9 has moved
// into a component: they only read wherever they are.
var components = map[string]bool{"md5": true, "sha": true, "sha1": true}

// TestBuiltins: the server knows every built-in function of the list, and
// takes those for stored ones that must touch their parenthesis and do not.
func TestBuiltins(t *testing.T) {
	s := newSession(t)
	s.must("DROP FUNCTION `now`")
	c := classifier.New(classifier.Options{})
	for _, name := range classifier.Builtins() {
		if components[name] {
			continue
		}
		if err := s.exec("SELECT " + name + "()"); stored(err) {
			t.Errorf("%s is no built-in function: %v", name, err)
		}
		spaced := "SELECT " + name + " ()"
		class := c.Classify([]byte(spaced), classifier.Mode{})
		if err := s.exec(spaced); stored(err) != class.Is(classifier.UnknownFunction) {
			t.Errorf("%s: %s %s, the server says %v", spaced, class.Kind, class.Flags, err)
		}
	}
}

// stored reports whether the server looked for a stored function.
func stored(err error) bool { return errno(err) == errNoFunction || errno(err) == errFunctionSpace }
