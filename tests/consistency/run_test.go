package consistency

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"causeway/tests/cluster"
	"causeway/tests/consistency/lab"
)

const (
	connections = 16
	keepFaults  = 12 // of stale reads and of errors, each, described in full; more are only counted
)

// run is one run of all workers against one address.
type run struct {
	direct      bool // straight on the source: no routes to ask for
	measured    bool // long enough for the shares of the chaos to be demanded
	quiet       bool // faults are wanted: only counted
	seed        uint64
	want        int64 // reads back
	sampleEvery int   // one of so many reads has its route asked for

	text, prepared *sql.DB // the address under test
	truth          *sql.DB // the source, as an administrator, in rw_main
	account        *lab.Account
	carry          *carrier // nil: each connection reads what it wrote itself
	readers        *sql.DB  // the address that carries lead to

	reads, stales, errors   atomic.Int64
	sampledAll, sampledRepl atomic.Int64
	mu                      sync.Mutex
	staleReads, faults      []string
	reasons                 map[string]int
}

// open prepares a run against addr. Its pools close with the test.
func open(t *testing.T, addr string, reads int64, seed uint64) *run {
	t.Helper()
	r := &run{seed: seed, want: reads, sampleEvery: 5, reasons: map[string]int{}}
	cfg := cluster.AppConfig(addr, "rw_main")
	cfg.MultiStatements, cfg.ReadTimeout = true, time.Minute
	r.prepared = pool(t, cfg)
	cfg = cfg.Clone()
	cfg.InterpolateParams = true
	r.text = pool(t, cfg)
	truth := cluster.AppConfig(shared.Source().Addr, "rw_main")
	truth.InterpolateParams = true
	r.truth = pool(t, truth)
	return r
}

func pool(t *testing.T, cfg *mysql.Config) *sql.DB {
	t.Helper()
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxIdleConns(connections)
	t.Cleanup(func() { db.Close() })
	return db
}

func (r *run) db(binary bool) *sql.DB {
	if binary {
		return r.prepared
	}
	return r.text
}

func (r *run) wantsMore() bool { return r.reads.Load() < r.want }

// fault records an error that MySQL itself would not have given.
func (r *run) fault(description string) {
	r.errors.Add(1)
	r.keep(&r.faults, description)
}

// stale records a read that missed a write of its own connection.
func (r *run) stale(description string) {
	r.stales.Add(1)
	r.keep(&r.staleReads, description)
}

func (r *run) keep(list *[]string, description string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(*list) < keepFaults && !r.quiet {
		*list = append(*list, description)
	}
}

// sampled counts where a read went while at least one applier ran.
func (r *run) sampled(route lab.Route) {
	r.sampledAll.Add(1)
	if route.OnReplica() {
		r.sampledRepl.Add(1)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reasons[route["Role"]+" "+route.Reason()]++
}

// replicaShare is the share of the sampled reads that a replica answered.
func (r *run) replicaShare() float64 {
	if r.sampledAll.Load() == 0 {
		return 0
	}
	return float64(r.sampledRepl.Load()) / float64(r.sampledAll.Load())
}

// play runs the workers, under chaos, until all reads are done or the time is up.
func (r *run) play(ctx context.Context, appliers [2]lab.Applier) error {
	r.account = lab.NewAccount(len(appliers), time.Now)
	chaos := &lab.Chaos{
		Appliers: appliers,
		Account:  r.account,
		Plan:     lab.DefaultPlan,
		Rand:     rand.New(rand.NewPCG(r.seed, 0xc4a05)),
	}
	chaosCtx, stopChaos := context.WithCancel(ctx)
	defer stopChaos()
	chaosDone := make(chan error, 1)
	go func() { chaosDone <- chaos.Run(chaosCtx) }()

	err := r.work(ctx)
	each, all := r.account.Shares()
	stopChaos()
	if chaosErr := <-chaosDone; err == nil {
		err = chaosErr
	}
	if err == nil && r.measured {
		err = enoughChaos(each, all)
	}
	return err
}

func (r *run) work(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for id := range connections {
		g.Go(func() error {
			w := newWorker(r, id)
			defer w.close()
			if err := w.connect(ctx); err != nil {
				return fmt.Errorf("connection %d: %w", id, err)
			}
			return w.loop(ctx)
		})
	}
	return g.Wait()
}

// enoughChaos holds the account of the stopped appliers against what the test
// promises. Shares are taken when the last read is done.
func enoughChaos(each []float64, all float64) error {
	for i, share := range each {
		if share < 0.30 {
			return fmt.Errorf("applier %d stood for %.0f %% of the time only, wanted 30 %%", i+1, 100*share)
		}
	}
	if all < 0.10 {
		return fmt.Errorf("all appliers stood together for %.0f %% of the time only, wanted 10 %%", 100*all)
	}
	return nil
}

// report logs the run in a few lines and fails the test with what was found.
func (r *run) report(t *testing.T, took time.Duration) {
	t.Helper()
	each, all := r.account.Shares()
	t.Logf("%d reads back in %v (%.0f a second), seed %d; appliers stood %.0f %% and %.0f %%, together %.0f %%",
		r.reads.Load(), took.Round(time.Second/10), float64(r.reads.Load())/took.Seconds(), r.seed, 100*each[0], 100*each[1], 100*all)
	if n := r.sampledAll.Load(); n > 0 {
		t.Logf("%.1f %% of %d sampled reads on replicas while an applier ran: %v", 100*r.replicaShare(), n, r.reasons)
	}
	t.Logf("stale reads: %d, errors: %d", r.stales.Load(), r.errors.Load())
	for _, f := range append(r.staleReads, r.faults...) {
		t.Log(f)
	}
}
