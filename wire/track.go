package wire

import (
	"bytes"
	"slices"
)

// TrackKind is the type byte of an entry in a session-state block.
// Specification: mysql_com.h, enum_session_state_type.
type TrackKind byte

// The kinds of entries.
const (
	TrackSystemVariable             TrackKind = 0
	TrackSchema                     TrackKind = 1
	TrackStateChange                TrackKind = 2
	TrackGTIDs                      TrackKind = 3
	TrackTransactionCharacteristics TrackKind = 4
	TrackTransactionState           TrackKind = 5
)

// gtidEncodingText is the one encoding of tracked GTIDs that exists.
const gtidEncodingText = 0

// WalkTrack calls fn for each entry of a session-state block (OK.Track), in
// order, and stops at fn's first error, which it returns. It does not
// allocate; name and value are slices into block.
//
// A system variable has name and value; every other kind has a value only: the
// schema, "0" or "1" for a state change, the text of the set for GTIDs, the
// statement for characteristics, the eight letters for a transaction state.
// An entry of an unknown kind is given with its raw bytes as value, so that a
// newer server's news can be counted and skipped. GTIDs in an unknown encoding
// are an error: to skip them would lose a token.
func WalkTrack(block []byte, fn func(kind TrackKind, name, value []byte) error) error {
	for len(block) > 0 {
		kind := TrackKind(block[0])
		data, n, ok := ReadLenEncBytes(block[1:])
		if !ok {
			return malformed("session state entry")
		}
		block = block[1+n:]
		if err := walkEntry(kind, data, fn); err != nil {
			return err
		}
	}
	return nil
}

func walkEntry(kind TrackKind, data []byte, fn func(kind TrackKind, name, value []byte) error) error {
	switch kind {
	case TrackSystemVariable:
		return walkVariables(data, fn)
	case TrackGTIDs:
		// The manual's page lists the GTIDs as one string; the server
		// (Session_gtids_tracker) puts one byte of encoding before it.
		if len(data) == 0 || data[0] != gtidEncodingText {
			return malformed("encoding of tracked GTIDs")
		}
		data = data[1:]
	case TrackStateChange:
		// The manual has a string<lenenc> here; the server
		// (Session_state_change_tracker) writes the digit alone.
		if len(data) == 1 {
			return fn(kind, nil, data)
		}
	case TrackSchema, TrackTransactionCharacteristics, TrackTransactionState:
	default:
		return fn(kind, nil, data)
	}
	value, _, ok := ReadLenEncBytes(data)
	if !ok {
		return malformed("session state value")
	}
	return fn(kind, nil, value)
}

// walkVariables reads the pairs of one entry. MySQL writes one pair an entry;
// MariaDB may write several.
func walkVariables(data []byte, fn func(kind TrackKind, name, value []byte) error) error {
	if len(data) == 0 {
		return malformed("session state variable")
	}
	for len(data) > 0 {
		name, n, ok := ReadLenEncBytes(data)
		if !ok || len(name) == 0 {
			return malformed("session state variable")
		}
		value, m, ok := ReadTextValue(data[n:])
		if !ok {
			return malformed("session state variable")
		}
		data = data[n+m:]
		if err := fn(TrackSystemVariable, name, value); err != nil {
			return err
		}
	}
	return nil
}

// JoinTracks joins two session-state blocks, the older one first, as a server
// tells both at once: of what changed twice only the newer value, and all in the
// order of the kinds.
func JoinTracks(a, b []byte) []byte {
	switch {
	case len(a) == 0:
		return slices.Clone(b)
	case len(b) == 0:
		return slices.Clone(a)
	}
	all := slices.Concat(withoutReplaced(a, b), b)
	var out []byte
	for kind := TrackSystemVariable; kind <= TrackTransactionState; kind++ {
		out = append(out, ofKind(all, kind)...)
	}
	return out
}

// ofKind returns what a block tells of one kind, as it is.
func ofKind(block []byte, kind TrackKind) (out []byte) {
	for len(block) > 0 {
		_, n, ok := ReadLenEncBytes(block[1:])
		if !ok {
			return out
		}
		size := 1 + n
		if TrackKind(block[0]) == kind {
			out = append(out, block[:size]...)
		}
		block = block[size:]
	}
	return out
}

// withoutReplaced drops the variables, the schema and the state change of old that
// are in block too.
func withoutReplaced(old, block []byte) []byte {
	var out []byte
	err := WalkTrack(old, func(kind TrackKind, name, value []byte) error {
		switch {
		case kind <= TrackStateChange && replaces(block, kind, name):
		case kind == TrackSystemVariable:
			out = AppendTrackVariable(out, string(name), string(value))
		case kind == TrackStateChange:
			out = AppendTrackStateChange(out, string(value) == "1")
		case kind == TrackGTIDs:
			out = AppendTrackGTIDs(out, string(value))
		default:
			out = appendTrackValue(out, kind, string(value))
		}
		return nil
	})
	if err != nil {
		return old
	}
	return out
}

func replaces(block []byte, kind TrackKind, name []byte) bool {
	found := false
	err := WalkTrack(block, func(k TrackKind, n, _ []byte) error {
		found = found || k == kind && bytes.EqualFold(n, name)
		return nil
	})
	return found && err == nil
}

// AppendTrackVariable appends an entry that says a system variable changed.
func AppendTrackVariable(b []byte, name, value string) []byte {
	b = append(b, byte(TrackSystemVariable))
	b = AppendLenEncInt(b, uint64(lenEncStringSize(len(name))+lenEncStringSize(len(value))))
	return AppendLenEncString(AppendLenEncString(b, name), value)
}

// AppendTrackSchema appends an entry that says the current schema is now name.
func AppendTrackSchema(b []byte, name string) []byte {
	return appendTrackValue(b, TrackSchema, name)
}

// AppendTrackStateChange appends an entry of session_track_state_change.
func AppendTrackStateChange(b []byte, changed bool) []byte {
	digit := byte('0')
	if changed {
		digit = '1'
	}
	return append(b, byte(TrackStateChange), 1, digit)
}

// AppendTrackGTIDs appends an entry with the text of a set of GTIDs.
func AppendTrackGTIDs(b []byte, set string) []byte {
	b = append(b, byte(TrackGTIDs))
	b = AppendLenEncInt(b, uint64(1+lenEncStringSize(len(set))))
	return AppendLenEncString(append(b, gtidEncodingText), set)
}

// AppendTrackTransaction appends an entry of session_track_transaction_info:
// kind is TrackTransactionCharacteristics or TrackTransactionState.
func AppendTrackTransaction(b []byte, kind TrackKind, value string) []byte {
	return appendTrackValue(b, kind, value)
}

func appendTrackValue(b []byte, kind TrackKind, value string) []byte {
	b = AppendLenEncInt(append(b, byte(kind)), uint64(lenEncStringSize(len(value))))
	return AppendLenEncString(b, value)
}

// lenEncStringSize is the size of a string<lenenc> of n bytes with its length.
func lenEncStringSize(n int) int {
	switch {
	case n <= maxLenEnc1:
		return 1 + n
	case n <= 0xffff:
		return 3 + n
	case n <= 0xffffff:
		return 4 + n
	}
	return maxLenEncIntSize + n
}
