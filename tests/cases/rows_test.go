package cases

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// numbers are the rows of the list of troubles, by section. A row that the
// list does not have is not here.
var numbers = map[string]string{
	"A": "1 3 4 5 6 7",
	"T": "1 2 3 4 5 6 7 8 10 11 12 14",
	"L": "1 2 3 4 6 7 9 10 11 12",
	"P": "1 2 3 4 6 7",
	"V": "1 3 4 5 6 7 8 9 10 11 12 13 15",
	"K": "1 2 3",
	"S": "1 2 3 4 5 7 8 9 10 11 12 13 14 15 16 17",
	"M": "1 3 4 5 6",
	"R": "1 3 4 5 6",
	"D": "1 2 3",
	"H": "2 3 4",
	"B": "1 3 4 5",
}

// TestEveryRowHasACase needs no MySQL.
func TestEveryRowHasACase(t *testing.T) {
	wanted := map[string]bool{}
	for section, list := range numbers {
		for _, n := range strings.Fields(list) {
			wanted[section+n] = false
		}
	}
	own := regexp.MustCompile(`^X\d+$`)
	names := map[string]bool{}
	for _, c := range all {
		if _, ok := wanted[c.row]; ok {
			wanted[c.row] = true
		} else if !own.MatchString(c.row) {
			t.Errorf("%s is no row of the list", c.row)
		}
		key := fmt.Sprint(c.row, " ", c.name)
		if names[key] {
			t.Errorf("two cases are called %s", key)
		}
		names[key] = true
		if (c.run == nil) == (len(c.steps) == 0) {
			t.Errorf("%s must have steps or a function", key)
		}
	}
	for row, has := range wanted {
		if !has {
			t.Errorf("row %s has no case", row)
		}
	}
}
