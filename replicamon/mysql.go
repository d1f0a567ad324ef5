package replicamon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"

	"causeway/backend"
	"causeway/gtid"
)

// Errors of the server that the monitor tells apart.
const (
	erDBAccessDenied = 1044
	erAccessDenied   = 1045
	erTableDenied    = 1142
	erColumnDenied   = 1143
	erSpecificDenied = 1227
)

// mysqlSession is a session with a real server. Every call turns its context
// into a socket deadline, so none can outlive it.
type mysqlSession struct {
	conn *client.Conn
}

// dialMySQL returns the dialer that connects with o's account.
func dialMySQL(o Options) dialer {
	return func(ctx context.Context, addr string) (session, error) {
		s, err := connect(ctx, addr, o, o.TLS != nil)
		if err != nil && o.TLS != nil && o.TLSOptional && strings.Contains(err.Error(), "does not support TLS") {
			s, err = connect(ctx, addr, o, false)
		}
		if err != nil {
			return nil, probeFailed(ctx, "connect", err)
		}
		return s, nil
	}
}

func connect(ctx context.Context, addr string, o Options, useTLS bool) (s *mysqlSession, err error) {
	var nc net.Conn
	stop := func() bool { return true }
	defer func() { stop() }()
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		if deadline, ok := ctx.Deadline(); ok {
			_ = c.SetDeadline(deadline)
		}
		nc, stop = c, context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
		return c, nil
	}
	// The library reads the greeting without checking its length: what is no
	// MySQL server must not end the process.
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, fmt.Errorf("not understood as a MySQL server's greeting: %v", r)
			if nc != nil {
				_ = nc.Close()
			}
		}
	}()
	conn, err := client.ConnectWithDialer(ctx, "tcp", addr, o.User, o.Password, "", dial, func(c *client.Conn) error {
		c.BufferSize = 4096
		if useTLS {
			cfg := o.TLS.Clone()
			if cfg.ServerName == "" {
				cfg.ServerName, _, _ = net.SplitHostPort(addr)
			}
			c.SetTLSConfig(cfg)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &mysqlSession{conn: conn}, nil
}

// query runs one statement. The context's deadline and its cancellation both
// end the wait on the socket.
func (s *mysqlSession) query(ctx context.Context, sql string) ([]row, error) {
	deadline, _ := ctx.Deadline() // zero: none
	if err := s.conn.SetDeadline(deadline); err != nil {
		return nil, probeFailed(ctx, "query", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = s.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	res, err := s.conn.Execute(sql)
	if err != nil {
		return nil, probeFailed(ctx, firstWords(sql), err)
	}
	defer res.Close()
	return rowsOf(res), nil
}

func rowsOf(res *mysql.Result) []row {
	if res.Resultset == nil {
		return nil
	}
	rows := make([]row, 0, len(res.Values))
	for _, values := range res.Values {
		r := make(row, len(values))
		for i, v := range values {
			if text, ok := textOf(v); ok {
				r[string(res.Fields[i].Name)] = text
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// textOf returns a value's text; ok is false for NULL.
func textOf(v mysql.FieldValue) (string, bool) {
	switch x := v.Value().(type) {
	case nil:
		return "", false
	case []byte:
		return string(x), true
	case int64:
		return strconv.FormatInt(x, 10), true
	case uint64:
		return strconv.FormatUint(x, 10), true
	default:
		return fmt.Sprint(x), true
	}
}

func (s *mysqlSession) life(ctx context.Context) (life, error) {
	l := life{version: s.conn.GetServerVersion(), connID: s.conn.GetConnectionID()}
	if refuseVersion(l.version) != "" {
		return l, nil // nothing else it says would be used
	}
	rows, err := s.query(ctx, "SHOW GLOBAL STATUS LIKE 'Uptime'")
	if err != nil {
		return l, err
	}
	if len(rows) != 1 {
		return l, errors.New("uptime: no row")
	}
	seconds, err := strconv.Atoi(rows[0]["Value"])
	if err != nil {
		return l, fmt.Errorf("uptime: %w", err)
	}
	l.uptime = time.Duration(seconds) * time.Second
	return l, nil
}

func (s *mysqlSession) position(ctx context.Context) (position, error) {
	return s.askPosition(ctx, positionSQL)
}

func (s *mysqlSession) await(ctx context.Context, need gtid.Set, limit time.Duration) (position, error) {
	return s.askPosition(ctx, awaitSQL(need, limit))
}

func (s *mysqlSession) askPosition(ctx context.Context, sql string) (position, error) {
	asked := time.Now()
	rows, err := s.query(ctx, sql)
	if err != nil {
		return position{}, err
	}
	p, err := readPosition(rows)
	p.asked, p.answered = asked, time.Now()
	return p, err
}

func (s *mysqlSession) status(ctx context.Context) (status, error) {
	st := status{asked: time.Now()}
	rows, err := s.query(ctx, nodeSQL)
	if err == nil {
		err = st.readNode(rows)
	}
	if err != nil {
		return st, err
	}
	if rows, err = s.query(ctx, replicaSQL); err == nil {
		err = st.readReplica(rows)
	}
	if err != nil {
		return st, err
	}
	if err := s.askGroup(ctx, &st); err != nil {
		return st, err
	}
	if rows, err = s.query(ctx, binlogSQL(st.version)); err != nil {
		return st, err
	}
	st.readBinlog(rows)
	if err := s.explain(ctx, &st); err != nil {
		return st, err
	}
	st.answered = time.Now()
	return st, nil
}

// explain asks for what only explains a lag. An account that may not look
// loses the explanation, not the node.
func (s *mysqlSession) explain(ctx context.Context, st *status) error {
	for _, q := range []struct {
		sql  string
		read func([]row)
	}{{connectionSQL, st.readConnections}, {workerSQL, st.readWorkers}} {
		rows, err := s.query(ctx, q.sql)
		if kindOf(err) == errDenied {
			st.denied = err.Error()
			continue
		}
		if err != nil {
			return err
		}
		q.read(rows)
	}
	return nil
}

func (s *mysqlSession) defaults(ctx context.Context, names []string) (map[string]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	rows, err := s.query(ctx, defaultsSQL(names))
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		out[strings.ToLower(r["Variable_name"])] = r["Value"]
	}
	return out, nil
}

func (s *mysqlSession) held(ctx context.Context, connID uint32) (backend.Held, error) {
	rows, err := s.query(ctx, heldSQL(connID))
	if err != nil || len(rows) != 1 { // no such connection, which then holds nothing
		return backend.Held{}, err
	}
	return readHeld(rows[0])
}

func (s *mysqlSession) replicas(ctx context.Context) ([]hint, error) {
	rows, err := s.query(ctx, "SHOW REPLICAS")
	if err != nil {
		return nil, err
	}
	return readHints(rows), nil
}

func (s *mysqlSession) close() { _ = s.conn.Close() }

// probeFailed puts a failure into words and says what it proves.
func probeFailed(ctx context.Context, step string, err error) error {
	kind, text := classify(ctx, err)
	return &probeError{kind: kind, text: step + ": " + text, err: err}
}

func classify(ctx context.Context, err error) (errorKind, string) {
	var me *mysql.MyError
	switch {
	case errors.As(err, &me):
		switch me.Code {
		case erAccessDenied, erDBAccessDenied, erTableDenied, erColumnDenied, erSpecificDenied:
			return errDenied, fmt.Sprintf("the monitor's account is refused: %d %s", me.Code, me.Message)
		}
		return errRefused, fmt.Sprintf("%d %s", me.Code, me.Message)
	case expired(ctx), errors.Is(err, os.ErrDeadlineExceeded), isTimeout(err):
		return errSilent, "no answer in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		return errGone, "connection refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return errGone, "no route to it"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, mysql.ErrBadConn),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed):
		return errGone, "connection broken"
	default:
		return errRefused, err.Error()
	}
}

// expired looks at the clock as well: the socket's deadline, which is the
// context's, can be noticed first, and the library hides the error it gives.
func expired(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// firstWords shortens a statement for an error text.
func firstWords(sql string) string {
	f := strings.Fields(sql)
	return strings.Join(f[:min(3, len(f))], " ")
}
