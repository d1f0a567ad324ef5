package server

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"causeway/wire"
)

// golden is an answer of a backend and what each kind of client gets of it.
// An empty word list means: the same as the backend sent.
type golden struct {
	name      string
	want      expect
	in        string
	modern    string
	withEOF   string
	untracked string
	old       string
	err       uint16 // the ERR that the relay keeps for the session
}

func (g golden) out(caps wire.Capability) string {
	out := map[wire.Capability]string{modern: g.modern, withEOF: g.withEOF, untracked: g.untracked, old: g.old}[caps]
	if out == "" {
		return g.in
	}
	return strings.TrimPrefix(out, "-")
}

var goldens = []golden{
	{name: "OK", in: "ok"},
	{name: "OK in a transaction", in: "ok+trx"},
	{name: "OK with text", in: "ok+info"},
	{name: "OK with warnings", in: "ok+w3"},
	{name: "OK with a GTID", in: "ok+gtid", untracked: "ok", old: "ok"},
	{name: "OK with text, schema and GTID", in: "ok+info+schema+gtid", untracked: "ok+info", old: "ok+info"},
	{name: "ERR", in: "err1146", modern: "-", withEOF: "-", untracked: "-", old: "-", err: 1146},
	{name: "no rows", in: "n1 d fe", withEOF: "n1 d EOF EOF", old: "n1 d EOF EOF"},
	{name: "no rows in a transaction", in: "n1 d fe+trx", withEOF: "n1 d EOF+trx EOF+trx", old: "n1 d EOF+trx EOF+trx"},
	{name: "one row", in: "n1 d r fe", withEOF: "n1 d EOF r EOF", old: "n1 d EOF r EOF"},
	{name: "rows of all sorts", in: "n1 d rNULL rEMPTY r r250 r251 r300 fe+w3", withEOF: "n1 d EOF rNULL rEMPTY r r250 r251 r300 EOF+w3", old: "n1 d EOF rNULL rEMPTY r r250 r251 r300 EOF+w3"},
	{name: "three columns", in: "n3 d d d r r fe", withEOF: "n3 d d d EOF r r EOF", old: "n3 d d d EOF r r EOF"},
	{name: "rows with a GTID at the end", in: "n1 d r fe+gtid", untracked: "n1 d r fe", withEOF: "n1 d EOF r EOF", old: "n1 d EOF r EOF"},
	{name: "rows with text at the end", in: "n1 d r fe+info+gtid", untracked: "n1 d r fe+info", withEOF: "n1 d EOF r EOF", old: "n1 d EOF r EOF"},
	{name: "ERR before rows", in: "n1 d err3024", modern: "n1 d", untracked: "n1 d", withEOF: "n1 d EOF", old: "n1 d EOF", err: 3024},
	{name: "ERR after rows", in: "n1 d r r err1317", modern: "n1 d r r", untracked: "n1 d r r", withEOF: "n1 d EOF r r", old: "n1 d EOF r r", err: 1317},
	{name: "two results", in: "n1 d r fe+more n1 d r fe", withEOF: "n1 d EOF r EOF+more n1 d EOF r EOF", old: "n1 d EOF r EOF+more n1 d EOF r EOF"},
	{name: "two empty results", in: "n1 d fe+more n1 d fe", withEOF: "n1 d EOF+more EOF+more n1 d EOF EOF", old: "n1 d EOF+more EOF+more n1 d EOF EOF"},
	{name: "OK, rows, OK with GTIDs", in: "ok+more+gtid n2 d d r fe+more ok+gtid", untracked: "ok+more n2 d d r fe+more ok",
		withEOF: "ok+more+gtid n2 d d EOF r EOF+more ok+gtid", old: "ok+more n2 d d EOF r EOF+more ok"},
	{name: "a procedure's ERR", in: "n1 d r fe+more err1644", modern: "n1 d r fe+more", untracked: "n1 d r fe+more",
		withEOF: "n1 d EOF r EOF+more", old: "n1 d EOF r EOF+more", err: 1644},
	{name: "a cursor opened", in: "n1 d fe+cursor", withEOF: "n1 d EOF+cursor", old: "n1 d EOF+cursor"},
	{name: "COM_STMT_FETCH", want: expectRows, in: "r r fe+cursor", withEOF: "r r EOF+cursor", old: "r r EOF+cursor"},
	{name: "COM_STMT_FETCH of the last rows", want: expectRows, in: "r fe+cursor+last", withEOF: "r EOF+cursor+last", old: "r EOF+cursor+last"},
	{name: "COM_STMT_FETCH of nothing", want: expectRows, in: "fe+last", withEOF: "EOF+last", old: "EOF+last"},
	{name: "COM_STMT_FETCH fails", want: expectRows, in: "err1421", modern: "-", withEOF: "-", untracked: "-", old: "-", err: 1421},
	{name: "COM_FIELD_LIST", want: expectColumns, in: "d d fe", withEOF: "d d EOF", old: "d d EOF"},
	{name: "COM_FIELD_LIST of a missing table", want: expectColumns, in: "err1146", modern: "-", withEOF: "-", untracked: "-", old: "-", err: 1146},
	{name: "PREPARE without anything", want: expectPrepare, in: "p5:0:0", modern: "p77:0:0", withEOF: "p77:0:0", untracked: "p77:0:0", old: "p77:0:0"},
	{name: "PREPARE with parameters", want: expectPrepare, in: "p5:0:2 d d", modern: "p77:0:2 d d", untracked: "p77:0:2 d d", withEOF: "p77:0:2 d d EOF", old: "p77:0:2 d d EOF"},
	{name: "PREPARE with columns", want: expectPrepare, in: "p5:1:0 d", modern: "p77:1:0 d", untracked: "p77:1:0 d", withEOF: "p77:1:0 d EOF", old: "p77:1:0 d EOF"},
	{name: "PREPARE with both", want: expectPrepare, in: "p70000:3:2 d d d d d", modern: "p77:3:2 d d d d d", untracked: "p77:3:2 d d d d d",
		withEOF: "p77:3:2 d d EOF d d d EOF", old: "p77:3:2 d d EOF d d d EOF"},
	{name: "PREPARE fails", want: expectPrepare, in: "err1064", modern: "-", withEOF: "-", untracked: "-", old: "-", err: 1064},
	{name: "COM_INIT_DB", want: expectSimple, in: "ok+schema", untracked: "ok", old: "ok"},
	{name: "COM_SET_OPTION", want: expectSimple, in: "fe", withEOF: "EOF", old: "EOF"},
	{name: "COM_STATISTICS", want: expectText, in: "text"},
	{name: "COM_STATISTICS fails", want: expectText, in: "err1227", modern: "-", withEOF: "-", untracked: "-", old: "-", err: 1227},
}

