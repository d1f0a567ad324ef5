package server

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"causeway/wire"
)

// processColumns are those of MySQL's SHOW PROCESSLIST.
var processColumns = []wire.Column{
	{Name: "Id", Type: wire.TypeLongLong, Charset: 63, Length: 21, Flags: flagNotNull | flagUnsigned | flagBinary},
	{Name: "User", Type: wire.TypeVarString, Charset: 255, Length: 128, Flags: flagNotNull},
	{Name: "Host", Type: wire.TypeVarString, Charset: 255, Length: 1044, Flags: flagNotNull},
	{Name: "db", Type: wire.TypeVarString, Charset: 255, Length: 256},
	{Name: "Command", Type: wire.TypeVarString, Charset: 255, Length: 64, Flags: flagNotNull},
	{Name: "Time", Type: wire.TypeLong, Charset: 63, Length: 7, Flags: flagNotNull | flagBinary},
	{Name: "State", Type: wire.TypeVarString, Charset: 255, Length: 120},
	{Name: "Info", Type: wire.TypeVarString, Charset: 255, Length: 65536},
}

// processlist shows the clients of the session's own account, by the ids that
// KILL takes here.
func (s *session) processlist(full bool) error {
	type row struct {
		id     uint32
		values [][]byte
	}
	var all []row
	now := time.Now()
	s.srv.eachSession(func(x *session) {
		login := s.srv.loginOf(x)
		if login.User != s.login.User {
			return
		}
		all = append(all, row{x.id, x.processRow(login, now, full)})
	})
	slices.SortFunc(all, func(a, b row) int { return cmp.Compare(a.id, b.id) })
	rows := make([][]byte, len(all))
	for i, r := range all {
		rows[i] = wire.AppendTextRow(nil, r.values)
	}
	return s.packets(processColumns, rows, 0)
}

// processRow describes a session to another one.
func (s *session) processRow(login *Login, now time.Time, full bool) [][]byte {
	command, info, state := "Sleep", []byte(nil), []byte{}
	seconds := (int64(now.Sub(s.srv.started)) - s.lastStart.Load()) / int64(time.Second)
	if class := s.runs.Load(); s.busySince.Load() != 0 && class != nil {
		command = "Query"
		text := class.Digest
		if !full && len(text) > 100 {
			text = text[:100]
		}
		info, state = []byte(text), []byte("executing")
		if c := s.busyOn.Load(); c != nil {
			state = []byte("executing on " + c.Node.Addr)
		}
	}
	var schema []byte
	if state := s.seen.Load(); state != nil && state.Schema != "" {
		schema = []byte(state.Schema)
	}
	return [][]byte{
		strconv.AppendUint(nil, uint64(s.id), 10), []byte(login.User), []byte(login.Host), schema,
		[]byte(command), strconv.AppendInt(nil, max(seconds, 0), 10), state, info,
	}
}
