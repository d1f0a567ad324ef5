package packets

import (
	"slices"
	"strings"
	"testing"

	"causeway/tests/cluster"
	"causeway/tests/session/raw"
	"causeway/wire"
)

// one connection to each node for all sessions, and one replica: where each
// statement goes is then known.
const one = `
[routing]
wait = "3s"
max_wait = "10s"

[pool]
max_connections = 1
min_idle = 0

[backend]
tls = "disabled"
`

// lab is what a test needs: sessions through Causeway, and the counter.
type lab struct {
	t       *testing.T
	cluster *cluster.Cluster
	addr    string
	count   *counter
}

func newLab(t *testing.T) *lab {
	c := cluster.Start(t, cluster.Options{Replicas: 1})
	x := &lab{t: t, cluster: c, count: &counter{}}
	addrs := []string{x.count.relay(t, "source", c.Source().Addr), x.count.relay(t, "replica", c.Replica(1).Addr)}
	x.addr = cluster.StartCausewayAt(t, addrs, one).Addr
	c.Lay(t,
		"CREATE DATABASE pk", "CREATE DATABASE pk2", "CREATE TABLE pk.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)",
		"INSERT INTO pk.t VALUES (1, 10)", "CREATE TABLE pk2.t LIKE pk.t", "INSERT INTO pk2.t VALUES (1, 1000)")
	return x
}

// session logs in, and gets its first connections.
func (x *lab) session(schema string) *raw.Client {
	c, err := raw.Dial(raw.Options{Addr: x.addr, User: cluster.AppUser, Password: cluster.AppPassword, DB: schema, Caps: raw.Modern | wire.CapMultiStatements})
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { c.Quit() })
	return c
}

// free runs statements whose packets do not count.
func (x *lab) free(c *raw.Client, texts ...string) {
	x.t.Helper()
	for _, sql := range texts {
		a, err := c.Query(sql)
		if err != nil || a.Err() != nil {
			x.t.Fatalf("%s: %v %v", sql, err, a.Err())
		}
	}
	x.done(c)
	x.count.take()
}

// done returns when the session's last statement is over for Causeway as well:
// then it reads the next command, and it answers COM_PING by itself.
func (x *lab) done(c *raw.Client) {
	x.t.Helper()
	if _, err := c.Ping(); err != nil {
		x.t.Fatal(err)
	}
}

// costs does something and wants these round trips, each with its commands.
// "own" stands for the text of the statement.
func (x *lab) costs(c *raw.Client, own string, do func() (raw.Answer, error), want ...string) {
	x.t.Helper()
	a, err := do()
	if err != nil || a.Err() != nil {
		x.t.Fatalf("%s: %v %v", own, err, a.Err())
	}
	x.done(c)
	got := x.count.take()
	for i := range got {
		node, list, _ := strings.Cut(got[i], ": ")
		commands := strings.Split(list, " | ")
		for j := range commands {
			if commands[j] == own {
				commands[j] = "own"
			}
		}
		got[i] = node + ": " + strings.Join(commands, " | ")
	}
	if !slices.Equal(got, want) {
		x.t.Errorf("%s\n went as   %q\n wanted    %q", own, got, want)
	}
}

// query is costs for a text.
func (x *lab) query(c *raw.Client, sql string, want ...string) raw.Answer {
	x.t.Helper()
	var a raw.Answer
	x.costs(c, sql, func() (answer raw.Answer, err error) { a, err = c.Query(sql); return a, err }, want...)
	return a
}
