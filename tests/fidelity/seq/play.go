package seq

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"syscall"
	"time"

	"causeway/tests/session/raw"
	"causeway/wire"
)

// Side is one of the two addresses that play the same scripts.
type Side struct {
	Word    string // begins the names of its schemas; both sides' have one length
	Addr    string
	Options raw.Options // user and password; Play fills in the rest
	Hooks   Hooks
	Idle    *Idle // nil: each session connects
}

// Idle holds the connections of sessions that ended, after
// COM_RESET_CONNECTION. Logins would cost more than the sequences themselves.
type Idle struct {
	clients [Sessions]*raw.Client
	caps    [Sessions]wire.Capability
}

// Close ends the connections.
func (i *Idle) Close() {
	for n, c := range i.clients {
		if c != nil {
			c.Quit()
		}
		i.clients[n] = nil
	}
}

// take returns a session's connection if it was opened with these capabilities.
func (i *Idle) take(session int, caps wire.Capability) *raw.Client {
	if i == nil {
		return nil
	}
	c := i.clients[session]
	i.clients[session] = nil
	if c != nil && i.caps[session] != caps {
		c.Quit()
		return nil
	}
	return c
}

// put keeps a connection, or ends it.
func (i *Idle) put(session int, caps wire.Capability, c *raw.Client, reusable bool) {
	if i == nil || !reusable {
		c.Quit()
		return
	}
	i.clients[session], i.caps[session] = c, caps
}

// Hooks spoil a side, to show that spoiling is seen.
type Hooks struct {
	// After is called with each step that was played.
	After func(Step, *raw.Client)
}

// Entry is one step with its answer as text.
type Entry struct {
	Step   Step
	Answer string
	Took   time.Duration
}

// Play plays a script and returns what was answered, step by step. A session
// connects at its first step, after which it lays its rows, and ends after its
// last one; see layRows for base. One that finds an idle connection goes on
// with the rows that are there.
func Play(side Side, s Script, base uint64) []Entry {
	if base != 0 && side.Idle != nil {
		side.Idle.Close()
		side.Idle = nil
	}
	p := &player{side: side, script: s, base: base}
	for i, step := range s.Steps {
		m := p.session(step.On)
		began := time.Now()
		p.add(step, m.play(step))
		p.entries[len(p.entries)-1].Took = time.Since(began)
		if side.Hooks.After != nil && m.client != nil {
			side.Hooks.After(step, m.client)
		}
		if s.lastOf(i) {
			p.end(step.On)
		}
		if p.full() {
			return p.entries
		}
	}
	return p.entries
}

// full tells whether the last answer was that the pool is used up. What would
// follow tells no more, and takes long; whose pin it was does.
func (p *player) full() bool {
	e := &p.entries[len(p.entries)-1]
	if !strings.Contains(e.Answer, "ERR 1040") {
		return false
	}
	for _, m := range p.sessions {
		if m != nil && m.client != nil {
			if a, err := m.client.Query("SHOW CAUSEWAY PINS"); err == nil {
				e.Answer += Render(a)
				break
			}
		}
	}
	for _, m := range p.sessions {
		if m != nil && m.client != nil {
			m.client.Quit()
		}
	}
	return true
}

type player struct {
	side     Side
	script   Script
	base     uint64
	sessions [Sessions]*playing
	entries  []Entry
}

func (p *player) add(s Step, answer string) {
	p.entries = append(p.entries, Entry{Step: s, Answer: answer})
}

// playing is one session while it plays.
type playing struct {
	word   string
	client *raw.Client
	stmts  map[string]*raw.Stmt
}

