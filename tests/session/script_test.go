package session

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"causeway/tests/session/raw"
	"causeway/wire"
)

// script is a sequence of steps on one or more connections.
type script struct {
	name  string
	caps  wire.Capability // asked for on top of the profile's
	nodb  bool            // connect without a schema
	setup []string        // run by the administrator, after the base schema
	steps []step
}

// step is one thing a client does; its text goes into the transcript.
type step struct {
	name string
	on   int // which connection
	do   func(p *player, c *raw.Client) (string, error)
}

// player runs one script against one address.
type player struct {
	options raw.Options
	clients map[int]*raw.Client
	stmts   map[string]*raw.Stmt
	vars    map[string]string // remembered values, such as connection ids

	// settle is called before a step on another connection than the step
	// before: what one session wrote, another one sees only once replicated.
	settle func()
}

func newPlayer(o raw.Options, settle func()) *player {
	return &player{options: o, settle: settle, clients: map[int]*raw.Client{}, stmts: map[string]*raw.Stmt{}, vars: map[string]string{}}
}

func (p *player) client(n int) (*raw.Client, error) {
	if c := p.clients[n]; c != nil {
		return c, nil
	}
	c, err := raw.Dial(p.options)
	if err == nil {
		p.clients[n] = c
	}
	return c, err
}

func (p *player) close() {
	for _, c := range p.clients {
		c.Quit()
	}
}

// play returns the transcript: one entry a step.
func (p *player) play(steps []step) []string {
	defer p.close()
	var transcript []string
	for i, s := range steps {
		if i > 0 && s.on != steps[i-1].on {
			p.settle()
		}
		c, err := p.client(s.on)
		answer := ""
		if err == nil {
			answer, err = s.do(p, c)
		}
		transcript = append(transcript, fmt.Sprintf("[%d] %s\n%s%s", s.on, s.name, answer, ending(err)))
	}
	return transcript
}

// ending tells an error of the connection in words that do not depend on who
// closed it how: a closed connection reads as EOF or as a reset.
func ending(err error) string {
	var refused *wire.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refused):
		return fmt.Sprintf("ERR %d (%s) %s\n", refused.Code, refused.State, refused.Message)
	case errors.Is(err, io.EOF), strings.Contains(err.Error(), "reset by peer"), strings.Contains(err.Error(), "broken pipe"):
		return "CONNECTION CLOSED\n"
	}
	return "CLIENT ERROR " + err.Error() + "\n"
}

// on moves steps to another connection.
func on(n int, steps ...step) []step {
	for i := range steps {
		steps[i].on = n
	}
	return steps
}

// seq joins steps and lists of steps.
func seq(parts ...any) []step {
	var all []step
	for _, p := range parts {
		switch p := p.(type) {
		case step:
			all = append(all, p)
		case []step:
			all = append(all, p...)
		case string:
			all = append(all, q(p))
		default:
			panic(fmt.Sprintf("BUG: a script holds a %T", p))
		}
	}
	return all
}

func text(a raw.Answer, err error) (string, error) { return a.String(), err }

// q sends a text. ${name} stands for a remembered value.
func q(sql string) step {
	return step{name: shorten(sql), do: func(p *player, c *raw.Client) (string, error) {
		return text(c.Query(p.expand(sql)))
	}}
}

// expand puts remembered values into a text.
func (p *player) expand(sql string) string {
	for name, v := range p.vars {
		sql = strings.ReplaceAll(sql, "${"+name+"}", v)
	}
	return sql
}

// attributed sends a text with query attributes.
func attributed(sql string, attrs ...raw.Attr) step {
	return step{name: shorten(sql) + " with attributes", do: func(_ *player, c *raw.Client) (string, error) {
		return text(c.Query(sql, attrs...))
	}}
}

// quiet sends a text whose answer differs from run to run and only tells
// whether it failed.
func quiet(sql string) step {
	return step{name: sql, do: func(_ *player, c *raw.Client) (string, error) {
		a, err := c.Query(sql)
		return fmt.Sprintf("code %d, %d results\n", a.Code(), len(a)), err
	}}
}

// remember keeps the first value of an answer for later steps.
func remember(name, sql string) step {
	return step{name: sql, do: func(p *player, c *raw.Client) (string, error) {
		a, err := c.Query(sql)
		p.vars[name] = a.Value()
		return fmt.Sprintf("code %d\n", a.Code()), err
	}}
}

