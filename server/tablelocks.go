package server

import (
	"causeway/backend"
	"causeway/classifier"
)

// tableLocks are the locks on tables and on the whole server that a session holds
// until it says otherwise. Each ends by other statements.
type tableLocks struct {
	tables   bool // LOCK TABLES and its like: until UNLOCK TABLES, or BEGIN
	global   bool // FLUSH TABLES WITH READ LOCK: until UNLOCK TABLES
	instance bool // LOCK INSTANCE: until UNLOCK INSTANCE
}

func (l *tableLocks) any() bool { return l.tables || l.global || l.instance }

// follow takes in a statement that worked. One that both takes and ends a lock is
// several in one text: the lock is taken to be held.
func (l *tableLocks) follow(c *classifier.Class) {
	ends := c.Is(classifier.UnlocksTables)
	l.tables = l.tables && !ends && c.Kind != classifier.Begin || c.Is(classifier.LocksTables)
	l.global = l.global && !ends || c.Is(classifier.LocksServer)
	l.instance = l.instance && !c.Is(classifier.UnlocksInstance) || c.Is(classifier.LocksInstance)
}

// add takes in what the server tells of, which a routine can have taken.
func (l *tableLocks) add(held backend.Held) {
	l.tables = l.tables || held.TableLocks
	l.global = l.global || held.GlobalLock
	l.instance = l.instance || held.InstanceLock
}
