package main

import (
	"testing"
	"time"
)

func TestEnds(t *testing.T) {
	for _, c := range []struct {
		set          string
		prefix, last int
		ok           bool
	}{
		{"", 0, 0, true},
		{"u:1", 1, 1, true},
		{"u:1-12", 12, 12, true},
		{"u:1-12:14:16-20", 12, 20, true}, // order is free: 13 and 15 are under way
		{"u:5-9", 0, 9, true},             // a receiver that began later
		{"\nu:1-3\n", 3, 3, true},
		{"u:1-3,\nv:1-2", 0, 0, false},
		{"u:a-3", 0, 0, false},
		{"u", 0, 0, false},
	} {
		prefix, last, err := ends(c.set)
		if prefix != c.prefix || last != c.last || (err == nil) != c.ok {
			t.Errorf("%q: %d, %d, %v", c.set, prefix, last, err)
		}
	}
}

const second = time.Second

var someMarks = []mark{{0, 10}, {1 * second, 20}, {2 * second, 30}}

func TestBehind(t *testing.T) {
	for _, c := range []struct {
		have int
		now  time.Duration
		want time.Duration
	}{
		{30, 9 * second, 0},              // all
		{29, 9 * second, 7 * second},     // lacks 30, seen at 2 s
		{20, 3 * second, 1 * second},     // lacks 21, seen at 2 s
		{19, 3 * second, 2 * second},     // lacks 20, seen at 1 s
		{20, 1500 * time.Millisecond, 0}, // nothing newer had been seen then
		{0, 1 * second, 1 * second},
	} {
		if got := behind(someMarks, c.have, c.now); got != c.want {
			t.Errorf("has %d at %v: %v behind, want %v", c.have, c.now, got, c.want)
		}
	}
}

func TestSummarise(t *testing.T) {
	o := summarise(someMarks, []sample{
		{at: 0, received: 10, applied: 10},
		{at: 2 * second, received: 30, applied: 10}, // 1 s behind
		{at: 4 * second, received: 30, applied: 20}, // 2 s, after the load
		{at: 5 * second, received: 30, applied: 30},
	}, 3*second, 2*second)
	if o.average != second/2 || o.highest != 2*second || o.transport != 0 || o.recovery != 2*second || o.written != 10 || o.applied != 0 || len(o.points) != 4 {
		t.Errorf("%+v", o)
	}
	if o := summarise(nil, nil, second, 0); o.average != 0 || o.written != 0 {
		t.Errorf("of nothing: %+v", o)
	}
}