// load sends LOAD DATA LOCAL with the content of the client's file.
func load(sql, content string, chunk int) step {
	return step{name: sql, do: func(_ *player, c *raw.Client) (string, error) {
		c.LocalFile, c.LocalChunk = []byte(content), chunk
		return text(c.Query(sql))
	}}
}

func initDB(schema string) step {
	return step{name: "COM_INIT_DB " + schema, do: func(_ *player, c *raw.Client) (string, error) { return text(c.InitDB(schema)) }}
}

func ping() step {
	return step{name: "COM_PING", do: func(_ *player, c *raw.Client) (string, error) { return text(c.Ping()) }}
}

func reset() step {
	return step{name: "COM_RESET_CONNECTION", do: func(_ *player, c *raw.Client) (string, error) { return text(c.Reset()) }}
}

func changeUser(user, password, schema string) step {
	return step{name: "COM_CHANGE_USER " + user + " " + schema, do: func(_ *player, c *raw.Client) (string, error) {
		err := c.ChangeUser(user, password, schema)
		if err == nil {
			return "OK\n", nil
		}
		return "", err
	}}
}

func setOption(n uint16) step {
	return step{name: fmt.Sprint("COM_SET_OPTION ", n), do: func(_ *player, c *raw.Client) (string, error) { return text(c.SetOption(n)) }}
}

func fieldList(table, wild string) step {
	return step{name: "COM_FIELD_LIST " + table + " " + wild, do: func(_ *player, c *raw.Client) (string, error) {
		return text(c.FieldList(table, wild))
	}}
}

func statistics() step {
	return step{name: "COM_STATISTICS", do: func(_ *player, c *raw.Client) (string, error) {
		s, err := c.Statistics()
		return fmt.Sprintf("begins %.8s\n", s), err
	}}
}

func command(cmd wire.Command, payload string) step {
	return step{name: fmt.Sprintf("%v %q", cmd, payload), do: func(_ *player, c *raw.Client) (string, error) {
		return text(c.Command(cmd, []byte(payload)))
	}}
}

// prepare keeps a statement under a name.
func prepare(name, sql string) step {
	return step{name: "prepare " + name + ": " + shorten(sql), do: func(p *player, c *raw.Client) (string, error) {
		s, err := c.Prepare(sql)
		if err != nil {
			return "", err
		}
		p.stmts[name] = s
		return s.String(), nil
	}}
}

// withStmt does something with a kept statement.
func withStmt(what, name string, do func(s *raw.Stmt) (string, error)) step {
	return step{name: what + " " + name, do: func(p *player, _ *raw.Client) (string, error) {
		if p.stmts[name] == nil {
			return "not prepared\n", nil
		}
		return do(p.stmts[name])
	}}
}

func execute(name string, params ...raw.Param) step {
	return withStmt(fmt.Sprintf("execute %d params of", len(params)), name, func(s *raw.Stmt) (string, error) {
		return text(s.Execute(raw.NoCursor, params...))
	})
}

func executeSame(name string, params ...raw.Param) step {
	return withStmt("execute with the old types", name, func(s *raw.Stmt) (string, error) {
		return text(s.ExecuteSame(params...))
	})
}

func openCursor(name string, params ...raw.Param) step {
	return withStmt("open a cursor on", name, func(s *raw.Stmt) (string, error) {
		return text(s.Execute(raw.CursorReadOnly, params...))
	})
}

func fetch(name string, n uint32) step {
	return withStmt(fmt.Sprintf("fetch %d rows of", n), name, func(s *raw.Stmt) (string, error) {
		r, err := s.Fetch(n)
		return r.String(), err
	})
}

func longData(name string, param uint16, data string) step {
	return withStmt("send long data to", name, func(s *raw.Stmt) (string, error) {
		return "", s.SendLongData(param, []byte(data))
	})
}

func resetStmt(name string) step {
	return withStmt("COM_STMT_RESET", name, func(s *raw.Stmt) (string, error) { return text(s.Reset()) })
}

func closeStmt(name string) step {
	return withStmt("COM_STMT_CLOSE", name, func(s *raw.Stmt) (string, error) { return "", s.Close() })
}

// unknownID executes a statement that was never prepared.
func unknownID(id uint32) step {
	return step{name: "execute an unknown id", do: func(_ *player, c *raw.Client) (string, error) {
		return text(raw.Unprepared(c, id).Execute(raw.NoCursor))
	}}
}

func shorten(s string) string {
	if len(s) > 300 {
		return fmt.Sprintf("%s... (%d bytes)", s[:100], len(s))
	}
	return s
}
