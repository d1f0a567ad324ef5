package doubt

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/consistency/lab"
	"causeway/tests/doubt/forward"
	"causeway/tests/session/raw"
)

const (
	sessions    = 8
	defaultCuts = 1000
	controlCuts = 200
	limit       = 8 * time.Minute

	// plainBackends lets the forwarders read the commands; the budget is not
	// what is tested here.
	plainBackends = "[backend]\ntls = \"disabled\"\n\n[fallback]\nqps = 1000000\nburst = 1000000\n"
)

var shared *cluster.Cluster

func TestMain(m *testing.M) { cluster.Main(m, cluster.Options{}, cluster.Keep(&shared)) }

var schema = strings.Join([]string{
	"DROP DATABASE IF EXISTS doubt",
	"CREATE DATABASE doubt",
	"CREATE TABLE doubt.d (id INT PRIMARY KEY, v INT NOT NULL)",
	"CREATE PROCEDURE doubt.put(i INT, val INT) UPDATE doubt.d SET v = val WHERE id = i",
	"CREATE PROCEDURE doubt.put_and_fail(i INT, val INT) BEGIN UPDATE doubt.d SET v = val WHERE id = i; SIGNAL SQLSTATE '45000'; END",
	"CREATE FUNCTION doubt.put_fn(i INT, val INT) RETURNS INT MODIFIES SQL DATA BEGIN UPDATE doubt.d SET v = val WHERE id = i; RETURN val; END",
}, ";")

func layDoubt(t *testing.T) {
	t.Helper()
	check.Must(t, shared.Source().Exec(t.Context(), schema))
	for id := range sessions {
		check.Must(t, shared.Source().Exec(t.Context(), fmt.Sprintf("INSERT INTO doubt.d VALUES (%d, 0)", id)))
	}
	check.Must(t, shared.WaitCaughtUp(check.Patience(t)))
}

// TestLostAnswers cuts the connection to the source at every step of a commit.
// No read afterwards, on the same session, may miss a write that turned out
// committed, nor show one that did not.
func TestLostAnswers(t *testing.T) {
	r := start(t, check.Number(t, "CAUSEWAY_DOUBT_CUTS", defaultCuts), "")
	r.play(t)
	r.report(t)
	if n := len(r.faults); n > 0 {
		t.Errorf("%d faults", n)
	}
	if carried := r.done - r.uncut; carried < check.Number(t, "CAUSEWAY_DOUBT_CUTS", defaultCuts) || r.hidden < carried/10 {
		t.Errorf("%d cuts carried out, %d writes committed though their answer was lost: too few to prove anything", carried, r.hidden)
	}
}

// TestLostAnswersCanBeSeen is the control: without the token check the same
// test finds reads that miss committed writes.
func TestLostAnswersCanBeSeen(t *testing.T) {
	r := start(t, controlCuts, "[routing]\nunsafe_skip_token_check = true\n")
	r.play(t)
	r.report(t)
	if n := len(r.faults); n < 10 {
		t.Errorf("%d faults found without the token check, wanted at least 10: the test cannot see them", n)
	}
}

// run is one run of all sessions.
type run struct {
	seed   uint64
	cuts   int
	source *forward.Forwarder
	cw     *cluster.Causeway

	mu           sync.Mutex
	done         int
	faults       []string
	hidden       int // committed, and the client got an error
	outcomes     map[string]int
	readErrors   int
	lostSessions int
	uncut        int
}

// start puts forwarders before all nodes and Causeway before them.
func start(t *testing.T, cuts int, extra string) *run {
	t.Helper()
	layDoubt(t)
	r := &run{seed: seed(t), cuts: cuts, outcomes: map[string]int{}}
	var addrs []string
	for _, n := range shared.Nodes() {
		f := forwarder(t, n.Addr)
		addrs = append(addrs, f.Addr())
		if n == shared.Source() {
			r.source = f
		}
	}
	r.cw = cluster.StartCausewayAt(t, addrs, plainBackends+extra)
	return r
}

func forwarder(t *testing.T, target string) *forward.Forwarder {
	t.Helper()
	f, err := forward.New(target)
	check.Must(t, err)
	t.Cleanup(f.Close)
	return f
}

// play runs all sessions under chaos.
func (r *run) play(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	chaos := &lab.Chaos{
		Appliers: [2]lab.Applier{shared.Replica(1), shared.Replica(2)},
		Account:  lab.NewAccount(2, time.Now),
		Plan:     lab.DefaultPlan,
		Rand:     rand.New(rand.NewPCG(r.seed, 0xc4a05)),
	}
	chaosCtx, stopChaos := context.WithCancel(ctx)
	chaosDone := make(chan error, 1)
	go func() { chaosDone <- chaos.Run(chaosCtx) }()
	g, ctx := errgroup.WithContext(ctx)
	for id := range sessions {
		g.Go(func() error {
			return (&session{run: r, id: id, rng: rand.New(rand.NewPCG(r.seed, uint64(id)))}).loop(ctx)
		})
	}
	err := g.Wait()
	stopChaos()
	check.Must(t, <-chaosDone)
	check.Must(t, err)
}

// next hands out the numbers of the cuts.
func (r *run) next() (int, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done >= r.cuts || r.uncut > r.done/2+50 {
		return 0, false
	}
	r.done++
	return r.done, true
}

func (r *run) report(t *testing.T) {
	t.Helper()
	t.Logf("%d cuts, seed %d: %d committed though the client got an error, %d more found the connection gone already; %d reads failed, %d sessions ended",
		r.done-r.uncut, r.seed, r.hidden, r.uncut, r.readErrors, r.lostSessions)
	for _, what := range sortedKeys(r.outcomes) {
		t.Logf("%5d %s", r.outcomes[what], what)
	}
	for i, f := range r.faults {
		if i < 12 {
			t.Log(f)
		}
	}
}

func seed(t *testing.T) uint64 {
	return check.Number(t, "CAUSEWAY_CONSISTENCY_SEED", uint64(time.Now().UnixNano()))
}

// dial opens a session through Causeway.
func (r *run) dial() (*raw.Client, error) {
	return raw.Dial(raw.Options{
		Addr: r.cw.Addr, User: cluster.AppUser, Password: cluster.AppPassword, DB: "doubt", Caps: raw.Modern | kindCaps,
	})
}
