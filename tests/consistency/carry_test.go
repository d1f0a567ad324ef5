package consistency

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/redis"
)

// pairs are how many reads each way of carrying does on another connection than the
// writes.
func pairs(t *testing.T) int64 {
	t.Helper()
	n := uint64(400)
	if cluster.Long() {
		n = 50000
	}
	return int64(check.Number(t, "CAUSEWAY_CARRIED_PAIRS", n))
}

// carrier is a way to let one connection read what another one wrote.
type carrier struct {
	name  string
	toml  string
	mark  func(w *worker) string // a comment on all statements of both connections; nil: none
	redis bool                   // b is of another Causeway, and a Redis that fails all the time is between them
	// pass comes before a read on b, after a write on a; nil: nothing is done.
	pass    func(ctx context.Context, a, b *worker) error
	readers func(t *testing.T, addr string) *sql.DB // nil: readers
}

var carriers = []carrier{
	{name: "key in a comment", mark: func(w *worker) string { return fmt.Sprintf(" /*app='x',causeway_key='user%%3A%d'*/", w.id) }},
	{name: "key by SET", pass: func(ctx context.Context, a, b *worker) error { return nil }},
	{name: "scope user", toml: "scope = \"user\"\n"},
	{name: "scope proxy", toml: "scope = \"proxy\"\n"},
	{name: "key over Redis", redis: true, mark: func(w *worker) string { return fmt.Sprintf(" /*causeway_key='user%%3A%d'*/", w.id) }},
	{name: "scope proxy over Redis", redis: true, toml: "scope = \"proxy\"\n"},
	{name: "token by SET", pass: func(ctx context.Context, a, b *worker) error {
		token, err := tokenOf(ctx, a)
		if err != nil {
			return err
		}
		return b.exec(ctx, "SET @causeway_token = '"+token+"'")
	}},
	{name: "token by a prepared SET", pass: func(ctx context.Context, a, b *worker) error {
		token, err := tokenOf(ctx, a)
		if err != nil {
			return err
		}
		_, err = b.conn.ExecContext(ctx, "SET @causeway_token = ?", token)
		return err
	}},
	{name: "token in a query attribute", readers: attrReaders, pass: func(ctx context.Context, a, b *worker) error {
		token, err := tokenOf(ctx, a)
		if err != nil {
			return err
		}
		return b.conn.Raw(func(c any) error {
			c.(*attrConn).token = token
			return nil
		})
	}},
	{name: "token in a comment", pass: func(ctx context.Context, a, b *worker) error {
		token, err := tokenOf(ctx, a)
		b.mark = " /*traceparent='00-1-2-01',causeway_token='" + url.QueryEscape(token) + "'*/"
		return err
	}},
}

// tokenOf is what a connection hands out.
func tokenOf(ctx context.Context, w *worker) (string, error) {
	var token sql.NullString
	err := w.conn.QueryRowContext(ctx, "SELECT @causeway_token").Scan(&token)
	if err == nil && (!token.Valid || strings.ContainsAny(token.String, "'\\")) {
		err = fmt.Errorf("the token is %q", token.String)
	}
	return token.String, err
}

// reader is the other connection of a worker, which never writes.
type reader struct {
	worker
	again string // what begins anew in its READ ONLY transaction: "": none is open
}

// anew are the ways to read what is new after a read in a READ ONLY transaction. The
// last one is none: without a snapshot each read sees the latest.
var anew = []string{"COMMIT", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN", "BEGIN", "START TRANSACTION READ ONLY",
	"START TRANSACTION WITH CONSISTENT SNAPSHOT", "DO 0"}

// stay leaves a READ ONLY transaction open, in which a row was read.
func (r *reader) stay(ctx context.Context) error {
	r.again = anew[r.rng.IntN(len(anew))]
	level := "REPEATABLE READ"
	if r.again == anew[len(anew)-1] {
		level = "READ COMMITTED"
	}
	if err := r.all(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL "+level, "START TRANSACTION READ ONLY"); err != nil {
		return err
	}
	return r.verify(ctx, r.point(r.row()))
}

func (w *worker) connectReader(ctx context.Context) error {
	conn, err := w.run.readers.Conn(ctx)
	if err != nil {
		return err
	}
	w.reader = &reader{worker: *w}
	w.reader.conn, w.reader.kept, w.reader.binary, w.reader.reader = conn, map[string]*sql.Stmt{}, false, nil
	if mark := w.run.carry.mark; mark != nil {
		w.mark = mark(w)
		w.reader.mark = w.mark
	}
	if w.run.carry.name == "key by SET" {
		for _, c := range []*sql.Conn{w.conn, conn} {
			if _, err := c.ExecContext(ctx, fmt.Sprintf("SET @causeway_key = 'user:%d'", w.id)); err != nil {
				return err
			}
		}
	}
	return nil
}

