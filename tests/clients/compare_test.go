package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// seen is what one run of a client observed: each check's value as canonical JSON.
type seen map[string]string

// parseSeen reads a client's output. A run whose last line is not "end" was cut
// short, and a name that comes twice would hide one of its values.
func parseSeen(out []byte) (seen, error) {
	s, ended := seen{}, false
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var o struct {
			Name  string
			Value any
		}
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&o); err != nil || o.Name == "" {
			return nil, fmt.Errorf("no observation: %q (%v)", clip(string(line)), err)
		}
		if o.Name == "end" {
			ended = true
			continue
		}
		if _, twice := s[o.Name]; twice {
			return nil, fmt.Errorf("%q was observed twice", o.Name)
		}
		value, err := json.Marshal(o.Value)
		if err != nil {
			return nil, err
		}
		s[o.Name] = string(value)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if !ended {
		return nil, fmt.Errorf("the client broke off after %d checks", len(s))
	}
	if len(s) == 0 {
		return nil, errors.New("the client checked nothing")
	}
	return s, nil
}

// broken names the checks that failed in the client itself: they show nothing,
// even if they fail in the same way on both sides.
func (s seen) broken() []string {
	var names []string
	for name, value := range s {
		if strings.Contains(value, `"broken":`) {
			names = append(names, fmt.Sprintf("%s: %s", name, clip(value)))
		}
	}
	slices.Sort(names)
	return names
}

// difference is one check that saw something else through Causeway.
type difference struct{ name, direct, through string }

func (d difference) String() string {
	return fmt.Sprintf("%s\n    directly: %s\n    through:  %s", d.name, clip(d.direct), clip(d.through))
}

// compare returns what differs, in the order of the names.
func compare(direct, through seen) []difference {
	all := map[string]bool{}
	for _, s := range []seen{direct, through} {
		for name := range s {
			all[name] = true
		}
	}
	var list []difference
	for _, name := range slices.Sorted(maps.Keys(all)) {
		d, t := direct.value(name), through.value(name)
		if d != t {
			list = append(list, difference{name, d, t})
		}
	}
	return list
}

func (s seen) value(name string) string {
	if v, ok := s[name]; ok {
		return v
	}
	return "not checked"
}

func clip(s string) string {
	const limit = 1200
	if len(s) > limit {
		return s[:limit] + " ..."
	}
	return s
}
