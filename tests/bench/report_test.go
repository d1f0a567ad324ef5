package main

import (
	"strings"
	"testing"
	"time"
)

// sample is a section in which the second round was twice as slow for all: the
// ratio within a round says 1.1, medians over the rounds would not.
func sample() *report {
	r := &report{opts: options{script: pointSelect, time: 8 * time.Second, rounds: 2}}
	s := r.section(8, "disable")
	s.add("direct", measurement{perSec: 10000, avgMS: 0.5})
	s.add("relay", measurement{perSec: 8000, avgMS: 0.9, cpuUS: 50})
	s.add("causeway", measurement{perSec: 8800, avgMS: 0.8, cpuUS: 55})
	s.add("direct", measurement{perSec: 5000, avgMS: 1})
	s.add("relay", measurement{perSec: 4000, avgMS: 1.8, cpuUS: 100})
	s.add("causeway", measurement{perSec: 4400, avgMS: 1.6, cpuUS: 110})
	return r
}

func TestReport(t *testing.T) {
	var out strings.Builder
	sample().print(&out)
	for _, want := range []string{
		"medians of 2 interleaved rounds",
		"text protocol (--db-ps-mode=disable), 8 threads",
		"CPU per query, causeway / relay: 1.10",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
	for line := range strings.Lines(out.String()) {
		f := strings.Fields(line)
		if len(f) > 0 && f[0] == "direct" && strings.Join(f, " ") != "direct 7500 1.00 0.75 - -" {
			t.Errorf("direct has no proxy to pay for: %q", line)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		limit float64
		fails string
	}{
		{1.2, ""},
		{1.05, "1.10 times"},
	} {
		err := sample().check(c.limit)
		if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("limit %v: %v, want %q", c.limit, err, c.fails)
		}
	}
	only := &report{}
	only.section(8, "auto").add("causeway", measurement{cpuUS: 40})
	if only.check(2) == nil {
		t.Error("a check without the relay passed")
	}
}

func TestCheckShared(t *testing.T) {
	r := sample()
	if r.checkShared(0.5) == nil {
		t.Error("a check without causeway-16 passed")
	}
	s := r.sections[0]
	s.add("causeway-16", measurement{perSec: 12000})
	s.add("causeway-16", measurement{perSec: 5500})
	if err := r.checkShared(1.15); err != nil {
		t.Errorf("1.2 and 1.1 times direct's: %v", err)
	}
	if err := r.checkShared(1.2); err == nil || !strings.Contains(err.Error(), "1.15 times") {
		t.Errorf("got %v", err)
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		args string
		ok   bool
	}{
		{"", true},
		{"--threads 1,8 --time 2s --rounds 1 --only relay,causeway", true},
		{"--threads 0", false},
		{"--threads x", false},
		{"--only nginx", false},
		{"--time 10ms", false},
		{"--rounds 0", false},
	} {
		if _, err := parseOptions(strings.Fields(c.args)); (err == nil) != c.ok {
			t.Errorf("%q: %v", c.args, err)
		}
	}
}
