package server

import (
	"encoding/binary"
	"slices"
	"strings"

	"causeway/classifier"
	"causeway/wire"
)

// attributeHints reads the query attributes of a command, if it has any.
func (s *session) attributeHints(j *job) (h classifier.Hints) {
	if !s.login.Caps.Has(wire.CapQueryAttributes) || len(j.frame.Payload) < 2 {
		return h
	}
	switch p := j.frame.Payload; wire.Command(p[0]) {
	case wire.ComQuery:
		count, n, ok := wire.ReadLenEncInt(p[1:])
		if !ok || count == 0 {
			return h
		}
		p = p[1+n:]
		if _, n, ok = wire.ReadLenEncInt(p); ok { // number of sets, always 1
			namedHints(&h, p[n:], count, "", nil)
		}
	case wire.ComStmtExecute:
		if j.exec.boundFlag == 0 || len(p) < 10 {
			return h
		}
		count, n, ok := wire.ReadLenEncInt(p[10:])
		if ok && count > uint64(j.stmt.params) {
			namedHints(&h, p[10+n:], count, j.stmt.types, j.stmt.longParams())
		}
	}
	return h
}

// fill notes which parameter a piece of long data is for.
func (st *stmt) fill(p []byte) {
	if !st.long {
		st.filled = nil
	}
	if len(p) < 7 {
		return
	}
	if n := int(binary.LittleEndian.Uint16(p[5:])); n < st.params && !slices.Contains(st.filled, n) {
		st.filled = append(st.filled, n)
	}
}

// longParams are the numbers of the parameters whose values the next execution does
// not bring, as they were sent before it.
func (st *stmt) longParams() []int {
	if !st.long {
		return nil
	}
	return st.filled
}

// namedHints looks for hints among count parameters: a null bitmap, a flag, the
// types with names (those of earlier if the flag says that they were sent
// before), then the values, but for those that were sent as long data. A hint whose
// value is not found must not be passed over.
// Specification: page_protocol_com_query, page_protocol_com_stmt_execute.
func namedHints(h *classifier.Hints, p []byte, count uint64, earlier string, long []int) {
	if count > uint64(len(p))*8 {
		return
	}
	n := int(count)
	size := (n + 7) / 8
	if len(p) < size+1 {
		return
	}
	nulls, types, inline := p[:size], []byte(earlier), p[size] == 1
	p = p[size+1:]
	if inline {
		types = p
	}
	kinds, names, types := paramTypes(types, n)
	if inline {
		p = types
	}
	for i, kind := range kinds {
		if slices.Contains(long, i) {
			continue
		}
		if nulls[i/8]&(1<<(i%8)) != 0 {
			h.Set(string(names[i]), "")
			continue
		}
		used, ok := binaryValueSize(kind, p)
		if !ok || used > len(p) || len(kinds) < n {
			for _, name := range names[i:] {
				h.MarkUnread(string(name))
			}
			return
		}
		if isText(kind) {
			value, _, _ := wire.ReadLenEncBytes(p)
			h.Set(string(names[i]), string(value))
		} else {
			h.MarkUnread(string(names[i]))
		}
		p = p[used:]
	}
}

// paramTypes reads the types and names of n parameters, or as many as there are.
func paramTypes(types []byte, n int) (kinds []byte, names [][]byte, rest []byte) {
	kinds, names = make([]byte, 0, n), make([][]byte, 0, n)
	for range n {
		if len(types) < 2 {
			break
		}
		name, used, ok := wire.ReadLenEncBytes(types[2:])
		if !ok {
			break
		}
		kinds, names = append(kinds, types[0]), append(names, name)
		types = types[2+used:]
	}
	return kinds, names, types
}

// isText tells of the types whose values are strings: VARCHAR, the BLOBs,
// VAR_STRING, STRING.
func isText(kind byte) bool { return kind == 0x0f || kind >= 0xf9 && kind <= 0xfe }

// hintAttr is a hint that the client gave as a connection attribute, its name in any
// case, "" if it did not.
func (l *Login) hintAttr(name string) string {
	if value, ok := l.Attrs[name]; ok {
		return value
	}
	for key, value := range l.Attrs {
		if strings.EqualFold(key, name) {
			return value
		}
	}
	return ""
}
