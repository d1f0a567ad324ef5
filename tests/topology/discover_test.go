package topology

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/session/raw"
	"causeway/wire"
)

// TestDiscovery: a replica that is set up later is found, and serves.
func TestDiscovery(t *testing.T) {
	lay(t)
	later := shared.Replica(2)
	check.Must(t, later.Exec(check.Patience(t), "STOP REPLICA; RESET REPLICA ALL"))
	t.Cleanup(func() {
		check.Must(t, later.Attach())
		check.Must(t, shared.WaitCaughtUp(check.Patience(t)))
	})
	check.Until(t, "the source notices that it left", func() bool { // when it has something to send
		check.Must(t, shared.Source().Exec(check.Patience(t), "INSERT INTO topo.t VALUES (-1, 1) ON DUPLICATE KEY UPDATE v = v + 1"))
		n, err := shared.Source().Value(check.Patience(t), "SELECT COUNT(*) FROM performance_schema.processlist WHERE COMMAND LIKE 'Binlog Dump%'")
		check.Must(t, err)
		return n == "1"
	})
	p := start(t, "discover = true\n", shared.Source(), shared.Replica(1))
	check.Until(t, "the source was asked", func() bool { return p.Status("Discovery") == "on" })
	if p.node(later.Addr) != nil {
		t.Error("it is listed although it replicates from nowhere")
	}
	l := p.load()
	check.Must(t, later.Attach())
	check.Until(t, "it is found", func() bool { return p.node(later.Addr) != nil })
	p.serves(later)
	if row := p.node(later.Addr); row["From"] != "discovery" || row["Role"] != "replica" {
		t.Errorf("%v", row)
	}
	check.Until(t, "it is read from", func() bool { return p.reads(later) > 0 })
	p.Run("CAUSEWAY REMOVE SERVER '%s'", later.Addr)
	time.Sleep(3 * time.Second) // longer than between two looks
	if p.node(later.Addr) != nil {
		t.Error("what an operator took out was discovered again")
	}
	l.end()
}

// TestDiscoveryRefusesForeign: an address that leads to a server of another
// cluster is listed with the reason, and gets neither reads nor writes.
func TestDiscoveryRefusesForeign(t *testing.T) {
	lay(t)
	foreign := cluster.Start(t, cluster.Options{Replicas: cluster.NoReplicas}).Source()
	check.Must(t, foreign.Exec(check.Patience(t), "CREATE DATABASE topo; CREATE TABLE topo.t (id BIGINT PRIMARY KEY, v INT NOT NULL); INSERT INTO topo.t VALUES (7, 666)"))
	before, err := foreign.Executed(check.Patience(t))
	check.Must(t, err)
	register(t, foreign.Port)
	p := start(t, "discover = true\n", shared.Nodes()...)
	l := p.load()
	const why = "excluded: discovered, but it replicates from nowhere"
	check.Until(t, "it is listed with the reason", func() bool { return strings.HasPrefix(p.node(foreign.Addr)["State"], why) })
	l.await(50 * clients)
	l.end()
	if row := p.node(foreign.Addr); row["Role"] != "unknown" || row["Reads"] != "0" || !strings.HasPrefix(row["State"], why) {
		t.Errorf("%v", row)
	}
	after, err := foreign.Executed(check.Patience(t))
	check.Must(t, err)
	if after != before {
		t.Errorf("it was written to: %s", after)
	}
	if got := p.Status("Source"); got != shared.Source().Addr {
		t.Errorf("the source is %s", got)
	}
}

// register tells the source, as a replica does at its start, that it is a
// replica and listens at that port.
//
// https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_register_replica.html
func register(t *testing.T, port int) {
	t.Helper()
	c := cluster.OpenRaw(t, raw.Options{Addr: shared.Source().Addr, Timeout: 10 * time.Second})
	const comRegisterReplica = wire.Command(0x15)
	payload := binary.LittleEndian.AppendUint32(nil, 999_999) // server_id
	for _, s := range []string{"127.0.0.1", "", ""} {         // host, user, password
		payload = append(append(payload, byte(len(s))), s...)
	}
	payload = binary.LittleEndian.AppendUint16(payload, uint16(port))
	payload = append(payload, make([]byte, 8)...) // rank, the source's id
	a, err := c.Command(comRegisterReplica, payload)
	check.Must(t, err)
	check.Must(t, a.Err())
}