// readElsewhere reads on the other connection what the last kind of write left.
func (w *worker) readElsewhere(ctx context.Context) error {
	b := &w.reader.worker
	b.kind = w.kind + ", elsewhere"
	if pass := w.run.carry.pass; pass != nil {
		if err := pass(ctx, w, b); err != nil {
			return fmt.Errorf("carrying: %w", err)
		}
	}
	b.rows, b.loose = w.rows, w.loose
	if again := w.reader.again; again != "" {
		b.kind += " after " + again
		if err := b.exec(ctx, again); err != nil {
			return fmt.Errorf("%s: %w", again, err)
		}
	}
	if err := b.verify(ctx, b.sum()); err != nil {
		return err
	}
	if strings.HasPrefix(w.kind, "MyISAM") {
		if err := b.verify(ctx, b.looseRows()); err != nil {
			return err
		}
	}
	if w.reader.again != "" {
		w.reader.again = ""
		if err := b.exec(ctx, "COMMIT"); err != nil {
			return err
		}
	}
	if err := b.readBack(ctx, w.row()); err != nil || b.rng.IntN(3) > 0 {
		return err
	}
	return w.reader.stay(ctx)
}

// TestCarried: what connection A wrote, in every way that MySQL knows, connection
// B reads, through the same Causeway and, where tokens are carried, through another.
func TestCarried(t *testing.T) {
	for _, c := range carriers {
		t.Run(c.name, func(t *testing.T) {
			config := roomyBudget + patient + c.toml
			config, config2 := config, config
			if c.redis {
				at := redis.Start(t)
				config, config2 = config+storeOf(at, "a"), config+storeOf(at, "b")
				defer trouble(t, at)()
			}
			p := cluster.StartCauseway(t, shared, config)
			other := p
			if c.redis || strings.HasPrefix(c.name, "token") {
				other = cluster.StartCauseway(t, shared, config2)
			}
			r := open(t, p.Addr, pairs(t), seed(t))
			r.carry, r.readers = &c, readers(t, other.Addr)
			if c.readers != nil {
				r.readers = c.readers(t, other.Addr)
			}
			mustBeClean(t, r)
			if share := r.replicaShare(); share <= leastShare() {
				t.Errorf("%.1f %% of the reads on replicas while an applier ran, wanted more than %.0f %%", 100*share, 100*leastShare())
			}
		})
	}
}

// leastShare is half, unless the run is short, on a machine that may be slow.
func leastShare() float64 {
	if !cluster.Long() {
		return 0.1
	}
	return 0.5
}

// storeOf is a Causeway's part of the configuration of a store.
func storeOf(at *redis.Server, name string) string {
	return fmt.Sprintf("[token.store]\nredis = %q\nname = %q\nproxies = [\"a\", \"b\"]\nlease = \"450ms\"\ntimeout = \"150ms\"\n", at.Addr, name)
}

// trouble kills a Redis, which starts empty again, and freezes it, now and then, until
// the function that it returns is called.
func trouble(t *testing.T, at *redis.Server) (end func()) {
	stop, done := make(chan struct{}), make(chan struct{})
	pause := func(d time.Duration) {
		select {
		case <-stop:
		case <-time.After(d):
		}
	}
	go func() {
		defer close(done)
		for {
			for _, step := range []func(){at.Kill, at.Restart, at.Freeze, at.Thaw} {
				pause(600 * time.Millisecond)
				select {
				case <-stop:
					return // the test ends it, frozen or not
				default:
					step()
				}
			}
		}
	}()
	return func() {
		close(stop)
		<-done
	}
}

// TestUncarriedIsSeen: connection B that is told nothing must miss writes, or the
// test proves nothing.
func TestUncarriedIsSeen(t *testing.T) {
	p := cluster.StartCauseway(t, shared, roomyBudget+patient+"max_staleness = \"0s\"\n")
	r := open(t, p.Addr, unsafeReads, seed(t))
	r.carry, r.readers, r.quiet = &carrier{name: "none"}, readers(t, p.Addr), true
	play(t, r)
	if n := r.stales.Load(); n < unsafeStales {
		t.Errorf("%d stale reads without a token, wanted at least %d: the test cannot see them", n, unsafeStales)
	}
}

// readers is the pool of the reading connections.
func readers(t *testing.T, addr string) *sql.DB {
	cfg := cluster.AppConfig(addr, "rw_main")
	cfg.ReadTimeout, cfg.InterpolateParams = time.Minute, true
	return pool(t, cfg)
}
