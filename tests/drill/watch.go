package main

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"causeway/tests/cluster"
	"causeway/tests/rig"
	"causeway/tests/session/raw"
)

// sample is one look at the counters, taken between two moments.
type sample struct {
	from, to      time.Duration // since the drill began
	used, refused float64       // the fallback budget's answers so far
	onSource      [kindCount]int
	lags          []time.Duration // how old the clock is on each replica
}

// change is an exclusion of a replica that began or ended.
type change struct {
	at       time.Duration
	node     string
	limit    string // "all": it serves nothing at all
	excluded bool
}

// watched is what the watching goroutines have seen; read after they ended.
type watched struct {
	samples []sample
	changes []change
	limits  bool
}

const (
	sampleEvery = time.Second
	limitsEvery = 100 * time.Millisecond
)

// watch looks at the counters every second until ctx ends, and once more then.
func (d *drill) watch(ctx context.Context) error {
	every := time.NewTicker(sampleEvery)
	defer every.Stop()
	for {
		s, err := d.sample(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		d.watched.samples = append(d.watched.samples, s)
		if ctx.Err() != nil {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-every.C:
		}
	}
}

func (d *drill) sample(ctx context.Context) (s sample, err error) {
	s.from = time.Since(d.began)
	m, err := rig.ReadMetrics(ctx, d.causeway.HTTP)
	if err != nil {
		return s, err
	}
	s.used, s.refused = m.Sum("causeway_fallback_total", `outcome="used"`), m.Sum("causeway_fallback_total", `outcome="refused"`)
	if s.onSource, err = digests(ctx, d.cluster.Source()); err != nil {
		return s, err
	}
	s.to = time.Since(d.began)
	for _, n := range d.cluster.Replicas() {
		at := time.Now()
		text, err := n.Value(ctx, "SELECT value FROM drill.clock")
		if err != nil {
			return s, err
		}
		value, err := strconv.Atoi(text)
		if err != nil {
			return s, err
		}
		s.lags = append(s.lags, d.clock.age(value, at))
	}
	return s, nil
}

// digests are the reads of each kind by a node's own count: its digests keep the
// alias that each kind gives its column.
func digests(ctx context.Context, n *cluster.Node) (counts [kindCount]int, err error) {
	for k := range kind(kindCount) {
		err = n.DB.QueryRowContext(ctx, "SELECT IFNULL(SUM(COUNT_STAR), 0) FROM performance_schema.events_statements_summary_by_digest "+
			"WHERE DIGEST_TEXT LIKE CONCAT('SELECT%AS `', ?, '`%')", kinds[k].alias).Scan(&counts[k])
		if err != nil {
			return counts, err
		}
	}
	return counts, nil
}

// watchLimits asks Causeway again and again which replicas are excluded.
func (d *drill) watchLimits(ctx context.Context) error {
	c, err := dial(d.causeway.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	now := map[[2]string]bool{}
	every := time.NewTicker(limitsEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
		}
		servers, err := serverTable(c)
		if err != nil {
			return err
		}
		at := time.Since(d.began)
		for _, row := range servers {
			d.watched.limits = d.watched.limits || row["Limits"] != ""
			for limit, excluded := range exclusions(row) {
				if key := [2]string{row["Server"], limit}; now[key] != excluded {
					now[key] = excluded
					d.watched.changes = append(d.watched.changes, change{at, row["Server"], limit, excluded})
				}
			}
		}
	}
}

// serverTable is SHOW CAUSEWAY SERVERS, with each replica's Limits of SHOW
// CAUSEWAY LAG.
func serverTable(c *raw.Client) ([]map[string]string, error) {
	servers, err := table(c, "SHOW CAUSEWAY SERVERS")
	if err != nil {
		return nil, err
	}
	lags, err := table(c, "SHOW CAUSEWAY LAG")
	for _, lag := range lags {
		for _, row := range servers {
			if row["Server"] == lag["Server"] {
				row["Limits"] = lag["Limits"]
			}
		}
	}
	return servers, err
}

// anyExcluded tells whether a replica is excluded under a limit.
func anyExcluded(servers []map[string]string) bool {
	return slices.ContainsFunc(servers, func(row map[string]string) bool {
		return slices.Contains(slices.Collect(maps.Values(exclusions(row))), true)
	})
}

// exclusions reads a replica's row of serverTable: by limit, whether
// it is excluded. The column Limits is a list like "F1: excluded, why; F2: within".
func exclusions(row map[string]string) map[string]bool {
	if row["Role"] != "replica" {
		return nil
	}
	states := map[string]bool{"all": row["State"] != "up"}
	for _, text := range strings.Split(row["Limits"], "; ") {
		if limit, state, ok := strings.Cut(text, ": "); ok && !strings.Contains(limit, " ") {
			states[limit] = strings.HasPrefix(state, "excluded")
		}
	}
	return states
}
