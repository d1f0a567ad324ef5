package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"
)

// promise is what a mode says that a read sees.
type promise int

const (
	nothing promise = iota
	soon            // the user's own comments, for a while after the write
	own             // the user's own comments
	all             // every comment acknowledged before the read began
)

// mode is one way to protect reads.
type mode struct {
	name    string
	promise promise
	routing string // lines of [routing]
	carry   carrier
	pinned  bool // each user has a connection of his own, as no application with a pool has
}

// carrier is how the application takes what it knows from the connection of a
// write to that of a read. What is nil does nothing.
type carrier struct {
	written func(context.Context, *sql.Conn, *user) error // after an acknowledged write
	before  func(context.Context, *sql.Conn, *user) error // before a write or read
	comment func(u *user, write bool) string              // goes before the statement
}

// classes are those that modes name. Who holds no token may read data of any age,
// so that modes differ only by what they do about writes.
const classes = `
[[class]]
name = "EVENTUAL"
consistency = "eventual"
on_lag = ["stale"]
budget_share = 0
lag_limit = "1h"
promote_on_token = false
[[class]]
name = "SOURCE"
consistency = "source"
`

const globalClass = `
[[class]]
name = "GLOBAL"
consistency = "global"
on_lag = ["wait:10ms", "source", "wait:1s", "error"]
budget_share = 1
`

// config is what the mode's Causeway is told beside the README's lines.
func (m mode) config() string {
	text := "[routing]\nmax_staleness = \"0s\"\n" + m.routing + classes
	if m.routing == useGlobal {
		text += globalClass
	}
	return text
}

const (
	useEventual = "default_class = \"EVENTUAL\"\n"
	useGlobal   = "default_class = \"GLOBAL\"\n"
	useCarried  = "scope = \"carried\"\n" // what others wrote on the same connection is not the user's
)

// modes are all rows, in the order of the table.
var modes = []mode{
	{name: "no protection", routing: useEventual},
	{name: "cookie 3s", promise: soon, routing: useEventual, carry: cookie(3 * time.Second)},
	{name: "cookie 10s", promise: soon, routing: useEventual, carry: cookie(10 * time.Second)},
	{name: "sticky 3s by key", promise: own, routing: "sticky = \"3s\"\n", carry: key},
	{name: "sticky 10s by key", promise: own, routing: "sticky = \"10s\"\n", carry: key},
	{name: "own connection", promise: own, pinned: true},
	{name: "token in a variable", promise: own, routing: useCarried, carry: tokenVariable},
	{name: "token in a comment", promise: own, routing: useCarried, carry: tokenComment},
	{name: "key", promise: own, carry: key},
	{name: "scope user", promise: all, routing: "scope = \"user\"\n"},
	{name: "scope proxy", promise: all, routing: "scope = \"proxy\"\n"},
	{name: "global", promise: all, routing: useGlobal},
}

// cookie is what web teams build without a proxy that helps: the application
// notes when a user wrote, and reads from the source for so long.
func cookie(window time.Duration) carrier {
	return carrier{comment: func(u *user, write bool) string {
		if write || u.wrote.IsZero() || time.Since(u.wrote) >= window {
			return ""
		}
		return "/*causeway_class='SOURCE'*/ "
	}}
}

var errNoToken = errors.New("SELECT @causeway_token answers nothing after a write")

// fetchToken asks the connection of the write what a later read must see.
func fetchToken(ctx context.Context, c *sql.Conn, u *user) error {
	var token sql.NullString
	if err := c.QueryRowContext(ctx, "SELECT @causeway_token").Scan(&token); err != nil {
		return err
	}
	if token.String == "" {
		return errNoToken
	}
	u.token = token.String
	return nil
}

// tokenVariable and tokenComment hand in the user's token with writes, too, and an empty
// one for who has none: it tells Causeway that the connection is another user's now, so
// that his token will not have the writes of those before him.
var tokenVariable = carrier{written: fetchToken, before: func(ctx context.Context, c *sql.Conn, u *user) error {
	_, err := c.ExecContext(ctx, "SET @causeway_token = ?", u.token)
	return err
}}

var tokenComment = carrier{written: fetchToken, comment: func(u *user, _ bool) string {
	return "/*causeway_token='" + url.QueryEscape(u.token) + "'*/ "
}}

// key names the user in each statement; nothing is kept in the application.
var key = carrier{comment: func(u *user, _ bool) string {
	return fmt.Sprintf("/*causeway_key='user%%3A%d'*/ ", u.id)
}}
