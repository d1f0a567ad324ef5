package server

import (
	"time"

	"causeway/classifier"
	"causeway/gtid"
	"causeway/wire"
)

// giveToken answers SELECT @causeway_token and SELECT @causeway_gtids.
func (s *session) giveToken(j *job, columns []classifier.TokenColumn) error {
	if e := s.applyRules(j); e != nil {
		return s.denied(j, e)
	}
	set, e := s.mustSee(j)
	if e != nil {
		return s.refuseToken(j, e)
	}
	values := make([]string, len(columns))
	for i, c := range columns {
		text, ok := s.tokenText(set, c.Plain)
		if !ok {
			return s.refuseToken(j, wire.NewError(wire.ErrServerIsntAvailable,
				"Causeway: the token of this session is too long to be handed out; lower limits.token_intervals"))
		}
		values[i] = text
	}
	s.route = route{reason: reasonLocal, digest: j.class.Digest}
	s.afterOwn(ownQuery{}, j.stmt != nil)
	var row []byte
	if j.stmt != nil {
		row = make([]byte, 1+(len(values)+9)/8) // no NULL
	}
	return s.packets(s.described(tokenColumns(columns)), [][]byte{wire.AppendTextRowStrings(row, values...)}, 0)
}

// tokenText writes a token; one that is too long is widened to few intervals first.
func (s *session) tokenText(set gtid.Set, plain bool) (string, bool) {
	write := func(set gtid.Set) (string, bool) {
		if plain {
			return set.Line(), true // as servers take it, whatever its length
		}
		return s.srv.opts.Tokens.Text(set, time.Now())
	}
	text, ok := write(set)
	if !ok {
		text, ok = write(set.Widen(s.view().SourcePosition, 1))
	}
	return text, ok
}

// tokenColumns describes columns as MySQL does for a user variable that holds a
// string (measured on 9.7).
func tokenColumns(list []classifier.TokenColumn) []wire.Column {
	columns := make([]wire.Column, len(list))
	for i, c := range list {
		columns[i] = wire.Column{Name: c.Name, Type: wire.TypeLongBlob, Charset: wire.CollationUTF8MB4, Length: 268435440}
	}
	return columns
}

// prepareToken answers COM_STMT_PREPARE of a statement that only concerns the
// token. done is false for a SET of other things too, with its token in the text.
func (s *session) prepareToken(st *stmt) (done bool, err error) {
	text := []byte(st.Text)
	if columns, ok := classifier.TokenSelect(text, s.mode); ok {
		return true, s.preparedHere(st, s.described(tokenColumns(columns)))
	}
	set, ok := classifier.ReadTokenSet(text, s.mode)
	switch {
	case st.class.Kind != classifier.Set, st.class.Is(classifier.MultiStatement):
		s.srv.shared.release(st.sharedStmt)
		return true, s.refuseWith(notAlone())
	case !ok:
		s.srv.shared.release(st.sharedStmt)
		return true, s.refuseWith(notRead(set))
	case !set.Alone:
		return false, nil
	}
	if set.Param {
		st.params = 1
	}
	return true, s.preparedHere(st, nil)
}

// parameter describes a ? as MySQL does.
var parameter = wire.Column{Name: "?", Type: wire.TypeVarString, Charset: wire.CollationUTF8MB4, Length: 65532}

// preparedHere keeps a statement that no server knows of.
func (s *session) preparedHere(st *stmt, columns []wire.Column) error {
	st.local = true
	s.keepStmt(st)
	s.noteHere()
	if err := s.client.WritePacket(wire.AppendPrepareOK(nil, st.id, uint16(len(columns)), uint16(st.params))); err != nil {
		return err
	}
	params := make([]wire.Column, st.params)
	for i := range params {
		params[i] = parameter
	}
	for _, list := range [][]wire.Column{params, columns} {
		for _, c := range list {
			if err := s.client.WritePacket(wire.AppendColumn(nil, c)); err != nil {
				return err
			}
		}
		if len(list) > 0 && !s.login.Caps.Has(wire.CapDeprecateEOF) {
			if err := s.client.WritePacket(wire.AppendEOF(nil, 0, s.status)); err != nil {
				return err
			}
		}
	}
	return s.client.Flush()
}
