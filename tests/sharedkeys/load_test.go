package sharedkeys

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"causeway/tests/check"
	"causeway/tests/cluster"
)

const (
	pairs   = 8
	maxWait = time.Second
	// margin is what a loaded machine may add to max_wait for a write and for a read;
	// what hangs does so for ever.
	margin = 15 * time.Second
)

var shared *cluster.Cluster

func TestMain(m *testing.M) { cluster.Main(m, cluster.Options{}, cluster.Keep(&shared)) }

// setup is how the pairs say whose writes they read.
type setup struct {
	name, routing, mark string
}

var setups = []setup{
	{name: "key", mark: " /*causeway_key='user%%3A%d'*/"},
	{name: "scope proxy", routing: "scope = \"proxy\"\n"},
}

// config is a Causeway's; store: the lines of [token.store] that say where it is, "": none.
func config(s setup, name, store string) string {
	text := "[fallback]\nqps = 1000000\nburst = 1000000\n\n[routing]\nwait = \"50ms\"\nmax_wait = \"" + maxWait.String() + "\"\n" + s.routing
	if store == "" {
		return text
	}
	return text + "\n[token.store]\n" + store + "name = \"" + name + "\"\nproxies = [\"a\", \"b\"]\nlease = \"450ms\"\ntimeout = \"150ms\"\n"
}

// load is pairs that write through one Causeway and read through the other.
type load struct {
	t    *testing.T
	s    setup
	at   [2]*cluster.Causeway
	done context.CancelFunc
	all  sync.WaitGroup

	rounds, stale, slow atomic.Int64
	mu                  sync.Mutex
	faults              []string
}

// table is where the pairs write; all nodes have it.
func table(t *testing.T) {
	t.Helper()
	stmts := []string{"DROP DATABASE IF EXISTS sharedkeys", "CREATE DATABASE sharedkeys", "CREATE TABLE sharedkeys.r (id INT PRIMARY KEY, v INT NOT NULL)"}
	for id := range pairs {
		stmts = append(stmts, fmt.Sprintf("INSERT INTO sharedkeys.r VALUES (%d, 0)", id))
	}
	shared.Lay(t, stmts...)
}

// begin lets the pairs go, with an applier that stops now and then.
func begin(t *testing.T, s setup, a, b *cluster.Causeway) *load {
	t.Helper()
	l := &load{t: t, s: s, at: [2]*cluster.Causeway{a, b}}
	ctx, stop := context.WithCancel(t.Context())
	l.done = stop
	for id := range pairs {
		l.all.Go(func() { l.pair(ctx, id) })
	}
	l.all.Go(func() { l.stopAppliers(ctx) })
	return l
}

// end stops the pairs and judges.
func (l *load) end() {
	l.t.Helper()
	l.done()
	l.all.Wait()
	l.t.Logf("%d writes, each read back through the other Causeway; stale: %d, slow: %d", l.rounds.Load(), l.stale.Load(), l.slow.Load())
	for _, f := range l.faults {
		l.t.Error(f)
	}
	for i, cw := range l.at {
		l.t.Logf("%c: %v", 'a'+i, storeStatus(l.t, cw))
	}
}

func (l *load) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.faults) < 10 {
		l.faults = append(l.faults, fmt.Sprintf(format, args...))
	}
}

func (l *load) stopAppliers(ctx context.Context) {
	r := shared.Replicas()[0]
	back := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		check.Must(l.t, r.Pause(back))
		pause(ctx, 300*time.Millisecond)
		check.Must(l.t, r.Resume(back))
		pause(ctx, 200*time.Millisecond)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func open(t *testing.T, cw *cluster.Causeway) *sql.DB {
	cfg := cluster.AppConfig(cw.Addr, "sharedkeys")
	cfg.InterpolateParams, cfg.ReadTimeout = true, time.Minute
	connector, err := mysql.NewConnector(cfg)
	check.Must(t, err)
	return sql.OpenDB(connector)
}

func (l *load) pair(ctx context.Context, id int) {
	writer, reader := open(l.t, l.at[id%2]), open(l.t, l.at[1-id%2])
	defer writer.Close()
	defer reader.Close()
	mark := ""
	if l.s.mark != "" {
		mark = fmt.Sprintf(l.s.mark, id)
	}
	whole := context.WithoutCancel(ctx)
	for n := 1; ctx.Err() == nil; n++ {
		began := time.Now()
		if _, err := writer.ExecContext(whole, fmt.Sprintf("UPDATE r SET v = %d WHERE id = %d", n, id)+mark); err != nil {
			l.fault("write %d of pair %d: %v", n, id, err)
			return
		}
		wrote := time.Now()
		var got int
		if err := reader.QueryRowContext(whole, fmt.Sprintf("SELECT v FROM r WHERE id = %d", id)+mark).Scan(&got); err != nil {
			l.fault("read %d of pair %d: %v", n, id, err)
			return
		}
		if got != n {
			l.stale.Add(1)
			l.fault("pair %d wrote %d and read %d", id, n, got)
		}
		if w, r := wrote.Sub(began), time.Since(wrote); w > maxWait+margin || r > maxWait+margin {
			l.slow.Add(1)
			l.fault("pair %d: the write took %v, the read %v", id, w, r)
		}
		l.rounds.Add(1)
	}
}

// storeStatus is what SHOW CAUSEWAY STATUS says of the store.
func storeStatus(t *testing.T, cw *cluster.Causeway) map[string]string {
	t.Helper()
	db := open(t, cw)
	defer db.Close()
	_, rows, err := cluster.Show(check.Patience(t), db, "STATUS")
	check.Must(t, err)
	out := map[string]string{}
	for _, row := range rows {
		if strings.HasPrefix(row[0], "Store") || strings.HasPrefix(row[0], "Shared") {
			out[row[0]] = row[1]
		}
	}
	return out
}

// trusted waits until both Causeways trust the store.
func trusted(t *testing.T, all ...*cluster.Causeway) {
	t.Helper()
	for _, cw := range all {
		check.Until(t, "the store is trusted", func() bool {
			st := storeStatus(t, cw)
			return st["Store"] == "joined" && st["Store_trusted"] == "yes"
		})
	}
}
