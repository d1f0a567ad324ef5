package suites

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const report = `<?xml version="1.0"?><testsuites><testsuite name="pytest">
<testcase classname="a.B" name="good"/>
<testcase classname="a.B" name="bad"><failure message="pymysql.err.InternalError: (1047, 'Unknown command')">trace</failure></testcase>
<testcase classname="a.B" name="set-up"><error message="failed on setup with &quot;KeyError: 'x'&quot;">trace</error></testcase>
<testcase classname="a.B" name="none"><skipped message="why"/></testcase>
<testcase classname="a.B" name="twice"/>
<testcase classname="a.B" name="twice"><error message="AssertionError">tear-down</error></testcase>
<testcase classname="a.B" name="worse"><failure message="AssertionError: 1 != 2"/></testcase>
<testcase classname="a.B" name="worse"/>
</testsuite></testsuites>`

func read(t *testing.T, text string) (*outcome, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.xml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return readReport(path)
}

func TestReadReport(t *testing.T) {
	o, err := read(t, report)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"a.B.good": passed, "a.B.bad": failed + " by pymysql.err.InternalError", "a.B.set-up": failed + " by KeyError", "a.B.none": skipped,
		"a.B.twice": failed + " by AssertionError", "a.B.worse": failed + " by AssertionError", "a.B.nosuch": notRun,
	} {
		if got := o.of(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if o.count(passed) != 1 || o.count(failed) != 4 || o.count(skipped) != 1 {
		t.Error(o)
	}
}

func TestReadReportRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "cut short": report[:300], "no test": `<testsuites><testsuite/></testsuites>`, "no XML": "Traceback",
	} {
		if _, err := read(t, text); err == nil {
			t.Errorf("%s passed", name)
		}
	}
	if _, err := readReport(filepath.Join(t.TempDir(), "missing.xml")); err == nil {
		t.Error("a missing report passed")
	}
}

func TestCompare(t *testing.T) {
	direct := &outcome{result: map[string]string{"same": passed, "lost": passed, "other": passed, "kind": failed + " by A", "mended": failed}}
	through := &outcome{result: map[string]string{"same": passed, "other": skipped, "kind": failed + " by B", "mended": passed, "more": passed}}
	var names []string
	for _, d := range compare(direct, through) {
		names = append(names, d.name+" "+d.through)
	}
	want := []string{"kind failed by B", "lost did not run", "mended passed", "more passed", "other skipped"}
	if !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

func TestAllowed(t *testing.T) {
	list := []allowance{{"s/a", "r"}, {"s/some.*", "r"}}
	for name, want := range map[string]bool{"s/a": true, "s/ab": false, "s/some.x": true, "t/a": false} {
		if got := allowed(list, name) != nil; got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
