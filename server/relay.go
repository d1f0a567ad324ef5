package server

import (
	"errors"
	"fmt"

	"causeway/wire"
)

// expect names the form of the answer to a command.
type expect uint8

const (
	expectResult  expect = iota // OK, ERR, LOCAL INFILE or result sets: COM_QUERY, COM_STMT_EXECUTE
	expectRows                  // rows up to their end: COM_STMT_FETCH
	expectColumns               // column definitions up to their end: COM_FIELD_LIST
	expectPrepare               // COM_STMT_PREPARE
	expectSimple                // one OK or EOF
	expectText                  // one packet of text: COM_STATISTICS
)

// phase says what the next packet of an answer is.
type phase uint8

const (
	phaseFirst phase = iota // first packet of a result
	phaseDefs               // definitions, counted
	phaseRows               // rows up to OK, EOF or ERR
)

// backendError and clientError mark the side on which I/O failed.
type backendError struct{ err error }

func (e *backendError) Error() string { return "backend: " + e.err.Error() }
func (e *backendError) Unwrap() error { return e.err }

type clientError struct{ err error }

func (e *clientError) Error() string { return "client: " + e.err.Error() }
func (e *clientError) Unwrap() error { return e.err }

// prepared is what COM_STMT_PREPARE answered.
type prepared struct {
	id              uint32
	columns, params uint16
}

// relay passes one answer from a backend to a client. Packets are forwarded
// from the buffer they were read into; only OK, ERR, EOF and the first packet
// of a result are looked at, and changed where the client negotiated less than
// the backend leg: a backend always has SESSION_TRACK and DEPRECATE_EOF.
//
// An ERR is not forwarded but returned in err: whether it goes to the client,
// after what, is the session's decision.
type relay struct {
	from     *wire.Conn
	fromCaps wire.Capability
	to       *wire.Conn
	toCaps   wire.Capability

	// onOK sees every OK before it is forwarded, while its slices are valid.
	onOK func(*wire.OK) error
	// track returns the part of a session-state block that the client asked for.
	track func(block []byte) []byte
	// statementID replaces the id in a PREPARE's answer.
	statementID uint32
	// untold is a session-state block that goes with the first OK that can have one.
	untold []byte
	// command is the client's, in the buffer of its connection unless it is copied.
	command []byte
	copied  bool
	// finish: when the client is gone, read the answer to its end all the same.
	finish bool
	// extraRow is one more row of the last result set; it adds to nothing else.
	extraRow []byte
	// addStatus is added to the status flags of every OK, without those of dropStatus.
	addStatus, dropStatus wire.Status
	// fixWarnings replaces the warning count by warnings.
	fixWarnings bool
	warnings    uint16
	// extraWarnings is added to the warning count of the last OK.
	extraWarnings uint16

	// first is for the EOF after the columns.
	first firstEOF

	// What came back.
	ok       wire.OK // the last one, without its slices
	rows     uint64  // of the last result set
	err      *wire.Error
	ours     bool // err is Causeway's own, or in its words: no server can tell of it again
	prepared prepared
	started  bool // bytes were handed to the client
	lost     error

	want     expect
	phase    phase
	count    int   // definitions still to come
	boundary bool  // the columns are through, their EOF is due
	split    bool  // the next packet goes on with the payload of the last
	left     int   // bytes of the current packet not yet seen
	seq      uint8 // number of the backend's next packet
	delta    uint8 // the client's number less the backend's
	pos      int   // buffered bytes ready to be forwarded
	skip     int   // buffered bytes after pos that are not
	done     bool
	parsed   wire.OK // the one being looked at
	scratch  []byte
}

// run relays until the answer is complete. The command must have been sent.
func (r *relay) run(want expect) error {
	r.want = want
	r.seq = r.from.Sequence()
	r.delta = r.to.Sequence() - r.seq
	if want == expectRows || want == expectColumns {
		r.phase = phaseRows
	}
	err := r.loop()
	r.from.SetSequence(r.seq)
	r.to.SetSequence(r.seq + r.delta)
	return err
}

func (r *relay) loop() error {
	for {
		for !r.done {
			more, err := r.step()
			if err != nil {
				return err
			}
			if !more {
				break
			}
		}
		if err := r.forward(); err != nil {
			return err
		}
		if r.done {
			return nil
		}
		if err := r.from.Fill(); err != nil {
			return &backendError{err}
		}
	}
}

// step takes in one packet, or what is there of it; false: more bytes are needed.
func (r *relay) step() (bool, error) {
	b := r.from.Buffered()[r.pos:]
	if r.left > 0 {
		n := min(r.left, len(b))
		r.pos += n
		r.left -= n
		return n > 0, nil
	}
	if len(b) < wire.HeaderSize {
		return false, nil
	}
	if b[3] != r.seq {
		return false, r.malformed("packet number %d, expected %d", b[3], r.seq)
	}
	n := wire.PayloadLength(b)
	if r.split {
		r.pass(b, n)
		return true, nil
	}
	if n == 0 {
		return false, r.malformed("empty packet")
	}
	if len(b) <= wire.HeaderSize {
		return false, nil
	}
	if !r.isControl(b[wire.HeaderSize], n) {
		if r.boundary {
			return true, r.endColumns(r.statusAhead())
		}
		r.pass(b, n)
		return true, nil
	}
	if len(b) < wire.HeaderSize+n {
		return false, nil
	}
	return true, r.control(b[:wire.HeaderSize+n])
}

