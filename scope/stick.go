package scope

import "time"

// Stick opens a window after a commit: until its end, a time since a moment that
// all who use the entry agree on, readers go to the source. A window never ends
// earlier than an earlier one. An entry that was forgotten meanwhile gives it to
// the floor, and to the entry that its name may have had since.
func (e *Entry) Stick(until time.Duration) {
	if e == nil {
		return
	}
	e.mu.Lock()
	forgotBy := e.gone
	e.stick(until)
	e.mu.Unlock()
	if forgotBy != nil {
		forgotBy.floor.stick(until)
		forgotBy.Find(e.name).Stick(until)
	}
}

func (e *Entry) stick(until time.Duration) {
	for had := e.stuck.Load(); had < int64(until) && !e.stuck.CompareAndSwap(had, int64(until)); had = e.stuck.Load() {
	}
}

// Stuck is the end of the window; 0: there was no commit.
func (e *Entry) Stuck() time.Duration {
	if e == nil {
		return 0
	}
	return time.Duration(e.stuck.Load())
}
