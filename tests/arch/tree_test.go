package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "causeway"
)

// ignored is what .gitignore has: what a build, a demo, a drill or a benchmark leaves behind.
var ignored = []string{".git", "bin", ".cache", ".cluster", "tmp", "causeway", "drill.png",
	"replication.png", "replication.csv", "consistency.png", "consistency.csv"}

// goFile is one parsed file.
type goFile struct {
	path    string // below the root, with slashes
	pkg     string // its folder below the root, "" for the root itself
	test    bool
	lines   int
	set     *token.FileSet
	tree    *ast.File
	imports []string
}

// paths lists the repository's files below the root.
func paths(t *testing.T) []string {
	t.Helper()
	var list []string
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains(ignored, p):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && !strings.HasSuffix(p, ".test") && !strings.HasSuffix(p, ".prof"):
			list = append(list, p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func read(t *testing.T, p string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, p))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// goFiles parses every Go file of the repository.
func goFiles(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	for _, p := range paths(t) {
		if !strings.HasSuffix(p, ".go") || strings.Contains(p, "testdata/") {
			continue
		}
		text := read(t, p)
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, p, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		f := goFile{path: p, pkg: strings.TrimPrefix(path.Dir(p), "."), test: strings.HasSuffix(p, "_test.go"),
			lines: strings.Count(text, "\n"), set: set, tree: tree}
		for _, spec := range tree.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			f.imports = append(f.imports, name)
		}
		files = append(files, f)
	}
	if len(files) < 50 {
		t.Fatalf("only %d Go files found: the walk is wrong", len(files))
	}
	return files
}
