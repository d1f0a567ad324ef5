package consistency

import (
	"context"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/consistency/lab"
	"causeway/tests/rig"
)

const (
	shortReads   = 20000  // CI
	longReads    = 100000 // CAUSEWAY_TESTS=long
	directReads  = 3000
	unsafeReads  = 3000
	unsafeStales = 100
	timeLimit    = 18 * time.Minute
)

// shared is the cluster of all tests here; each lays its schema anew.
var shared *cluster.Cluster

func TestMain(m *testing.M) { cluster.Main(m, cluster.Options{}, cluster.Keep(&shared)) }

// TestDirectlyOnSource holds the test itself against MySQL: straight on the
// source there is no stale read and no other error.
func TestDirectlyOnSource(t *testing.T) {
	r := open(t, shared.Source().Addr, directReads, seed(t))
	r.direct = true
	mustBeClean(t, r)
}

// TestReadYourWrites is the promise: each connection sees all of its own
// writes, whichever node answers, while the appliers stop and start.
func TestReadYourWrites(t *testing.T) {
	p := cluster.StartCauseway(t, shared, roomyBudget+patient+"audit_sample = 0.05\n")
	r := open(t, p.Addr, reads(t), seed(t))
	r.measured = true
	mustBeClean(t, r)
	if share := r.replicaShare(); share <= 0.60 {
		t.Errorf("%.1f %% of the reads on replicas while an applier ran, wanted more than 60 %%", 100*share)
	}
	if audited, violations := audits(t, p); audited == 0 || violations > 0 {
		t.Errorf("of %v audited reads %v had a replica that lacked a write", audited, violations)
	}
}

// TestSkippedTokenCheckIsSeen switches the promise off: the same test must
// then find stale reads, or it proves nothing.
func TestSkippedTokenCheckIsSeen(t *testing.T) {
	p := cluster.StartCauseway(t, shared, roomyBudget+"[routing]\nunsafe_skip_token_check = true\naudit_sample = 1\n")
	r := open(t, p.Addr, unsafeReads, seed(t))
	r.quiet = true // hundreds, and wanted
	play(t, r)
	if n := r.stales.Load(); n < unsafeStales {
		t.Errorf("%d stale reads without a token check, wanted at least %d: the test cannot see them", n, unsafeStales)
	}
	if audited, violations := audits(t, p); violations == 0 {
		t.Errorf("none of %v audited reads was found to violate the promise that is switched off", audited)
	}
}

// audits are the counts of the audit.
func audits(t *testing.T, p *cluster.Causeway) (audited, violations float64) {
	t.Helper()
	m := rig.MustMetrics(t, p.HTTP)
	return m.Sum("causeway_audited_reads_total"), m.Sum("causeway_read_your_writes_violation_count")
}

// roomyBudget keeps the fallback budget out of the way: what happens when it
// is used up is tests/budget's.
const roomyBudget = "[fallback]\nqps = 1000000\nburst = 1000000\n"

// patient lets a read wait for a replica for as long as one needs on a slow
// and busy machine; also, waiting readers do not write, so that the replicas
// can catch up after a stop.
const patient = "[routing]\nwait = \"200ms\"\n"

func mustBeClean(t *testing.T, r *run) {
	t.Helper()
	play(t, r)
	if n := r.stales.Load(); n > 0 {
		t.Errorf("%d stale reads", n)
	}
	if n := r.errors.Load(); n > 0 {
		t.Errorf("%d errors that MySQL itself would not give", n)
	}
	if n := r.reads.Load(); n < r.want {
		t.Errorf("%d of %d reads done in %v", n, r.want, timeLimit)
	}
	nodesMustAgree(t, r)
}

// play lays the schema and runs r to its end.
func play(t *testing.T, r *run) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeLimit)
	defer cancel()
	if err := createSchema(ctx, shared.Source().DB, connections); err != nil {
		t.Fatal(err)
	}
	catchUp(t)
	start := time.Now()
	err := r.play(ctx, [2]lab.Applier{shared.Replica(1), shared.Replica(2)})
	r.report(t, time.Since(start))
	if err != nil {
		t.Fatal(err)
	}
}

func catchUp(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := shared.WaitCaughtUp(ctx); err != nil {
		t.Fatal(err)
	}
}

// nodesMustAgree holds the replicas' data against the source's: nothing was
// written there by mistake, nothing is missing.
func nodesMustAgree(t *testing.T, r *run) {
	t.Helper()
	catchUp(t)
	for _, n := range shared.Replicas() {
		if err := lab.Agree(t.Context(), r.truth, n.DB, "rw_main.rw", "rw_main.loose", "rw_side.rw"); err != nil {
			t.Errorf("%s: %v", n.Name, err)
		}
	}
}

func reads(t *testing.T) int64 {
	n := uint64(shortReads)
	if cluster.Long() {
		n = longReads
	}
	return int64(check.Number(t, "CAUSEWAY_CONSISTENCY_READS", n))
}

func seed(t *testing.T) uint64 {
	return check.Number(t, "CAUSEWAY_CONSISTENCY_SEED", uint64(time.Now().UnixNano()))
}
