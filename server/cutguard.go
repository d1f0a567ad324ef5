package server

import (
	"sync"
	"sync/atomic"
)

// cutGuard keeps a KILL QUERY, or the closing of a connection, on the statement
// that it is meant for: connections are shared, and one that comes a moment too
// late would hit another session's statement. Whoever cuts holds the guard from
// before it looks what runs until the KILL is done; the session waits for that
// before it goes on.
type cutGuard struct {
	cutting atomic.Int32
	mu      sync.Mutex
}

func (g *cutGuard) begin() {
	g.cutting.Add(1)
	g.mu.Lock()
}

func (g *cutGuard) end() {
	g.mu.Unlock()
	g.cutting.Add(-1)
}

// await is called by the session after it has taken back what runs where.
func (g *cutGuard) await() {
	if g.cutting.Load() == 0 {
		return
	}
	g.mu.Lock()
	g.mu.Unlock() //nolint:staticcheck // only waits
}
