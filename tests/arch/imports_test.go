package arch

import (
	"slices"
	"strings"
	"testing"
)

// mayImport is who may import whom inside of Causeway; arrows point down only.
// balance and replicamon do not know each other: they share the View types in
// backend. A package that is not named here may not exist.
var mayImport = map[string][]string{
	"":           {"server", "admin", "replicamon", "balance", "backend", "classifier", "conf", "share", "store", "token"},
	"server":     {"balance", "backend", "classifier", "gtid", "scope", "share", "token", "wire"},
	"scope":      {"gtid"},
	"share":      {"gtid"},
	"store":      {"share"},
	"admin":      {"backend"},
	"replicamon": {"backend", "gtid"},
	"balance":    {"backend", "gtid"},
	"backend":    {"gtid", "wire"},
	"classifier": {},
	"conf":       {},
	"gtid":       {},
	"token":      {"gtid"},
	"wire":       {},
}

// mayUse is which packages may use which module in their code.
var mayUse = map[string][]string{
	"github.com/pingcap/tidb/pkg/parser":  {"classifier"},
	"github.com/BurntSushi/toml":          {"conf"},
	"github.com/urfave/cli/v2":            {""},
	"github.com/go-mysql-org/go-mysql":    {"replicamon"},
	"github.com/redis/go-redis/v9":        {"store", "tests/redis", "tests/sharedkeys"},
	"github.com/prometheus/client_golang": {"", "admin", "replicamon", "server"},
	"github.com/prometheus/client_model":  {"server"},
	"github.com/rs/zerolog":               {"", "admin", "replicamon", "server"},
	"github.com/klauspost/compress/zstd":  {"wire"}, // the standard library has zlib only
	"golang.org/x/sync":                   {""},
	"golang.org/x/sys":                    {"wire", "tests/rig"},
	"gonum.org/v1/plot":                   {"tests/chart"}, // plots of drill and benchmarks; nothing of it is in the product
}

// apart are modules of their own with their go.mod: helpers for applications, which
// know nothing of the product, and of other modules only a driver in an example.
const apart = "clients/go"

// mayTest is what any test file may use besides.
var mayTest = []string{
	"github.com/go-sql-driver/mysql",
	"go.uber.org/goleak",
	"go.yaml.in/yaml/v3",
	"golang.org/x/sync",
	"github.com/rs/zerolog",
	"github.com/prometheus/client_golang",
}

// TestImports checks the code; test files of a package may import every
// package of Causeway, as a test may need a server to talk to.
func TestImports(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, name := range f.imports {
			if why := refused(f, name); why != "" {
				t.Errorf("%s imports %q: %s", f.path, name, why)
			}
		}
	}
}

// refused says why f must not import name, "" if it may.
func refused(f goFile, name string) string {
	if within(f.pkg, apart) {
		if within(name, module+"/"+apart) || !strings.Contains(strings.SplitN(name, "/", 2)[0], ".") && !within(name, module) ||
			f.pkg != apart && within(name, "github.com/go-sql-driver/mysql") {
			return ""
		}
		return "the helpers need the standard library alone"
	}
	inTests := support(f.pkg)
	inner, own := strings.CutPrefix(name, module+"/")
	switch {
	case own && support(inner):
		if !inTests && !f.test {
			return "what serves tests is no part of the product"
		}
	case own:
		if f.test || inTests {
			return ""
		}
		allowed, known := mayImport[f.pkg]
		if !known {
			return "the package is not in the table of allowed imports"
		}
		if !slices.Contains(allowed, inner) {
			return "the arrow is not in the table of allowed imports"
		}
	case strings.Contains(strings.SplitN(name, "/", 2)[0], "."):
		return refusedModule(f, name, f.test || inTests)
	}
	return ""
}

func refusedModule(f goFile, name string, test bool) string {
	if test && slices.ContainsFunc(mayTest, func(m string) bool { return within(name, m) }) {
		return ""
	}
	for m, users := range mayUse {
		if within(name, m) {
			if slices.Contains(users, f.pkg) {
				return ""
			}
			return "only these may: " + strings.Join(users, ", ")
		}
	}
	return "the module is not in the table"
}