// eachGolden runs fn for each golden answer and each kind of client.
func eachGolden(t *testing.T, fn func(t *testing.T, g golden, caps wire.Capability, in, out []byte)) {
	for _, g := range goldens {
		for kind, caps := range clientKinds {
			t.Run(g.name+"/"+kind, func(t *testing.T) {
				fn(t, g, caps, framed(1, answer(t, g.in)...), framed(1, answer(t, g.out(caps))...))
			})
		}
	}
}

func checkGolden(t *testing.T, g golden, r *relayed, out []byte) {
	t.Helper()
	if r.err != nil {
		t.Fatalf("relay failed: %v", r.err)
	}
	wantBytes(t, r.out, out)
	switch {
	case g.err == 0 && r.relay.err != nil:
		t.Errorf("kept %v, want no error", r.relay.err)
	case g.err != 0 && (r.relay.err == nil || r.relay.err.Code != g.err):
		t.Errorf("kept %v, want error %d", r.relay.err, g.err)
	}
	if got, want := len(r.gtid), strings.Count(g.in, "gtid"); got != want {
		t.Errorf("saw %d sets of GTIDs, want %d", got, want)
	}
	if got, want := r.started, len(out) > 0; got != want {
		t.Errorf("started = %v, want %v", got, want)
	}
	packets := uint8(strings.Count(strings.TrimSpace(describe(out)), "#"))
	if r.to.Sequence() != 1+packets {
		t.Errorf("the next packet to the client has number %d, want %d", r.to.Sequence(), 1+packets)
	}
	if len(r.from.Buffered()) != 0 {
		t.Errorf("%d bytes of the answer are left", len(r.from.Buffered()))
	}
}

func TestRelayGoldenAnswers(t *testing.T) {
	eachGolden(t, func(t *testing.T, g golden, caps wire.Capability, in, out []byte) {
		checkGolden(t, g, relayPieces(g.want, caps, nil, in), out)
	})
}

// Chunks may end anywhere; the client gets the same bytes.
func TestRelaySplitsAnswersAnywhere(t *testing.T) {
	eachGolden(t, func(t *testing.T, g golden, caps wire.Capability, in, out []byte) {
		for i := 1; i < len(in); i++ {
			checkGolden(t, g, relayPieces(g.want, caps, nil, split(in, i)...), out)
			if t.Failed() {
				t.Fatalf("split at byte %d of %d", i, len(in))
			}
		}
		for _, n := range []int{1, 2, 3, 5, 7} {
			checkGolden(t, g, relayPieces(g.want, caps, nil, inPieces(in, n)...), out)
		}
	})
}

