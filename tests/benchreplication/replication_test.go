package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"causeway/tests/cluster"
)

// TestWorkersMatter is make bench-replication in some seconds: under a load that
// one worker cannot take, four fall less behind and recover sooner. A busy
// machine may stall just one of the runs, so there are three tries.
func TestWorkersMatter(t *testing.T) {
	c := cluster.Start(t, cluster.Options{Replicas: 1})
	o := options{time: 3 * time.Second, rounds: 1, clients: 16, overload: 1.5, sync: 4 * time.Millisecond, workers: []int{1, 4}}
	for try := range 3 {
		r, err := measure(t.Context(), o, c, t.Logf)
		if err != nil {
			t.Fatal(err)
		}
		one, four := r.outcomes[setting{1, true}][0], r.outcomes[setting{4, true}][0]
		if one.highest > 2*four.highest && one.recovery > four.recovery {
			checkReport(t, r)
			return
		}
		t.Logf("try %d: %v behind with one worker, %v with four; recovered in %v and %v", try+1, one.highest, four.highest, one.recovery, four.recovery)
	}
	t.Error("four workers fall as far behind as one")
}

// checkReport: table, plot and data have all settings.
func checkReport(t *testing.T, r *report) {
	t.Helper()
	var table strings.Builder
	plot, data := filepath.Join(t.TempDir(), "x.png"), filepath.Join(t.TempDir(), "x.csv")
	for _, err := range []error{r.print(&table), r.draw(plot), r.writeData(data)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if lines := strings.Count(table.String(), "\n| "); lines != 1+4 {
		t.Errorf("the table has %d lines:\n%s", lines, &table)
	}
	if info, err := os.Stat(plot); err != nil || info.Size() < 10_000 {
		t.Errorf("the plot: %v, %v", info, err)
	}
	text, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, start := range []string{"workers,", "1,true,1,", "1,false,1,", "4,true,1,", "4,false,1,"} {
		if !strings.Contains(string(text), start) {
			t.Errorf("the data have no line that begins with %q", start)
		}
	}
}

func TestMedian(t *testing.T) {
	all := []outcome{{highest: 9, written: 3}, {highest: 1, written: 1}, {highest: 4, written: 2}}
	if got := median(all, func(o outcome) time.Duration { return o.highest }); got != 4 {
		t.Errorf("%v", got)
	}
	if got := median(all[:2], func(o outcome) float64 { return o.written }); got != 2 {
		t.Errorf("%v", got)
	}
	if got := typical(all).highest; got != 4 {
		t.Errorf("drawn is %v", got)
	}
}

// TestHeld: a load that the machine did not hold is told.
func TestHeld(t *testing.T) {
	r := &report{opts: options{workers: []int{1}}, load: 100, outcomes: map[setting][]outcome{
		{1, true}: {{written: 99}, {written: 80}, {written: 91}}, {1, false}: {{written: 100}}}}
	for _, held := range []bool{true, false} {
		var out strings.Builder
		if err := r.print(&out); err != nil || strings.Contains(out.String(), "not held") == held {
			t.Errorf("held %v, %v:\n%s", held, err, &out)
		}
		r.outcomes[setting{1, false}] = []outcome{{written: 89}}
	}
}

func TestOptions(t *testing.T) {
	for args, ok := range map[string]bool{
		"": true, "--time 5s --workers 1,8 --sync 0s": true,
		"--time 1ms": false, "--workers 0": false, "--workers x": false, "--sync 2s": false, "--overload 0": false, "--rounds 0": false, "--speed 3": false,
	} {
		if _, err := parseOptions(strings.Fields(args)); (err == nil) != ok {
			t.Errorf("%q: %v", args, err)
		}
	}
	o, err := parseOptions(nil)
	if all := o.settings(); err != nil || len(all) != 6 || all[0].String() != "1 worker, order preserved" || all[5].String() != "4 workers, order free" {
		t.Errorf("%v, %v", all, err)
	}
}
