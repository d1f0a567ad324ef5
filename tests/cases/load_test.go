package cases

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"causeway/tests/session/raw"
	"causeway/wire"
)

// loadCases: LOAD DATA LOCAL is between the client and the source.
var loadCases = []theCase{
	{row: "D1", name: "files of all sizes", steps: steps(
		load("a", "LOAD DATA LOCAL INFILE 'numbers' INTO TABLE t (v)", "1\n2\n3\n", 0).at("source"), "a: SELECT v FROM t WHERE id > 5 ORDER BY id => 1 | 2 | 3 @replica", load("b", "LOAD DATA LOCAL INFILE 'x' INTO TABLE t (v)", "7\n8\n", 2), "a: SHOW WARNINGS => none", load("a", "LOAD DATA LOCAL INFILE 'x' INTO TABLE t (v)", "abc\n", 0), "a: SHOW WARNINGS", load("a", "LOAD DATA LOCAL INFILE 'empty' INTO TABLE t (v)", "", 0), load("a", "LOAD DATA LOCAL INFILE 'x' INTO TABLE nosuch (v)", "1\n", 0),
		load("a", "LOAD DATA LOCAL INFILE 'large' INTO TABLE words (id, s)", lines(5000), 60000), "a: SELECT COUNT(*), MAX(id) FROM words => 5003,5999 @replica", "a: BEGIN", load("a", "LOAD DATA LOCAL INFILE 'x' INTO TABLE t (v)", "9\n", 0), "a: ROLLBACK", "b: SELECT COUNT(*) FROM t", load("a", "LOAD DATA LOCAL INFILE 'x' INTO TABLE t (v); SELECT 5", "9\n", 0),
	)},
	{row: "D1", name: "without the capability", classic: true, options: map[string]func(*raw.Options){"a": func(o *raw.Options) { o.Caps &^= wire.CapLocalFiles }}, steps: steps(
		load("a", "LOAD DATA LOCAL INFILE 'x' INTO TABLE t (v)", "1\n", 0), "a: SELECT 1 => 1", load("b", "LOAD DATA LOCAL INFILE 'x' INTO TABLE t (v)", "1\n", 0), "b: SELECT COUNT(*) FROM t => 6", load("a", "LOAD DATA LOCAL INFILE 'x' INTO TABLE t (v)", "1\n", 0), "b: SELECT COUNT(*) FROM t => 6",
	)},
	{row: "D2", name: "only the client's file", run: onlyTheClients},
	{row: "D3", name: "never asked for twice", run: neverTwice},
}

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d\tline %d\n", i+1000, i)
	}
	return b.String()
}

// onlyTheClients names a file that exists on this host, readable by Causeway.
// What arrives must be what the client sends under that name.
func onlyTheClients(e *env) string {
	path := filepath.Join(e.t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte("666\n"), 0o644); err != nil {
		e.errorf("%v", err)
	}
	c := e.dial()
	if c == nil {
		return ""
	}
	defer c.Quit()
	c.LocalFile = []byte("5\n6\n")
	a := e.query(c, "LOAD DATA LOCAL INFILE '"+path+"' INTO TABLE t (v)")
	if len(a) != 1 || a[0].LocalFile != path {
		e.errorf("the client was not asked for %s: %v", path, a)
	}
	if got := e.onSource("SELECT GROUP_CONCAT(v ORDER BY id) FROM cases.t WHERE id > 5"); got != "5,6" {
		e.errorf("the rows are %s, wanted 5,6", got)
	}
	return ""
}

// neverTwice breaks the connection to the source in the middle of a file. The
// client must get an error, not the question for its file again.
func neverTwice(e *env) string {
	c := e.dial()
	if c == nil {
		return ""
	}
	defer c.Close()
	if err := c.SendQuery("LOAD /* cases load */ DATA LOCAL INFILE 'f' INTO TABLE t (v)"); err != nil {
		e.errorf("%v", err)
	}
	ask, err := c.Conn().ReadPacket()
	if err != nil || len(ask) == 0 || ask[0] != wire.HeaderLocalFile {
		e.errorf("not asked for a file: %x %v", ask, err)
		return ""
	}
	c.Conn().WritePacket([]byte("1\n2\n"))
	c.Conn().Flush()
	e.starts("load")
	if nodes, threads := e.running("load"); len(nodes) == 1 {
		if err := nodes[0].Exec(e.t.Context(), "KILL "+threads[0]); err != nil {
			e.errorf("%v", err)
		}
	}
	e.ends("load")
	c.Conn().WritePacket([]byte("3\n"))
	c.Conn().WritePacket(nil)
	c.Conn().Flush()
	for range 3 {
		answer, err := c.Conn().ReadPacket()
		if err != nil {
			break
		}
		if len(answer) > 0 && (answer[0] == wire.HeaderLocalFile || answer[0] == wire.HeaderOK) {
			e.errorf("after its connection broke the file was answered with %x", answer)
		}
	}
	if got := e.onSource("SELECT COUNT(*) FROM cases.t"); got != "5" {
		e.errorf("%s rows, wanted the 5 of before", got)
	}
	return ""
}