// Where two splits matter: the EOF is slipped in between packets that both
// came in parts.
func TestRelaySplitsAnswersTwice(t *testing.T) {
	in := framed(1, answer(t, "n1 d fe+more n1 d r fe+gtid")...)
	out := framed(1, answer(t, "n1 d EOF+more EOF+more n1 d EOF r EOF")...)
	for i := 1; i < len(in); i++ {
		for j := i; j < len(in); j++ {
			first := split(in, i)
			r := relayPieces(expectResult, old, nil, append(first[:1:1], split(first[1], j-i)...)...)
			if r.err != nil || !bytes.Equal(r.out, out) {
				t.Fatalf("split at %d and %d: %v, client got %s", i, j, r.err, describe(r.out))
			}
		}
	}
}

// The same on the wire, byte for byte as a server and an older client know it,
// so that a fault shared by the tests' helpers and the code cannot hide.
func TestRelayGoldenBytes(t *testing.T) {
	const (
		backend = `01000001 01
			19000002 03646566 00 00 00 03 783d31 00 0c ff00 04000000 03 0100 00 0000
			02000003 01 31
			07000004 fe 00 00 0200 0000`
		client = `01000001 01
			19000002 03646566 00 00 00 03 783d31 00 0c ff00 04000000 03 0100 00 0000
			05000003 fe 0000 0200
			02000004 01 31
			05000005 fe 0000 0200`
	)
	r := relayPieces(expectResult, old, nil, unhex(t, backend))
	if r.err != nil {
		t.Fatal(r.err)
	}
	wantBytes(t, r.out, unhex(t, client))

	// INSERT: the flag 0x4000 and the block leave together.
	r = relayPieces(expectResult, old, nil, unhex(t, `0f000001 00 01 05 0240 0000 00 07 03 05 00 03 7575`))
	if r.err == nil {
		t.Error("an OK whose block is cut short was taken")
	}
	r = relayPieces(expectResult, old, nil, unhex(t, `10000001 00 01 05 0240 0000 00 07 03 05 00 03 753a31`))
	if r.err != nil {
		t.Fatal(r.err)
	}
	wantBytes(t, r.out, unhex(t, `07000001 00 01 05 0200 0000`))
	if len(r.gtid) != 1 || r.gtid[0] != "u:1" {
		t.Errorf("GTIDs %q", r.gtid)
	}
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRelayKeepsNumbersOfAnswersThatStartLater(t *testing.T) {
	// A command of three packets is answered from number 3 on, and the numbers wrap.
	from := &pieces{in: [][]byte{framed(254, answer(t, "n1 d r r r fe")...)}}
	to := &pieces{}
	r := &relay{from: wire.NewConn(from), fromCaps: backendCaps, to: wire.NewConn(to), toCaps: old, first: firstEOF{before: wire.StatusAutocommit}}
	r.from.SetSequence(254)
	r.to.SetSequence(3)
	if err := r.run(expectResult); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, to.out.Bytes(), framed(3, answer(t, "n1 d EOF r r r EOF")...))
}

// The token must have grown before the client can know of its write.
func TestRelayShowsOKsBeforeTheyLeave(t *testing.T) {
	to := &pieces{}
	from := &pieces{in: [][]byte{framed(1, answer(t, "ok+gtid+more ok+gtid")...)}}
	seen := 0
	relayConns(expectResult, modern, func(r *relay) {
		r.onOK = func(*wire.OK) error {
			seen++
			if to.out.Len() > 0 {
				t.Errorf("%d bytes had left when OK %d was shown", to.out.Len(), seen)
			}
			return nil
		}
	}, from, to)
	if seen != 2 {
		t.Errorf("saw %d OKs, want 2", seen)
	}
}

func TestRelayStopsAtAnOKThatCannotBeTakenIn(t *testing.T) {
	bad := errors.New("GTIDs that cannot be read")
	r := relayPieces(expectResult, modern, func(r *relay) { r.onOK = func(*wire.OK) error { return bad } },
		framed(1, answer(t, "ok+gtid")...))
	if !errors.Is(r.err, bad) || len(r.out) > 0 {
		t.Errorf("error %v, client got %s", r.err, describe(r.out))
	}
}

func TestRelayReportsWhatCameBack(t *testing.T) {
	r := relayPieces(expectResult, modern, nil, framed(1, answer(t, "ok+more ok+trx+w3+info+gtid")...))
	if r.ok.AffectedRows != 3 || r.ok.LastInsertID != 300 || r.ok.Warnings != 3 || !r.ok.Status.Has(wire.StatusInTrans) {
		t.Errorf("kept %+v", r.ok)
	}
	if r.ok.Info != nil || r.ok.Track != nil {
		t.Error("slices into the read buffer were kept")
	}
	r = relayPieces(expectPrepare, modern, nil, framed(1, answer(t, "p9:1:2 d d d")...))
	if r.prepared != (prepared{id: 9, columns: 1, params: 2}) {
		t.Errorf("kept %+v", r.prepared)
	}
}