// isControl tells by its first byte and length whether a packet must be read.
// A row can begin with 0xFE only if its first value has 16 MB or more, and
// then the packet is full.
func (r *relay) isControl(first byte, n int) bool {
	switch r.phase {
	case phaseFirst:
		return true
	case phaseDefs:
		return first == wire.HeaderERR // a definition begins with its catalog's length, 3
	default:
		return first == wire.HeaderERR || first == wire.HeaderEOF && n < wire.MaxPayload
	}
}

// pass lets one packet through as it is but for its number.
func (r *relay) pass(b []byte, n int) {
	continued := r.split
	r.split = n == wire.MaxPayload
	r.left = wire.HeaderSize + n
	b[3] += r.delta
	r.seq++
	switch {
	case continued:
		return
	case r.phase != phaseDefs:
		r.rows++
		return
	}
	r.count--
	if r.count == 0 {
		r.defsDone()
	}
}

// defsDone is called when the last counted definition begins to pass.
func (r *relay) defsDone() {
	r.boundary = !r.toCaps.Has(wire.CapDeprecateEOF)
	r.phase = phaseRows
}

// control handles a whole packet that is not merely passed through.
func (r *relay) control(b []byte) error {
	payload := b[wire.HeaderSize:]
	switch {
	case payload[0] == wire.HeaderERR:
		return r.failed(payload)
	case r.phase == phaseRows:
		return r.endRows(b)
	case r.want == expectText:
		b[3] += r.delta
		r.pos += len(b)
		r.seq++
		r.done = true
		return nil
	case r.want == expectPrepare:
		return r.prepareOK(b)
	case payload[0] == wire.HeaderOK || payload[0] == wire.HeaderEOF && r.want == expectSimple:
		return r.passOK(b)
	case payload[0] == wire.HeaderLocalFile:
		return r.localInfile(b)
	default:
		return r.columnCount(b)
	}
}

func (r *relay) failed(payload []byte) error {
	e, err := wire.ParseError(payload)
	if err != nil {
		return r.malformed("%v", err)
	}
	if r.boundary {
		if err := r.endColumns(r.statusAhead()); err != nil {
			return err
		}
	}
	r.err = e // its number is left for the ERR that the session may send
	r.skip = wire.HeaderSize + len(payload)
	r.done = true
	return nil
}

func (r *relay) columnCount(b []byte) error {
	n, size, ok := wire.ReadLenEncInt(b[wire.HeaderSize:])
	if !ok || size != len(b)-wire.HeaderSize || n == 0 || n > 1<<16 {
		return r.malformed("column count")
	}
	r.count = int(n)
	r.pass(b, len(b)-wire.HeaderSize)
	r.phase, r.rows = phaseDefs, 0
	return nil
}

// endRows handles the OK that ends a result set, or an EOF in its place.
func (r *relay) endRows(b []byte) error {
	ok, err := r.parseOK(b)
	if err != nil {
		return err
	}
	if r.boundary {
		// A cursor's result has its EOF after the columns and no rows.
		if !ok.Status.Has(wire.StatusCursorExists) {
			return r.endColumns(ok.Status)
		}
		r.boundary = false
	}
	return r.finishResult(b, ok)
}

// parseOK reads an OK into the relay: one of its own would escape to the heap
// by way of onOK, for each answer.
func (r *relay) parseOK(b []byte) (*wire.OK, error) {
	var err error
	if r.parsed, err = wire.ParseOK(b[wire.HeaderSize:], r.fromCaps); err != nil {
		return nil, r.malformed("%v", err)
	}
	return &r.parsed, nil
}

// passOK handles an OK that is a whole result.
func (r *relay) passOK(b []byte) error {
	ok, err := r.parseOK(b)
	if err != nil {
		return err
	}
	return r.finishResult(b, ok)
}

func (r *relay) finishResult(b []byte, ok *wire.OK) error {
	if r.onOK != nil {
		if err := r.onOK(ok); err != nil {
			return err
		}
	}
	r.first.ended(ok.Header)
	r.ok = *ok
	r.ok.Info, r.ok.Track = nil, nil
	last := !ok.Status.Has(wire.StatusMoreResults)
	if last && r.extraRow != nil && ok.Header == wire.HeaderEOF {
		if err := r.insertRow(); err != nil {
			return err
		}
		b = r.from.Buffered()[:len(b)]
	}
	if err := r.forwardOK(b, ok, last); err != nil {
		return err
	}
	r.seq++
	r.phase = phaseFirst
	r.done = last
	if !last && r.skip > 0 {
		return r.cut()
	}
	return nil
}

