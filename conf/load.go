package conf

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// The arrays of tables; their keys are userOptions, classOptions and ruleOptions.
const (
	usersKey = "users"
	classKey = "class"
	ruleKey  = "rule"
)

// Load reads and checks the file at path. getenv answers for password_env. The
// error is a *Problems with everything that is wrong, or why the file could
// not be read.
func Load(path string, getenv func(string) string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return parse(path, data, getenv)
}

// parse checks the content of the file at path.
func parse(path string, data []byte, getenv func(string) string) (*Config, error) {
	r := &reader{
		dir:    filepath.Dir(path),
		getenv: getenv,
		lines:  indexLines(string(data)),
		given:  map[string]bool{},
		arrays: map[string][]map[string]any{},
		out:    &Problems{Path: path},
	}
	r.cfg = defaults()
	var raw map[string]any
	if _, err := toml.Decode(string(data), &raw); err != nil {
		r.out.List = append(r.out.List, syntaxProblem(err, string(data)))
		return nil, r.out
	}
	r.table("", raw)
	r.readUsers()
	r.readClasses()
	r.readRules()
	r.check()
	if len(r.out.List) > 0 {
		r.out.sort()
		return nil, r.out
	}
	return r.cfg, nil
}

// reader fills one Config from one file and collects what is wrong with it.
type reader struct {
	dir    string
	getenv func(string) string
	lines  lineIndex
	given  map[string]bool // keys that the file has, right or wrong
	arrays map[string][]map[string]any
	cfg    *Config
	out    *Problems
}

// problem notes a mistake at key; its line is looked up.
func (r *reader) problem(key, wrong, instead string) {
	r.out.List = append(r.out.List, Problem{r.lines.of(key), key, wrong, instead})
}

// warn notes a doubt.
func (r *reader) warn(key, doubt string) {
	r.cfg.Warnings = append(r.cfg.Warnings, key+": "+doubt)
}

// table reads one level of the file: options, sections and strangers.
func (r *reader) table(prefix string, raw map[string]any) {
	for _, name := range sortedKeys(raw) {
		key, v := prefix+name, raw[name]
		r.given[key] = true
		switch {
		case key == usersKey, key == classKey, key == ruleKey:
			r.arrays[key] = r.array(key, v)
		case isSection(key):
			if section, ok := v.(map[string]any); ok {
				r.table(key+".", section)
			} else {
				r.problem(key, "this "+typeName(v)+" is no table", fmt.Sprintf("write [%s] on a line of its own and its keys below", key))
			}
		default:
			set(r, options, r.cfg, key, key, v)
		}
	}
}

// array takes both ways of writing an array of tables: [[users]] and
// users = [{...}]. The n-th table's keys are called users[n].name, with n from 1.
func (r *reader) array(key string, v any) []map[string]any {
	if tables, ok := v.([]map[string]any); ok {
		return tables
	}
	items, ok := v.([]any)
	var tables []map[string]any
	for _, item := range items {
		table, is := item.(map[string]any)
		ok = ok && is
		tables = append(tables, table)
	}
	if !ok {
		r.problem(key, "this "+typeName(v)+" is no array of tables", fmt.Sprintf("write [[%s]], in double brackets, for each", key))
		return nil
	}
	return tables
}

func (r *reader) tablesOf(key string) []map[string]any { return r.arrays[key] }

func tablePrefix(key string, i int) string { return fmt.Sprintf("%s[%d].", key, i+1) }

func userPrefix(i int) string { return tablePrefix(usersKey, i) }

// readUsers reads [[users]].
func (r *reader) readUsers() {
	for i, raw := range r.tablesOf(usersKey) {
		user := defaultUser()
		prefix := userPrefix(i)
		for _, name := range sortedKeys(raw) {
			r.given[prefix+name] = true
			set(r, userOptions, &user, name, prefix+name, raw[name])
		}
		r.cfg.Users = append(r.cfg.Users, user)
	}
}

// set finds key in the table of options and stores v; path is how the key is
// called in a problem.
func set[T any](r *reader, table []option[T], dst *T, key, path string, v any) {
	for _, o := range table {
		if o.key != key {
			continue
		}
		if f := o.set(dst, v); f != nil {
			r.problem(path, f.wrong, f.instead)
		}
		return
	}
	r.problem(path, "is no option", suggestion(key, path))
}

// isSection tells whether options live below key.
func isSection(key string) bool {
	return slices.ContainsFunc(options, func(o option[Config]) bool {
		return strings.HasPrefix(o.key, key+".")
	})
}

// defaults returns a Config with the defaults of the table.
func defaults() *Config {
	c := &Config{}
	fill(c, options)
	return c
}

func defaultUser() User {
	var u User
	fill(&u, userOptions)
	return u
}

// fill sets the defaults. One that its own option refuses is a mistake in the
// table and nobody else's.
func fill[T any](dst *T, table []option[T]) {
	for _, o := range table {
		if o.def == "" {
			continue
		}
		var raw map[string]any
		if _, err := toml.Decode("v = "+o.def, &raw); err != nil {
			panic("BUG: default of " + o.key + ": " + err.Error())
		}
		if f := o.set(dst, raw["v"]); f != nil {
			panic("BUG: default of " + o.key + ": " + f.wrong)
		}
	}
}

// syntaxProblem turns the library's error into a Problem. The library quotes
// what it stumbled over, which on a password's line would be the password.
func syntaxProblem(err error, data string) Problem {
	var pe toml.ParseError
	if !errors.As(err, &pe) {
		return Problem{Wrong: "not readable as TOML"}
	}
	p := Problem{Line: pe.Position.Line, Wrong: "broken TOML: " + pe.Message,
		Instead: "nothing after it was read; see https://toml.io"}
	if strings.HasPrefix(pe.Message, "expected value") || strings.HasPrefix(pe.Message, "Invalid float") || strings.HasPrefix(pe.Message, "expected a top-level item to end") {
		p.Instead = "nothing after it was read; strings need quotes, see https://toml.io"
	}
	lines := strings.Split(data, "\n")
	near := strings.Join(lines[max(0, p.Line-2):min(len(lines), p.Line+1)], "\n")
	if secretive(near + pe.LastKey) {
		p.Wrong = "broken TOML at or near a password, which is not shown here"
	}
	return p
}

func secretive(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "password") || strings.Contains(text, "secret")
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