// support tells whether a package only serves tests and demos. classifier/cases
// is the table of statements that classifier's tests and those on a real
// cluster share.
func support(pkg string) bool {
	return strings.HasPrefix(pkg, "tests/") || strings.HasPrefix(pkg, "scripts/") || pkg == "classifier/cases" || within(pkg, apart+"/example")
}

// within tells whether the import is of the module.
func within(name, module string) bool { return name == module || strings.HasPrefix(name, module+"/") }

// TestEveryPackageIsInTheTable keeps a new package from slipping in unnoticed
// because it imports nothing yet.
func TestEveryPackageIsInTheTable(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range goFiles(t) {
		seen[f.pkg] = true
		if _, known := mayImport[f.pkg]; !known && !support(f.pkg) && !within(f.pkg, apart) {
			t.Errorf("%s: package %q is not in the table of allowed imports", f.path, f.pkg)
		}
	}
	for pkg := range mayImport {
		if !seen[pkg] {
			t.Errorf("the table has %q, which does not exist", pkg)
		}
	}
}

// TestArrowsPointDown looks for a circle in the table itself.
func TestArrowsPointDown(t *testing.T) {
	depth := map[string]int{}
	var visit func(pkg string, trail []string) int
	visit = func(pkg string, trail []string) int {
		if slices.Contains(trail, pkg) {
			t.Fatalf("circle: %v", append(trail, pkg))
		}
		if d, ok := depth[pkg]; ok {
			return d
		}
		d := 0
		for _, below := range mayImport[pkg] {
			d = max(d, visit(below, append(trail, pkg))+1)
		}
		depth[pkg] = d
		return d
	}
	for pkg := range mayImport {
		visit(pkg, nil)
	}
	for _, leaf := range []string{"classifier", "conf", "gtid", "wire"} {
		if depth[leaf] != 0 {
			t.Errorf("%s is no leaf", leaf)
		}
	}
}

// TestRefused tries the rules on imports that must and must not pass.
func TestRefused(t *testing.T) {
	cases := []struct {
		pkg  string
		test bool
		name string
		ok   bool
	}{
		{"server", false, "causeway/wire", true},
		{"wire", false, "causeway/gtid", false},
		{"balance", false, "causeway/replicamon", false},
		{"replicamon", false, "causeway/balance", false},
		{"backend", false, "causeway/server", false},
		{"server", false, "causeway/conf", false},
		{"conf", false, "github.com/BurntSushi/toml", true},
		{"server", false, "github.com/BurntSushi/toml", false},
		{"server", false, "github.com/pingcap/tidb/pkg/parser/ast", false},
		{"server", false, "github.com/go-sql-driver/mysql", false},
		{"server", true, "github.com/go-sql-driver/mysql", true},
		{"server", false, "github.com/someone/new", false},
		{"server", true, "github.com/someone/new", false},
		{"server", false, "causeway/tests/rig", false},
		{"classifier", false, "causeway/classifier/cases", false},
		{"classifier", true, "causeway/classifier/cases", true},
		{"tests/rig", false, "causeway/wire", true},
		{"tests/chart", false, "gonum.org/v1/plot/plotter", true},
		{"tests/drill", false, "gonum.org/v1/plot/plotter", false},
		{"tests/bench", false, "gonum.org/v1/plot", false},
		{"server", false, "gonum.org/v1/plot", false},
		{"clients/go", false, "net/http", true},
		{"clients/go", true, "causeway/wire", false},
		{"clients/go", false, "github.com/go-sql-driver/mysql", false},
		{"clients/go/example", false, "github.com/go-sql-driver/mysql", true},
		{"clients/go/example", false, "causeway/clients/go", true},
		{"server", false, "causeway/clients/go", false},
		{"newpackage", false, "causeway/wire", false},
		{"server", false, "net/http", true},
	}
	for _, c := range cases {
		why := refused(goFile{pkg: c.pkg, test: c.test}, c.name)
		if (why == "") != c.ok {
			t.Errorf("%s (test %v) imports %s: %q", c.pkg, c.test, c.name, why)
		}
	}
}
