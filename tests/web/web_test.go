package web

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/gtid"
	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/rig"
)

// languages are the applications; CAUSEWAY_WEB names some of them.
func languages() []string {
	return strings.Fields(cmp.Or(os.Getenv("CAUSEWAY_WEB"), "go php laravel java"))
}

const (
	browsers = 4
	// slow is how many seconds the replicas are late where they are all late.
	slow = 1
	// tries is how many comments are posted without a helper.
	tries = 6
)

// patient lets reads of sessions that wrote nothing be as old as replicas are,
// so that who carries no token does miss his writes.
const patient = "[routing]\nmax_staleness = \"60s\"\n"

var (
	shared *cluster.Cluster
	hows   = []string{"transaction", "autocommit"}
)

func TestMain(m *testing.M) { cluster.Main(m, cluster.Options{}, cluster.Keep(&shared)) }

// rounds is how often the browsers of one application post, in all.
func rounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("CAUSEWAY_WEB_ROUNDS")
	if text == "" {
		return 50
	}
	n, err := strconv.Atoi(text)
	check.Must(t, err)
	return n
}

// TestHelpers installs and runs them one after the other: the machine may be small.
func TestHelpers(t *testing.T) {
	lay(t)
	carried := strings.Replace(patient, "[routing]\n", "[routing]\nscope = \"carried\"\n", 1) // as the docs have it for pools with tokens
	a, b := cluster.StartCauseway(t, shared, carried), cluster.StartCauseway(t, shared, carried)
	balancer := startBalancer(t, a.Addr, b.Addr)
	for _, language := range languages() {
		t.Run(language, func(t *testing.T) {
			rig.InstallClients(t, "web/"+language)
			t.Run("unit", func(t *testing.T) { unit(t, language) })
			t.Run("plain MySQL", func(t *testing.T) {
				site := startSite(t, language, shared.Source().Addr, "TRACER=below", "TRACER=above")
				if misses := play(t, site, 2*browsers); misses > 0 {
					t.Errorf("%d comments were not there", misses)
				}
			})
			t.Run("without", func(t *testing.T) { without(t, startSite(t, language, balancer, "HELPER=off", "HELPER=off")) })
			site := startSite(t, language, balancer, "TRACER=none", "TRACER=below", "TRACER=above")
			t.Run("with", func(t *testing.T) { with(t, site, a, b) })
			t.Run("at once", func(t *testing.T) { atOnce(t, site) })
			t.Run("commits only", func(t *testing.T) { commitsOnly(t, site) })
			t.Run("forged", func(t *testing.T) { forged(t, site) })
		})
	}
}

// TestSigned: signed tokens travel as plain ones do.
func TestSigned(t *testing.T) {
	lay(t)
	rig.InstallClients(t, "web/go")
	secret := patient + "\n[token]\nsecret = \"of both Causeways, and long\"\n"
	a, b := cluster.StartCauseway(t, shared, secret), cluster.StartCauseway(t, shared, secret)
	site := startSite(t, "go", startBalancer(t, a.Addr, b.Addr), "TRACER=none", "TRACER=none")
	answer, err := site.newBrowser(0).post(t.Context(), "signed", hows[0])
	check.Must(t, err)
	if len(answer.cookies) != 1 || !strings.Contains(answer.cookies[0], "=cw1.") {
		t.Fatalf("the cookie is %q", answer.cookies)
	}
	with(t, site, a, b)
	forged(t, site)
}

// unit runs the helper's own tests; some of them want a plain MySQL.
func unit(t *testing.T, language string) {
	out, err := rig.Client(t.Context(), shared.Source().Addr, "web/"+language, "unit").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", strings.TrimSpace(string(out)))
}

// lay makes the table, known to all nodes.
func lay(t *testing.T) {
	t.Helper()
	shared.Lay(t, "DROP DATABASE IF EXISTS web", "CREATE DATABASE web",
		"CREATE TABLE web.comments (id INT PRIMARY KEY AUTO_INCREMENT, text VARCHAR(200) NOT NULL)")
}

