package crowd

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"testing"
	"time"

	"causeway/tests/cluster"
	"causeway/tests/rig"
	"causeway/tests/session/raw"
)

// Few connections for many clients, and time for all of them on a busy machine.
const pools = `[monitor]
timeout = "30s"
[pool]
max_connections = 16
min_idle = 0
wait = "120s"
[limits]
max_connections = 12000
login_timeout = "60s"
[backend]
connect_timeout = "60s"
[routing]
max_wait = "60s"
`

const (
	maxBackends  = 64       // of all nodes together, the monitor's among them
	bytesAClient = 25 << 10 // resident, for an idle one
)

func TestCrowd(t *testing.T) {
	clients, active, length := sized(t)
	before := connections(t)
	causeway := cluster.StartCauseway(t, shared, pools)
	workers := connect(t, causeway.Addr, active)
	empty := resident(t, causeway)
	idle := connectIdle(t, causeway.Addr, clients-active)
	each := (resident(t, causeway) - empty) / int64(max(len(idle), 1))
	t.Logf("%d idle clients, %d bytes resident each", len(idle), each)
	if len(idle) >= 5000 && each > bytesAClient {
		t.Errorf("an idle client takes %d bytes, want at most %d", each, bytesAClient)
	}
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	most := make(chan int64)
	go func() { most <- watchConnections(ctx, t) }()
	run(ctx, t, workers)
	if n := <-most - before; n > maxBackends || n <= 0 {
		t.Errorf("up to %d connections to the servers, want at most %d", n, maxBackends)
	} else {
		t.Logf("up to %d connections to the servers", n)
	}
	for i, c := range idle {
		if i%100 != 0 {
			continue
		}
		if a, err := c.Query("SELECT @@time_zone, @who, DATABASE()"); err != nil || a.Err() != nil || string(a[0].Rows[0][0]) != "SYSTEM" || a[0].Rows[0][1] != nil {
			t.Fatalf("an idle client: %v %v", a, err)
		}
	}
}

// connections counts those to all servers.
func connections(t *testing.T) (n int64) {
	t.Helper()
	for _, node := range shared.Nodes() {
		one, err := rig.Connections(context.Background(), node)
		if err != nil {
			t.Error(err)
		}
		n += one
	}
	return n
}

func watchConnections(ctx context.Context, t *testing.T) (most int64) {
	for {
		most = max(most, connections(t))
		select {
		case <-ctx.Done():
			return most
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func resident(t *testing.T, causeway *cluster.Causeway) int64 {
	t.Helper()
	rss, err := rig.RSS(causeway.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return rss
}

// inParallel does n pieces of work, 50 at a time.
func inParallel(t *testing.T, n int, do func(i int) error) {
	t.Helper()
	var wg sync.WaitGroup
	turn, errs := make(chan bool, 50), make(chan error, n)
	for i := range n {
		turn <- true
		wg.Go(func() {
			defer func() { <-turn }()
			if err := do(i); err != nil {
				errs <- err
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Fatal(err)
	}
}

func connectIdle(t *testing.T, addr string, n int) []*raw.Client {
	t.Helper()
	all := make([]*raw.Client, n)
	t.Cleanup(func() {
		for _, c := range all {
			if c != nil {
				c.Close()
			}
		}
	})
	inParallel(t, n, func(i int) (err error) {
		all[i], err = raw.Dial(raw.Options{Addr: addr, User: cluster.AppUser, Password: cluster.AppPassword, DB: "app", Caps: raw.Modern, Timeout: 2 * time.Minute})
		return err
	})
	return all
}

func connect(t *testing.T, addr string, n int) []*worker {
	t.Helper()
	cfg := cluster.AppConfig(addr, "app")
	cfg.Timeout = 2 * time.Minute
	db, err := sql.Open("mysql", cfg.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxIdleConns(n)
	all := make([]*worker, n)
	inParallel(t, n, func(i int) error {
		c, err := db.Conn(context.Background())
		if err != nil {
			return err
		}
		all[i] = &worker{id: i, c: c}
		return all[i].begin(context.Background())
	})
	return all
}

func run(ctx context.Context, t *testing.T, workers []*worker) {
	var wg sync.WaitGroup
	for _, w := range workers {
		wg.Go(func() {
			for ctx.Err() == nil && w.err == nil {
				w.err = w.round()
			}
		})
	}
	wg.Wait()
	rounds := 0
	for _, w := range workers {
		rounds += w.rounds
		if w.err != nil {
			t.Errorf("client %d after %d rounds: %v", w.id, w.rounds, w.err)
		}
	}
	t.Logf("%d rounds by %d clients", rounds, len(workers))
	if rounds < len(workers) {
		t.Error("hardly anybody got a turn")
	}
}

// worker is one client at work, with a session of its own that it looks at again
// and again.
type worker struct {
	id, rounds int
	c          *sql.Conn
	conn, zone string
	err        error
}

func (w *worker) begin(ctx context.Context) error {
	w.zone = fmt.Sprintf("+%02d:%02d", w.id%13, w.id%60)
	for _, s := range []string{fmt.Sprintf("SET @who = %d", w.id), "SET time_zone = '" + w.zone + "'", "SET lc_time_names = 'de_DE'"} {
		if w.id%3 == 0 && s[:7] == "SET lc_" {
			continue
		}
		if _, err := w.c.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return w.c.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&w.conn)
}
