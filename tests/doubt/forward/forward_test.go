package forward

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"
)

// packet frames a payload.
func packet(seq byte, payload ...byte) []byte {
	return append([]byte{byte(len(payload)), byte(len(payload) >> 8), 0, seq}, payload...)
}

var (
	greeting = packet(0, append([]byte("\x0a9.7\x00"), 42, 0, 0, 0, 1, 2, 3)...)
	okAnswer = packet(1, 0, 0, 0, 2, 0, 0, 0)
)

// fakeServer greets, answers every command with OK and tells all bytes that it
// got once its connection has ended.
func fakeServer(t *testing.T) (addr string, got chan []byte) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	got = make(chan []byte, 8)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serveFake(c, got)
		}
	}()
	return l.Addr().String(), got
}

func serveFake(c net.Conn, got chan []byte) {
	defer c.Close()
	c.Write(greeting)
	var all bytes.Buffer
	for {
		p, err := readPacket(io.TeeReader(c, &all))
		if err != nil {
			got <- all.Bytes()
			return
		}
		if len(p) > 4 {
			c.Write(okAnswer)
		}
	}
}

func start(t *testing.T, target string) *Forwarder {
	t.Helper()
	f, err := New(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func dial(t *testing.T, f *Forwarder) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", f.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(10 * time.Second))
	p, err := readPacket(c)
	if err != nil || !bytes.Equal(p, greeting) {
		t.Fatalf("greeting %x, %v", p, err)
	}
	return c
}

func TestSteps(t *testing.T) {
	request := packet(0, append([]byte{comQuery}, "UPDATE /* m1 */ t"...)...)
	none, half, all := 0, len(request)/2, len(request)
	for step, want := range map[Step]struct{ request, answer int }{
		BeforeRequest:    {none, 0},
		HalfRequest:      {half, 0},
		AfterRequest:     {all, 0},
		LateAfterRequest: {all, -1}, // the answer may be quicker
		AnswerDropped:    {all, 0},
		HalfAnswer:       {all, 4 + (len(okAnswer)-4)/2},
		AfterAnswer:      {all, len(okAnswer)},
		HalfOpen:         {all, 0},
		Silence:          {all, 0},
	} {
		t.Run(step.String(), func(t *testing.T) {
			addr, got := fakeServer(t)
			f := start(t, addr)
			c := dial(t, f)
			cut := f.Arm("m1", step)
			c.Write(request)
			answer, _ := io.ReadAll(c)
			if want.answer >= 0 && len(answer) != want.answer {
				t.Errorf("%d bytes of the answer came, wanted %d", len(answer), want.answer)
			}
			if r := <-got; !bytes.Equal(r, request[:want.request]) {
				t.Errorf("the server got %d bytes, wanted %d", len(r), want.request)
			}
			<-cut.Done
			if cut.ThreadID != 42 {
				t.Errorf("thread %d", cut.ThreadID)
			}
		})
	}
}

func TestOtherCommandsPass(t *testing.T) {
	addr, got := fakeServer(t)
	f := start(t, addr)
	c := dial(t, f)
	f.Arm("m1", BeforeRequest)
	request := packet(0, append([]byte{comQuery}, "UPDATE /* m2 */ t"...)...)
	for range 3 {
		c.Write(request)
		if p, err := readPacket(c); err != nil || !bytes.Equal(p, okAnswer) {
			t.Fatalf("answer %x, %v", p, err)
		}
	}
	c.Close()
	if r := <-got; !bytes.Equal(r, bytes.Repeat(request, 3)) {
		t.Errorf("the server got %d bytes", len(r))
	}
}

// A marked statement that is prepared is cut when it is executed.
func TestPreparedIsCutAtExecute(t *testing.T) {
	addr, got := fakeServer(t)
	f := start(t, addr)
	c := dial(t, f)
	cut := f.Arm("m1", BeforeRequest)
	prepare := packet(0, append([]byte{comStmtPrepare}, "UPDATE /* m1 */ t"...)...)
	c.Write(prepare)
	if _, err := readPacket(c); err != nil {
		t.Fatal(err)
	}
	c.Write(packet(0, comStmtExecute, 1, 0, 0, 0))
	if b, _ := io.ReadAll(c); len(b) != 0 {
		t.Errorf("%d bytes came", len(b))
	}
	<-cut.Done
	if r := <-got; !bytes.Equal(r, prepare) {
		t.Errorf("the server got %d bytes", len(r))
	}
}

func TestTargetChanges(t *testing.T) {
	first, gotFirst := fakeServer(t)
	second, gotSecond := fakeServer(t)
	f := start(t, first)
	old := dial(t, f)
	f.SetTarget(second)
	dial(t, f).Close()
	<-gotSecond
	f.CutAll()
	if _, err := readPacket(old); err == nil {
		t.Error("an open connection survived CutAll")
	}
	<-gotFirst
	f.SetRefuse(true)
	c, err := net.Dial("tcp", f.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := readPacket(c); err == nil {
		t.Error("a connection was not refused")
	}
}