// play has several browsers do n rounds in all and counts the misses.
func play(t *testing.T, s *site, n int) int {
	t.Helper()
	var misses, done atomic.Int64
	var wg sync.WaitGroup
	for i := range browsers {
		wg.Go(func() {
			b := s.newBrowser(i)
			for done.Add(1) <= int64(n) {
				k := rand.Int64()
				there, err := b.round(t.Context(), fmt.Sprintf("comment %d", k), hows[k%2])
				if err != nil {
					t.Error(err)
					return
				}
				if !there {
					misses.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return int(misses.Load())
}

// without the helper and with replicas that are late, comments are missed. One
// server writes and the other one reads: a connection that had written would need its own.
func without(t *testing.T, s *site) {
	defer shared.MustHeal(t)
	for _, n := range shared.Replicas() {
		check.Must(t, n.Lag(t.Context(), slow))
	}
	misses, b := 0, s.newBrowser(0)
	for i := range tries {
		there, err := b.round(t.Context(), fmt.Sprintf("unprotected %d", i), hows[i%2])
		check.Must(t, err)
		if !there {
			misses++
		}
	}
	t.Logf("%d of %d comments were not there", misses, tries)
	if misses == 0 {
		t.Error("no comment is missed without the helper: this test would not notice a helper that does nothing")
	}
}

// with the helper none is, while one replica is late and the other one's
// applier stops and goes.
func with(t *testing.T, s *site, a, b *cluster.Causeway) {
	defer shared.MustHeal(t)
	check.Must(t, shared.Replica(2).Lag(t.Context(), slow))
	before := onReplicas(t, a, b)
	stop := stutter(t, shared.Replica(1))
	start := time.Now()
	misses := play(t, s, rounds(t))
	took := time.Since(start)
	stop()
	t.Logf("%d rounds in %v, %d misses, %.0f statements answered by replicas", rounds(t), took.Round(time.Millisecond), misses, onReplicas(t, a, b)-before)
	if misses > 0 {
		t.Errorf("%d comments were not there", misses)
	}
	replicasServe(t, s, a, b)
}

// atOnce: a browser posts in two tabs at once, so that neither request knows of
// the other one's write, and reads both, again and again, while all replicas are late.
func atOnce(t *testing.T, s *site) {
	defer shared.MustHeal(t)
	for _, n := range shared.Replicas() {
		check.Must(t, n.Lag(t.Context(), slow))
	}
	for i := range tries {
		a, b := s.newBrowser(i), s.newBrowser(i+1)
		first, err := a.post(t.Context(), "first tab", hows[i%2])
		check.Must(t, err)
		second, err := b.post(t.Context(), "second tab", hows[i%2])
		check.Must(t, err)
		a.take(t, b)
		both := a.tokens(t)
		if len(both) != 2 {
			t.Fatalf("%d cookies after two responses", len(both))
		}
		for _, to := range []string{first.to, second.to, first.to} {
			read, err := a.do(t.Context(), to, nil)
			if err != nil || read.status != http.StatusOK {
				t.Errorf("%s: status %d, %v", to, read.status, err)
			}
			if one := a.tokens(t); len(one) != 1 || !named(one[0]).Contains(named(both[0]).Union(named(both[1]))) {
				t.Errorf("after a request that brought %v: %v", both, one)
			}
		}
	}
}

// named are the transactions that a cookie names.
func named(c *http.Cookie) gtid.Set {
	text, err := url.PathUnescape(c.Value)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return gtid.MustParse(text)
}

// replicasServe: who carries a token is served by replicas once they have his
// writes, else nothing would be gained.
func replicasServe(t *testing.T, s *site, list ...*cluster.Causeway) {
	shared.MustHeal(t)
	br := s.newBrowser(0)
	a, err := br.post(t.Context(), "last", "transaction")
	check.Must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	check.Must(t, shared.WaitCaughtUp(ctx))
	for before := onReplicas(t, list...); onReplicas(t, list...) == before; {
		if read, err := br.do(ctx, a.to, nil); err != nil || read.status != http.StatusOK {
			t.Fatalf("status %d, %v", read.status, err)
		}
	}
}

// stutter stops and resumes a node's applier at random until it is told to end.
func stutter(t *testing.T, n *cluster.Node) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			for _, step := range []func(context.Context) error{n.Pause, n.Resume} {
				if err := step(ctx); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
				select {
				case <-ctx.Done():
				case <-time.After(rand.N(200 * time.Millisecond)):
				}
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// onReplicas is how many statements replicas have answered so far.
func onReplicas(t *testing.T, list ...*cluster.Causeway) (sum float64) {
	t.Helper()
	for _, cw := range list {
		sum += rig.OnReplicas(t, cw.HTTP)
	}
	return sum
}

// commitsOnly: a commit sets a cookie; a rollback and a read set none.
func commitsOnly(t *testing.T, s *site) {
	for i := range s.servers {
		a, err := s.newBrowser(i).post(t.Context(), "undone", "rollback")
		check.Must(t, err)
		if len(a.cookies) > 0 {
			t.Errorf("server %d: a rollback set %q", i, a.cookies)
		}
		for _, how := range hows {
			b := s.newBrowser(i)
			if a, err = b.post(t.Context(), "done", how); err != nil || len(a.cookies) != 1 || !strings.HasPrefix(a.cookies[0], "causeway-") {
				t.Fatalf("server %d: a commit (%s) set %q, %v", i, how, a.cookies, err)
			}
			if a, err = b.do(t.Context(), a.to, nil); err != nil || a.status != http.StatusOK || len(a.cookies) > 0 {
				t.Errorf("server %d: a read set %q, status %d, %v", i, a.cookies, a.status, err)
			}
		}
	}
}

// forged: tokens that Causeway refuses stop nobody, and the browser is told to
// forget them.
func forged(t *testing.T, s *site) {
	for name, token := range map[string]string{
		"causeway-fdeb9b50c7a6-1-1": "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5", // of another cluster
		"causeway-f59fea00e5a0-1-1": "no-token",
	} {
		for i := range s.servers {
			b := s.newBrowser(i)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.urls[i]+"/comments/1?how=autocommit", nil)
			check.Must(t, err)
			b.http.Jar.SetCookies(req.URL, []*http.Cookie{{Name: name, Value: token, Path: "/"}})
			a, err := b.do(t.Context(), req.URL.RequestURI(), nil)
			if err != nil || a.status != http.StatusOK {
				t.Errorf("server %d, %s: status %d: %s, %v", i, token, a.status, a.body, err)
			}
			if left := b.http.Jar.Cookies(req.URL); len(left) > 0 {
				t.Errorf("server %d, %s: left are %v", i, token, left)
			}
		}
	}
}
