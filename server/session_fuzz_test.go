package server

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"

	"causeway/wire"
)

// FuzzCommand sends any bytes after a login to a session over a scripted
// cluster: nothing panics, the session ends with its client, and others go on.
func FuzzCommand(f *testing.F) {
	packet := func(payload string) []byte { return framed(0, []byte(payload)) }
	var all []byte
	for _, p := range []string{
		"\x0e", "\x03SELECT a FROM t", "\x03INSERT INTO t VALUES (1)", "\x03BEGIN", "\x03COMMIT", "\x02db", "\x09", "\x04t\x00", "\x1b\x00\x00", "\x1f",
		"\x16SELECT a FROM t WHERE b=?", "\x17\x01\x00\x00\x00\x01\x01\x00\x00\x00" + typed, "\x1c\x01\x00\x00\x00\x01\x00\x00\x00",
		"\x1a\x01\x00\x00\x00", "\x18\x01\x00\x00\x00\x00\x00abc", "\x19\x01\x00\x00\x00", "\x03SHOW CAUSEWAY STATUS", "\x03KILL 1", "\x03SET autocommit=0",
		"\x03START TRANSACTION READ ONLY", "\x03SET TRANSACTION READ ONLY", "\x11app\x00\x00db\x00", "\x12", "\x01",
	} {
		f.Add(packet(p), false)
		all = append(all, packet(p)...)
	}
	f.Add(all, true)
	f.Add([]byte{}, false)
	f.Add([]byte{0xff, 0xff, 0xff, 0, 3}, false)
	f.Add([]byte{0, 0, 0, 0}, true)
	var log lastPanic
	l := startLab(f, 1, func(o *Options) { o.Log = zerolog.New(&log).Level(zerolog.ErrorLevel) })
	f.Fuzz(func(t *testing.T, in []byte, old bool) {
		before := valueOf(l.srv.metrics.panics) // the fuzzer goes on after a failure, to make the input shorter
		k := &testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginNative, caps: clientCaps | serverCaps}
		if old {
			k.caps = clientCaps &^ wire.CapSessionTrack
		}
		if err := k.login(l.addr); err != nil {
			t.Fatal(err)
		}
		nc := k.c.NetConn().(*net.TCPConn)
		var wg sync.WaitGroup
		wg.Go(func() {
			nc.Write(in) // fails if the session ends before it has read all
			nc.CloseWrite()
		})
		io.Copy(io.Discard, nc)
		wg.Wait()
		nc.Close()
		waitFor(t, func() bool { return len(l.sessions()) == 0 })
		if n := valueOf(l.srv.metrics.panics); n != before {
			t.Fatalf("%v panics: %s", n-before, log.text.Load())
		}
	})
}

// lastPanic keeps the last line that was logged.
type lastPanic struct{ text atomic.Value }

func (l *lastPanic) Write(line []byte) (int, error) {
	l.text.Store(string(line))
	return len(line), nil
}