// session returns a session, connecting it if this is its first step.
func (p *player) session(i int) *playing {
	if p.sessions[i] != nil {
		return p.sessions[i]
	}
	m := &playing{word: SessionWord(p.side.Word, i), stmts: map[string]*raw.Stmt{}}
	p.sessions[i] = m
	if m.client = p.side.Idle.take(i, p.script.Caps[i]); m.client != nil {
		p.unlessRefused(i, "COM_INIT_DB", m.play(initDB("$1")))
		return m
	}
	o := p.side.Options
	o.Addr, o.Caps, o.DB = p.side.Addr, p.script.Caps[i], m.word+"1"
	client, err := raw.Dial(o)
	if err != nil {
		p.add(Step{On: i, Kind: "connect", text: "connect"}, ending(err))
		return m
	}
	m.client = client
	for _, text := range layRows(i, p.base, p.script.uses(i, isDDL)) {
		p.unlessRefused(i, text, m.play(q(text)))
	}
	return m
}

// unlessRefused notes what was done before a session's first step only if it
// failed: how many rows of other sequences it removed is not this one's matter.
func (p *player) unlessRefused(i int, what, answer string) {
	if strings.Contains(answer, "ERR") || strings.Contains(answer, "CLOSED") {
		p.add(Step{On: i, Kind: "lay", text: what}, answer)
	}
}

// end brings a session to its end: nothing of it stays, and what it wrote is
// looked at once more.
func (p *player) end(i int) {
	m := p.sessions[i]
	steps := []Step{resetStep}
	if p.script.uses(i, func(s Step) bool { return s.xa }) {
		steps = append(steps, xaRollback)
	}
	if p.script.uses(i, mayWrite) {
		// The INSERTs show whether both sides have used the same number of ids.
		steps = append(steps, q("(SELECT 1 AS w, t.* FROM $1.t) UNION ALL (SELECT 2, t.* FROM $2.t) UNION ALL (SELECT 3, id, parent, NULL FROM $1.child) ORDER BY 1, 2"), q("INSERT INTO $1.t (v) VALUES (0)"), q("INSERT INTO $2.t (v) VALUES (0)"))
	}
	if p.script.uses(i, func(s Step) bool { return family.MatchString(s.text) }) {
		steps = append(steps, q("DELETE FROM $1.child"), q("REPLACE INTO $1.parent VALUES (1), (2)"), q("INSERT INTO $1.child VALUES (1, 1)"))
	}
	if p.script.uses(i, isDDL) {
		steps = append(steps, q("DROP TABLE IF EXISTS $1.extra, $1.extra2"), q("DROP VIEW IF EXISTS $1.extra_view"))
	}
	for _, step := range steps {
		step.On, step.Kind = i, "end"
		began := time.Now()
		p.add(step, m.play(step))
		p.entries[len(p.entries)-1].Took = time.Since(began)
	}
	if m.client != nil {
		p.side.Idle.put(i, p.script.Caps[i], m.client, !p.script.uses(i, func(s Step) bool { return s.op == opSetOption }))
	}
}

// mayWrite is generous.
func mayWrite(s Step) bool { return s.stmt != "" || writing.MatchString(s.text) }

var family = regexp.MustCompile(`child|parent`)

var writing = regexp.MustCompile(`INSERT|REPLACE|UPDATE|DELETE|TRUNCATE|CALL|writes|EXECUTE|LOAD`)

// play does one step and returns its answer as text.
func (m *playing) play(s Step) string {
	if m.client == nil {
		return "NOT CONNECTED\n"
	}
	a, text, err := m.send(s)
	forgetQuotes(a)
	if err != nil {
		text += ending(err)
	}
	var refused *wire.Error
	if err != nil && !errors.As(err, &refused) {
		m.client.Close()
		m.client = nil
	}
	return text + Render(a)
}

// send does one step.
func (m *playing) send(s Step) (raw.Answer, string, error) {
	c, text := m.client, s.names(m.word)
	var a raw.Answer
	var err error
	switch s.op {
	case opQuery:
		a, err = c.Query(text)
	case opInitDB:
		a, err = c.InitDB(text)
	case opPing:
		a, err = c.Ping()
	case opReset:
		a, err = c.Reset()
	case opChangeUser:
		return nil, "", c.ChangeUser(m.user(), m.password(), text)
	case opSetOption:
		a, err = c.SetOption(uint16(s.num))
	case opFieldList:
		a, err = c.FieldList(text, "")
	case opLoad:
		c.LocalFile = s.args[0].Value
		a, err = c.Query(text)
	default:
		return m.statement(s, text)
	}
	return a, "", err
}

