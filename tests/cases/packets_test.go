package cases

import (
	"bytes"
	"database/sql"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"causeway/tests/cluster"
	"causeway/tests/rig"
	"causeway/tests/session/raw"
	"causeway/wire"
)

// packetCases: sizes of packets, and how they travel.
var packetCases = []theCase{
	{row: "B1", name: "large parameters", run: largeParameters},
	{row: "B1", name: "too large packets", run: tooLarge},
	{row: "B3", name: "large results need no memory", run: largeResult},
	{row: "B4", name: "statements of more than 16 MB see the session's writes", run: largeStatement},
	{row: "B5", name: "a client that asks for compression", run: compressed},
}

func largeParameters(e *env) string {
	c := e.dial()
	if c == nil {
		return ""
	}
	defer c.Quit()
	s, err := c.Prepare("SELECT LENGTH(?), ? = ?")
	if err != nil {
		e.errorf("%v", err)
		return ""
	}
	for _, n := range []int{17 << 20} {
		body := strings.Repeat("abcdefg\xfe", n/8)
		if err := s.SendLongData(1, []byte("in pieces")); err != nil {
			e.errorf("%v", err)
		}
		a, err := s.Execute(raw.NoCursor, str(body), raw.Long(), str("in pieces"))
		if err != nil || a.Err() != nil || !bytes.Contains([]byte(a.Value()), []byte{1, 0, 0, 0, 0, 0, 0, 0}) {
			e.errorf("parameters of %d bytes: %x %v %v", n, a.Value(), a.Err(), err)
		}
	}
	e.want(c, "SELECT v FROM t WHERE id = 1", "10")
	return ""
}

// tooLarge sends more than max_allowed_packet, which is 128 MB on the nodes
// and 64 MB in Causeway: MySQL's error, or the end of the connection.
func tooLarge(e *env) string {
	if e.direct {
		return "" // another limit, and 130 MB teach nothing new
	}
	c := e.dial()
	if c == nil {
		return ""
	}
	defer c.Close()
	a, err := c.Query("SELECT '" + strings.Repeat("x", 65<<20) + "'")
	if err == nil && a.Code() != wire.ErrNetPacketTooLarge {
		e.errorf("65 MB: %v, wanted error 1153", a.Err())
	}
	if c := e.dial(); c != nil {
		e.want(c, "INSERT INTO t (v) VALUES (1); SELECT COUNT(*) FROM t", "6")
		c.Quit()
	}
	return ""
}

// largeResult reads 40 MB slowly at first. Causeway must not hold them.
func largeResult(e *env) string {
	c := e.dial()
	if c == nil {
		return ""
	}
	defer c.Quit()
	before := e.memory()
	const n = 40
	err := c.SendQuery("WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 40) SELECT n, REPEAT('x', 1048576) FROM c")
	if err != nil {
		e.errorf("%v", err)
	}
	time.Sleep(200 * time.Millisecond) // a client that is slow; nothing tells when it would have been too much
	rows, size := 0, 0
	for packets := 0; ; packets++ {
		p, err := c.Conn().ReadPacket()
		if err != nil {
			e.errorf("%v", err)
			return ""
		}
		if packets < 3 { // the number of columns and their definitions
			continue
		}
		if p[0] == wire.HeaderEOF && len(p) < 1000 {
			break
		}
		rows, size = rows+1, size+len(p)
	}
	if rows != n || size < n<<20 {
		e.errorf("%d rows with %d bytes, wanted %d rows of 1 MB", rows, size, n)
	}
	if grown := e.memory() - before; grown > 16<<20 {
		e.errorf("Causeway grew by %d MB for a result of %d MB", grown>>20, n)
	}
	e.want(c, "SELECT v FROM t WHERE id = 1", "10")
	return ""
}

func (e *env) memory() int64 {
	if e.direct {
		return 0
	}
	n, err := rig.RSS(e.causeway.Pid)
	if err != nil {
		e.errorf("%v", err)
	}
	return n
}

func largeStatement(e *env) string {
	c := e.dial()
	if c == nil {
		return ""
	}
	defer c.Quit()
	e.query(c, "INSERT INTO t (v) VALUES (60)")
	e.want(c, "SELECT v FROM t WHERE id = 6 AND s <=> NULL AND 'x' <> '"+strings.Repeat("y", 17<<20)+"'", "60")
	e.want(c, "SELECT v FROM t WHERE id = 6", "60")
	return ""
}

// compressed asks for compression, with a driver that goes on without where it
// is not offered, and sends and reads values of all sizes.
func compressed(e *env) string {
	cfg, err := mysql.ParseDSN(cluster.AppUser + ":" + cluster.AppPassword + "@tcp(" + e.addr + ")/cases?compress=true&maxAllowedPacket=0")
	if err != nil {
		e.errorf("%v", err)
		return ""
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		e.errorf("%v", err)
		return ""
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	for _, n := range []int{0, 1, 49, 50, 51, 1000, 70000, 1 << 24} {
		body := strings.Repeat("abc\xfed", n/5) + strings.Repeat("z", n%5)
		var got []byte
		if err := db.QueryRow("SELECT ?", []byte(body)).Scan(&got); err != nil || string(got) != body {
			e.errorf("%d bytes: %d came back, %v", n, len(got), err)
		}
	}
	if _, err := db.Exec("INSERT INTO t (v, s) VALUES (?, ?)", 60, strings.Repeat("s", 50)); err != nil {
		e.errorf("%v", err)
	}
	if got := e.onSource("SELECT v FROM cases.t WHERE id = 6"); got != "60" {
		e.errorf("v is %s, wanted 60", got)
	}
	return ""
}
