package conf

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestBuiltInClasses(t *testing.T) {
	c, err := load(t, fiveLines, nil)
	if err != nil {
		t.Fatal(err)
	}
	steps := func(list []Step) string { return strings.Trim(fmt.Sprint(list), "[]") }
	for i, want := range []struct {
		name, consistency, onLag, onLagEmpty string
		staleness                            time.Duration
		priority                             int
		share                                float64
		lagLimit                             time.Duration
	}{
		{"F0", "session", "wait:10ms source wait:1s error", "source stale", 2 * time.Second, 0, 1, 2 * time.Second},
		{"F1", "bounded", "wait:10ms source stale", "source stale", 2 * time.Second, 1, .7, 2 * time.Second},
		{"F2", "bounded", "stale", "source stale", 10 * time.Second, 2, 0, 10 * time.Second},
	} {
		got := c.Classes[i]
		if got.Name != want.name || got.Consistency != want.consistency || steps(got.OnLag) != want.onLag || steps(got.OnLagEmpty) != want.onLagEmpty ||
			got.MaxStaleness != want.staleness || got.Priority != want.priority || got.BudgetShare != want.share || got.LagLimit != want.lagLimit ||
			!got.PromoteOnToken || got.Timeout != 0 {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if c.Routing.DefaultClass != "F0" {
		t.Errorf("default class %q", c.Routing.DefaultClass)
	}
}

// TestClassesOfTheFile: a built-in class is changed where its table names
// something, F0 follows [routing] wherever that stands, others are new.
func TestClassesOfTheFile(t *testing.T) {
	c, err := load(t, fiveLines+`
[[class]]
name = "F2"
promote_on_token = false
[[class]]
name = "F0"
timeout = "3s"
[[class]]
name = "own"
consistency = "session"
[[class]]
name = "loose"
consistency = "eventual"
on_lag = ["stale"]
[routing]
wait = "20ms"
max_wait = "20ms"
max_staleness = "0s"
default_class = "loose"
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := builtIn(Routing{Wait: 20 * time.Millisecond, MaxWait: 20 * time.Millisecond})
	want[0].Timeout = 3 * time.Second
	want[2].PromoteOnToken = false
	own, loose := want[1], want[1]
	own.Name, own.Consistency, own.OnLag = "own", ConsistencySession, want[0].OnLag
	loose.Name, loose.Consistency, loose.OnLag = "loose", ConsistencyEventual, []Step{{Kind: StepStale}}
	want = withLagLimits(append(want, own, loose))
	if !reflect.DeepEqual(c.Classes, want) {
		t.Errorf("got  %+v\nwant %+v", c.Classes, want)
	}
	if got := fmt.Sprint(c.Classes[0].OnLag); got != "[wait:20ms source error]" {
		t.Errorf("F0's on_lag is %s", got)
	}
}

func TestClassProblems(t *testing.T) {
	for _, c := range []struct{ text, key, wrong string }{
		{"[[class]]\nconsistency = \"session\"", "class[1].name", "is missing"},
		{"[[class]]\nname = \"F1\"\n[[class]]\nname = \"F1\"", "class[2].name", "is the name of class[1] too"},
		{"[[class]]\nname = \"f1\"", "class[1].name", "in its case only"},
		{"[[class]]\nname = \"F0\"\nconsistency = \"bounded\"", "class[1].consistency", "too little for F0"},
		{"[[class]]\nname = \"x\"\nmax_staleness = \"0s\"", "class[1].max_staleness", "no bound"},
		{"[[class]]\nname = \"F0\"\non_lag = [\"source\", \"stale\"]", "class[1].on_lag", "miss its own writes"},
		{"[[class]]\nname = \"x\"\nconsistency = \"global\"\non_lag = [\"source\", \"stale\"]", "class[1].on_lag", "miss its own writes"},
		{"[[class]]\nname = \"F2\"\non_lag = [\"source\", \"stale\"]", "class[1].on_lag", "no effect with budget_share"},
		{"[[class]]\nname = \"x\"\nconsistency = \"source\"\nlag_limit = \"2s\"", "class[1].lag_limit", "no effect"},
		{"[[class]]\nname = \"x\"\non_lag = [\"wait\"]", "class[1].on_lag", "is no step"},
		{"[[class]]\nname = \"x\"\non_lag = [\"wait:0s\"]", "class[1].on_lag", "is no step"},
		{"[[class]]\nname = \"x\"\non_lag = [\"error\", \"stale\"]", "class[1].on_lag", "ends the list"},
		{"[[class]]\nname = \"x\"\non_lag = [\"wait:20ms\", \"source\", \"wait:20ms\"]", "class[1].on_lag", "over before it begins"},
		{"[[class]]\nname = \"x\"\non_lag = [\"source\", \"source\"]", "class[1].on_lag", "named twice"},
		{"[[class]]\nname = \"x\"\nbudget_share = 2", "class[1].budget_share", "not possible"},
		{"[[class]]\nname = \"x\"\nmax_stalenes = \"2s\"", "class[1].max_stalenes", "is no option"},
		{"[class]\nname = \"x\"", "class", "no array of tables"},
		{"[routing]\ndefault_class = \"F9\"", "routing.default_class", "is no class"},
		{"[[users]]\nname = \"b\"\npassword = \"\"\nmax_class = \"F9\"", "users[2].max_class", "is no class"},
		{"[[rule]]\nname = \"r\"\nclass = \"F1\"", "rule[1].name", "no condition"},
		{"[[rule]]\nname = \"r\"\nschema = \"s\"", "rule[1].name", "no effect"},
		{"[[rule]]\nschema = \"s\"\ndeny = true", "rule[1].name", "is missing"},
		{"[[rule]]\nname = \"r\"\nschema = \"s\"\ndeny = true\nclass = \"F1\"", "rule[1].deny", "has no class"},
		{"[[rule]]\nname = \"r\"\nschema = \"s\"\ntarget = \"source\"\nclass = \"F1\"", "rule[1].target", "has no class"},
		{"[[rule]]\nname = \"r\"\nschema = \"s\"\nclass = \"F9\"", "rule[1].class", "is no class"},
		{"[[rule]]\nname = \"r\"\nregex = \"(\"\nclass = \"F1\"", "rule[1].regex", "no regular expression"},
		{"[[rule]]\nname = \"r\"\nclient = \"here\"\nclass = \"F1\"", "rule[1].client", "no address and no network"},
		{"[[rule]]\nname = \"r\"\nuser = \"nobody\"\nclass = \"F1\"", "rule[1].user", "none of [[users]]"},
		{"[[rule]]\nname = \"r\"\nuser = \"app\"\nclass = \"F1\"\n[[rule]]\nname = \"r\"\nuser = \"app\"\nclass = \"F1\"", "rule[2].name", "is the name of rule[1] too"},
	} {
		_, err := load(t, fiveLines+c.text+"\n", nil)
		var p *Problems
		if p, _ = err.(*Problems); p == nil || len(p.List) != 1 {
			t.Errorf("%s: got %v, want one problem", c.text, err)
		} else if got := p.List[0]; got.Key != c.key || !strings.Contains(got.Wrong, c.wrong) || got.Line == 0 || got.Instead == "" {
			t.Errorf("%s: got %+v", c.text, got)
		}
	}
}

func TestRules(t *testing.T) {
	c, err := load(t, fiveLines+`
[[rule]]
name = "first"
regex = "DELETE|from Orders"
table = "app.orders"
client = "10.1.2.3"
class = "F2"
max_class = "F1"
timeout = "4s"
comment = "c"
[[rule]]
name = "second"
user = "app"
digest = "select ?"
deny = true
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := c.Rules[0]
	if r.Name != "first" || !r.Regex.MatchString("select ? from orders") || !r.Regex.MatchString("delete from x") || r.Table != "app.orders" || r.Client.String() != "10.1.2.3/32" ||
		r.Class != "F2" || r.MaxClass != "F1" || r.Timeout != 4*time.Second || r.Comment != "c" || r.Deny || r.Target != "" {
		t.Errorf("got %+v", r)
	}
	if r := c.Rules[1]; r.Name != "second" || r.User != "app" || r.Digest != "select ?" || !r.Deny || r.Regex != nil || r.Client.IsValid() {
		t.Errorf("got %+v", r)
	}
}

// TestShareless: a class that never asks the source does not name it by default.
func TestShareless(t *testing.T) {
	c, err := load(t, fiveLines+"\n[[class]]\nname = \"cheap\"\nbudget_share = 0\n[[class]]\nname = \"any\"\nconsistency = \"eventual\"\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	cheap, any := c.Classes[3], c.Classes[4]
	if slices.Contains(cheap.OnLag, Step{Kind: StepSource}) || any.LagLimit != 10*time.Second {
		t.Errorf("%+v, %+v", cheap, any)
	}
}

// TestPriorityOfTheSource: what asks more of the source than F0 ranks as F0, so that a
// max_class holds for it.
func TestPriorityOfTheSource(t *testing.T) {
	c, err := load(t, fiveLines+`
[[class]]
name = "src"
consistency = "source"
[[class]]
name = "all"
consistency = "global"
[[class]]
name = "low"
consistency = "source"
priority = 7
[[class]]
name = "own"
consistency = "session"
[[class]]
name = "F0"
priority = 3
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"src": 3, "all": 3, "low": 7, "own": 1, "F0": 3, "F1": 1} {
		i := slices.IndexFunc(c.Classes, func(c Class) bool { return c.Name == name })
		if got := c.Classes[i].Priority; got != want {
			t.Errorf("%s: priority %d, want %d", name, got, want)
		}
	}
}
