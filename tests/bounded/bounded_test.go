package bounded

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
)

var shared *cluster.Cluster

func TestMain(m *testing.M) { cluster.Main(m, cluster.Options{}, cluster.Keep(&shared)) }

// trial is a way for replicas to be behind, and a bound.
type trial struct {
	name   string
	bound  time.Duration // 0: half a second more than the replicas are behind
	delay  int           // SOURCE_DELAY of both replicas
	idle   bool          // nothing is written while the reads run
	cut    bool          // the links of both replicas are cut while the reads run
	skew   int           // seconds that the second replica's clock is ahead
	shares bool          // the replicas can prove the bound: most reads are theirs
	long   bool          // only with CAUSEWAY_TESTS=long: others show the same situation
}

var trials = []trial{
	{name: "delayed by 1 s", delay: 1, shares: true},
	{name: "delayed by 2 s", delay: 2, shares: true, long: true},
	{name: "delayed by 3 s", delay: 3, shares: true},
	{name: "delayed by 4 s", delay: 4, shares: true, long: true},
	{name: "delayed by 5 s", delay: 5, shares: true, long: true},
	{name: "delayed beyond the bound", delay: 2, bound: 1500 * time.Millisecond},
	{name: "not delayed", bound: 500 * time.Millisecond, shares: true},
	{name: "idle source", delay: 1, idle: true, shares: true},
	{name: "links cut in silence", bound: time.Second, cut: true},
	{name: "a clock 5 s ahead", delay: 1, skew: 5, shares: true},
	{name: "a clock 5 s behind", delay: 1, skew: -5, shares: true},
}

// reads is how many there are in all of them.
func reads(t *testing.T) int {
	n := 5_000
	if cluster.Long() {
		n = 10_500 // each trial rounds down
	}
	return check.Number(t, "CAUSEWAY_BOUNDED_READS", n)
}

// TestBound: no read is ever older than the bound, and where replicas can prove
// it they serve it: at least four of five reads, by CAUSEWAY_BOUNDED_TIMED=1, and
// on a machine that is too slow for its probes a third.
func TestBound(t *testing.T) {
	total := reads(t)
	links := lay(t)
	var all tally
	for i, tr := range trials {
		if tr.long && !cluster.Long() {
			continue
		}
		t.Run(tr.name, func(t *testing.T) {
			all.add(tr.run(t, links, (total+len(trials)-1)/len(trials)))
		})
		if t.Failed() {
			t.Fatalf("stopped at trial %d", i+1)
		}
	}
	t.Logf("in all: %s", &all)
}

// lay makes the clock's table and leads replication of both replicas over links.
func lay(t *testing.T) []*cluster.Link {
	t.Helper()
	ctx, src := t.Context(), shared.Source()
	check.Must(t, src.Exec(ctx, "CREATE DATABASE bounded; CREATE TABLE bounded.clock (value INT NOT NULL); INSERT INTO bounded.clock VALUES (0)"))
	var links []*cluster.Link
	for _, n := range shared.Replicas() {
		k, err := cluster.NewLink(src.Addr)
		check.Must(t, err)
		t.Cleanup(k.Close)
		links = append(links, k)
		check.Must(t, k.Lead(ctx, n))
	}
	t.Cleanup(func() { settle(t, 0, 0) })
	return links
}

// settle delays both replicas and sets the second one's clock.
func settle(t *testing.T, delay, skew int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute)
	defer cancel()
	second := shared.Replicas()[1]
	if skew != skewNow {
		check.Must(t, second.SetClock(skew))
		skewNow = skew
	}
	for _, n := range shared.Replicas() {
		check.Must(t, n.Lag(ctx, 0))
	}
	check.Must(t, shared.WaitCaughtUp(ctx))
	for _, n := range shared.Replicas() {
		check.Must(t, n.Lag(ctx, delay))
	}
}

var skewNow int

// ticking makes the values of all trials different.
var ticking = clock{replaced: map[int]time.Time{}}

func (tr trial) run(t *testing.T, links []*cluster.Link, n int) *tally {
	settle(t, tr.delay, tr.skew)
	ctx, stop := context.WithCancel(t.Context())
	written := ticking.start(ctx, t)
	if tr.bound == 0 {
		tr.bound = behind(t, tr.delay) + 500*time.Millisecond
	}
	cw := cluster.StartCauseway(t, shared, fmt.Sprintf("[routing]\nmax_staleness = %q\n[fallback]\nqps = 1e6\nburst = 1e6\n", tr.bound))
	db := cluster.OpenApp(t, cw.Addr, "bounded")
	awaitReplicas(t, db)
	time.Sleep(tr.bound) // until they cover the source's position at Causeway's start as well
	if tr.idle {
		stop()
		written()
		check.Must(t, shared.WaitCaughtUp(t.Context()))
	}
	if tr.cut {
		for _, k := range links {
			k.Cut()
			defer k.Mend()
		}
	}
	got := tr.read(t, db, n)
	stop()
	written()
	t.Logf("bound %v: %s", tr.bound.Round(time.Millisecond), got)
	tr.judge(t, got, n)
	return got
}

// awaitReplicas waits until both replicas have joined.
func awaitReplicas(t *testing.T, db *sql.DB) {
	t.Helper()
	check.Until(t, "both replicas serve", func() bool {
		rows, err := cluster.Servers(t.Context(), db)
		check.Must(t, err)
		up := 0
		for _, row := range rows {
			if row["Role"] == "replica" && row["State"] == "up" {
				up++
			}
		}
		return up == len(shared.Replicas())
	})
}

