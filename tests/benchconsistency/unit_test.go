package main

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestMissing(t *testing.T) {
	var full []int64
	for id := int64(100); id > 80; id-- {
		full = append(full, id)
	}
	for _, c := range []struct {
		page []int64
		id   int64
		want bool
	}{
		{nil, 0, false}, // nothing was written
		{nil, 7, true},
		{[]int64{9, 7}, 7, false},
		{[]int64{9, 6}, 7, true}, // the page is not full: it would be there
		{full, 90, false},
		{full, 80, false}, // newer ones pushed it off
		{full, 101, true},
		{slices.Concat(full[:5], full[6:], []int64{80}), 95, true},
	} {
		if got := missing(c.page, c.id); got != c.want {
			t.Errorf("%d in %v: missing %v", c.id, c.page, got)
		}
	}
}

func TestCarriers(t *testing.T) {
	u := &user{id: 42}
	token := tokenComment.comment
	if got := token(u, false); got != "/*causeway_token=''*/ " {
		t.Errorf("who has written nothing carries %q", got)
	}
	u.token, u.wrote = "a-b:1-5,\nc:7", time.Now()
	for _, c := range []struct{ got, want string }{
		{token(u, false), "/*causeway_token='a-b%3A1-5%2C%0Ac%3A7'*/ "},
		{token(u, true), "/*causeway_token='a-b%3A1-5%2C%0Ac%3A7'*/ "},
		{key.comment(u, true), "/*causeway_key='user%3A42'*/ "},
		{key.comment(u, false), "/*causeway_key='user%3A42'*/ "},
		{cookie(time.Hour).comment(u, false), "/*causeway_class='SOURCE'*/ "},
		{cookie(time.Hour).comment(u, true), ""},
		{cookie(time.Nanosecond).comment(u, false), ""},
		{cookie(time.Hour).comment(&user{}, false), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestModesDiffer: names are the keys of the report.
func TestModesDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range modes {
		if seen[m.name] || strings.ContainsAny(m.name, ",|") {
			t.Errorf("mode %q", m.name)
		}
		seen[m.name] = true
		if strings.Contains(m.config(), `"GLOBAL"`) != (m.name == "global") {
			t.Errorf("%s: %s", m.name, m.config())
		}
	}
}

func requests(n, missedOwn int) (all []request) {
	for i := range n {
		all = append(all, request{took: time.Duration(i+1) * time.Millisecond, missedOwn: i < missedOwn, missedAny: i < missedOwn})
	}
	return append(all, request{write: true, took: time.Second})
}

func TestSummarise(t *testing.T) {
	f := summarise([]cell{
		{requests(100, 3), 10, time.Second},
		{requests(100, 0), 30, time.Second},
		{append(requests(200, 1), request{err: errors.New("budget")}), 0, time.Second},
	})
	if f.reads != 401 || f.missedOwn != 4 || f.missedAny != 4 || f.failed != 1 || f.onSource != 40.0/401 ||
		f.p50 != 51*time.Millisecond || f.p99 != 100*time.Millisecond || f.write != time.Second || f.perSec != 101 {
		t.Errorf("%+v", f)
	}
	if f := summarise(nil); f.reads != 0 || f.p99 != 0 {
		t.Errorf("of nothing: %+v", f)
	}
}

// judged is a report of one lag; reads on the source of 100 by mode.
func judged(source, missed map[string]int) *report {
	r := newReport(options{}, modes, []lag{{name: "none"}})
	for _, m := range modes {
		if n, ok := source[m.name]; ok {
			r.add("none", m.name, cell{requests(100, missed[m.name]), n, time.Second})
		} else {
			r.missing[m.name] = "not here"
		}
	}
	return r
}

func TestJudge(t *testing.T) {
	source := map[string]int{"no protection": 0, "cookie 3s": 30, "key": 9, "global": 60}
	for _, c := range []struct {
		source, missed map[string]int
		want           string // part of the only fault
	}{
		{source, map[string]int{"no protection": 5, "cookie 3s": 1}, ""},
		{source, nil, "proves nothing"},
		{source, map[string]int{"no protection": 5, "key": 2}, "key: 2 reads missed the user's own write"},
		{map[string]int{"no protection": 0, "cookie 3s": 30, "key": 11}, map[string]int{"no protection": 5}, "more than a third of the 30.0 % of cookie 3s"},
		{map[string]int{"no protection": 0, "cookie 3s": 30, "sticky 3s by key": 60, "key": 11}, map[string]int{"no protection": 5}, ""},
	} {
		got := judged(c.source, c.missed).judge()
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%v, %v: %q", c.source, c.missed, got)
		}
	}
	all := judged(source, map[string]int{"no protection": 1, "global": 1})
	if got := all.judge(); len(got) != 1 || !strings.Contains(got[0], "1 reads missed an acknowledged write") {
		t.Errorf("global that misses: %q", got)
	}
}

// TestPool: a read never gets the connection that it must avoid.
func TestPool(t *testing.T) {
	a, b := new(sql.Conn), new(sql.Conn)
	p := &pool{idle: []*sql.Conn{a, b}}
	p.free = sync.NewCond(&p.mu)
	if got := p.take(a); got != b {
		t.Error("the one to avoid")
	}
	got := make(chan any)
	go func() { got <- p.take(a) }() // a alone is idle: it waits
	p.put(b)
	if <-got != any(b) {
		t.Error("the one to avoid")
	}
	if p.take(nil) != a {
		t.Error("a is idle")
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		args        string
		modes, lags int // 0: an error
	}{
		{"", len(modes), 3},
		{"--lags 5s --writes 0.5", len(modes), 1},
		{"--lags 6s", 0, 0}, {"--modes magic", 0, 0}, {"--writes 0", 0, 0}, {"--connections 1", 0, 0}, {"--time 1ms", 0, 0}, {"--speed 3", 0, 0},
	} {
		_, chosen, under, err := parseOptions(strings.Fields(c.args))
		if (err == nil) != (c.modes > 0) || err == nil && (len(chosen) != c.modes || len(under) != c.lags) {
			t.Errorf("%q: %d modes, %d lags, %v", c.args, len(chosen), len(under), err)
		}
	}
	if _, chosen, _, err := parseOptions([]string{"--modes", "key,cookie 3s"}); err != nil || len(chosen) != 2 || chosen[1].name != "cookie 3s" {
		t.Errorf("%v, %v", chosen, err)
	}
}
