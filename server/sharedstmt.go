package server

import (
	"container/list"
	"sync"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// sharedStmt is what all sessions have in common that prepared the same text in
// the same state.
type sharedStmt struct {
	backend.Statement
	class *classifier.Class
	key   stmtKey

	// Guarded by sharedStmts.mu.
	users  int
	unused *list.Element // in sharedStmts.unused
}

type stmtKey struct {
	text  string
	state *backend.State
	caps  wire.Capability
	kind  classifier.Kind // a text can turn out to be a write
}

// sharedStmts holds the statements that sessions have prepared now, and some
// that they had: many clients prepare, execute and close again and again, and
// find them prepared on the connections.
type sharedStmts struct {
	mu     sync.Mutex
	byKey  map[stmtKey]*sharedStmt
	unused list.List // the one longest unused in front
}

const maxUnused = 2000

// get returns the one statement of a text and a state. Comments before and
// after the text, where hints and traces stand, make no difference.
func (t *sharedStmts) get(text []byte, class *classifier.Class, state *backend.State, caps wire.Capability) *sharedStmt {
	t.mu.Lock()
	defer t.mu.Unlock()
	st := t.byKey[stmtKey{string(text), state, caps, class.Kind}]
	if st == nil {
		key := stmtKey{string(text), state, caps, class.Kind}
		st = &sharedStmt{Statement: backend.Statement{Text: key.text, State: state, Caps: caps}, class: class, key: key}
		if t.byKey == nil {
			t.byKey = map[stmtKey]*sharedStmt{}
		}
		t.byKey[key] = st
	}
	st.users++
	if st.unused != nil {
		t.unused.Remove(st.unused)
		st.unused = nil
	}
	return st
}

// release tells that a session has closed it. Connections on which it is
// prepared forget it when they have too many.
func (t *sharedStmts) release(st *sharedStmt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if st.users--; st.users > 0 {
		return
	}
	st.unused = t.unused.PushBack(st)
	if t.unused.Len() > maxUnused {
		oldest := t.unused.Remove(t.unused.Front()).(*sharedStmt)
		oldest.unused = nil
		delete(t.byKey, oldest.key)
	}
}

func (t *sharedStmts) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.byKey)
}

// kindsOf sorts parameter types by what a server makes of them when it resolves
// a statement: integers, decimals, floating point, times, the rest. NULL has no
// kind and keeps the one that the parameter had.
func kindsOf(types []byte, params int, old string, caps wire.Capability) string {
	kinds := make([]byte, 0, params)
	for p := types; len(kinds) < params && len(p) >= 2; {
		k := kindOf(p[0], p[1])
		if k == kindNull {
			k = kindText
			if n := len(kinds); n < len(old) {
				k = old[n]
			}
		}
		kinds = append(kinds, k)
		p = p[2:]
		if caps.Has(wire.CapQueryAttributes) { // each type has its parameter's name
			_, n, ok := wire.ReadLenEncBytes(p)
			if !ok {
				break
			}
			p = p[n:]
		}
	}
	return string(kinds)
}

const (
	kindText byte = 's'
	kindNull byte = 'n'
)

func kindOf(t, flags byte) byte {
	switch t {
	case 0x01, 0x02, 0x03, 0x08, 0x09, 0x0d: // TINY, SHORT, LONG, LONGLONG, INT24, YEAR
		if flags&0x80 != 0 {
			return 'u'
		}
		return 'i'
	case 0x04, 0x05: // FLOAT, DOUBLE
		return 'f'
	case 0x00, 0xf6: // DECIMAL, NEWDECIMAL
		return 'd'
	case 0x06:
		return kindNull
	case 0x07, 0x0a, 0x0b, 0x0c, 0x0e: // TIMESTAMP, DATE, TIME, DATETIME, NEWDATE
		return 't'
	}
	return kindText
}
