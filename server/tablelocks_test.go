package server

import (
	"testing"

	"causeway/backend"
	"causeway/classifier"
)

// Each lock ends by the statements that end it on a server, and by no other.
func TestTableLocksEnd(t *testing.T) {
	cl := classifier.New(classifier.Options{})
	var none tableLocks
	tables, global, instance := tableLocks{tables: true}, tableLocks{global: true}, tableLocks{instance: true}
	for _, c := range []struct {
		texts []string
		want  tableLocks
	}{
		{[]string{"LOCK TABLES t READ"}, tables},
		{[]string{"LOCK TABLES t READ", "COMMIT"}, tables},
		{[]string{"LOCK TABLES t READ", "BEGIN"}, none},
		{[]string{"LOCK TABLES t READ", "UNLOCK INSTANCE"}, tables},
		{[]string{"LOCK TABLES t READ", "UNLOCK TABLES"}, none},
		{[]string{"FLUSH TABLES t WITH READ LOCK", "START TRANSACTION"}, none},
		{[]string{"FLUSH TABLES t FOR EXPORT", "UNLOCK TABLES"}, none},
		{[]string{"FLUSH TABLES WITH READ LOCK"}, global},
		{[]string{"FLUSH TABLES WITH READ LOCK", "BEGIN", "COMMIT"}, global},
		{[]string{"FLUSH TABLES WITH READ LOCK", "UNLOCK INSTANCE"}, global},
		{[]string{"FLUSH LOCAL TABLES WITH READ LOCK", "UNLOCK TABLES"}, none},
		{[]string{"FLUSH TABLES WITH READ LOCK", "LOCK TABLES t READ", "BEGIN"}, global},
		{[]string{"LOCK INSTANCE FOR BACKUP"}, instance},
		{[]string{"LOCK INSTANCE FOR BACKUP", "BEGIN", "COMMIT"}, instance},
		{[]string{"LOCK INSTANCE FOR BACKUP", "FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES"}, instance},
		{[]string{"LOCK INSTANCE FOR BACKUP", "UNLOCK INSTANCE"}, none},
		{[]string{"LOCK INSTANCE FOR BACKUP; UNLOCK TABLES", "UNLOCK TABLES"}, instance},
		{[]string{"UNLOCK TABLES; LOCK TABLES t READ"}, tables},
	} {
		var l tableLocks
		for _, text := range c.texts {
			l.follow(cl.Classify([]byte(text), classifier.Mode{}))
		}
		if l != c.want {
			t.Errorf("%q: %+v, want %+v", c.texts, l, c.want)
		}
	}
}

// A transaction, or the end of another lock, does not take a backup's locks away.
func TestSessionKeepsTheLocksOfABackup(t *testing.T) {
	for _, texts := range [][]string{
		{"FLUSH TABLES WITH READ LOCK", "BEGIN", "SELECT a FROM t", "COMMIT"},
		{"LOCK INSTANCE FOR BACKUP", "BEGIN", "SELECT a FROM t", "COMMIT"},
		{"LOCK INSTANCE FOR BACKUP", "FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES"},
		{"FLUSH TABLES WITH READ LOCK", "UNLOCK INSTANCE"},
	} {
		l := startLab(t, 1)
		k := l.client()
		k.run(texts...)
		if pins := k.query("SHOW CAUSEWAY PINS").rows; len(pins) != 1 || pins[0][3] != "table_locks" {
			t.Errorf("after %q the pins are %q", texts, pins)
		}
		k.run("UNLOCK TABLES", "UNLOCK INSTANCE")
		if pins := k.query("SHOW CAUSEWAY PINS").rows; len(pins) != 0 {
			t.Errorf("after %q and the unlocking the pins are %q", texts, pins)
		}
	}
}

// A routine can lock, too, which only the server tells.
func TestSessionKeepsTheLocksOfARoutine(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	l.mon.held.Store(&backend.Held{InstanceLock: true})
	k.run("CALL p()", "BEGIN", "SELECT a FROM t", "COMMIT")
	if pins := k.query("SHOW CAUSEWAY PINS").rows; len(pins) != 1 || pins[0][3] != "table_locks" {
		t.Errorf("the pins are %q", pins)
	}
}