// user and password are those that every cluster has.
func (*playing) user() string     { return "app" }
func (*playing) password() string { return "app_pw" }

// statement does a step with a prepared statement.
func (m *playing) statement(s Step, text string) (raw.Answer, string, error) {
	if s.op == opPrepare {
		stmt, err := m.client.Prepare(text)
		if err != nil {
			return nil, "", err
		}
		m.stmts[s.stmt] = stmt
		return nil, stmt.String(), nil
	}
	stmt := m.stmts[s.stmt]
	if stmt == nil {
		return nil, "not prepared\n", nil
	}
	a, answer, err := m.execute(s, stmt, text)
	forgetID(a, stmt.ID)
	return a, answer, err
}

// forgetID takes a statement's id out of an error's text: a server gives out
// ids for its own purposes too, so that a client's ids have gaps or have not.
func forgetID(a raw.Answer, id uint32) {
	for _, r := range a {
		if r.Err != nil {
			r.Err.Message = strings.Replace(r.Err.Message, fmt.Sprintf("(%d)", id), "(id)", 1)
		}
	}
}

// forgetQuotes takes the quotes out of the errors of foreign keys: whether they
// follow sql_quote_show_create depends on the way in which MySQL 9.7 checks, see
// failureKinds.
func forgetQuotes(a raw.Answer) {
	for _, r := range a {
		if r.Err != nil && (r.Err.Code == 1451 || r.Err.Code == 1452) {
			r.Err.Message = strings.ReplaceAll(r.Err.Message, "`", "")
		}
	}
}

// execute does a step with a statement that was prepared.
func (m *playing) execute(s Step, stmt *raw.Stmt, text string) (raw.Answer, string, error) {
	var a raw.Answer
	var err error
	switch s.op {
	case opExecute:
		a, err = stmt.Execute(raw.NoCursor, s.args...)
	case opExecuteSame:
		a, err = stmt.ExecuteSame(s.args...)
	case opCursor:
		a, err = stmt.Execute(raw.CursorReadOnly, s.args...)
	case opFetch:
		var r raw.Result
		r, err = stmt.Fetch(uint32(s.num))
		a = raw.Answer{r}
	case opLongData:
		err = stmt.SendLongData(uint16(s.num), []byte(text))
	case opStmtReset:
		a, err = stmt.Reset()
	case opStmtClose:
		err = stmt.Close()
	default:
		panic(fmt.Sprintf("BUG: no way to do step %d", s.op))
	}
	return a, "", err
}

// ending tells an error of the connection in words that do not depend on who
// closed it how.
func ending(err error) string {
	var refused *wire.Error
	switch {
	case errors.As(err, &refused):
		return fmt.Sprintf("ERR %d (%s) %s\n", refused.Code, refused.State, refused.Message)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "CONNECTION CLOSED\n"
	}
	return ClientError + err.Error() + "\n"
}

// ClientError begins the answer to a step that this client could not read.
const ClientError = "CLIENT ERROR "

// Render writes all fields of an answer that two nodes must agree on. Of a
// result that failed half way its columns and rows are part.
func Render(a raw.Answer) string {
	var b strings.Builder
	for _, r := range a {
		if r.Err != nil {
			for _, c := range r.Columns {
				fmt.Fprintf(&b, "COLUMN %s\n", c)
			}
			for _, row := range r.Rows {
				fmt.Fprintf(&b, "ROW %s\n", row)
			}
		}
		b.WriteString(r.String())
	}
	return b.String()
}

func isDDL(s Step) bool { return s.ddl }
