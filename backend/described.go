package backend

import (
	"encoding/binary"

	"causeway/wire"
)

// TextColumns is how a server describes columns of text to a session: in the
// character set of its results.
type TextColumns struct {
	Collation uint16 // its id
	Width     uint32 // bytes of a character, at most
}

// userLength is how many characters USER() has at most: the column tells how many
// bytes that is.
const userLength = 32 + 255 + 1

// parseTextColumns reads the definition of the column USER().
// Specification: page_protocol_com_query_response_text_resultset_column_definition.
func parseTextColumns(definition []byte) (t TextColumns, ok bool) {
	for range 6 { // catalog, schema, table, original table, name, original name
		_, n, ok := wire.ReadLenEncBytes(definition)
		if !ok {
			return t, false
		}
		definition = definition[n:]
	}
	if len(definition) < 7 {
		return t, false
	}
	t.Collation = binary.LittleEndian.Uint16(definition[1:])
	length := binary.LittleEndian.Uint32(definition[3:])
	t.Width = length / userLength
	return t, t.Width >= 1 && length%userLength == 0
}

// described is by what a state's results are described.
func (s *State) described() string {
	if collation := s.vars[ResultsCollation]; collation != "" {
		return collation
	}
	return "=" + s.vars[charsetResults]
}

// LearnTextColumns remembers how the server just described the last column of an
// answer on c, which was USER(), to a session in this state.
func (p *Pools) LearnTextColumns(c *Conn, s *State) {
	if t, ok := parseTextColumns(c.lastColumn); ok {
		p.described.Store(s.described(), t)
	}
}

// TextColumns tells how text is described to a session in this state.
func (p *Pools) TextColumns(s *State) (TextColumns, bool) {
	if !s.HasCharset() {
		return TextColumns{}, false
	}
	t, ok := p.described.Load(s.described())
	if !ok {
		return TextColumns{}, false
	}
	return t.(TextColumns), true
}

// Charset returns what a login with a collation sets charsetVariables to, as
// the first connection that had it has seen.
func (p *Pools) Charset(collation uint16) (values [4]string, known bool) {
	v, ok := p.charsets.Load(collation)
	if !ok {
		return values, false
	}
	return v.([4]string), true
}
