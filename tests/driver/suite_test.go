package driver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"causeway/tests/cluster"
	"causeway/tests/rig"
)

const (
	module = "github.com/go-sql-driver/mysql"
	// leftOut is a test that dials an address in the Internet and, where that
	// is refused rather than lost, panics and ends the whole program.
	leftOut = "^TestConnectorReturnsTimeout$"
)

// suite is the driver's test program, compiled.
type suite struct{ dir, program string }

// buildSuite copies the module out of the read-only module cache, since its
// tests write files, and compiles its tests.
func buildSuite(t *testing.T) *suite {
	t.Helper()
	src, err := rig.Output(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files, err := filepath.Glob(filepath.Join(src, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // a folder: the suite has none that it needs
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &suite{dir: dir, program: filepath.Join(dir, "driver.test")}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", s.program, ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("compile the driver's tests: %v\n%s", err, out)
	}
	return s
}

// outcome is what became of one run: each test and subtest by name.
type outcome struct {
	passed, failed, skipped map[string]bool
	output                  map[string]string // of those that failed
}

// run runs the suite, or the tests whose names match the pattern, against one
// address. That some tests fail is an outcome, not an error; that the program
// broke off is one.
func (s *suite) run(ctx context.Context, addr, pattern string) (*outcome, error) {
	cmd := exec.CommandContext(ctx, "go", "tool", "test2json", "-t", s.program, "-test.v=test2json",
		"-test.run="+pattern, "-test.skip="+leftOut, "-test.count=1", "-test.parallel=8", "-test.timeout=10m")
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(),
		"MYSQL_TEST_USER="+cluster.AppUser, "MYSQL_TEST_PASS="+cluster.AppPassword, "MYSQL_TEST_PROT=tcp",
		"MYSQL_TEST_ADDR="+addr, "MYSQL_TEST_DBNAME="+database, "MYSQL_TEST_CONCURRENT=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	o, parseErr := parse(out)
	if parseErr != nil {
		return nil, fmt.Errorf("%w (%v)\n%s", parseErr, err, stderr.String())
	}
	return o, nil
}

// parse reads the stream of events that test2json writes. A stream without the
// package's own end is cut short: the program died.
func parse(stream []byte) (*outcome, error) {
	o := &outcome{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]string{}}
	ended := false
	lines := bufio.NewScanner(bytes.NewReader(stream))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e struct{ Action, Test, Output string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("event %q: %w", lines.Text(), err)
		}
		switch {
		case e.Test == "":
			ended = ended || e.Action == "pass" || e.Action == "fail"
		case e.Action == "pass":
			o.passed[e.Test] = true
		case e.Action == "fail":
			o.failed[e.Test] = true
		case e.Action == "skip":
			o.skipped[e.Test] = true
		case e.Action == "output":
			o.output[e.Test] += e.Output
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if !ended {
		return nil, fmt.Errorf("the suite broke off after %d tests", len(o.passed)+len(o.failed))
	}
	return o, nil
}

// lost returns the tests that passed directly and did not pass through the
// proxy, with the words of those that failed.
func lost(direct, through *outcome) map[string]string {
	all := map[string]string{}
	for name := range direct.passed {
		switch {
		case through.passed[name]:
		case through.failed[name]:
			all[name] = "fails:\n" + clip(through.output[name])
		case through.skipped[name]:
			all[name] = "is skipped:\n" + clip(through.output[name])
		default:
			all[name] = "did not run"
		}
	}
	return all
}

// patternOf matches the whole tests that the named ones are parts of.
func patternOf(names map[string]string) string {
	var tops []string
	for name := range names {
		top, _, _ := strings.Cut(name, "/")
		if !slices.Contains(tops, top) {
			tops = append(tops, top)
		}
	}
	slices.Sort(tops)
	return "^(" + strings.Join(tops, "|") + ")$"
}

// take puts the results of a later run of some of the tests in the place of the
// earlier ones.
func (o *outcome) take(later *outcome) {
	for name := range later.passed {
		o.passed[name] = true
		delete(o.failed, name)
	}
	maps.Copy(o.output, later.output)
}

// clip shortens one test's output.
func clip(s string) string {
	const limit = 1500
	s = strings.TrimSpace(s)
	if len(s) > limit {
		s = s[:limit] + " ..."
	}
	return "    " + strings.ReplaceAll(s, "\n", "\n    ")
}