// behind is how far the replicas are behind at most, found out without Causeway
// over two seconds: SOURCE_DELAY counts whole seconds and so swings by one.
func behind(t *testing.T, delay int) (most time.Duration) {
	t.Helper()
	time.Sleep(time.Duration(delay+1) * time.Second) // until the delay shows
	for began := time.Now(); time.Since(began) < 2*time.Second; time.Sleep(tick) {
		for _, n := range shared.Replicas() {
			most = max(most, ageOn(t, n))
		}
	}
	return most
}

// ageOn is how far a replica is behind now.
func ageOn(t *testing.T, n *cluster.Node) time.Duration {
	at := time.Now()
	text, err := n.Value(context.WithoutCancel(t.Context()), "SELECT value FROM bounded.clock")
	if err != nil {
		t.Error(err)
		return time.Hour
	}
	value, err := strconv.Atoi(text)
	if err != nil {
		t.Error(err)
	}
	return ticking.age(value, at)
}

// nearest looks again and again how far the replica is behind that is the least.
type nearest struct {
	mu   sync.Mutex
	age  time.Duration
	when time.Time
}

func (n *nearest) watch(ctx context.Context, t *testing.T) {
	for ctx.Err() == nil {
		when, age := time.Now(), time.Hour
		for _, r := range shared.Replicas() {
			age = min(age, ageOn(t, r))
		}
		n.mu.Lock()
		n.age, n.when = age, when
		n.mu.Unlock()
		time.Sleep(tick)
	}
}

// within tells whether a replica has just been seen to be no further behind.
func (n *nearest) within(limit time.Duration) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.age <= limit && time.Since(n.when) < 5*tick
}

// read reads n times, by several sessions, over a little more than the bound if
// that takes longer.
func (tr trial) read(t *testing.T, db *sql.DB, n int) *tally {
	const sessions = 8
	var got tally
	var near nearest
	var readers, watcher sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	watcher.Go(func() { near.watch(ctx, t) })
	pause := (tr.bound + time.Second) * sessions / time.Duration(n)
	for range sessions {
		readers.Go(func() {
			c, err := db.Conn(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			for range n / sessions {
				within, began := near.within(tr.bound-500*time.Millisecond), time.Now()
				var value int
				if err := c.QueryRowContext(t.Context(), "SELECT value FROM clock").Scan(&value); err != nil {
					t.Error(err)
					return
				}
				age := ticking.age(value, began)
				role, err := servedBy(t.Context(), c)
				if err != nil {
					t.Error(err)
					return
				}
				got.note(age, tr.bound, within, role == "replica")
				time.Sleep(pause - time.Since(began))
			}
		})
	}
	readers.Wait()
	stop()
	watcher.Wait()
	return &got
}

// servedBy asks Causeway which role the node has that served the last statement.
func servedBy(ctx context.Context, c *sql.Conn) (role string, err error) {
	_, rows, err := cluster.Show(ctx, c, "ROUTE")
	for _, row := range rows {
		if row[0] == "Role" {
			role = row[1]
		}
	}
	return role, err
}

func (tr trial) judge(t *testing.T, got *tally, n int) {
	if got.reads < n/8*8 {
		t.Errorf("%d reads of %d", got.reads, n)
	}
	if got.tooOld > 0 {
		t.Errorf("%d reads were older than %v, the oldest %v", got.tooOld, tr.bound, got.oldest)
	}
	least := 1.0 / 3 // whatever the machine
	if os.Getenv("CAUSEWAY_BOUNDED_TIMED") == "1" {
		least = 0.8
	}
	if tr.shares && float64(got.withinOnReplicas) < least*float64(got.within) {
		t.Errorf("of %d reads that replicas were near enough for %d were theirs", got.within, got.withinOnReplicas)
	}
	if tr.delay > 0 && !tr.idle && tr.shares && got.oldest < time.Duration(tr.delay)*time.Second/2 {
		t.Errorf("the oldest read was %v behind: the replicas were not delayed", got.oldest)
	}
}

// tally counts reads.
type tally struct {
	mu                       sync.Mutex
	reads, tooOld            int
	onReplicas               int
	within, withinOnReplicas int // while a replica was half a second nearer than the bound
	oldest                   time.Duration
}

func (a *tally) note(age, bound time.Duration, within, onReplica bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	count := func(n *int, yes bool) {
		if yes {
			*n++
		}
	}
	a.reads++
	a.oldest = max(a.oldest, age)
	count(&a.tooOld, age > bound)
	count(&a.onReplicas, onReplica)
	count(&a.within, within)
	count(&a.withinOnReplicas, within && onReplica)
}

func (a *tally) add(b *tally) {
	a.reads, a.tooOld, a.oldest = a.reads+b.reads, a.tooOld+b.tooOld, max(a.oldest, b.oldest)
	a.onReplicas, a.within, a.withinOnReplicas = a.onReplicas+b.onReplicas, a.within+b.within, a.withinOnReplicas+b.withinOnReplicas
}

func (a *tally) String() string {
	return fmt.Sprintf("%d reads, %d too old, the oldest %v behind; %d on replicas, which served %d of the %d reads that one was near enough for",
		a.reads, a.tooOld, a.oldest.Round(time.Millisecond), a.onReplicas, a.withinOnReplicas, a.within)
}
