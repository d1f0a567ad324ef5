package driver

import (
	"context"
	"maps"
	"slices"
	"testing"

	"causeway/tests/cluster"
)

const (
	database = "gotest"
	// wanted is how many tests and subtests must pass through Causeway: the
	// suite has more than 400, so a run that skips half of them is seen.
	wanted = 400
)

// prepare makes the node ready as the driver's authors do in their own CI: an
// empty schema, and few connections, since one test opens as many as allowed.
func prepare(ctx context.Context, c *cluster.Cluster) error {
	for _, stmt := range []string{
		"DROP DATABASE IF EXISTS " + database,
		"CREATE DATABASE " + database,
		"SET GLOBAL max_connections = 60",
	} {
		if err := c.Source().Exec(ctx, stmt); err != nil {
			return err
		}
	}
	return c.WaitCaughtUp(ctx)
}

func TestGoSQLDriverSuite(t *testing.T) {
	ctx := t.Context()
	s := buildSuite(t)
	c := cluster.Start(t, cluster.Options{})
	if err := prepare(ctx, c); err != nil {
		t.Fatal(err)
	}
	direct, err := s.run(ctx, c.Source().Addr, "")
	if err != nil {
		t.Fatal("directly: ", err)
	}
	t.Logf("directly on the source: %d pass, %d fail, %d skipped", len(direct.passed), len(direct.failed), len(direct.skipped))
	for name := range direct.failed {
		t.Logf("fails directly: %s\n%s", name, clip(direct.output[name]))
	}

	if err := prepare(ctx, c); err != nil {
		t.Fatal(err)
	}
	causeway := cluster.StartCauseway(t, c, pooled)
	through, err := s.run(ctx, causeway.Addr, "")
	if err != nil {
		t.Fatal("through Causeway: ", err)
	}
	t.Logf("through Causeway: %d pass, %d fail, %d skipped", len(through.passed), len(through.failed), len(through.skipped))
	again(t, s, c, direct, through)

	if len(through.passed) < wanted {
		t.Errorf("%d tests pass through Causeway, wanted are at least %d", len(through.passed), wanted)
	}
	missing := lost(direct, through)
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("passes directly, but through Causeway %s %s", name, missing[name])
	}
}

// pooled is for a suite that writes on one connection and reads at once on another.
const pooled = "[routing]\nscope = \"user\"\n"

// again runs tests that failed once more with another Causeway: on a busy machine
// some give up. What is wrong fails again.
func again(t *testing.T, s *suite, c *cluster.Cluster, direct, through *outcome) {
	t.Helper()
	missing := lost(direct, through)
	if len(missing) == 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		t.Logf("at first %s %s", name, missing[name])
	}
	causeway := cluster.StartCauseway(t, c, pooled)
	later, err := s.run(t.Context(), causeway.Addr, patternOf(missing))
	if err != nil {
		t.Fatal("through another Causeway: ", err)
	}
	through.take(later)
}