// forwardOK makes an OK ready to be forwarded as the client must see it.
func (r *relay) forwardOK(b []byte, ok *wire.OK, last bool) error {
	eof := ok.Header == wire.HeaderEOF && !r.toCaps.Has(wire.CapDeprecateEOF)
	changed := eof || len(ok.Info) > 0 && !r.toCaps.Has(wire.CapSessionTrack) || ok.Track != nil || ok.Status.Has(wire.StatusSessionStateChanged)
	if r.fixWarnings {
		ok.Warnings = r.warnings
		changed = true
	}
	if r.addStatus|r.dropStatus != 0 {
		ok.Status = ok.Status&^r.dropStatus | r.addStatus
		changed = true
	}
	tells := len(r.untold) > 0 && !eof && r.toCaps.Has(wire.CapSessionTrack)
	changed = changed || tells
	if last && r.extraWarnings > 0 {
		ok.Warnings += r.extraWarnings
		changed = true
	}
	if !changed {
		b[3] += r.delta
		r.pos += len(b)
		return nil
	}
	out := r.scratch[:0]
	if eof {
		out = wire.AppendEOF(out, ok.Warnings, ok.Status&^wire.StatusSessionStateChanged)
	} else {
		if ok.Track != nil && r.track != nil {
			ok.Track = r.track(ok.Track)
		}
		if tells {
			ok.Track, r.untold = wire.JoinTracks(r.untold, ok.Track), nil
			ok.Status |= wire.StatusSessionStateChanged
		}
		out = ok.Append(out, r.toCaps)
	}
	r.scratch = out
	return r.replace(b, out)
}

// replace puts payload in the place of the packet b, which begins at pos.
func (r *relay) replace(b, payload []byte) error {
	size := wire.HeaderSize + len(payload)
	if size > len(b) {
		if err := r.cut(); err != nil {
			return err
		}
		r.skip = len(b)
		return r.insert(payload, b[3]+r.delta)
	}
	b[0], b[1], b[2] = byte(len(payload)), byte(len(payload)>>8), byte(len(payload)>>16)
	b[3] += r.delta
	copy(b[wire.HeaderSize:], payload)
	r.pos += size
	r.skip = len(b) - size
	return nil
}

// endColumns gives an older client the EOF packet after the columns. There is
// room before the buffered bytes, so only the columns move.
func (r *relay) endColumns(status wire.Status) error {
	r.boundary = false
	const size = wire.HeaderSize + 5
	p := wire.AppendHeader(r.scratch[:0], 5, r.seq+r.delta)
	p = wire.AppendEOF(p, 0, status&firstFlags|r.addStatus)
	r.scratch = p
	r.delta++
	if r.from.Headroom() < size {
		if err := r.cut(); err != nil {
			return err
		}
		return r.queue(p)
	}
	r.from.Back(size)
	b := r.from.Buffered()
	copy(b, b[size:size+r.pos])
	copy(b[r.pos:], p)
	r.pos += size
	return nil
}

// insertRow adds the extra row before the packet at pos.
func (r *relay) insertRow() error {
	if err := r.cut(); err != nil {
		return err
	}
	if err := r.insert(r.extraRow, r.seq+r.delta); err != nil {
		return err
	}
	r.delta++
	return nil
}

func (r *relay) insert(payload []byte, seq uint8) error {
	p := wire.AppendHeader(nil, len(payload), seq)
	return r.queue(append(p, payload...))
}

// cut queues what is ready and moves the buffer on behind it.
func (r *relay) cut() error {
	n := r.pos + r.skip
	if r.pos > 0 {
		if err := r.queue(r.from.Buffered()[:r.pos]); err != nil {
			return err
		}
	}
	r.pos, r.skip = 0, 0
	r.from.Discard(n)
	return nil
}

func (r *relay) queue(b []byte) error {
	r.started = true
	if r.lost != nil {
		return nil
	}
	return r.clientWrote(r.to.QueueRaw(b))
}

// forward sends everything that is ready.
func (r *relay) forward() error {
	n := r.pos + r.skip
	var err error
	if r.lost == nil {
		if r.pos > 0 {
			r.started = true
			err = r.clientWrote(r.to.WriteRaw(r.from.Buffered()[:r.pos]))
		} else if r.err == nil {
			err = r.clientWrote(r.to.Flush())
		}
	}
	r.pos, r.skip = 0, 0
	if n > 0 {
		r.from.Discard(n)
	}
	return err
}

func (r *relay) clientWrote(err error) error {
	if err == nil {
		return nil
	}
	r.lost = &clientError{err}
	if r.finish {
		return nil
	}
	return r.lost
}

var errMalformedAnswer = errors.New("malformed answer")

func (r *relay) malformed(format string, args ...any) error {
	return &backendError{fmt.Errorf("%w: %s", errMalformedAnswer, fmt.Sprintf(format, args...))}
}
