package main

import (
	"fmt"
	"time"
)

// kind is a sort of client.
type kind int

const (
	own       kind = iota // writes its own row and reads it back at once
	unwritten             // F0 of a session that has written nothing
	listing               // F1
	report                // F2
	kindCount = iota
)

// contract is what a kind of client asks for, how often, and what it is promised.
type contract struct {
	name    string
	class   string
	alias   string // of the clock's column: names the kind in the source's own count of digests
	clients int
	pause   time.Duration // from one read to the next
	bound   time.Duration // on the age; 0: none but its own writes
}

// kinds make 40 reads of own rows, 20 others of F0, 100 of F1 and 40 of F2 a
// second: less than the budget has for F0, more than it has for F1.
var kinds = [kindCount]contract{
	own:       {name: "F0, own write", class: "F0", alias: "own_read", clients: 4, pause: 100 * time.Millisecond},
	unwritten: {name: "F0, no token", class: "F0", alias: "f0_read", clients: 2, pause: 100 * time.Millisecond, bound: 2 * time.Second},
	listing:   {name: "F1", class: "F1", alias: "f1_read", clients: 6, pause: 60 * time.Millisecond, bound: 2 * time.Second},
	report:    {name: "F2", class: "F2", alias: "f2_read", clients: 4, pause: 100 * time.Millisecond, bound: 10 * time.Second},
}

func (k kind) String() string { return kinds[k].name }

// clientCount is how many clients there are.
func clientCount() (n int) {
	for _, c := range kinds {
		n += c.clients
	}
	return n
}

// query is the read of a client. Its first column is the clock's value, a second
// one that of the client's own row.
func (k kind) query(id int) string {
	c := kinds[k]
	if k == own {
		return fmt.Sprintf("SELECT clock.value AS %s, own.value FROM clock, own WHERE own.id = %d /*causeway_class='%s'*/", c.alias, id, c.class)
	}
	return fmt.Sprintf("SELECT clock.value AS %s FROM clock /*causeway_class='%s'*/", c.alias, c.class)
}

// layout makes the tables, with a row for each client.
func layout() string {
	text := `CREATE DATABASE drill;
CREATE TABLE drill.clock (value INT NOT NULL); INSERT INTO drill.clock VALUES (0);
CREATE TABLE drill.own (id INT PRIMARY KEY, value INT NOT NULL);`
	for id := range clientCount() {
		text += fmt.Sprintf("INSERT INTO drill.own VALUES (%d, 0);", id)
	}
	return text
}
