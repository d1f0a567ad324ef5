package main

import "testing"

func TestTable(t *testing.T) {
	shown := table{heads: []string{"a", "long head", "c"}}
	shown.add("wider than its head", "", "ü")
	shown.add("", "x", "yy")
	const want = "" +
		"a                    long head  c\n" +
		"-------------------  ---------  --\n" +
		"wider than its head             ü\n" +
		"                     x          yy\n"
	if got := shown.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestIndent(t *testing.T) {
	for text, want := range map[string]string{
		"":           "",
		"\n":         "\n",
		"a":          "  a",
		"a\n\nb\n":   "  a\n\n  b\n",
		"  a\n   \n": "    a\n   \n",
	} {
		if got := indent(text); got != want {
			t.Errorf("indent(%q) = %q, want %q", text, got, want)
		}
	}
}

// A node is shown by the name that scripts/cluster gives it, and its port.
func TestNodeNames(t *testing.T) {
	d := &demo{base: 3310}
	for addr, want := range map[string]string{
		"":               "causeway",
		"127.0.0.1:3311": "source :3311",
		"127.0.0.1:3312": "replica1 :3312",
		"127.0.0.1:3313": "replica2 :3313",
	} {
		if got := d.name(addr); got != want {
			t.Errorf("name(%q) = %q, want %q", addr, got, want)
		}
	}
}
