package server

import (
	"sync"
	"time"
)

// seenSchemas remembers which accounts have used which schemas a moment ago, so
// that thousands of short connections do not each ask a server whether the
// schema of their login exists.
type seenSchemas struct {
	mu   sync.Mutex
	seen map[[2]string]time.Time
}

const (
	schemaFresh = 5 * time.Second
	maxSchemas  = 1000
)

func (t *seenSchemas) fresh(user, schema string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, ok := t.seen[[2]string{user, schema}]
	return ok && time.Since(at) < schemaFresh
}

// known tells of a schema that the account has used at any time.
func (t *seenSchemas) known(user, schema string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.seen[[2]string{user, schema}]
	return ok
}

func (t *seenSchemas) note(user, schema string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen == nil || len(t.seen) >= maxSchemas {
		t.seen = map[[2]string]time.Time{}
	}
	t.seen[[2]string{user, schema}] = time.Now()
}
