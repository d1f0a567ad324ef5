package server

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"causeway/wire"
)

func TestBadHandshakes(t *testing.T) {
	packet := func(seq byte, payload string) []byte {
		return append(wire.AppendHeader(nil, len(payload), seq), payload...)
	}
	for _, c := range []struct {
		name string
		in   []byte
		code uint16 // 0: closed without a word
	}{
		{"garbage", packet(1, "no handshake at all"), wire.ErrBadHandshake},
		{"empty packet", packet(1, ""), wire.ErrBadHandshake},
		{"before 4.1", packet(1, "\x05\xa4\x00\x00\x01root\x00abcdefgh\x00 and some more to be long enough"), wire.ErrBadHandshake},
		{"wrong number", packet(7, "x"), wire.ErrPacketsOutOfOrder},
		{"a length that lies", []byte("\xff\xff\xff\x01"), wire.ErrNetPacketTooLarge},
		{"an HTTP request", []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), wire.ErrPacketsOutOfOrder},
		{"nothing", nil, 0},
		{"half a header", []byte{5, 0}, 0},
		{"half a packet", []byte{50, 0, 0, 1, 'x'}, 0},
		{"TLS asked for, garbage sent", append(packet(1, string(wire.AppendSSLRequest(nil, clientCaps, 0, 0))), "garbage garbage garbage"...), 0},
		{"TLS asked for twice in clear", append(packet(1, string(wire.AppendSSLRequest(nil, clientCaps, 0, 0))),
			packet(2, string(wire.AppendSSLRequest(nil, clientCaps, 0, 0)))...), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			server, client := net.Pipe()
			got := make(chan error, 1)
			go func() {
				k := wire.NewConn(client)
				k.ReadPacket()
				client.Write(c.in)
				if c.code == 0 {
					client.Close()
					got <- nil
					return
				}
				k.SetSequence(sequenceAfter(c.code))
				payload, err := k.ReadPacket()
				if err == nil {
					e, perr := wire.ParseError(payload)
					got <- errors.Join(e, perr)
				} else {
					got <- err
				}
			}()
			login, err := testHandshaker(t, true).Handshake(context.Background(), wire.NewConn(server), 1)
			server.Close()
			if login != nil || err == nil {
				t.Errorf("login %+v, %v", login, err)
			}
			if c.code != 0 {
				wantCode(t, err, c.code)
				wantCode(t, <-got, c.code)
			} else {
				<-got
			}
			client.Close()
		})
	}
}

// sequenceAfter: a packet with a wrong number was not counted.
func sequenceAfter(code uint16) uint8 {
	if code == wire.ErrPacketsOutOfOrder {
		return 1
	}
	return 2
}

func TestLoginTimeout(t *testing.T) {
	o := testOptions(true)
	o.Timeout = time.Millisecond
	h, err := newHandshaker(o)
	if err != nil {
		t.Fatal(err)
	}
	server, client := net.Pipe()
	defer client.Close()
	defer server.Close()
	if _, err := h.Handshake(context.Background(), wire.NewConn(server), 1); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestLoginCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	server, client := net.Pipe()
	defer client.Close()
	defer server.Close()
	go func() {
		wire.NewConn(client).ReadPacket()
		cancel()
	}()
	if _, err := testHandshaker(t, true).Handshake(ctx, wire.NewConn(server), 1); err == nil {
		t.Error("a login after its context ended")
	}
}

// TestDeadlineIsTakenOff: what bounds the login must not bound the session.
func TestDeadlineIsTakenOff(t *testing.T) {
	for _, withTLS := range []bool{false, true} {
		rec := &deadlineRecorder{}
		h := testHandshaker(t, withTLS)
		_, release := h.bind(context.Background(), rec)
		if rec.last.IsZero() {
			t.Error("no deadline during the login")
		}
		if err := release(); err != nil || !rec.last.IsZero() {
			t.Errorf("deadline %v after the login, %v", rec.last, err)
		}
		rec.last = time.Unix(5, 0)
		if release(); !rec.last.Equal(time.Unix(5, 0)) {
			t.Error("a second release touched the deadline")
		}
	}
}

type deadlineRecorder struct {
	net.Conn
	last time.Time
}

func (r *deadlineRecorder) SetDeadline(t time.Time) error {
	r.last = t
	return nil
}
