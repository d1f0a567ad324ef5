package cases

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"causeway/tests/cluster"
	"causeway/tests/session/raw"
	"causeway/wire"
)

// outcome is what a step gave: all of it, for the comparison with MySQL, and
// in short, for what a script writes down.
type outcome struct{ full, short string }

// step is one thing that one session does.
type step struct {
	session string
	name    string
	do      func(p *player, c *raw.Client) (outcome, error)
	want    string // the short outcome; "": only compared
	node    string // source or replica; "": wherever
}

func (s step) is(want string) step { s.want = want; return s }
func (s step) at(node string) step { s.node = node; return s }

// line is "session: text => outcome @node", the last two as needed. A text that
// begins with a backslash is a command, see commands.
var line = regexp.MustCompile(`(?s)^(\w+): (.*?)(?: => ([^=>]*?))?(?: @(source|replica))?$`)

// steps makes a script of lines, steps and lists of steps.
func steps(parts ...any) []step {
	var all []step
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			m := line.FindStringSubmatch(p)
			if m == nil {
				panic("BUG: not a line of a script: " + p)
			}
			all = append(all, step{session: m[1], name: shorten(m[2]), do: action(m[2]), want: m[3], node: m[4]})
		case step:
			all = append(all, p)
		case []step:
			all = append(all, p...)
		default:
			panic(fmt.Sprintf("BUG: a script holds a %T", p))
		}
	}
	return all
}

// each makes a line for each text of one session.
func each(session string, texts ...string) []step {
	var all []step
	for _, t := range texts {
		all = append(all, steps(session+": "+t)...)
	}
	return all
}

// commands are what a line can ask for by a backslash and a word.
var commands = map[string]func(p *player, c *raw.Client, arg string) (outcome, error){
	"reset": func(_ *player, c *raw.Client, _ string) (outcome, error) { return answered(c.Reset()) },
	"ping":  func(_ *player, c *raw.Client, _ string) (outcome, error) { return answered(c.Ping()) },
	"use":   func(_ *player, c *raw.Client, arg string) (outcome, error) { return answered(c.InitDB(arg)) },
	"multi": func(_ *player, c *raw.Client, arg string) (outcome, error) {
		option := uint16(0)
		if arg == "off" {
			option = 1
		}
		return answered(c.SetOption(option))
	},
	"debug": func(_ *player, c *raw.Client, _ string) (outcome, error) {
		return answered(c.Command(wire.ComDebug, nil))
	},
	"fields": func(_ *player, c *raw.Client, arg string) (outcome, error) { return answered(c.FieldList(arg, "")) },
	// The account that scripts change to has its password in its name.
	"user": func(_ *player, c *raw.Client, arg string) (outcome, error) {
		user, schema, _ := strings.Cut(arg, " ")
		return outcome{"OK\n", "OK"}, c.ChangeUser(user, user+"_pw", schema)
	},
	"statistics": func(_ *player, c *raw.Client, _ string) (outcome, error) {
		_, err := c.Statistics()
		return outcome{"OK\n", "OK"}, err
	},
}

