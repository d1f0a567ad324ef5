package packets

import (
	"bytes"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"causeway/tests/cluster"
	"causeway/wire"
)

// counter notes the commands of one account on all nodes, by round trips.
type counter struct {
	mu    sync.Mutex
	trips []string
}

// take returns what was noted since the last call, a line for each round trip.
func (c *counter) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	trips := c.trips
	c.trips = nil
	return trips
}

// note adds a command: to the last round trip, or to one of its own.
func (c *counter) note(node string, begins bool, command string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if begins || len(c.trips) == 0 {
		c.trips = append(c.trips, node+": "+command)
		return
	}
	c.trips[len(c.trips)-1] += " | " + command
}

// relay passes connections to a node on and tells the counter what it sees.
func (c *counter) relay(t *testing.T, node, target string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", target)
			if err != nil {
				client.Close()
				continue
			}
			wg.Go(func() { pass(client, server, &link{counter: c, node: node}) })
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return l.Addr().String()
}

// pass relays both ways until one side ends.
func pass(client, server net.Conn, k *link) {
	var wg sync.WaitGroup
	copying := func(from, to net.Conn, seen func([]byte)) {
		defer from.Close()
		defer to.Close()
		buf := make([]byte, 1<<20)
		for {
			n, err := from.Read(buf)
			seen(buf[:n])
			if _, werr := to.Write(buf[:n]); werr != nil || err != nil {
				return
			}
		}
	}
	wg.Go(func() { copying(client, server, k.sent) })
	wg.Go(func() { copying(server, client, k.answered) })
	wg.Wait()
}

// link is one connection. A command begins a round trip if the server has
// answered something since the command before.
type link struct {
	counter *counter
	node    string

	mu     sync.Mutex
	rest   []byte // of a packet
	user   string
	answer bool
}

func (k *link) answered(p []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.answer = k.answer || len(p) > 0
}

func (k *link) sent(p []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rest = append(k.rest, p...)
	for len(k.rest) >= 4 {
		n := 4 + (int(k.rest[0]) | int(k.rest[1])<<8 | int(k.rest[2])<<16)
		if len(k.rest) < n {
			return
		}
		k.packet(k.rest[3], k.rest[4:n])
		k.rest = k.rest[n:]
	}
}

// packet looks at one packet: the login names the account, numbers above 0 are
// its rest.
func (k *link) packet(number byte, payload []byte) {
	switch {
	case k.user == "":
		k.user = "?"
		if len(payload) > 32 {
			user, _, _ := bytes.Cut(payload[32:], []byte{0})
			k.user = string(user)
		}
		if k.user == cluster.AppUser {
			k.counter.note(k.node, true, "login")
		}
	case number > 0 || k.user != cluster.AppUser || len(payload) == 0:
	default:
		k.counter.note(k.node, k.answer, commandOf(payload))
		k.answer = false
	}
}

// commandOf tells a command in short: Causeway's own SETs by their first word.
func commandOf(payload []byte) string {
	text := string(payload[1:])
	switch cmd := wire.Command(payload[0]); cmd {
	case wire.ComQuery:
		if strings.HasPrefix(text, "SET ") && !strings.Contains(text, "/*") {
			return "SET"
		}
		return text
	case wire.ComInitDB:
		return "schema " + text
	case wire.ComStmtPrepare:
		return "prepare"
	case wire.ComStmtExecute:
		return "execute"
	default:
		return cmd.String()
	}
}

// TestRelayCounts: the counter tells one write of three commands from three
// round trips, and notes each command.
func TestRelayCounts(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		c, err := server.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		buf := make([]byte, 1000)
		for {
			if _, err := c.Read(buf); err != nil {
				return
			}
			if _, err := c.Write([]byte("!")); err != nil {
				return
			}
		}
	}()
	var count counter
	c, err := net.Dial("tcp", count.relay(t, "node", server.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	packet := func(number byte, payload string) string {
		return string([]byte{byte(len(payload)), 0, 0, number}) + payload
	}
	say := func(text string) {
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	say(packet(1, strings.Repeat("\x00", 32)+cluster.AppUser+"\x00"))
	say(packet(3, "more of the login"))
	say(packet(0, "\x03SELECT 1"))
	say(packet(0, "\x02db") + packet(0, "\x03SET x=1") + packet(0, "\x03SELECT 2"))
	say(packet(0, "\x03SELECT 3"))
	want := "node: login\nnode: SELECT 1\nnode: schema db | SET | SELECT 2\nnode: SELECT 3"
	if got := strings.Join(count.take(), "\n"); got != want {
		t.Errorf("counted\n%s\nwanted\n%s", got, want)
	}
}
