package wire

import (
	"io"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rawIO reads and writes a non-blocking socket by raw system calls. The
// netpoller still parks the goroutine when the socket is not ready; only the
// scheduler's entry and exit around each call are left out, which is safe
// because the call cannot block.
type rawIO = *linuxIO

type linuxIO struct {
	raw syscall.RawConn

	// Arguments and results of the callbacks, which are made once: a closure
	// for each call would be an allocation for each call.
	conn    *Conn
	pending []byte
	n       int
	rerr    error
	werr    error
	onRead  func(fd uintptr) bool
	onWrite func(fd uintptr) bool
}

func newRawIO(raw syscall.RawConn) rawIO {
	l := &linuxIO{raw: raw}
	l.onRead = l.readReady
	l.onWrite = l.writeReady
	return l
}

func (l *linuxIO) read(c *Conn) (int, error) {
	l.conn, l.n, l.rerr = c, 0, nil
	if err := l.raw.Read(l.onRead); err != nil {
		return 0, err
	}
	return l.n, l.rerr
}

// readReady tries one read; false asks the netpoller to wait. No buffer is
// held during the wait if nothing is in it.
func (l *linuxIO) readReady(fd uintptr) bool {
	c := l.conn
	c.hold()
	p := c.buf[c.w:]
	for {
		n, _, errno := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		switch {
		case errno == syscall.EINTR:
			continue
		case errno == syscall.EAGAIN:
			c.release()
			return false
		case errno != 0:
			l.rerr = errno
		case n == 0:
			l.rerr = io.EOF
		default:
			l.n = int(n)
		}
		return true
	}
}

func (l *linuxIO) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	l.pending, l.werr = b, nil
	err := l.raw.Write(l.onWrite)
	l.pending = nil
	if err != nil {
		return err
	}
	return l.werr
}

// writeReady writes until all is sent; false asks the netpoller to wait.
func (l *linuxIO) writeReady(fd uintptr) bool {
	for len(l.pending) > 0 {
		p := l.pending
		n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		switch errno {
		case 0:
			l.pending = p[n:]
		case syscall.EINTR:
		case syscall.EAGAIN:
			return false
		default:
			l.werr = errno
			return true
		}
	}
	return true
}

func peerClosed(raw syscall.RawConn) bool {
	closed := false
	err := raw.Control(func(fd uintptr) {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(p, 0)
		closed = err == nil && n > 0 && p[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
	})
	return err != nil || closed
}