func action(text string) func(p *player, c *raw.Client) (outcome, error) {
	if !strings.HasPrefix(text, `\`) {
		return func(p *player, c *raw.Client) (outcome, error) { return answered(c.Query(p.expand(text))) }
	}
	word, arg, _ := strings.Cut(text[1:], " ")
	if word == "quit" || word == "drop" {
		return func(*player, *raw.Client) (outcome, error) { return outcome{}, nil } // see play
	}
	do := commands[word]
	if do == nil {
		panic("BUG: no such command: " + text)
	}
	return func(p *player, c *raw.Client) (outcome, error) { return do(p, c, arg) }
}

// answered tells an answer in full and in short: "ERR n", "OK", or all rows
// with their values, "none" if there are no rows.
func answered(a raw.Answer, err error) (outcome, error) {
	if err != nil {
		return outcome{full: a.String()}, err
	}
	var rows []string
	columns := false
	for _, r := range a {
		columns = columns || r.Columns != nil
		for _, row := range r.Rows {
			var values []string
			for _, v := range row {
				if v == nil {
					v = []byte("NULL")
				}
				values = append(values, string(v))
			}
			rows = append(rows, strings.Join(values, ","))
		}
	}
	short := strings.Join(rows, " | ")
	switch {
	case a.Err() != nil:
		short = fmt.Sprint("ERR ", a.Code())
	case !columns:
		short = "OK"
	case len(rows) == 0:
		short = "none"
	}
	return outcome{a.String(), short}, nil
}

// ending tells an error in words that do not depend on who closed how.
func ending(o outcome, err error) outcome {
	var refused *wire.Error
	switch {
	case err == nil:
	case errors.As(err, &refused):
		o.full += fmt.Sprintf("ERR %d (%s) %s\n", refused.Code, refused.State, refused.Message)
		o.short = fmt.Sprint("ERR ", refused.Code)
	case errors.Is(err, io.EOF), strings.Contains(err.Error(), "reset by peer"), strings.Contains(err.Error(), "broken pipe"):
		o.full, o.short = o.full+"CLOSED\n", "CLOSED"
	default:
		o.full, o.short = o.full+"CLIENT ERROR "+err.Error()+"\n", "CLIENT ERROR"
	}
	return o
}

// player runs one script.
type player struct {
	addr    string // of the sessions under test
	direct  bool   // addr is the source itself
	options map[string]func(*raw.Options)
	caps    wire.Capability
	clients map[string]*raw.Client
	stmts   map[string]*raw.Stmt
	vars    map[string]string
	noisy   map[string]bool // sessions whose last step left errors or warnings
	settle  func()          // waits until the replicas have what the source has
}

func (p *player) client(session string) (*raw.Client, error) {
	if c := p.clients[session]; c != nil {
		return c, nil
	}
	o := options(p.addr, p.caps)
	switch session {
	case "x":
		o.Addr = lab.cluster.Source().Addr
	case "root":
		o.Addr, o.User, o.Password = lab.cluster.Source().Addr, "root", ""
	}
	if change := p.options[session]; change != nil {
		change(&o)
	}
	c, err := raw.Dial(o)
	if err == nil {
		p.clients[session] = c
		p.vars["id of "+session] = fmt.Sprint(c.Greeting.ConnectionID)
	}
	return c, err
}

func options(addr string, caps wire.Capability) raw.Options {
	return raw.Options{Addr: addr, User: cluster.AppUser, Password: cluster.AppPassword, DB: "cases", Caps: caps, Timeout: 20 * time.Second}
}

// expand puts remembered values into a text.
func (p *player) expand(sql string) string {
	for name, v := range p.vars {
		sql = strings.ReplaceAll(sql, "${"+name+"}", v)
	}
	return sql
}

// seen is what one step gave, and where it ran.
type seen struct {
	outcome
	node, reason string
}

// play runs a script and returns what each step gave.
func (p *player) play(script []step) []seen {
	defer func() {
		for _, c := range p.clients {
			c.Quit()
		}
	}()
	var all []seen
	written := false
	for i, s := range script {
		if written && s.session != script[i-1].session && !p.direct {
			p.settle()
			written = false
		}
		if !outside(s.session) {
			p.letGo(s.session)
		}
		got := p.take(s)
		p.noisy[s.session] = !outside(s.session) && leftDiagnostics(got)
		all = append(all, got)
		written = written || writes.MatchString(s.name)
	}
	return all
}

// writes finds steps after which another session may read something new,
// rather too many than too few.
var writes = regexp.MustCompile(`(?i)\b(insert|update|delete|replace|load|call|writes|create|drop|alter|rename|truncate|commit|execute|autocommit|xa|release|quit|reset|user)\b|;`)

func (p *player) take(s step) seen {
	c, err := p.client(s.session)
	if err != nil {
		return seen{outcome: ending(outcome{}, err)}
	}
	switch s.name {
	case `\quit`:
		c.Quit()
	case `\drop`: // as a process that dies
		c.Close()
	}
	if s.name == `\quit` || s.name == `\drop` {
		delete(p.clients, s.session)
		return seen{}
	}
	o, err := s.do(p, c)
	got := seen{outcome: ending(o, err)}
	if got.short == "ERR 1040" && !p.direct {
		pins, _ := c.Query("SHOW CAUSEWAY PINS") // say who has the connection
		got.full += pins.String()
	}
	if s.node != "" && !p.direct && err == nil {
		got.node, got.reason = routeOf(c)
	}
	return got
}

// routeOf tells the role of the node that a session's last statement ran on,
// and why it ran there.
func routeOf(c *raw.Client) (role, reason string) {
	a, err := c.Query("SHOW CAUSEWAY ROUTE")
	if err != nil || len(a) == 0 {
		return "unknown", fmt.Sprint(err)
	}
	values := map[string]string{}
	for _, row := range a[0].Rows {
		values[string(row[0])] = string(row[1])
	}
	return values["Role"], values["Reason"]
}

func shorten(s string) string {
	if len(s) > 300 {
		return fmt.Sprintf("%s... (%d bytes)", s[:100], len(s))
	}
	return s
}
