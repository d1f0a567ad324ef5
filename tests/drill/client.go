package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"causeway/tests/cluster"
	"causeway/tests/session/raw"
)

// outcome is what became of a read.
type outcome int

const (
	fresh   outcome = iota
	stale           // with a warning that says so
	refused         // by an error that names the budget
	failed          // by any other error
)

// read is one read of a client.
type read struct {
	kind     kind
	phase    phase
	at       time.Duration // since the drill began
	outcome  outcome
	role     string // of the node that answered
	fallback bool   // by Causeway's own words
	age      time.Duration
	missed   bool // its session had written a newer value of its own row
	err      string
}

// journal keeps all reads.
type journal struct {
	mu    sync.Mutex
	reads []read
}

func (j *journal) add(r read) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.reads = append(j.reads, r)
}

// client is one session, its own goroutine's.
type client struct {
	*raw.Client
	kind    kind
	id      int
	written int // the value that its row has
}

func dial(addr string) (*raw.Client, error) {
	return raw.Dial(raw.Options{Addr: addr, User: cluster.AppUser, Password: cluster.AppPassword, DB: "drill", Caps: raw.Modern})
}

// serve reads at the kind's pace until ctx ends. An error is one of the
// connection or of a write; a read that fails is part of the journal.
func (d *drill) serve(ctx context.Context, k kind, id int) error {
	conn, err := dial(d.causeway.Addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	c := &client{Client: conn, kind: k, id: id}
	every := time.NewTicker(kinds[k].pause)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
		}
		if err := d.turn(c); err != nil {
			return fmt.Errorf("client %d (%v): %w", id, k, err)
		}
	}
}

// turn is one read, after a write if the client is one that writes.
func (d *drill) turn(c *client) error {
	if c.kind == own {
		if err := c.write(); err != nil {
			return err
		}
	}
	began := time.Now()
	r := read{kind: c.kind, phase: phase(d.phase.Load()), at: began.Sub(d.began)}
	a, err := c.Query(c.kind.query(c.id))
	if err != nil {
		return err
	}
	if r.judgeError(a); r.err == "" {
		if err := d.fill(&r, a, c, began); err != nil {
			return err
		}
	}
	d.journal.add(r)
	return nil
}

// write changes the client's own row.
func (c *client) write() error {
	a, err := c.Query(fmt.Sprintf("UPDATE own SET value = %d WHERE id = %d", c.written+1, c.id))
	if err == nil {
		err = a.Err()
	}
	if err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	c.written++
	return nil
}

// judgeError tells a refusal from other errors.
func (r *read) judgeError(a raw.Answer) {
	err := a.Err()
	if err == nil {
		return
	}
	r.err, r.outcome = err.Error(), failed
	if strings.Contains(r.err, "fallback budget") {
		r.outcome = refused
	}
}

// fill notes what was answered, and asks Causeway who did.
func (d *drill) fill(r *read, a raw.Answer, c *client, began time.Time) error {
	value, err := strconv.Atoi(a.Value())
	if err != nil {
		return fmt.Errorf("the clock's value: %w", err)
	}
	r.age = d.clock.age(value, began)
	if a[0].Warnings > 0 {
		r.outcome = stale
	}
	if c.kind == own {
		mine, err := strconv.Atoi(string(a[0].Rows[0][1]))
		if err != nil {
			return fmt.Errorf("the own row's value: %w", err)
		}
		r.missed = mine < c.written
	}
	route, err := table(c.Client, "SHOW CAUSEWAY ROUTE")
	if err != nil {
		return err
	}
	for _, row := range route {
		switch row["Name"] {
		case "Role":
			r.role = row["Value"]
		case "Reason":
			r.fallback = row["Value"] == "fallback" || row["Value"] == "no_replica"
		}
	}
	return nil
}

// table asks Causeway for rows about itself, each by the columns' names.
func table(c *raw.Client, show string) ([]map[string]string, error) {
	a, err := c.Query(show)
	if err == nil {
		err = a.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", show, err)
	}
	var rows []map[string]string
	for _, cells := range a[0].Rows {
		row := map[string]string{}
		for i, col := range a[0].Columns {
			row[col.Name] = string(cells[i])
		}
		rows = append(rows, row)
	}
	return rows, nil
}
