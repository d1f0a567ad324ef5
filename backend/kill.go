package backend

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"causeway/gtid"
	"causeway/wire"
)

// connAttrs are what a server shows of Causeway's connections.
var connAttrs = map[string]string{"program_name": "causeway"}

// errNoSuchThread is MySQL's ER_NO_SUCH_THREAD.
const errNoSuchThread = 1094

// KillQuery stops the statement that a connection runs, from a side connection
// of the same account.
func KillQuery(ctx context.Context, cfg *Config, node *Node, acc Account, thread uint32) error {
	side, err := Open(ctx, cfg, node, acc, "", nil)
	if err != nil {
		return err
	}
	defer side.Close()
	bound(ctx, side)
	return kill(side, "KILL QUERY ", thread)
}

func kill(side *Conn, verb string, thread uint32) error {
	_, err := side.Query(verb + strconv.FormatUint(uint64(thread), 10))
	var refused *wire.Error
	if errors.As(err, &refused) && refused.Code == errNoSuchThread {
		return nil
	}
	return err
}

func bound(ctx context.Context, c *Conn) {
	if deadline, ok := ctx.Deadline(); ok {
		c.SetDeadline(deadline)
	}
}

// AwaitGone kills the server's thread of a connection whose answer was lost,
// waits until the thread is gone, and returns the node's gtid_executed as it is
// then. Asked earlier it may lack a transaction that the thread still commits.
// established is when the lost connection was made: thread ids start anew when
// a server restarts, and then the thread is gone already.
func AwaitGone(ctx context.Context, cfg *Config, node *Node, acc Account, thread uint32, established time.Time) (gtid.Set, error) {
	side, err := Open(ctx, cfg, node, acc, "", nil)
	if err != nil {
		return gtid.Set{}, err
	}
	defer side.Close()
	bound(ctx, side)
	restarted, err := restartedSince(side, established)
	if err != nil {
		return gtid.Set{}, err
	}
	for wait := time.Millisecond; !restarted; wait = min(2*wait, 50*time.Millisecond) {
		if err := kill(side, "KILL ", thread); err != nil {
			return gtid.Set{}, err
		}
		gone, err := threadGone(side, thread)
		if err != nil {
			return gtid.Set{}, err
		}
		if gone {
			break
		}
		select {
		case <-ctx.Done():
			return gtid.Set{}, ctx.Err()
		case <-time.After(wait):
		}
	}
	row, err := side.Query("SELECT @@global.gtid_executed")
	if err != nil || len(row) != 1 {
		return gtid.Set{}, fmt.Errorf("asking for the position: %w", err)
	}
	return gtid.Parse(row[0])
}

// restartedSince compares whole seconds of Uptime, rounded down on both sides:
// a server that lived through the time has at least as many.
func restartedSince(side *Conn, t time.Time) (bool, error) {
	row, err := side.Query("SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME='Uptime'")
	if err != nil || len(row) != 1 {
		return false, fmt.Errorf("asking for the uptime: %w", err)
	}
	uptime, err := strconv.ParseInt(row[0], 10, 64)
	return uptime < int64(time.Since(t)/time.Second), err
}

func threadGone(side *Conn, thread uint32) (bool, error) {
	row, err := side.Query(fmt.Sprintf("SELECT COUNT(*) FROM performance_schema.processlist WHERE ID=%d", thread))
	if err != nil || len(row) != 1 {
		return false, fmt.Errorf("asking for the process list: %w", err)
	}
	return row[0] == "0", nil
}
