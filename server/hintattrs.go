package server

import (
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
			namedHints(&h, p[n:], count, "")
		}
	case wire.ComStmtExecute:
		if j.exec.boundFlag == 0 || len(p) < 10 {
			return h
		}
		count, n, ok := wire.ReadLenEncInt(p[10:])
		if ok && count > uint64(j.stmt.params) {
			namedHints(&h, p[10+n:], count, j.stmt.types)
		}
	}
	return h
}

// namedHints looks for hints among count parameters: a null bitmap, a flag, the
// types with names (those of earlier if the flag says that they were sent
// before), then the values.
// Specification: page_protocol_com_query, page_protocol_com_stmt_execute.
func namedHints(h *classifier.Hints, p []byte, count uint64, earlier string) {
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
	kinds, names := make([]byte, n), make([][]byte, n)
	for i := range n {
		if len(types) < 2 {
			return
		}
		name, used, ok := wire.ReadLenEncBytes(types[2:])
		if !ok {
			return
		}
		kinds[i], names[i] = types[0], name
		types = types[2+used:]
	}
	if inline {
		p = types
	}
	for i, kind := range kinds {
		if nulls[i/8]&(1<<(i%8)) != 0 {
			h.Set(string(names[i]), "")
			continue
		}
		used, ok := binaryValueSize(kind, p)
		if !ok || used > len(p) {
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
