package forward

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Commands that matter here. Specification: my_command.h.
const (
	comQuery       = 0x03
	comStmtPrepare = 0x16
	comStmtExecute = 0x17
)

// link is one connection that passes through.
type link struct {
	f              *Forwarder
	client, server net.Conn
	thread         atomic.Uint32 // the server's connection id, from its greeting

	ended chan struct{} // closed when nothing more comes from the server

	mu       sync.Mutex
	cut      *Cut            // the cut under way, if its step needs the answer
	prepared map[string]bool // marks of statements prepared here, to be executed
}

func newLink(f *Forwarder, client, server net.Conn) *link {
	return &link{f: f, client: client, server: server, ended: make(chan struct{}), prepared: map[string]bool{}}
}

func (l *link) close() {
	l.client.Close()
	l.server.Close()
}

func (l *link) run() {
	defer l.close()
	var wg sync.WaitGroup
	wg.Go(func() {
		l.requests()
		l.server.(*net.TCPConn).CloseWrite()
	})
	l.answers()
	l.client.Close()
	wg.Wait()
}

// readPacket reads one packet with its header.
func readPacket(r io.Reader) ([]byte, error) {
	head := make([]byte, 4, 512)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	n := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	packet := append(head, make([]byte, n)...)
	_, err := io.ReadFull(r, packet[4:])
	return packet, err
}

// requests passes packets to the server until the link ends or is cut.
func (l *link) requests() {
	for {
		p, err := readPacket(l.client)
		if err != nil {
			return
		}
		if c := l.planned(p); c != nil {
			l.cutRequest(c, p)
			return
		}
		if _, err := l.server.Write(p); err != nil {
			return
		}
	}
}

// planned returns the cut for a command, if one is planned.
func (l *link) planned(p []byte) *Cut {
	if p[3] != 0 || len(p) < 5 {
		return nil // no command
	}
	switch p[4] {
	case comQuery:
		_, c := l.f.take(p, true)
		return c
	case comStmtPrepare:
		if mark, c := l.f.take(p, false); c != nil {
			l.prepared[mark] = true
		}
	case comStmtExecute:
		for mark := range l.prepared {
			delete(l.prepared, mark)
			if _, c := l.f.take([]byte(mark), true); c != nil {
				return c
			}
		}
	}
	return nil
}

// take finds the armed mark that a command has.
func (f *Forwarder) take(p []byte, remove bool) (string, *Cut) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for mark, c := range f.armed {
		if bytes.Contains(p, []byte(mark)) {
			if remove {
				delete(f.armed, mark)
			}
			return mark, c
		}
	}
	return "", nil
}

// cutRequest carries out a cut. Steps that need the answer are finished by
// answers, which sees l.cut.
func (l *link) cutRequest(c *Cut, p []byte) {
	finish := func() {
		l.close()
		c.done(l.thread.Load())
	}
	switch c.Step {
	case BeforeRequest:
		finish()
	case HalfRequest:
		l.server.Write(p[:len(p)/2])
		finish()
	case AfterRequest:
		l.set(c) // an answer that is quicker than the cut is dropped
		l.server.Write(p)
		finish()
	case LateAfterRequest:
		l.server.Write(p)
		time.Sleep(5 * time.Millisecond)
		finish()
	case HalfOpen:
		l.set(c)
		l.server.Write(p)
		l.client.Close()
		c.done(l.thread.Load())
		<-l.ended
	case Silence:
		l.set(c)
		l.server.Write(p)
		time.Sleep(silence)
		finish()
	default: // AnswerDropped, HalfAnswer, AfterAnswer
		l.set(c)
		l.server.Write(p)
		<-l.ended
	}
}

func (l *link) set(c *Cut) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = c
}

func (l *link) pending() *Cut {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

// answers passes packets to the client until the link ends or is cut.
func (l *link) answers() {
	defer close(l.ended)
	for first := true; ; first = false {
		p, err := readPacket(l.server)
		c := l.pending()
		if err != nil {
			if c != nil {
				l.close()
				c.done(l.thread.Load())
			}
			return
		}
		if first {
			l.thread.Store(greetingThread(p))
		}
		if c != nil && (c.Step == Silence || c.Step == AfterRequest) {
			continue
		}
		if c != nil {
			l.cutAnswer(c, p)
			return
		}
		if _, err := l.client.Write(p); err != nil {
			return
		}
	}
}

func (l *link) cutAnswer(c *Cut, p []byte) {
	switch c.Step {
	case HalfAnswer:
		l.client.Write(p[:4+(len(p)-4)/2])
	case AfterAnswer:
		l.client.Write(p)
	}
	l.close()
	c.done(l.thread.Load())
}

// greetingThread reads the connection id from the server's first packet.
// Specification: page_protocol_connection_phase_packets_protocol_handshake_v10.
func greetingThread(p []byte) uint32 {
	if len(p) < 5 || p[4] != 10 {
		return 0
	}
	end := bytes.IndexByte(p[5:], 0)
	if end < 0 || len(p) < 5+end+5 {
		return 0
	}
	return binary.LittleEndian.Uint32(p[5+end+1:])
}
