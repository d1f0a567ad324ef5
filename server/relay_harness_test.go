package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"causeway/wire"
)

// Capabilities of a backend connection and of four kinds of clients.
const (
	backendCaps = wire.CapProtocol41 | wire.CapSessionTrack | wire.CapDeprecateEOF
	modern      = backendCaps                                     // libmysqlclient
	withEOF     = wire.CapProtocol41 | wire.CapSessionTrack       // EOF packets, but trackers
	untracked   = wire.CapProtocol41 | wire.CapDeprecateEOF       // Connector/J without trackers
	old         = wire.CapProtocol41                              // mysqlnd, PyMySQL
	testGTIDs   = "3e11fa47-71ca-11e1-9e33-c80aa9429562:23:42-44" // in answers with +gtid
)

var clientKinds = map[string]wire.Capability{"modern": modern, "withEOF": withEOF, "untracked": untracked, "old": old}

// pieces is a net.Conn that gives what it was made of, piece by piece, then
// EOF, and keeps what is written.
type pieces struct {
	net.Conn  // nil: nothing else is called
	in        [][]byte
	out       bytes.Buffer
	failAfter int // writes fail once so many bytes are through; 0: never
	discard   bool
}

var errWriteFailed = errors.New("no route to client")

func (p *pieces) Read(b []byte) (int, error) {
	for len(p.in) > 0 && len(p.in[0]) == 0 {
		p.in = p.in[1:]
	}
	if len(p.in) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.in[0])
	p.in[0] = p.in[0][n:]
	return n, nil
}

func (p *pieces) Write(b []byte) (int, error) {
	if p.discard {
		return len(b), nil
	}
	if p.failAfter > 0 && p.out.Len()+len(b) > p.failAfter {
		n, _ := p.out.Write(b[:p.failAfter-p.out.Len()])
		return n, errWriteFailed
	}
	return p.out.Write(b)
}

func (*pieces) Close() error                { return nil }
func (*pieces) SetDeadline(time.Time) error { return nil }

// framed gives payloads their headers, the first one the number seq.
func framed(seq uint8, payloads ...[]byte) []byte {
	var b []byte
	for _, p := range payloads {
		for {
			n := min(len(p), wire.MaxPayload)
			b = append(wire.AppendHeader(b, n, seq), p[:n]...)
			seq++
			p = p[n:]
			if n < wire.MaxPayload {
				break
			}
		}
	}
	return b
}

var statusWords = map[string]wire.Status{
	"more": wire.StatusMoreResults, "cursor": wire.StatusCursorExists, "last": wire.StatusLastRowSent, "trx": wire.StatusInTrans,
}

// answer turns words into payloads:
//
//	ok fe      OK with header 0x00 or 0xFE      EOF        EOF packet
//	n3         column count                     d d9       column definition (with a long name)
//	r rFE rNULL rEMPTY r300  rows               err err1146
//	file       LOCAL INFILE request             p1:2:1     PREPARE's OK: id, columns, params
//	text       COM_STATISTICS' text
//
// each followed by +more +cursor +last +trx +info +w3 +gtid +schema +flag.
func answer(t testing.TB, words string) [][]byte {
	t.Helper()
	var out [][]byte
	for word := range strings.FieldsSeq(words) {
		out = append(out, payload(t, word))
	}
	return out
}

func payload(t testing.TB, word string) []byte {
	t.Helper()
	parts := strings.Split(word, "+")
	name, mods := parts[0], parts[1:]
	number := func(prefix string) int {
		n, err := strconv.Atoi(strings.TrimPrefix(name, prefix))
		if err != nil {
			t.Fatalf("word %q: %v", word, err)
		}
		return n
	}
	switch {
	case name == "ok" || name == "fe":
		ok := wire.OK{Status: wire.StatusAutocommit}
		if name == "fe" {
			ok.Header = wire.HeaderEOF
		} else {
			ok.AffectedRows, ok.LastInsertID = 3, 300
		}
		applyMods(t, &ok, mods)
		return ok.Append(nil, backendCaps)
	case name == "EOF":
		ok := wire.OK{Status: wire.StatusAutocommit}
		applyMods(t, &ok, mods)
		return wire.AppendEOF(nil, ok.Warnings, ok.Status)
	case name == "d":
		return wire.AppendColumn(nil, wire.Column{Name: "a", Type: wire.TypeVarString, Charset: 255})
	case name == "file":
		return append([]byte{wire.HeaderLocalFile}, "data.csv"...)
	case name == "text":
		return []byte("Uptime: 12  Threads: 1")
	case name == "rNULL":
		return []byte{0xfb}
	case name == "rEMPTY":
		return []byte{0}
	case strings.HasPrefix(name, "n"):
		return wire.AppendColumnCount(nil, number("n"))
	case strings.HasPrefix(name, "err"):
		code := 1064
		if name != "err" {
			code = number("err")
		}
		return wire.NewError(uint16(code), "no").Append(nil, backendCaps)
	case strings.HasPrefix(name, "p"):
		var id uint32
		var columns, params uint16
		if _, err := fmt.Sscanf(name, "p%d:%d:%d", &id, &columns, &params); err != nil {
			t.Fatalf("word %q: %v", word, err)
		}
		return []byte{0, byte(id), byte(id >> 8), byte(id >> 16), byte(id >> 24), byte(columns), byte(columns >> 8), byte(params), byte(params >> 8), 0, 0, 0}
	case strings.HasPrefix(name, "r"):
		n := 1
		if name != "r" {
			n = number("r")
		}
		return wire.AppendTextRowStrings(nil, strings.Repeat("x", n))
	}
	t.Fatalf("unknown word %q", word)
	return nil
}

