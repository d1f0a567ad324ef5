package suites

import (
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// The results of a test.
const (
	passed  = "passed"
	failed  = "failed"
	skipped = "skipped"
	notRun  = "did not run"
)

// outcome is what became of one run: each test's result, and the words of those
// that did not pass, by name. A test may fail for reasons of its own, or because
// the server has become another one; it must then fail in the same way: the
// result has the kind of the error.
type outcome struct{ result, text map[string]string }

func newOutcome() *outcome { return &outcome{map[string]string{}, map[string]string{}} }

// add notes a test's result. One that is reported twice, as when its own end and
// that of its fixtures both fail, counts as its worst.
func (o *outcome) add(name, result, text string) {
	if old := o.result[name]; strings.HasPrefix(old, failed) {
		result = old
	}
	o.result[name] = result
	if text != "" {
		o.text[name] += text + "\n"
	}
}

func (o *outcome) of(name string) string {
	if r, ok := o.result[name]; ok {
		return r
	}
	return notRun
}

func (o *outcome) count(result string) int {
	n := 0
	for _, r := range o.result {
		if strings.HasPrefix(r, result) {
			n++
		}
	}
	return n
}

func (o *outcome) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", o.count(passed), o.count(failed), o.count(skipped))
}

// readReport reads what a run left, in JUnit's form. It is written at the run's
// end, so one that broke off leaves none.
func readReport(path string) (*outcome, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	o := newOutcome()
	if err := parseJUnit(o, b); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(o.result) == 0 {
		return nil, errors.New("the suite ran no test")
	}
	return o, nil
}

func parseJUnit(o *outcome, report []byte) error {
	type words struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	var doc struct {
		Suites []struct {
			Cases []struct {
				Class    string  `xml:"classname,attr"`
				Name     string  `xml:"name,attr"`
				Failures []words `xml:"failure"`
				Errors   []words `xml:"error"`
				Skipped  []words `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(report, &doc); err != nil {
		return err
	}
	for _, s := range doc.Suites {
		for _, c := range s.Cases {
			name := strings.TrimPrefix(c.Class+"."+c.Name, ".")
			bad := append(c.Failures, c.Errors...)
			switch {
			case len(bad) > 0:
				for _, w := range bad {
					o.add(name, failed+kindOf(w.Message), w.Message+"\n"+w.Text)
				}
			case len(c.Skipped) > 0:
				o.add(name, skipped, c.Skipped[0].Message)
			default:
				o.add(name, passed, "")
			}
		}
	}
	return nil
}

var errorKind = regexp.MustCompile(`^(?:failed on \w+ with ")?([A-Za-z_][\w.]*)\b[:(]?`)

// kindOf is the kind of error at the start of a report's message.
func kindOf(message string) string {
	if m := errorKind.FindStringSubmatch(message); m != nil {
		return " by " + m[1]
	}
	return ""
}

// difference is one test that had another result through Causeway.
type difference struct{ name, direct, through, text string }

func (d difference) String() string {
	return fmt.Sprintf("%s: directly %s, through Causeway %s\n%s", d.name, d.direct, d.through, d.text)
}

// compare returns what differs, in the order of the names.
func compare(direct, through *outcome) []difference {
	all := maps.Clone(direct.result)
	maps.Copy(all, through.result)
	var list []difference
	for _, name := range slices.Sorted(maps.Keys(all)) {
		d, t := direct.of(name), through.of(name)
		if d == t {
			continue
		}
		text := through.text[name]
		if t == passed {
			text = direct.text[name]
		}
		list = append(list, difference{name, d, t, clip(text)})
	}
	return list
}

// clip shortens one test's words; the end has the error.
func clip(s string) string {
	const limit = 1500
	s = strings.TrimSpace(s)
	if len(s) > limit {
		s = "... " + s[len(s)-limit:]
	}
	return "    " + strings.ReplaceAll(s, "\n", "\n    ")
}