// Only what the client asked its server for goes on to it.
func TestRelayFiltersTrackers(t *testing.T) {
	only := func(kind wire.TrackKind) func(*relay) {
		return func(r *relay) {
			r.track = func(block []byte) []byte {
				if kind == wire.TrackSchema {
					return wire.AppendTrackSchema(nil, "test")
				}
				return nil
			}
		}
	}
	r := relayPieces(expectResult, modern, only(wire.TrackSchema), framed(1, answer(t, "ok+info+schema+gtid")...))
	wantBytes(t, r.out, framed(1, answer(t, "ok+info+schema")...))
	r = relayPieces(expectResult, modern, only(wire.TrackGTIDs), framed(1, answer(t, "ok+info+schema+gtid")...))
	wantBytes(t, r.out, framed(1, answer(t, "ok+info")...))
}

func TestRelayAddsARow(t *testing.T) {
	extra := wire.AppendTextRowStrings(nil, "Warning", "1105", "stale")
	for kind, caps := range clientKinds {
		for _, c := range []struct{ name, in, head, tail, oldHead, oldTail string }{
			{"to rows", "n3 d d d r r fe", "n3 d d d r r", "fe", "n3 d d d EOF r r", "EOF"},
			{"to no rows", "n3 d d d fe", "n3 d d d", "fe", "n3 d d d EOF", "EOF"},
			{"to the last result only", "n1 d r fe+more n1 d r fe", "n1 d r fe+more n1 d r", "fe", "n1 d EOF r EOF+more n1 d EOF r", "EOF"},
		} {
			t.Run(c.name+"/"+kind, func(t *testing.T) {
				head, tail := c.head, c.tail
				if !caps.Has(wire.CapDeprecateEOF) {
					head, tail = c.oldHead, c.oldTail
				}
				out := framed(1, append(append(answer(t, head), extra), answer(t, tail)...)...)
				in := framed(1, answer(t, c.in)...)
				tune := func(r *relay) { r.extraRow = extra }
				for i := 1; i < len(in); i++ {
					r := relayPieces(expectResult, caps, tune, split(in, i)...)
					if r.err != nil {
						t.Fatal(r.err)
					}
					wantBytes(t, r.out, out)
				}
			})
		}
	}
}

func TestRelayAddsNoRowWhereThereIsNone(t *testing.T) {
	for _, in := range []string{"ok", "n1 d r err1317"} {
		r := relayPieces(expectResult, modern, func(r *relay) { r.extraRow = []byte{1, 'x'} }, framed(1, answer(t, in)...))
		if r.err != nil || bytes.Contains(r.out, []byte{1, 0, 0, 1, 'x'}) {
			t.Errorf("%s: %v, client got %s", in, r.err, describe(r.out))
		}
	}
}

func TestRelayAddsToTheWarnings(t *testing.T) {
	tune := func(r *relay) { r.extraWarnings = 1 }
	for _, c := range []struct{ in, modern, old string }{
		{"ok", "ok+w1", "ok+w1"},
		{"ok+w2+gtid", "ok+w3+gtid", "ok+w3"},
		{"n1 d r fe", "n1 d r fe+w1", "n1 d EOF r EOF+w1"},
		{"n1 d fe", "n1 d fe+w1", "n1 d EOF EOF+w1"},
		{"ok+more n1 d r fe+w1", "ok+more n1 d r fe+w2", "ok+more n1 d EOF r EOF+w2"},
	} {
		r := relayPieces(expectResult, modern, tune, framed(1, answer(t, c.in)...))
		wantBytes(t, r.out, framed(1, answer(t, c.modern)...))
		r = relayPieces(expectResult, old, tune, framed(1, answer(t, c.in)...))
		wantBytes(t, r.out, framed(1, answer(t, c.old)...))
	}
}

// What another connection knows of the client's transaction is added to every OK.
func TestRelayAddsToTheStatus(t *testing.T) {
	tune := func(r *relay) { r.addStatus = wire.StatusInTrans }
	for _, c := range []struct{ in, modern, old string }{
		{"ok", "ok+trx", "ok+trx"},
		{"ok+gtid", "ok+trx+gtid", "ok+trx"},
		{"n1 d r fe", "n1 d r fe+trx", "n1 d EOF+trx r EOF+trx"},
		{"ok+more ok", "ok+more+trx ok+trx", "ok+more+trx ok+trx"},
	} {
		in := framed(1, answer(t, c.in)...)
		for i := 1; i < len(in); i++ {
			r := relayPieces(expectResult, modern, tune, split(in, i)...)
			wantBytes(t, r.out, framed(1, answer(t, c.modern)...))
			r = relayPieces(expectResult, old, tune, split(in, i)...)
			wantBytes(t, r.out, framed(1, answer(t, c.old)...))
		}
	}
}
