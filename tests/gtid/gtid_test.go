package gtid

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"causeway/gtid"
	"causeway/tests/cluster"
)

var source *cluster.Node

func TestMain(m *testing.M) {
	cluster.Main(m, cluster.Options{Replicas: cluster.NoReplicas}, cluster.KeepSource(&source))
}

const uuid = "aabbccdd-eeff-0011-2233-445566778899"

// tagsKnown tells whether the server reads tagged GTIDs (8.3 and later). An
// error other than the server's refusal fails the test.
func tagsKnown(t *testing.T) bool {
	t.Helper()
	_, err := ask(t, "SELECT GTID_SUBTRACT(?, '')", uuid+":tag:1")
	return err == nil
}

// ask returns the server's answer, or its refusal (error 1772, malformed GTID set).
func ask(t *testing.T, query string, args ...any) (string, error) {
	t.Helper()
	got, err := source.Value(context.Background(), query, args...)
	var refusal *mysql.MySQLError
	if err != nil && (!errors.As(err, &refusal) || refusal.Number != 1772) {
		t.Fatal(err)
	}
	return got, err
}

// randomText is a set's text as an application might write it: any order,
// overlaps, repeated UUIDs, either case, white space.
func randomText(r *rand.Rand, tags bool) string {
	var parts []string
	for range r.IntN(5) {
		part := fmt.Sprintf("%s-0000-0000-0000-00000000000%d", []string{"aaaaaaaa", "BBBBBBBB", "0000000f"}[r.IntN(3)], r.IntN(2))
		for i := range 1 + r.IntN(5) {
			if tags && r.IntN(3) == 0 {
				part += []string{":tag", ":_x1", ":TAG", ": b "}[r.IntN(4)]
			}
			first := 1 + r.IntN(30)
			part += fmt.Sprintf(":%d", first)
			if r.IntN(2) == 0 {
				part += fmt.Sprintf("%s%d", []string{"-", " - "}[i%2], first+r.IntN(10))
			}
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, []string{",", ", ", ",\n"}[r.IntN(3)])
}

func TestAgainstTheServersFunctions(t *testing.T) {
	tags := tagsKnown(t)
	r := rand.New(rand.NewPCG(7, 8))
	subsets := 0
	for range 1500 {
		ta, tb := randomText(r, tags), randomText(r, tags)
		if r.IntN(3) == 0 {
			tb = ta + "," + tb // so that subsets are not rare
		}
		a, b := parse(t, ta), parse(t, tb)
		text, err := ask(t, "SELECT GTID_SUBTRACT(?, '')", ta)
		if err != nil || text != a.String() {
			t.Fatalf("%q: the server prints %q (%v), gtid %q", ta, text, err, a)
		}
		minus, err := ask(t, "SELECT GTID_SUBTRACT(?, ?)", ta, tb)
		if err != nil || minus != a.Subtract(b).String() {
			t.Fatalf("%q minus %q: the server says %q (%v), gtid %q", ta, tb, minus, err, a.Subtract(b))
		}
		subset, err := ask(t, "SELECT GTID_SUBSET(?, ?)", ta, tb)
		if err != nil || (subset == "1") != b.Contains(a) {
			t.Fatalf("%q in %q: the server says %s (%v), gtid %v", ta, tb, subset, err, b.Contains(a))
		}
		if subset == "1" {
			subsets++
		}
		both, err := ask(t, "SELECT GTID_SUBTRACT(?, GTID_SUBTRACT(?, ?))", ta, ta, tb)
		if err != nil || both != a.Intersect(b).String() {
			t.Fatalf("%q and %q: the server says %q (%v), gtid %q", ta, tb, both, err, a.Intersect(b))
		}
		union, err := ask(t, "SELECT GTID_SUBTRACT(CONCAT(?, ',', ?), '')", ta, tb)
		if err != nil || union != a.Union(b).String() {
			t.Fatalf("%q or %q: the server says %q (%v), gtid %q", ta, tb, union, err, a.Union(b))
		}
	}
	if subsets < 300 || subsets > 1200 {
		t.Errorf("%d of 1500 were subsets: the test is one-sided", subsets)
	}
}

func parse(t *testing.T, text string) gtid.Set {
	t.Helper()
	s, err := gtid.Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return s
}

// What the server refuses gtid refuses. Where gtid alone refuses, the table
// says so: the server reads such text as an empty set.
func TestMalformedText(t *testing.T) {
	const both, stricter, neither = "both", "gtid only", "neither"
	for _, tc := range []struct{ text, refused string }{
		{uuid + ":0", both},
		{uuid + ":-1", both},
		{uuid + ":1-", both},
		{uuid + ":1x", both},
		{uuid + ":1;", both},
		{uuid[1:] + ":1", both},
		{"0-1-123", both},
		{uuid + ":9223372036854775807", both},
		{uuid + ":1-9223372036854775807", both},
		{uuid + ":9223372036854775806", neither},
		{uuid + ":tag", stricter},
		{uuid + ":a-b:1", both},
		{uuid + ":" + strings.Repeat("a", 33) + ":1", both},
		{uuid + ":5-3", stricter},
		{uuid, stricter},
		{",," + uuid + ":1,", neither},
		{"", neither},
	} {
		_, ours := gtid.Parse(tc.text)
		_, theirs := ask(t, "SELECT GTID_SUBTRACT(?, '')", tc.text)
		got := map[[2]bool]string{{true, true}: both, {true, false}: stricter, {false, false}: neither}[[2]bool{ours != nil, theirs != nil}]
		if got != tc.refused {
			t.Errorf("%q: gtid says %v, the server %v; want refused by %s", tc.text, ours, theirs, tc.refused)
		}
	}
}

// A real server's own gtid_executed comes back as it was printed.
func TestExecutedSet(t *testing.T) {
	ctx := context.Background()
	for _, next := range []string{uuid + ":7", uuid + ":5", "AUTOMATIC"} {
		if err := source.Exec(ctx, "SET gtid_next = '"+next+"'; CREATE DATABASE IF NOT EXISTS gtid_test; SET gtid_next = AUTOMATIC"); err != nil {
			t.Fatal(err)
		}
	}
	text, err := source.Value(ctx, "SELECT @@global.gtid_executed")
	if err != nil {
		t.Fatal(err)
	}
	s := parse(t, text)
	if s.String() != text {
		t.Errorf("the server prints %q, gtid %q", text, s)
	}
	if !s.Contains(parse(t, uuid+":5:7")) || s.Contains(parse(t, uuid+":6")) {
		t.Errorf("wrong members in %q", s)
	}
}
