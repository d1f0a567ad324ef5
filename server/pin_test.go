package server

import (
	"strings"
	"testing"

	"causeway/classifier"
)

// Which statements a session with temporary tables may still send to replicas.
func TestTempTablesMayBeIn(t *testing.T) {
	cl := classifier.New(classifier.Options{})
	classify := func(sql string) *classifier.Class { return cl.Classify([]byte(sql), classifier.Mode{}) }
	with := func(statements ...string) *tempTables {
		var temp tempTables
		for _, sql := range statements {
			temp.follow(classify(sql), classifier.TempTables(sql, classifier.Mode{}), "app")
		}
		return &temp
	}
	tt := with("CREATE TEMPORARY TABLE tt (id INT)")
	for _, c := range []struct {
		temp *tempTables
		sql  string
		want bool
	}{
		{tt, "SELECT * FROM t", false},
		{tt, "SELECT * FROM ttt JOIN att JOIN tt_ JOIN tt1", false},
		{tt, "SELECT 'tt' FROM t", false},
		{tt, "SELECT * FROM tt", true},
		{tt, "SELECT * FROM ttt JOIN TT", true},
		{tt, "SELECT * FROM app.`tt`", true},
		{tt, "SELECT * FROM other.tt", true},
		{tt, "TABLE tt", true},
		{tt, "SELECT (SELECT MAX(id) FROM(tt)) FROM t", true},
		{tt, "SELECT * FROM t /*!50000 JOIN tt */", true},
		{tt, "SELECT * FROM t JOIN größe", true},
		{tt, "SELECT 'größe' FROM t", false},
		{tt, "SELECT 1 IN (" + strings.Repeat("a.b, ", 60000) + "1) FROM t", true},
		{with("CREATE TEMPORARY TABLE other.x (id INT)", "DROP TEMPORARY TABLE other.x"), "SELECT * FROM other.x", false},
		{with("CREATE TEMPORARY TABLE Tt (id INT)"), "SELECT * FROM tt", true},
		{with("CREATE TEMPORARY TABLE Tt (id INT)"), "SELECT * FROM t", false},
		{with("CREATE TEMPORARY TABLE Tt (id INT)", "CREATE TEMPORARY TABLE tt (id INT)", "DROP TEMPORARY TABLE tt"), "SELECT * FROM Tt", true},
		{with("CREATE TEMPORARY TABLE Tt (id INT)", "DROP TABLE IF EXISTS `Tt`"), "SELECT * FROM Tt", false},
		{with("CREATE TEMPORARY TABLE App.tt (id INT)", "CREATE TEMPORARY TABLE tt (id INT)", "DROP TEMPORARY TABLE tt"), "SELECT * FROM App.tt", true},
		{with("CREATE TEMPORARY TABLE `a b` (id INT)"), "SELECT * FROM t", true},
		{with("CREATE TEMPORARY TABLE tt (id INT)", "ALTER TABLE tt RENAME TO u"), "SELECT * FROM u", true},
		{with("CREATE TEMPORARY TABLE tt (id INT)", "ALTER TABLE t ADD COLUMN c INT"), "SELECT * FROM t", false},
		{&tempTables{some: true}, "SELECT * FROM t", true},
	} {
		if got := c.temp.mayBeIn(classify(c.sql)); got != c.want {
			t.Errorf("%v: %.60s: %v, want %v", c.temp.names, c.sql, got, c.want)
		}
	}
}
