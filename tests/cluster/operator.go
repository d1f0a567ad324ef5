package cluster

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"causeway/tests/check"
)

// The account of an operator, which OperatorTable gives to a Causeway.
const (
	OperatorUser     = "ops"
	OperatorPassword = "ops_pw"
	OperatorTable    = "\n\n[[users]]\nname = \"" + OperatorUser + "\"\npassword = \"" + OperatorPassword + "\"\nadmin = true\n"
)

// Operated is a Causeway with an operator's connection. What it does not do, or
// not within a minute, ends the test.
type Operated struct {
	*Causeway
	T  *testing.T
	DB *sql.DB
}

// Operate connects to a Causeway that was started with OperatorTable.
func Operate(t *testing.T, cw *Causeway) *Operated {
	t.Helper()
	cfg := AppConfig(cw.Addr, "")
	cfg.User, cfg.Passwd = OperatorUser, OperatorPassword
	return &Operated{cw, t, Open(t, cfg)}
}

// Run runs an operator's statement.
func (o *Operated) Run(format string, args ...any) {
	o.T.Helper()
	_, err := o.DB.ExecContext(check.Patience(o.T), fmt.Sprintf(format, args...))
	check.Must(o.T, err)
}

// Show returns the rows of a SHOW CAUSEWAY.
func (o *Operated) Show(what string) [][]string {
	o.T.Helper()
	_, rows, err := Show(check.Patience(o.T), o.DB, what)
	check.Must(o.T, err)
	return rows
}

// Status is a value of SHOW CAUSEWAY STATUS.
func (o *Operated) Status(name string) string {
	o.T.Helper()
	for _, row := range o.Show("STATUS") {
		if row[0] == name {
			return row[1]
		}
	}
	o.T.Fatalf("SHOW CAUSEWAY STATUS has no %s", name)
	return ""
}

// Server is the row of SHOW CAUSEWAY SERVERS with an address, by column name, nil
// if it is not listed.
func (o *Operated) Server(addr string) map[string]string {
	o.T.Helper()
	rows, err := Servers(check.Patience(o.T), o.DB)
	check.Must(o.T, err)
	for _, row := range rows {
		if row["Server"] == addr {
			return row
		}
	}
	return nil
}

// Open opens a pool of connections that need no prepared statements; it ends with
// the test. A server that answers nothing is an error after cfg.ReadTimeout, 0: 45 s.
func Open(t testing.TB, cfg *mysql.Config) *sql.DB {
	t.Helper()
	cfg.InterpolateParams, cfg.Logger = true, &mysql.NopLogger{}
	if cfg.ReadTimeout == 0 {
		cfg.ReadTimeout = 45 * time.Second
	}
	connector, err := mysql.NewConnector(cfg)
	check.Must(t, err)
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}
