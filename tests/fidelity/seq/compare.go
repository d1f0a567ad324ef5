package seq

import (
	"fmt"
	"strings"
)

// Difference is the first step that the two sides answered differently.
type Difference struct {
	Step      Step
	Want, Got string // want is the direct side's
}

// Compare looks for the first difference between what the direct side answered
// and what the other one did. The names of the other side's schemas are read as
// the direct side's; nothing else is forgiven.
func Compare(want, got []Entry, wantWord, gotWord string) *Difference {
	for i := range want {
		if i >= len(got) {
			return &Difference{want[i].Step, want[i].Answer, "nothing\n"}
		}
		answer := strings.ReplaceAll(got[i].Answer, gotWord, wantWord)
		if want[i].Step.String() != got[i].Step.String() {
			return &Difference{want[i].Step, want[i].Answer, "another step: " + got[i].Step.String() + "\n" + answer}
		}
		if want[i].Answer != answer {
			return &Difference{want[i].Step, want[i].Answer, answer}
		}
	}
	if len(got) > len(want) {
		return &Difference{got[len(want)].Step, "nothing\n", got[len(want)].Answer}
	}
	return nil
}

func (d *Difference) String() string {
	return fmt.Sprintf("%s\n--- on MySQL:\n%s--- through Causeway:\n%s", d.Step, indent(d.Want), indent(d.Got))
}

func indent(s string) string {
	if len(s) > 4000 {
		s = s[:4000] + "...\n"
	}
	return "    " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n    ") + "\n"
}
