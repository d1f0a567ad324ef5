package cluster

import (
	"context"
	"strings"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/session/raw"
)

// Lay runs statements on the source and waits until all replicas have them.
func (c *Cluster) Lay(t testing.TB, statements ...string) {
	t.Helper()
	inAMinute(t, func(ctx context.Context) error { return c.Source().Exec(ctx, strings.Join(statements, ";\n")) })
	c.CatchUp(t)
}

// CatchUp is WaitCaughtUp, within a minute.
func (c *Cluster) CatchUp(t testing.TB) {
	t.Helper()
	inAMinute(t, c.WaitCaughtUp)
}

// MustHeal is Heal, within a minute.
func (c *Cluster) MustHeal(t testing.TB) {
	t.Helper()
	inAMinute(t, c.Heal)
}

// inAMinute ends the test if something fails or takes longer.
func inAMinute(t testing.TB, do func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	check.Must(t, do(ctx))
}

// HealAfter is MustHeal when the test ends: for tests that share a cluster.
func (c *Cluster) HealAfter(t testing.TB) { t.Cleanup(func() { t.Helper(); c.MustHeal(t) }) }

// StopAppliers stops all appliers until heal is called or the test ends.
func (c *Cluster) StopAppliers(t testing.TB) (heal func()) {
	t.Helper()
	heal = func() { c.MustHeal(t) }
	t.Cleanup(heal)
	for _, n := range c.Replicas() {
		inAMinute(t, n.Pause)
	}
	return heal
}

// OpenRaw opens a session of the application's account that hides nothing; it
// ends with the test.
func OpenRaw(t testing.TB, o raw.Options) *raw.Client {
	t.Helper()
	o.User, o.Password = AppUser, AppPassword
	c, err := raw.Dial(o)
	check.Must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// Count tells how many statements of the log have a text in them.
func (l *GeneralLog) Count(t testing.TB, text string) int {
	t.Helper()
	return l.count(t, func(e LogEntry) bool { return strings.Contains(e.Text, text) })
}

// CountStart tells how many statements of the log start with a text.
func (l *GeneralLog) CountStart(t testing.TB, start string) int {
	t.Helper()
	return l.count(t, func(e LogEntry) bool { return strings.HasPrefix(e.Text, start) })
}

func (l *GeneralLog) count(t testing.TB, counts func(LogEntry) bool) (n int) {
	t.Helper()
	entries, err := l.Entries()
	check.Must(t, err)
	for _, e := range entries {
		if counts(e) {
			n++
		}
	}
	return n
}
