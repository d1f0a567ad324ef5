package arch

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
)

// runBy is every command that the README shows, and what runs it, so that none
// can rot. "make" names a target that CI or another target runs, "go" a test.
var runBy = map[string]struct{ how, where, what string }{
	"make demo":  {"go", "tests/demo/demo_test.go", "demo up"},
	"make test":  {"make", ".ci/run", "make test"},
	"make build": {"make", "Makefile", "test-integration: build"},
	"bin/causeway check --config causeway.toml": {"go", "main_test.go", "func TestReadmeCheck("},
	"bin/causeway serve --config causeway.toml": {"go", "main_test.go", "func TestReadmeServe("},
}

// fenced returns the blocks of a Markdown file that are fenced as language.
func fenced(text, language string) []string {
	var blocks []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

func TestReadmeCommandsAreRun(t *testing.T) {
	seen := 0
	for _, block := range fenced(read(t, "README.md"), "sh") {
		for _, command := range strings.Split(strings.TrimSpace(block), "\n") {
			seen++
			by, ok := runBy[command]
			if !ok {
				t.Errorf("the README shows %q, and nothing runs it", command)
			} else if !strings.Contains(read(t, by.where), by.what) {
				t.Errorf("%q should be run by %s, which has no %q", command, by.where, by.what)
			}
		}
	}
	if seen != len(runBy) {
		t.Errorf("the README shows %d commands, the table has %d", seen, len(runBy))
	}
}

// TestMakeTargetsInTheDocs: a target that a document names exists.
func TestMakeTargetsInTheDocs(t *testing.T) {
	targets := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z][a-z-]*):`).FindAllStringSubmatch(read(t, "Makefile"), -1) {
		targets[m[1]] = true
	}
	named := regexp.MustCompile("`make ([a-z-]+)")
	for _, p := range documents(t) {
		for _, m := range named.FindAllStringSubmatch(read(t, p), -1) {
			if !targets[m[1]] {
				t.Errorf("%s names make %s, which does not exist", p, m[1])
			}
		}
	}
}

func documents(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, p := range paths(t) {
		if strings.HasSuffix(p, ".md") && !strings.HasPrefix(p, "tests/") {
			list = append(list, p)
		}
	}
	return list
}

// TestDocsNameWhatExists: `package.Func` and `package.Type.Method` in the
// documents are real names.
func TestDocsNameWhatExists(t *testing.T) {
	names := map[string]bool{}
	packages := map[string]bool{}
	for _, f := range goFiles(t) {
		if f.test || f.pkg == "" || strings.Contains(f.pkg, "/") {
			continue
		}
		packages[f.pkg] = true
		for _, d := range f.tree.Decls {
			for _, name := range declared(d) {
				names[f.pkg+"."+name] = true
			}
		}
	}
	dotted := regexp.MustCompile("`([a-z]+)\\.([A-Za-z.]+)`")
	for _, p := range documents(t) {
		for _, m := range dotted.FindAllStringSubmatch(read(t, p), -1) {
			if packages[m[1]] && !names[m[1]+"."+m[2]] && !isOption(t, m[1]+"."+m[2]) {
				t.Errorf("%s names %s.%s, which does not exist", p, m[1], m[2])
			}
		}
	}
}

// isOption: the table [backend] of the configuration has a package's name.
func isOption(t *testing.T, key string) bool {
	t.Helper()
	return strings.Contains(read(t, "conf/options.go"), `"`+key+`"`)
}

// declared lists the names of a declaration, methods with their type.
func declared(d ast.Decl) []string {
	var names []string
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			name = receiver(d.Recv.List[0].Type) + "." + name
		}
		names = append(names, name)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if s, ok := spec.(*ast.TypeSpec); ok {
				names = append(names, s.Name.Name)
			}
		}
	}
	return names
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// TestLinksInTheDocs: what a document links to inside the repository exists.
func TestLinksInTheDocs(t *testing.T) {
	all := map[string]bool{}
	for _, p := range paths(t) {
		all[p] = true
		for i, c := range p {
			if c == '/' {
				all[p[:i]] = true
			}
		}
	}
	link := regexp.MustCompile(`\]\(([^)#]+)(?:#[^)]*)?\)`)
	for _, p := range documents(t) {
		dir := p[:strings.LastIndexByte(p, '/')+1]
		for _, m := range link.FindAllStringSubmatch(read(t, p), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if !all[path.Clean(dir+m[1])] {
				t.Errorf("%s links to %s, which does not exist", p, m[1])
			}
		}
	}
}

// TestOneExample: README and reference show the same configuration, the one
// that conf's tests load.
func TestOneExample(t *testing.T) {
	blocks := fenced(read(t, "README.md"), "toml")
	if len(blocks) != 1 {
		t.Fatalf("%d TOML blocks in the README", len(blocks))
	}
	if !strings.Contains(read(t, "conf/load_test.go"), blocks[0]) {
		t.Error("conf's tests do not load the README's configuration")
	}
	indented := "    " + strings.ReplaceAll(strings.TrimSpace(blocks[0]), "\n", "\n    ")
	if !strings.Contains(read(t, "docs/configuration.md"), strings.ReplaceAll(indented, "\n    \n", "\n\n")) {
		t.Error("docs/configuration.md shows another configuration than the README")
	}
}
