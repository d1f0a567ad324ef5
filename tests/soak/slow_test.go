package soak

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"testing"
	"time"

	"causeway/tests/cluster"
)

// slowLimit is how much the process may grow meanwhile: other clients work, but
// nothing near the 200 MB that wait for the slow one.
const slowLimit = 4 << 20

// A client that does not read stops its own backend, costs no memory and
// disturbs nobody; when it reads on it gets all there is.
func TestSlowClientSlowsItsBackendAndNobodyElse(t *testing.T) {
	const rowBytes, rows = 1000, 200_000
	c, causeway := shared, startEager(t)
	db, slow, err := connect(t.Context(), causeway.Addr, smallBuffer)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	stream(t, slow, rowBytes, 1000)
	others := connectOthers(t, causeway)
	readAll(t, others) // their buffers come to be as well
	watch := watchRSS(t, causeway)

	result, err := slow.QueryContext(t.Context(), "/* slow client */ "+bigSelect(rowBytes, rows))
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	got := readRows(t, result, rowBytes, 10)
	sent := stalled(t, c)
	if limit := int64(rowBytes * rows / 4); sent > limit {
		t.Errorf("the backend has sent %d bytes to a client that read %d", sent, got*rowBytes)
	}
	readAll(t, others)
	if again := stalled(t, c); again != sent {
		t.Errorf("the backend went on from %d to %d bytes though nobody read", sent, again)
	}

	got += readRows(t, result, rowBytes, -1)
	if got != rows {
		t.Errorf("%d rows came in the end, not %d", got, rows)
	}
	grown, _ := watch.stop()
	t.Logf("the backend stopped at %d KB; the process grew by %d KB", sent>>10, grown>>10)
	if grown > slowLimit {
		t.Errorf("the process grew by %d KB, allowed are %d", grown>>10, slowLimit>>10)
	}
}

// smallBuffer dials with little room for what is not read.
func smallBuffer(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, network, addr)
	if err == nil {
		err = c.(*net.TCPConn).SetReadBuffer(32 << 10)
	}
	return c, err
}

// connectOthers opens the connections of a few other clients.
func connectOthers(t *testing.T, causeway *cluster.Causeway) []*sql.Conn {
	t.Helper()
	var others []*sql.Conn
	for range 4 {
		db, c, err := connect(t.Context(), causeway.Addr, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		others = append(others, c)
	}
	return others
}

// readAll: each of them reads the small rows, on both replicas in turn.
func readAll(t *testing.T, others []*sql.Conn) {
	t.Helper()
	for _, c := range others {
		for want := range 250 {
			var n int
			row := c.QueryRowContext(t.Context(), fmt.Sprintf("SELECT n FROM number WHERE n = %d", want))
			if err := row.Scan(&n); err != nil || n != want {
				t.Errorf("another client read %d, %v, not %d", n, err, want)
			}
		}
	}
}

// stalled waits until the slow client's backend sends no more and returns how
// many bytes its thread has sent so far.
func stalled(t *testing.T, c *cluster.Cluster) int64 {
	t.Helper()
	last := int64(-1)
	eventually(t, 30*time.Second, 200*time.Millisecond, func() (bool, string) {
		now, err := bytesSent(t.Context(), c)
		if err != nil {
			return false, err.Error()
		}
		same := now == last
		last = now
		return same, fmt.Sprintf("it has sent %d bytes", now)
	})
	return last
}

// bytesSent asks every node for the thread that runs the slow client's query.
func bytesSent(ctx context.Context, c *cluster.Cluster) (int64, error) {
	const query = `SELECT s.VARIABLE_VALUE
		FROM performance_schema.threads t JOIN performance_schema.status_by_thread s USING (THREAD_ID)
		WHERE t.PROCESSLIST_INFO LIKE '/* slow client */%' AND s.VARIABLE_NAME = 'Bytes_sent'`
	for _, node := range c.Nodes() {
		var sent int64
		err := node.DB.QueryRowContext(ctx, query).Scan(&sent)
		if err == nil {
			return sent, nil
		}
		if err != sql.ErrNoRows {
			return 0, fmt.Errorf("%s: %w", node.Name, err)
		}
	}
	return 0, fmt.Errorf("no node runs the slow client's query")
}
