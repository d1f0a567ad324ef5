package server

import (
	"strings"
	"time"
)

// choiceRows tell of the class of a read.
func choiceRows(c *choice, k *contract) [][]string {
	if c.class == nil {
		return nil
	}
	rows := [][]string{{"Class", c.class.Name}, {"Class_from", c.fromText()}}
	if k.promoted {
		rows = append(rows, []string{"Promoted", "as " + k.class.Name + ": not every replica has the session's writes"})
	}
	if c.staleness > 0 {
		rows = append(rows, []string{"Max_staleness", c.staleness.String()})
	}
	if c.ignored != "" {
		rows = append(rows, []string{"Ignored_hint", c.ignored})
	}
	return rows
}

// ruleRow names the rule of the last statement, whatever server it was for.
func ruleRow(r *ruleEntry) [][]string {
	if r == nil {
		return nil
	}
	return [][]string{{"Rule", r.Name}}
}

func (c *choice) fromText() string {
	if c.capped {
		return c.from + ", lowered to max_class"
	}
	return c.from
}

func stepsText(steps []Step) string {
	words := make([]string, len(steps))
	for i, s := range steps {
		words[i] = s.String()
	}
	return strings.Join(words, ", ")
}

func orNone(d time.Duration) string {
	if d == 0 {
		return "none"
	}
	return d.String()
}
