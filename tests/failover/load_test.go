package failover

import (
	"context"
	"testing"
	"time"

	"causeway/tests/cluster"
	"causeway/tests/load"
)

// writers are clients that write and read back through a Causeway.
type writers struct {
	*load.Load
	t    *testing.T
	note string // for the table
	took time.Duration
}

func (p *proxy) load() *writers {
	p.T.Helper()
	db := cluster.Open(p.T, cluster.AppConfig(p.Addr, "failover"))
	return &writers{Load: load.Start(p.T, db, clients, time.Minute), t: p.T}
}

// end stops the clients and checks what they were told: no stale read, and each
// acknowledged row is on the source, or was reported as lost.
func (w *writers) end(p *proxy) outcome {
	w.t.Helper()
	told, lost := w.Stop(), p.lost()
	o := outcome{note: w.note, resumed: w.took, acked: len(told.Acked), reads: told.Reads, stale: told.Stale,
		missing: told.Missing(w.t, shared.Source(), "failover.t"), lost: len(lost), errs: told.Errs}
	for text, n := range told.Errs {
		w.t.Logf("%d times: %s", n, text)
	}
	if o.missing > o.lost {
		w.t.Errorf("%d acknowledged writes are missing, only %d were reported as lost: %v", o.missing, o.lost, lost)
	}
	if o.stale > 0 {
		w.t.Errorf("%d reads missed their session's own write", o.stale)
	}
	if o.reads == 0 {
		w.t.Error("nothing was read")
	}
	return o
}

// lost lists the single GTIDs of SHOW CAUSEWAY LOST.
func (p *proxy) lost() []string {
	p.T.Helper()
	var out []string
	for _, row := range p.Show("LOST") {
		out = append(out, singles(row[0])...)
	}
	return out
}

// resumed notes how long after a node became writable the first write was
// acknowledged there.
func (w *writers) resumed(change func()) {
	w.t.Helper()
	target, found := shared.Replicas()[0], false
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for tries := 0; ; tries++ {
			if ro, err := target.Value(context.Background(), "SELECT @@global.read_only"); err == nil && ro == "0" {
				w.Mark()
				found = true
				return
			}
			select {
			case <-ended: // it is writable, or never will be
				if tries > 1000 {
					return
				}
			default:
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	change()
	close(ended)
	<-done
	if !found {
		w.t.Fatal("no server became writable")
	}
	w.took = w.AwaitAck()
	w.t.Logf("a write %v after the server was writable", w.took)
}
