//go:build !linux

package wire

import "syscall"

// rawIO exists on Linux only; elsewhere all I/O goes through net.Conn.
type rawIO = *noRawIO

type noRawIO struct{}

func newRawIO(syscall.RawConn) rawIO     { return nil }
func (*noRawIO) read(*Conn) (int, error) { panic("BUG: no raw I/O here") }
func (*noRawIO) write([]byte) error      { panic("BUG: no raw I/O here") }
func peerClosed(syscall.RawConn) bool    { return false }
