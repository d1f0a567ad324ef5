package replicamon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// listen runs serve on each connection to the address that it returns.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serve(c)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String()
}

func TestDialSilence(t *testing.T) {
	silent := func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
	dial := dialMySQL(Options{User: "x"})
	t.Run("deadline", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if _, err := dial(ctx, listen(t, silent)); kindOf(err) != errSilent || err == nil {
			t.Errorf("%v", err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		addr := listen(t, func(c net.Conn) { cancel(); silent(c) })
		if _, err := dial(ctx, addr); err == nil {
			t.Error("no error")
		}
	})
}

// What answers may be anything: it must not end the process.
func TestDialGarbage(t *testing.T) {
	for _, greeting := range []string{"", "H", "HTTP/1.1 400 Bad Request\r\n\r\n", "\x01\x00\x00\x00\x0a", "\x03\x00\x00\x00\x0a8\x00",
		"\x05\x00\x00\x00\xff\x10\x04#0", "\x00\x00\x00\x00", "\x10\x00\x00\x000123456789abcdef"} {
		addr := listen(t, func(c net.Conn) { _, _ = c.Write([]byte(greeting)) })
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		if s, err := dialMySQL(Options{User: "x"})(ctx, addr); err == nil {
			s.close()
			t.Errorf("%q was taken as a server", greeting)
		}
		cancel()
	}
}

func TestDialRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if _, err := dialMySQL(Options{})(t.Context(), l.Addr().String()); kindOf(err) != errGone || err == nil {
		t.Errorf("%v", err)
	}
}

func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		err  error
		kind errorKind
		text string
	}{
		{&mysql.MyError{Code: 1045, Message: "Access denied"}, errDenied, "the monitor's account is refused: 1045 Access denied"},
		{fmt.Errorf("wrapped: %w", &mysql.MyError{Code: 1227, Message: "need REPLICATION CLIENT"}), errDenied, "the monitor's account is refused: 1227 need REPLICATION CLIENT"},
		{&mysql.MyError{Code: 1040, Message: "Too many connections"}, errRefused, "1040 Too many connections"},
		{syscall.ECONNREFUSED, errGone, "connection refused"},
		{syscall.ECONNRESET, errGone, "connection broken"},
		{syscall.EHOSTUNREACH, errGone, "no route to it"},
		{io.ErrUnexpectedEOF, errGone, "connection broken"},
		{mysql.ErrBadConn, errGone, "connection broken"},
		{context.DeadlineExceeded, errSilent, "no answer in time"},
		{&net.DNSError{Err: "no such host", Name: "x"}, errRefused, "lookup x: no such host"},
	} {
		kind, text := classify(t.Context(), tt.err)
		if kind != tt.kind || text != tt.text {
			t.Errorf("%v: %d %q", tt.err, kind, text)
		}
	}
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if kind, _ := classify(late, mysql.ErrBadConn); kind != errSilent {
		t.Error("a deadline that the library hides is silence")
	}
	if kindOf(errors.New("x")) != errSilent {
		t.Error("an unknown error proves nothing")
	}
}

func TestTextOf(t *testing.T) {
	for _, tt := range []struct {
		v    mysql.FieldValue
		text string
		ok   bool
	}{
		{mysql.NewFieldValue(mysql.FieldValueTypeNull, 0, nil), "", false},
		{mysql.NewFieldValue(mysql.FieldValueTypeString, 0, []byte("x")), "x", true},
		{mysql.NewFieldValue(mysql.FieldValueTypeString, 0, []byte{}), "", true},
		{mysql.NewFieldValue(mysql.FieldValueTypeUnsigned, 7, nil), "7", true},
		{mysql.NewFieldValue(mysql.FieldValueTypeSigned, ^uint64(0), nil), "-1", true},
	} {
		if text, ok := textOf(tt.v); text != tt.text || ok != tt.ok {
			t.Errorf("%v: %q %v", tt.v, text, ok)
		}
	}
}
