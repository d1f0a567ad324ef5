package conf

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the option table into docs/configuration.md")

const (
	referenceFile  = "../docs/configuration.md"
	referenceBegin = "<!-- options: written by go test ./conf -run Reference -update -->\n"
	referenceEnd   = "<!-- end of options -->\n"
)

// reference renders the table of options as Markdown.
func reference() string {
	var b strings.Builder
	section := ""
	for _, o := range options {
		table, name := split(o.key)
		if table == "tls" && section == "monitor" { // where the example has it
			writeTable(&b, usersKey, userOptions)
		}
		if table == "fallback" && section == "routing" {
			writeTable(&b, classKey, classOptions)
			writeTable(&b, ruleKey, ruleOptions)
		}
		if table != section {
			fmt.Fprintf(&b, "\n### [%s]\n\n", table)
			tableHead(&b)
			section = table
		}
		writeRow(&b, name, o.takes, o.def, o.doc, o.reload)
	}
	return b.String() + "\n"
}

// split takes the table of a key off.
func split(key string) (table, name string) {
	i := strings.LastIndex(key, ".")
	return key[:i], key[i+1:]
}

func writeTable[T any](b *strings.Builder, name string, table []option[T]) {
	fmt.Fprintf(b, "\n### [[%s]]\n\n", name)
	tableHead(b)
	for _, o := range table {
		writeRow(b, o.key, o.takes, o.def, o.doc, o.reload)
	}
}

func tableHead(b *strings.Builder) {
	b.WriteString("| key | value | default | live | meaning |\n|---|---|---|---|---|\n")
}

func writeRow(b *strings.Builder, name, takes, def, doc string, reload bool) {
	live := ""
	if reload {
		live = "yes"
	}
	if def != "" {
		def = "`" + def + "`"
	}
	fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", name, takes, def, live, doc)
}

// TestReference keeps docs/configuration.md equal to the table of options.
func TestReference(t *testing.T) {
	data, err := os.ReadFile(referenceFile)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(data), referenceBegin)
	old, after, ok2 := strings.Cut(rest, referenceEnd)
	if !ok1 || !ok2 {
		t.Fatalf("%s has not the two marks", referenceFile)
	}
	want := reference()
	if old == want {
		return
	}
	if !*update {
		t.Fatalf("%s differs from conf/options.go; run: go test ./conf -run Reference -update", referenceFile)
	}
	if err := os.WriteFile(referenceFile, []byte(before+referenceBegin+want+referenceEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// optionLine is an option of the example, at its default (with #) or set.
var optionLine = regexp.MustCompile(`(?m)^(#?)([a-z_]+) = (.*)$`)

// TestExample loads the commented example, once as it is and once with every
// option that can be written beside the others, and looks for each option.
func TestExample(t *testing.T) {
	data, err := os.ReadFile("causeway.toml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Load("causeway.toml", os.Getenv); err != nil {
		t.Fatal(err)
	}
	open := optionLine.ReplaceAllStringFunc(string(data), func(line string) string {
		if strings.Contains(line, "password_") {
			return line // beside password it is one too many
		}
		return strings.TrimPrefix(line, "#")
	})
	if _, err := load(t, open, nil); err != nil {
		t.Errorf("with every option: %v", err)
	}
	for _, o := range options {
		section, name := split(o.key)
		checkExample(t, string(data), "["+section+"]", name, o.def)
	}
	for _, o := range userOptions {
		checkExample(t, string(data), "[[users]]", o.key, o.def)
	}
	for _, o := range classOptions {
		checkExample(t, string(data), "[[class]]", o.key, o.def)
	}
	for _, o := range ruleOptions {
		checkExample(t, string(data), "[[rule]]", o.key, o.def)
	}
}

// checkExample looks for name below header, with its default if commented out.
func checkExample(t *testing.T, example, header, name, def string) {
	t.Helper()
	_, rest, ok := strings.Cut(example, "\n"+header+"\n")
	if !ok {
		t.Errorf("the example has no %s", header)
		return
	}
	if i := strings.Index(rest, "\n["); i >= 0 {
		rest = rest[:i]
	}
	for _, m := range optionLine.FindAllStringSubmatch(rest, -1) {
		if m[2] != name {
			continue
		}
		if m[1] == "#" && m[3] != def {
			t.Errorf("%s %s is %s by default, the example says %s", header, name, def, m[3])
		}
		return
	}
	t.Errorf("the example has no %s %s", header, name)
}
