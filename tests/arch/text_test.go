package arch

import (
	"go/ast"
	"strings"
	"testing"
)

// machine are texts that name the place where something was written, and hosts
// that a user's own package tools must choose. They are put together here, so
// that this file does not hold them itself.
var machine = []string{
	"/wo" + "rk/", "/ho" + "me/", "/ro" + "ot/", "/tmp/pl" + "an", "/Us" + "ers/",
	"deb.deb" + "ian.org", "ftp.deb" + "ian.org", "proxy.go" + "lang.org", "gopr" + "oxy.", "py" + "pi.org", "registry.np" + "mjs.org", "archive.ub" + "untu.com",
}

// allowed are uses that are not about this machine.
var allowed = []string{
	`"$work"/root/`, `$work/root/`, // a folder of scripts' own making
	"/var/cache", "/root:/", // an image's own paths
}

func TestNoMachineInTheTexts(t *testing.T) {
	for _, p := range paths(t) {
		text := read(t, p)
		if strings.ContainsRune(text, 0) {
			t.Errorf("%s is binary", p)
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			for _, a := range allowed {
				line = strings.ReplaceAll(line, a, "")
			}
			for _, m := range machine {
				if strings.Contains(line, m) {
					t.Errorf("%s:%d names a machine: %s", p, i+1, m)
				}
			}
		}
	}
}

// TestOnlyMainReadsTheProcess: arguments, environment and exits are main's, and
// metrics go to a registry that was handed in.
func TestOnlyMainReadsTheProcess(t *testing.T) {
	forbidden := map[string]bool{
		"os.Args": true, "os.Exit": true, "os.Getenv": true, "os.LookupEnv": true, "os.Environ": true,
		"prometheus.MustRegister": true, "prometheus.Register": true, "prometheus.DefaultRegisterer": true,
		"http.DefaultServeMux": true, "http.DefaultClient": true, "log.Fatal": true, "log.Fatalf": true, "log.Printf": true, "log.Println": true,
	}
	for _, f := range goFiles(t) {
		if f.test || f.pkg == "" || support(f.pkg) {
			continue
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Obj == nil && forbidden[x.Name+"."+sel.Sel.Name] {
				t.Errorf("%s: %s.%s belongs to main", f.set.Position(sel.Pos()), x.Name, sel.Sel.Name)
			}
			return true
		})
	}
}

// TestNoFlagPackage: the command line is read in one place, by one library.
func TestNoFlagPackage(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test || support(f.pkg) {
			continue
		}
		for _, name := range f.imports {
			if name == "flag" || name == "expvar" || name == "net/http/pprof" {
				t.Errorf("%s imports %s, which is global to the process", f.path, name)
			}
		}
	}
}