func applyMods(t testing.TB, ok *wire.OK, mods []string) {
	for _, m := range mods {
		switch {
		case statusWords[m] != 0:
			ok.Status |= statusWords[m]
		case m == "info":
			ok.Info = []byte("Rows matched: 3")
		case m == "gtid":
			ok.Track = wire.AppendTrackGTIDs(ok.Track, testGTIDs)
		case m == "schema":
			ok.Track = wire.AppendTrackSchema(ok.Track, "test")
		case strings.HasPrefix(m, "w"):
			n, err := strconv.Atoi(m[1:])
			if err != nil {
				t.Fatal(err)
			}
			ok.Warnings = uint16(n)
		default:
			t.Fatalf("unknown modifier %q", m)
		}
	}
}

// relayed is what one relaying came to.
type relayed struct {
	relay
	out  []byte
	err  error // of run
	gtid []string
}

// relayPieces relays an answer that arrives in the given pieces.
func relayPieces(want expect, caps wire.Capability, tune func(*relay), in ...[]byte) *relayed {
	from, to := &pieces{in: in}, &pieces{}
	return relayConns(want, caps, tune, from, to)
}

func relayConns(want expect, caps wire.Capability, tune func(*relay), from, to *pieces) *relayed {
	r := &relayed{}
	fc, tc := wire.NewConn(from), wire.NewConn(to)
	fc.SetSequence(1)
	tc.SetSequence(1)
	r.relay = relay{
		first: firstEOF{before: wire.StatusAutocommit},
		from:  fc, fromCaps: backendCaps, to: tc, toCaps: caps, statementID: 77,
		track: func(block []byte) []byte { return block },
		onOK: func(ok *wire.OK) error {
			return wire.WalkTrack(ok.Track, func(kind wire.TrackKind, _, value []byte) error {
				if kind == wire.TrackGTIDs {
					r.gtid = append(r.gtid, string(value))
				}
				return nil
			})
		},
	}
	if !caps.Has(wire.CapSessionTrack) {
		r.track = func([]byte) []byte { return nil }
	}
	if tune != nil {
		tune(&r.relay)
	}
	r.err = r.run(want)
	if r.lost == nil {
		tc.Flush() // what was left to go out with the session's ERR
	}
	r.out = to.out.Bytes()
	return r
}

// split cuts b in two at i.
func split(b []byte, i int) [][]byte { return [][]byte{bytes.Clone(b[:i]), bytes.Clone(b[i:])} }

// inPieces cuts b into pieces of n bytes.
func inPieces(b []byte, n int) [][]byte {
	var out [][]byte
	b = bytes.Clone(b)
	for len(b) > n {
		out = append(out, b[:n:n])
		b = b[n:]
	}
	return append(out, b)
}

// describe shows packets for people: number, length and the first bytes.
func describe(b []byte) string {
	var s strings.Builder
	for len(b) >= wire.HeaderSize {
		n := wire.PayloadLength(b)
		body := b[wire.HeaderSize:min(len(b), wire.HeaderSize+n)]
		fmt.Fprintf(&s, "\n  #%d %d bytes % x", b[3], n, body[:min(len(body), 32)])
		b = b[wire.HeaderSize+len(body):]
	}
	if len(b) > 0 {
		fmt.Fprintf(&s, "\n  rest % x", b)
	}
	return s.String()
}

func wantBytes(t *testing.T, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("client got %s\nwant %s", describe(got), describe(want))
	}
}
