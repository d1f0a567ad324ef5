package failover

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"causeway/tests/check"
	"causeway/tests/rig"
)

// TestWriteOnFrozenSource: writes are under way on a source that hangs, and nobody
// takes its place. They wait, since they may take effect, while a read that was under
// way there is given up; a client that leaves leaves nothing behind: no session, no
// connection in use.
func TestWriteOnFrozenSource(t *testing.T) {
	lay(t)
	p := start(t, shared.Addrs(), config(t, wait))
	old := shared.Source()
	gauge := func(name string, labels ...string) float64 {
		m := rig.MustMetrics(t, p.HTTP)
		return m.Sum(name, labels...)
	}
	const writers = 4
	holder, err := old.DB.BeginTx(context.Background(), nil)
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, holder.Rollback()) }) // when the server is thawed
	_, err = holder.Exec("INSERT INTO failover.t VALUES (0, 0), (1, 0), (2, 0), (3, 0)")
	check.Must(t, err)

	ctx, leave := context.WithCancel(check.Patience(t))
	defer leave()
	written, read := make(chan error, writers), make(chan error, 1)
	for i := range writers {
		k := p.app()
		go func() {
			_, err := k.ExecContext(ctx, fmt.Sprintf("INSERT INTO t VALUES (%d, 1)", i))
			written <- err
		}()
	}
	reader := p.app()
	go func() {
		_, err := reader.ExecContext(ctx, "SELECT @@server_id, SLEEP(600)")
		read <- err
	}()
	check.Until(t, "they are under way", func() bool {
		n, err := old.Value(check.Patience(t), "SELECT (SELECT COUNT(*) FROM performance_schema.data_lock_waits) + (SELECT COUNT(*) FROM performance_schema.processlist WHERE STATE = 'User sleep')")
		return err == nil && n == "5"
	})
	check.Must(t, old.Freeze())
	t.Cleanup(func() { check.Must(t, old.Thaw()) })
	if err := <-read; err == nil || !strings.Contains(err.Error(), "SHOW CAUSEWAY SERVERS") {
		t.Errorf("the read: %v", err)
	}
	if len(written) != 0 {
		t.Errorf("a write did not wait: %v", <-written)
	}
	leave()
	for range writers {
		if err := <-written; err == nil {
			t.Error("a write was acknowledged")
		}
	}
	check.Must(t, reader.Close())
	check.Until(t, "their sessions are gone", func() bool { return gauge("causeway_client_connections") <= 1 }) // the operator's
	check.Until(t, "no connection to it is in use", func() bool {
		return gauge("causeway_backend_connections", `node="`+old.Addr+`"`, `state="in_use"`) == 0
	})
}
