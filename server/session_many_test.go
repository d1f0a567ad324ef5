package server

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"causeway/wire"
)

// numbered makes INSERT answer with its transaction's number, and SELECT with
// how many the node has executed: a smaller number than that of one's own last
// INSERT is a stale read.
func (l *lab) numbered() {
	l.source.on("INSERT", func(c *fakeConn, _ string) {
		one := c.node.commit()
		n, _ := strconv.ParseUint(one[strings.LastIndex(one, ":")+1:], 10, 64)
		c.ok(func(ok *wire.OK) { ok.LastInsertID, ok.AffectedRows, ok.Track = n, 1, wire.AppendTrackGTIDs(nil, one) })
	})
	for _, n := range append([]*fakeNode{l.source}, l.replicas...) {
		n.on("SELECT n", func(c *fakeConn, _ string) {
			c.rows(1, []string{strconv.FormatUint(c.node.position().Count(), 10)})
		})
	}
}

// writeAndRead writes and reads back count times and returns the stale reads.
func writeAndRead(t *testing.T, k *dbClient, count int) (stale int) {
	for i := range count {
		w := k.query("INSERT INTO t VALUES (1)")
		if w.err != nil || w.lost != nil {
			t.Errorf("write %d: %v %v", i, w.err, w.lost)
			return stale
		}
		r := k.query("SELECT n FROM t")
		n, err := strconv.ParseUint(r.first(), 10, 64)
		if err != nil {
			t.Errorf("read %d: %v %v", i, r.err, r.lost)
			return stale
		}
		if n < w.ok.LastInsertID {
			stale++
		}
	}
	return stale
}

// Many sessions at once, while replicas apply one after the other.
func TestManySessionsReadTheirWrites(t *testing.T) {
	l := startLab(t, 2)
	l.numbered()
	const clients, count = 8, 60
	stop := make(chan bool)
	var applier, work sync.WaitGroup
	applier.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				l.replicas[i%2].setExecuted(l.source.position())
				l.publish()
			}
		}
	})
	for range clients {
		k := l.client()
		work.Go(func() {
			if n := writeAndRead(t, k, count); n > 0 {
				t.Errorf("%d stale reads", n)
			}
		})
	}
	work.Wait()
	close(stop)
	applier.Wait()
}

// The same without the check shows stale reads, so that the test can fail.
func TestManySessionsWithoutTheCheck(t *testing.T) {
	l := startLab(t, 2, func(o *Options) { o.SkipTokenCheck = true })
	l.numbered()
	if n := writeAndRead(t, l.client(), 20); n != 20 {
		t.Errorf("%d stale reads, want 20", n)
	}
}
