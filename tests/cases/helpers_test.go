package cases

import (
	"time"

	"causeway/tests/session/raw"
)

// dial connects as the script's sessions do; nil if that failed, which is noted.
func (e *env) dial(change ...func(*raw.Options)) *raw.Client {
	o := options(e.addr, e.caps)
	for _, f := range change {
		f(&o)
	}
	c, err := raw.Dial(o)
	if err != nil {
		e.errorf("no connection: %v", err)
		return nil
	}
	return c
}

// query runs a text that must succeed.
func (e *env) query(c *raw.Client, sql string) raw.Answer {
	a, err := c.Query(sql)
	if err != nil || a.Err() != nil {
		e.errorf("%s: %v %v", shorten(sql), err, a.Err())
	}
	return a
}

// want runs a text whose first value must be as given.
func (e *env) want(c *raw.Client, sql, value string) {
	if got := e.query(c, sql).Value(); got != value {
		e.errorf("%s gave %q, wanted %q", shorten(sql), shorten(got), value)
	}
}

// onSource asks the source itself, as root.
func (e *env) onSource(sql string) string {
	v, err := lab.cluster.Source().Value(e.t.Context(), sql)
	if err != nil {
		e.errorf("%v", err)
	}
	return v
}

// eventually waits until a condition holds.
func (e *env) eventually(what string, holds func() bool) {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if holds() {
			return
		}
	}
	e.errorf("not within 10 s: %s", what)
}
