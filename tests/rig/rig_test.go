package rig

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestParseStatCPU(t *testing.T) {
	for _, c := range []struct {
		name, stat string
		want       time.Duration
		fails      bool
	}{
		{"plain", "7 (relay) S 1 2 3 4 5 6 7 8 9 10 150 50 30 20 20 0 9 0", 2500 * time.Millisecond, false},
		{"name with brackets and spaces", "7 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 1 2 3 4 20 0", 100 * time.Millisecond, false},
		{"no name", "7 relay S 1", 0, true},
		{"cut short", "7 (relay) S 1 2 3", 0, true},
		{"no number", "7 (relay) S 1 2 3 4 5 6 7 8 9 10 x 50 30 20 20", 0, true},
	} {
		got, err := parseStatCPU([]byte(c.stat))
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
	}
}

func TestParseStatusKB(t *testing.T) {
	status := []byte("Name:\trelay\nVmPeak:\t  200 kB\nVmRSS:\t  100 kB\n")
	if got, err := parseStatusKB(status, "VmRSS:"); got != 100<<10 || err != nil {
		t.Errorf("got %d, %v", got, err)
	}
	if _, err := parseStatusKB(status, "VmSwap:"); err == nil {
		t.Error("a missing line gave no error")
	}
}

const sysbenchReport = `SQL statistics:
    queries performed:
        read:                            23464
        write:                           0
        other:                           0
        total:                           23464
    transactions:                        23464  (11721.34 per sec.)
    queries:                             23464  (11721.34 per sec.)
    ignored errors:                      3      (1.50 per sec.)
    reconnects:                          1      (0.50 per sec.)

Latency (ms):
         min:                                    0.19
         avg:                                    0.68
         max:                                   11.47
         95th percentile:                        1.16
         sum:                                15958.16
`

func TestParseSysbench(t *testing.T) {
	got, err := parseSysbench(sysbenchReport)
	want := SysbenchResult{Queries: 23464, QueriesPerSec: 11721.34, TrxPerSec: 11721.34, Ignored: 3, Reconnects: 1, AvgMS: 0.68, P95MS: 1.16}
	if got != want || err != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := parseSysbench("FATAL: mysql_drv_query() returned error 2013\n" + sysbenchReport); err == nil {
		t.Error("a fatal error passed")
	}
	if _, err := parseSysbench("Threads started!\n"); err == nil {
		t.Error("a report without figures passed")
	}
}

func TestMetrics(t *testing.T) {
	m, err := parseMetrics(`# HELP q queries
# TYPE q counter
q_total{target="source",reason="write"} 5
q_total{target="replica",reason="covered"} 7
q_total{target="replica",reason="with a space"} 1.5
q_total_other 100

up 1
`)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Sum("q_total", `target="replica"`); got != 8.5 {
		t.Errorf("replica sum %v", got)
	}
	if got := m.Sum("q_total"); got != 13.5 {
		t.Errorf("sum %v", got)
	}
	if got := m.Minus(Metrics{"up": 1}).Sum("up"); got != 0 {
		t.Errorf("growth %v", got)
	}
	for _, line := range []string{"novalue\n", "a b\n"} {
		if _, err := parseMetrics(line); err == nil {
			t.Errorf("%q was accepted", line)
		}
	}
}

// A shell with a child: the rig sees both, counts their CPU and stops them.
func TestProc(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(t.TempDir(), "sh", sh, "-c", "echo hello; sleep 600 & wait")
	if err != nil {
		t.Fatal(err)
	}
	hasChild := func() error {
		if len(children(p.Pid())) == 0 {
			return os.ErrNotExist
		}
		return nil
	}
	if err := p.await(10*time.Second, hasChild); err != nil {
		t.Error(err)
	}
	if rss, err := RSS(p.Pid()); rss <= 0 || err != nil {
		t.Errorf("RSS: %d, %v", rss, err)
	}
	if _, err := CPU(p.Pid()); err != nil {
		t.Error(err)
	}
	if !strings.Contains(p.Tail(), "hello") {
		t.Errorf("log: %q", p.Tail())
	}
	child := children(p.Pid())
	if err := p.Stop(); err == nil || p.Alive() {
		t.Errorf("stopped: %v, alive %v", err, p.Alive())
	}
	for _, pid := range child {
		if c, err := os.FindProcess(pid); err == nil {
			_ = c.Kill()
		}
	}
}

func TestAwaitTellsWhyAProgramEnded(t *testing.T) {
	p, err := Start(t.TempDir(), "sh", "/bin/sh", "-c", "echo no such option; exit 3")
	if err != nil {
		t.Fatal(err)
	}
	addr, err := FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	err = p.AwaitPort(addr, time.Minute)
	if err == nil || !strings.Contains(err.Error(), "no such option") {
		t.Errorf("got %v", err)
	}
}

func TestQueriesTo(t *testing.T) {
	const page = `# HELP causeway_queries_total x
causeway_queries_total{reason="read",target="replica"} 3
causeway_queries_total{reason="token",target="replica"} 4
causeway_queries_total{reason="write",target="source"} 9
causeway_other_total{target="replica"} 5
`
	m, err := parseMetrics(page)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := m.queriesTo("replica"); err != nil || n != 7 {
		t.Errorf("got %v, %v", n, err)
	}
	if _, err := m.queriesTo("nosuch"); err == nil {
		t.Error("an unknown target passed")
	}
}
