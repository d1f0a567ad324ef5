package server

import (
	"bytes"

	"causeway/wire"
)

// prepareOK handles the first packet of a PREPARE's answer.
func (r *relay) prepareOK(b []byte) error {
	payload := b[wire.HeaderSize:]
	id, columns, params, warnings, err := wire.ParsePrepareOK(payload)
	if err != nil {
		return r.malformed("%v", err)
	}
	r.prepared = prepared{id, columns, params}
	r.ok.Warnings = warnings
	wire.SetStatementID(payload, r.statementID)
	b[3] += r.delta
	r.pos += len(b)
	r.seq++
	return r.prepareDefs(int(params), int(columns))
}

// prepareDefs relays the definitions of a PREPARE's answer: parameters, then
// columns, each group with an EOF of its own for an older client.
func (r *relay) prepareDefs(groups ...int) error {
	r.phase = phaseDefs
	for _, n := range groups {
		if n == 0 {
			continue
		}
		r.count = n
		r.phase = phaseDefs
		if err := r.defs(); err != nil || r.done {
			return err
		}
	}
	r.done = true
	return nil
}

// defs relays counted definitions to the last byte of the last one.
func (r *relay) defs() error {
	for r.count > 0 || r.left > 0 || r.split {
		more, err := r.step()
		if err != nil || r.done { // done: an ERR in place of a definition
			return err
		}
		if more {
			continue
		}
		if err := r.forward(); err != nil {
			return err
		}
		if err := r.from.Fill(); err != nil {
			return &backendError{err}
		}
	}
	if r.boundary {
		return r.endColumns(r.first.before)
	}
	return nil
}

// localInfile passes the request on and the client's file back, packet by
// packet, up to the empty one. The file is read by the client, never here. The
// command is copied first: its text is looked at once more when the answer is in,
// and another connection may have its buffer by then.
func (r *relay) localInfile(b []byte) error {
	b[3] += r.delta
	r.pos += len(b)
	r.seq++
	r.phase = phaseFirst
	if err := r.forward(); err != nil {
		return err
	}
	r.command, r.copied = bytes.Clone(r.command), true
	r.to.SetSequence(r.seq + r.delta)
	for full := false; ; {
		raw, err := r.to.ReadRaw()
		if err != nil {
			return &clientError{err}
		}
		raw[3] -= r.delta
		r.seq++
		if err := r.from.QueueRaw(raw); err != nil {
			return &backendError{err}
		}
		if len(raw) == wire.HeaderSize && !full {
			break
		}
		full = len(raw) == wire.HeaderSize+wire.MaxPayload // an empty one then ends this payload, not the file
	}
	r.delta = r.to.AnswerSequence() - r.seq
	if err := r.from.Flush(); err != nil {
		return &backendError{err}
	}
	return nil
}
