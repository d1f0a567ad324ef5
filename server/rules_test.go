package server

import (
	"fmt"
	"net/netip"
	"regexp"
	"testing"
	"time"

	"causeway/classifier"
)

func TestFirstMatch(t *testing.T) {
	c := classifier.New(classifier.Options{})
	classes, err := newClasses(labClasses(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := newRules([]Rule{
		{Name: "digest", Digest: "select ?"},
		{Name: "quoted", Digest: "select `v` from q where id = ?"},
		{Name: "from", Regex: regexp.MustCompile("^delete from q "), Schema: "app"},
		{Name: "both", Regex: regexp.MustCompile("^select"), Table: "orders", Schema: "other"},
		{Name: "qualified", Table: "app.Orders"},
		{Name: "bare", Table: "items"},
		{Name: "regex", Regex: regexp.MustCompile("(?i)SLEEP")},
		{Name: "schema", Schema: "Reports"},
	}, &classes)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ sql, schema, want string }{
		{"SELECT 1", "app", "digest"},
		{"SELECT  2", "reports", "digest"},
		{"SELECT a FROM orders", "app", "qualified"},
		{"SELECT a FROM orders", "APP", "qualified"},
		{"SELECT a FROM orders", "other", "both"},
		{"UPDATE orders SET a = 1", "other", ""},
		{"SELECT a FROM other.orders", "app", ""},
		{"SELECT a FROM `app`.`orders`", "", "qualified"},
		{"DELETE FROM x.items", "app", "bare"},
		{"SELECT sleep(1) FROM t", "app", "regex"},
		{"SELECT 'sleep' FROM t", "app", ""},
		{"SELECT a FROM t", "reports", "schema"},
		{"SELECT a FROM t", "", ""},
		{"SELECT v FROM `q` WHERE id = 7", "app", "quoted"},
		{"SELECT `v` FROM `q` WHERE `id` = 7", "app", "quoted"},
		{"DELETE FROM `q` WHERE `id` = 7", "app", "from"},
		{"DELETE FROM q WHERE id = 7", "app", "from"},
	} {
		class := c.Classify([]byte(tc.sql), classifier.Mode{})
		got := ""
		if r := firstMatch(rules, class, tc.schema, classifier.Mode{}); r != nil {
			got = r.Name
		}
		if got != tc.want {
			t.Errorf("%s in %q: rule %q, want %q", tc.sql, tc.schema, got, tc.want)
		}
	}
}

func TestRulesOfALogin(t *testing.T) {
	book := ruleBook{rules: []*ruleEntry{
		{Rule: Rule{Name: "a", User: "a", Regex: regexp.MustCompile("x")}},
		{Rule: Rule{Name: "net", Client: netip.MustParsePrefix("10.0.0.0/8")}},
	}}
	for _, tc := range []struct {
		user, host string
		want       []string
	}{
		{"a", "192.0.2.1", []string{"a"}}, {"a", "10.1.2.3", []string{"a", "net"}}, {"a", "::ffff:10.1.2.3", []string{"a", "net"}},
		{"b", "10.1.2.3", []string{"net"}}, {"b", "192.0.2.1", nil}, {"b", "localhost", nil},
	} {
		set := book.forLogin(tc.user, tc.host)
		var got []string
		if set != nil {
			for _, r := range set.rules {
				got = append(got, r.Name)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(tc.want) || (set == nil) != (tc.want == nil) {
			t.Errorf("%s@%s: %v, want %v", tc.user, tc.host, got, tc.want)
		}
		if set != book.forLogin(tc.user, tc.host) {
			t.Errorf("%s@%s: not the same set twice", tc.user, tc.host)
		}
	}
	if (&ruleBook{}).forLogin("a", "10.0.0.1") != nil {
		t.Error("without rules there is something to look at")
	}
}

// TestMatchRemembers: a digest seen before costs no regular expression and no
// memory, and what is remembered is bounded.
func TestMatchRemembers(t *testing.T) {
	set := (&ruleBook{rules: []*ruleEntry{{Rule: Rule{Name: "a", Regex: regexp.MustCompile("orders")}}}}).forLogin("a", "")
	c := classifier.New(classifier.Options{})
	class := c.Classify([]byte("SELECT a FROM orders"), classifier.Mode{})
	if r := set.match(class, "app", classifier.Mode{}); r == nil {
		t.Fatal("no match")
	}
	set.rules[0].Regex = nil // who runs it now would match everything
	set.rules[0].Digest = "another"
	if r := set.match(class, "app", classifier.Mode{}); r == nil {
		t.Error("asked again")
	}
	if n := testing.AllocsPerRun(100, func() { set.match(class, "app", classifier.Mode{}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	for i := range 2 * maxFound {
		set.match(class, fmt.Sprint(i), classifier.Mode{})
	}
	if len(set.found) > maxFound {
		t.Errorf("%d remembered", len(set.found))
	}
}

func TestRulesNameClasses(t *testing.T) {
	classes, err := newClasses(labClasses(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []Rule{{Name: "x", Class: "F9"}, {Name: "x", MaxClass: "F9"}} {
		if _, err := newRules([]Rule{r}, &classes); err == nil {
			t.Errorf("%+v: no error", r)
		}
	}
}

// SHOW CAUSEWAY ROUTE names the rule of every statement that one matched, whatever
// server it was for.
func TestRouteNamesTheRule(t *testing.T) {
	l := startLab(t, 1, func(o *Options) {
		o.Rules = []Rule{{Name: "slow", Regex: regexp.MustCompile("(?i)sleep"), Timeout: time.Minute}, {Name: "cards", Table: "cards", Class: "F2"}, {Name: "no", Table: "secret", Deny: true}}
	})
	k := l.client()
	for sql, want := range map[string]string{
		"SELECT a FROM cards": "cards", "SELECT a FROM cards FOR UPDATE": "cards", "SELECT SLEEP(0)": "slow",
		"INSERT INTO cards VALUES (1)": "cards", "SELECT a FROM secret": "no", "SELECT a FROM t": "",
	} {
		k.query(sql)
		if got := k.maybeRoute("Rule"); got != want {
			t.Errorf("%s: rule %q, want %q", sql, got, want)
		}
	}
}
