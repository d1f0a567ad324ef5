package backend

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"causeway/wire"
)

// Condition is one row of a diagnostics area.
type Condition struct {
	Level, Code, Message string // as SHOW WARNINGS gives them, in the session's character set
	// Items are what GET DIAGNOSTICS gives, in utf8mb3, by place in ConditionItems;
	// nil: not read.
	Items []string
}

// ConditionItems are what GET DIAGNOSTICS CONDITION can ask for.
var ConditionItems = []string{
	"CLASS_ORIGIN", "SUBCLASS_ORIGIN", "RETURNED_SQLSTATE", "MESSAGE_TEXT", "MYSQL_ERRNO", "CONSTRAINT_CATALOG", "CONSTRAINT_SCHEMA",
	"CONSTRAINT_NAME", "CATALOG_NAME", "SCHEMA_NAME", "TABLE_NAME", "COLUMN_NAME", "CURSOR_NAME",
}

// maxFullConditions bounds how many conditions are read with their items. What
// has more warnings than that is hardly looked at one by one.
const maxFullConditions = 64

// NewCondition is the condition of an error that no server has raised.
func NewCondition(e *wire.Error) Condition {
	code := fmt.Sprint(e.Code)
	items := make([]string, len(ConditionItems))
	items[0], items[1] = origins(e.State)
	items[2], items[3], items[4] = e.State, e.Message, code
	return Condition{Level: "Error", Code: code, Message: e.Message, Items: items}
}

// origins are the standard's names for who defined the class and the subclass of
// an SQLSTATE. Manual: "GET DIAGNOSTICS Statement", "Condition Information Items".
func origins(state string) (class, subclass string) {
	const iso, own = "ISO 9075", "MySQL"
	if state != "" && (state[0] >= '0' && state[0] <= '4' || state[0] >= 'A' && state[0] <= 'H') {
		return iso, iso
	}
	if strings.HasSuffix(state, "000") {
		return own, iso
	}
	return own, own
}

// Conditions reads the diagnostics area, of which count rows are expected, and
// FOUND_ROWS() before that is lost, in one round trip. The items of conditions
// travel by user variables, which are NULL again afterwards.
func (c *Conn) Conditions(count int) (list []Condition, foundRows string, err error) {
	full := min(count, maxFullConditions)
	commands := []string{"SHOW WARNINGS"}
	names := []string{"FOUND_ROWS()"}
	var clear []string
	for i := range full {
		var sets []string
		for k, item := range ConditionItems {
			name := fmt.Sprintf("@`causeway %d.%d`", i, k)
			sets = append(sets, name+" = "+item)
			names = append(names, "HEX(CAST("+name+" AS CHAR CHARACTER SET utf8mb3))")
			clear = append(clear, name+" = NULL")
		}
		commands = append(commands, fmt.Sprintf("GET DIAGNOSTICS CONDITION %d %s", i+1, strings.Join(sets, ", ")))
	}
	commands = append(commands, "SELECT "+strings.Join(names, ", "))
	if clear != nil {
		commands = append(commands, "SET "+strings.Join(clear, ", "))
	}
	for _, text := range commands {
		if err := c.Send(wire.ComQuery, text); err != nil {
			return nil, "", err
		}
	}
	if err := c.Flush(); err != nil {
		return nil, "", err
	}
	return c.readConditions(full)
}

func (c *Conn) readConditions(full int) (list []Condition, foundRows string, err error) {
	c.eachRow = func(row []string) {
		if len(row) == 3 {
			list = append(list, Condition{Level: row[0], Code: row[1], Message: row[2]})
		}
	}
	_, err = c.ReadResult()
	c.eachRow = nil
	if err != nil {
		return nil, "", err
	}
	for range full {
		if _, err := c.ReadResult(); err != nil {
			return nil, "", err
		}
	}
	row, err := c.ReadResult()
	if err != nil || len(row) != 1+full*len(ConditionItems) {
		return nil, "", errors.Join(fmt.Errorf("reading the conditions: %d columns", len(row)), err)
	}
	if full > 0 {
		if _, err := c.ReadResult(); err != nil {
			return nil, "", err
		}
	}
	foundRows, row = row[0], row[1:]
	for i := range min(full, len(list)) {
		list[i].Items, row = unhex(row[:len(ConditionItems)]), row[len(ConditionItems):]
	}
	return list, foundRows, nil
}

// unhex reads the items of a condition.
func unhex(row []string) []string {
	items := make([]string, len(row))
	for i, text := range row {
		b, err := hex.DecodeString(text)
		if err == nil {
			items[i] = string(b)
		}
	}
	return items
}
