package consistency

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

const (
	defaultReads = 100000
	directReads  = 4000
	unsafeReads  = 20000
	unsafeStales = 100
	timeLimit    = 12 * time.Minute
)

// TestDirectlyOnSource holds the test itself against MySQL: straight on the
// source there is no stale read and no other error.
func TestDirectlyOnSource(t *testing.T) {
	c := startCluster(t)
	r := open(t, c.source, c.source, directReads, seed(t))
	r.direct = true
	mustBeClean(t, r, c)
}

// TestReadYourWrites is the promise: each connection sees all of its own
// writes, whichever node answers, while the appliers stop and start.
func TestReadYourWrites(t *testing.T) {
	c := startCluster(t)
	p := startCauseway(t, c, "")
	r := open(t, p.addr, c.source, reads(t), seed(t))
	mustBeClean(t, r, c)
	if share := r.replicaShare(); share <= 0.60 {
		t.Errorf("%.1f %% of the reads on replicas while an applier ran, wanted more than 60 %%", 100*share)
	}
}

// TestSkippedTokenCheckIsSeen switches the promise off: the same test must
// then find stale reads, or it proves nothing.
func TestSkippedTokenCheckIsSeen(t *testing.T) {
	c := startCluster(t)
	p := startCauseway(t, c, "unsafe_skip_token_check = true\n")
	r := open(t, p.addr, c.source, unsafeReads, seed(t))
	play(t, r, c)
	r.faults = nil // hundreds, and wanted
	if n := r.stales.Load(); n < unsafeStales {
		t.Errorf("%d stale reads without a token check, wanted at least %d: the test cannot see them", n, unsafeStales)
	}
}

func mustBeClean(t *testing.T, r *run, c *cluster) {
	t.Helper()
	play(t, r, c)
	if n := r.stales.Load(); n > 0 {
		t.Errorf("%d stale reads", n)
	}
	if n := r.errors.Load(); n > 0 {
		t.Errorf("%d errors that MySQL itself would not give", n)
	}
	if n := r.reads.Load(); n < r.want {
		t.Errorf("%d of %d reads done in %v", n, r.want, timeLimit)
	}
	c.mustAgree(t)
}

// play lays the schema and runs r to its end.
func play(t *testing.T, r *run, c *cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	defer cancel()
	if err := createSchema(ctx, c.root, connections); err != nil {
		t.Fatal(err)
	}
	c.catchUp(t)
	start := time.Now()
	err := r.play(ctx, c.appliers)
	r.report(t, time.Since(start))
	if err != nil {
		t.Fatal(err)
	}
}

func reads(t *testing.T) int64 { return int64(number(t, "CAUSEWAY_CONSISTENCY_READS", defaultReads)) }

func seed(t *testing.T) uint64 {
	return number(t, "CAUSEWAY_CONSISTENCY_SEED", uint64(time.Now().UnixNano()))
}

func number(t *testing.T, name string, without uint64) uint64 {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return without
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", name, err))
	}
	return n
}
