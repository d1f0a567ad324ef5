package cases

import (
	"fmt"

	"causeway/tests/session/raw"
)

func num(v int64) raw.Param      { return raw.Int64(v) }
func str(s string) raw.Param     { return raw.String(s) }
func double(v float64) raw.Param { return raw.Double(v) }

// prep keeps a prepared statement of a session under a name.
func prep(session, name, sql string) step {
	return step{session: session, name: "prepare " + name + ": " + shorten(sql), do: func(p *player, c *raw.Client) (outcome, error) {
		s, err := c.Prepare(sql)
		if err != nil {
			return outcome{}, err
		}
		p.stmts[session+"."+name] = s
		return outcome{s.String(), "OK"}, nil
	}}
}

// with does something with a kept statement.
func with(session, what, name string, do func(s *raw.Stmt) (outcome, error)) step {
	return step{session: session, name: what + " " + name, do: func(p *player, _ *raw.Client) (outcome, error) {
		s := p.stmts[session+"."+name]
		if s == nil {
			return outcome{"not prepared\n", "not prepared"}, nil
		}
		return do(s)
	}}
}

func exe(session, name string, params ...raw.Param) step {
	return with(session, fmt.Sprintf("execute %d params of", len(params)), name, func(s *raw.Stmt) (outcome, error) {
		return answered(s.Execute(raw.NoCursor, params...))
	})
}

// exeSame executes with the types of the time before.
func exeSame(session, name string, params ...raw.Param) step {
	return with(session, "execute with the old types", name, func(s *raw.Stmt) (outcome, error) {
		return answered(s.ExecuteSame(params...))
	})
}

func cursor(session, name string, params ...raw.Param) step {
	return with(session, "open a cursor on", name, func(s *raw.Stmt) (outcome, error) {
		return answered(s.Execute(raw.CursorReadOnly, params...))
	})
}

func fetch(session, name string, n uint32) step {
	return with(session, fmt.Sprintf("fetch %d rows of", n), name, func(s *raw.Stmt) (outcome, error) {
		r, err := s.Fetch(n)
		if err != nil {
			return outcome{}, err
		}
		return answered(raw.Answer{r}, nil)
	})
}

func long(session, name string, param uint16, data string) step {
	return with(session, "send long data to", name, func(s *raw.Stmt) (outcome, error) {
		return outcome{}, s.SendLongData(param, []byte(data))
	})
}

func resetStmt(session, name string) step {
	return with(session, "COM_STMT_RESET", name, func(s *raw.Stmt) (outcome, error) { return answered(s.Reset()) })
}

func closeStmt(session, name string) step {
	return with(session, "COM_STMT_CLOSE", name, func(s *raw.Stmt) (outcome, error) { return outcome{}, s.Close() })
}

// foreign executes another session's statement by its id, which means nothing here.
func foreign(session string, id uint32) step {
	return step{session: session, name: fmt.Sprint("execute the id ", id), do: func(_ *player, c *raw.Client) (outcome, error) {
		return answered(raw.Unprepared(c, id).Execute(raw.NoCursor))
	}}
}

// load sends LOAD DATA LOCAL with the content of the client's file.
func load(session, sql, content string, chunk int) step {
	return step{session: session, name: sql, do: func(_ *player, c *raw.Client) (outcome, error) {
		c.LocalFile, c.LocalChunk = []byte(content), chunk
		return answered(c.Query(sql))
	}}
}

// quiet sends a text whose answer differs from run to run and only tells
// whether it failed.
func quiet(session, sql string) step {
	return step{session: session, name: shorten(sql), do: func(p *player, c *raw.Client) (outcome, error) {
		a, err := c.Query(p.expand(sql))
		short := "OK"
		if a.Err() != nil {
			short = fmt.Sprint("ERR ", a.Code())
		}
		return outcome{short + "\n", short}, err
	}}
}

// remember keeps the first value of an answer as ${name}.
func remember(session, name, sql string) step {
	return step{session: session, name: sql, do: func(p *player, c *raw.Client) (outcome, error) {
		a, err := c.Query(p.expand(sql))
		p.vars[name] = a.Value()
		return outcome{fmt.Sprintf("code %d\n", a.Code()), ""}, err
	}}
}
