package classifier

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"causeway/classifier/cases"
	"causeway/tests/cluster"
)

var source *cluster.Node

func TestMain(m *testing.M) {
	cluster.Main(m, cluster.Options{Replicas: cluster.NoReplicas}, cluster.KeepSource(&source))
}

// session is one connection to a fresh schema with the cases' tables in it.
type session struct {
	t    *testing.T
	conn *sql.Conn
	ctx  context.Context
}

func newSession(t *testing.T) *session {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	cfg := cluster.AppConfig(source.Addr, "")
	cfg.MultiStatements = true
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	s := &session{t, conn, ctx}
	s.must("DROP DATABASE IF EXISTS cases")
	s.must("CREATE DATABASE cases")
	s.must("USE cases")
	s.must("SET GLOBAL log_bin_trust_function_creators = 1")
	for _, q := range cases.Schema {
		s.must(q)
	}
	return s
}

// exec runs a text, all of its statements, and returns the server's error.
func (s *session) exec(text string) error {
	s.t.Helper()
	_, err := s.conn.ExecContext(s.ctx, text)
	var my *mysql.MySQLError
	if err != nil && !errors.As(err, &my) {
		s.t.Fatalf("%s: %v", text, err)
	}
	return err
}

func (s *session) must(text string) {
	s.t.Helper()
	if err := s.exec(text); err != nil {
		s.t.Fatalf("%s: %v", text, err)
	}
}

func (s *session) value(query string) string {
	s.t.Helper()
	var v sql.NullString
	if err := s.conn.QueryRowContext(s.ctx, query).Scan(&v); err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	return v.String
}

// executed is the server's gtid_executed.
func (s *session) executed() string { s.t.Helper(); return s.value("SELECT @@global.gtid_executed") }

// errno is the number of a server's error, 0 for none.
func errno(err error) uint16 {
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		return my.Number
	}
	return 0
}
