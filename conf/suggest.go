package conf

import (
	"fmt"
	"slices"
	"strings"
)

// suggestion says what to write instead of an unknown key, which a problem
// calls path: the known one that looks most like it, or the one of that name in
// another table.
func suggestion(key, path string) string {
	for _, array := range []struct {
		table, one string
		keys       []string
	}{
		{usersKey, "a user", keysOf(userOptions)}, {classKey, "a class", keysOf(classOptions)}, {ruleKey, "a rule", keysOf(ruleOptions)},
	} {
		if !strings.HasPrefix(path, array.table+"[") {
			continue
		}
		if near := nearest(key, array.keys); near != "" {
			return fmt.Sprintf("did you mean %q?", near)
		}
		return array.one + " has " + strings.Join(array.keys, ", ")
	}
	known := append(keysOf(options), usersKey, classKey, ruleKey)
	for _, o := range options {
		if section, _, ok := strings.Cut(o.key, "."); ok {
			known = append(known, section)
		}
	}
	if near := nearest(key, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if near := sameName(key); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if name := key[strings.LastIndexByte(key, '.')+1:]; slices.Contains(keysOf(classOptions), name) {
		return fmt.Sprintf("write it in a class, [[%s]] %s; docs/classes.md", classKey, name)
	}
	return "remove it; docs/configuration.md lists all options"
}

func keysOf[T any](table []option[T]) []string {
	keys := make([]string, len(table))
	for i, o := range table {
		keys[i] = o.key
	}
	return keys
}

// nearest returns the known key with the fewest edits from key, "" if even
// that one is too far away to be meant. A third of the letters may differ.
func nearest(key string, known []string) string {
	best, bestDistance := "", len(key)/3+1
	for _, k := range known {
		if d := editDistance(key, k); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// sameName returns the first option whose last part is near key's last part.
func sameName(key string) string {
	name := key[strings.LastIndexByte(key, '.')+1:]
	for _, o := range options {
		last := o.key[strings.LastIndexByte(o.key, '.')+1:]
		if editDistance(name, last) <= len(name)/4 {
			return o.key
		}
	}
	return ""
}

// editDistance is the Levenshtein distance in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
