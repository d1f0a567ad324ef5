package server

import (
	"strings"
	"time"

	"causeway/backend"
	"causeway/balance"
	"causeway/classifier"
	"causeway/gtid"
	"causeway/scope"
	"causeway/wire"
)

// Monotonic reads: a session, or a key, never sees an older state than it saw
// before, whichever server answered. Positions only grow within a server's life, so
// as long as reads stay on one server nothing need be known. When one goes to
// another, that must have what the first had shown by the end of the read there: it
// is asked for that then.

// noteSeen notes what the statement that runs may have read, and where: before its
// client has the end of the answer, for what he does then on another connection must
// see no less.
func (s *session) noteSeen() {
	class, c := s.runs.Load(), s.current
	if !s.srv.monotonic || class == nil || !readsRows(class) {
		return
	}
	r := scope.Read{Addr: c.Node.Addr, Generation: c.Node.Incarnation.Generation, End: time.Now()}
	s.saw.Note(r)
	if s.common.key != "" { // also of a class that is not monotonic: those that are must not fall behind it
		s.keyEntry(s.view()).Saw(r)
	}
}

// readsRows leaves out what only writes: its GTIDs are in the token.
func readsRows(c *classifier.Class) bool {
	switch c.Kind {
	case classifier.Read, classifier.ReadSource, classifier.LockingRead, classifier.Call, classifier.TextPrepare,
		classifier.Handler, classifier.Do, classifier.Unknown:
		return !c.Is(classifier.NoTable)
	}
	return c.Is(classifier.MultiStatement)
}

// keyEntry is what is kept of the statement's key; it is made if there is none.
func (s *session) keyEntry(v *backend.View) *scope.Entry {
	return s.srv.scopes.keys.Open(s.common.key, gtid.Token{Set: s.srv.floorSet(v), Epoch: v.Epoch}, time.Now())
}

// allSeen is what holds for a monotonic read. What a failover has lost of it nobody
// will have again.
func (s *session) allSeen(v *backend.View) []*scope.Seen {
	all := append(make([]*scope.Seen, 0, 2), &s.saw)
	if s.common.key != "" {
		all = append(all, &s.keyEntry(v).Seen)
	}
	if base := s.srv.acked.base.Load(); base != nil {
		for _, seen := range all {
			seen.Compare(base.has, base.source)
		}
	}
	return all
}

// holdToSeen adds to a need what a monotonic read must see. If all that is not
// known of it was read on one server, and that qualifies, the read goes there
// again and nobody is asked: then its connection is returned. barred: the warm-up
// keeps the read from replicas.
func (s *session) holdToSeen(v *backend.View, need *balance.Need, tried []string, barred bool) (*backend.Conn, error) {
	if !s.contract.monotonic || need.AnyLive {
		return nil, nil
	}
	all := s.allSeen(v)
	var buf [8]scope.Read
	floor, reads := floorOf(v, all, buf[:0])
	if len(tried) == 0 && !barred {
		if n := s.sameReplica(v, *need, floor, reads); n != nil {
			if c, err := s.replicaConn(n, false); err == nil {
				n.Live.Picks.Add(1)
				return c, nil
			}
		}
	}
	if len(reads) > 0 {
		var err error
		if floor, err = s.seenBut(v, scope.Read{}); err != nil {
			return nil, err
		}
	}
	s.demanded.mustSee(floor, need)
	return nil, nil
}

// mustSee makes what was seen before part of what a read must see.
func (d *demand) mustSee(floor gtid.Set, need *balance.Need) {
	d.seen = floor
	need.Token = need.Token.Union(floor)
}

// sameReplica is the replica that served all of the reads, if it qualifies.
func (s *session) sameReplica(v *backend.View, need balance.Need, floor gtid.Set, reads []scope.Read) *backend.Node {
	addr, one := sameServer(reads)
	if !one {
		return nil
	}
	n := v.Node(addr)
	if n == nil || n.Role != backend.RoleReplica || n.Incarnation.Generation != reads[0].Generation {
		return nil
	}
	need.Token = need.Token.Union(floor)
	n, _ = balance.Pick(s.srv.opts.Policy, []*backend.Node{n}, need, 0)
	return n
}

// foreseeSeen is holdToSeen for EXPLAIN CAUSEWAY: it asks nobody, and makes no entry of
// a key. A server's position as last seen stands for what it would say.
func (s *session) foreseeSeen(v *backend.View, c *contract, need balance.Need) (floor gtid.Set, again *backend.Node) {
	if !c.monotonic || need.AnyLive {
		return gtid.Set{}, nil
	}
	all := []*scope.Seen{&s.saw}
	if e := s.srv.scopes.keys.Find(s.common.key); s.common.key != "" && e != nil {
		all = append(all, &e.Seen)
	}
	floor, reads := floorOf(v, all, nil)
	again = s.sameReplica(v, need, floor, reads)
	for _, r := range reads {
		if n := v.Node(r.Addr); n.Usable() && n.Incarnation.Generation == r.Generation {
			floor = floor.Union(n.Position)
		} else {
			floor = floor.Union(v.SourcePosition)
		}
	}
	return floor, again
}

// seenBut is what a monotonic read must see, but for what was read on one life of one
// server. Their servers are asked for what is not known of it.
func (s *session) seenBut(v *backend.View, here scope.Read) (gtid.Set, error) {
	all := s.allSeen(v)
	_, reads := floorOf(v, all, nil)
	for _, r := range reads {
		if r.Addr == here.Addr && r.Generation == here.Generation {
			continue
		}
		if err := s.settleSeen(all, r); err != nil {
			return gtid.Set{}, err
		}
	}
	floor, _ := floorOf(v, all, nil)
	return floor, nil
}

// floorOf unites the floors, and gathers the reads that are not in them yet.
func floorOf(v *backend.View, all []*scope.Seen, reads []scope.Read) (floor gtid.Set, left []scope.Read) {
	for _, seen := range all {
		var token gtid.Token
		token, reads = seen.Floor(reads)
		floor = floor.Union(valid(token, v))
	}
	return floor, reads
}

// sameServer tells whether all reads were on one life of one server.
func sameServer(reads []scope.Read) (addr string, one bool) {
	if len(reads) == 0 {
		return "", false
	}
	for _, r := range reads {
		if r.Addr != reads[0].Addr || r.Generation != reads[0].Generation {
			return "", false
		}
	}
	return reads[0].Addr, true
}

// settleSeen learns what a read may have seen, and makes it part of the floor. For a
// server that cannot be asked, or is not what it was, the source will do: a replica
// has nothing that its source has not.
func (s *session) settleSeen(all []*scope.Seen, r scope.Read) error {
	set, v, err := s.visibleOn(r)
	if err != nil {
		return wire.NewError(wire.ErrServerIsntAvailable,
			"Causeway: class %s has monotonic reads, and neither %s, which the last was served by, nor the source tells what it has shown (%s); see SHOW CAUSEWAY SERVERS",
			s.contract.class.Name, r.Addr, backend.Reason(err))
	}
	for _, seen := range all {
		seen.Settle(v.Epoch, lostKey(v), func(x scope.Read) (gtid.Set, bool) {
			return set, x.Addr == r.Addr && x.Generation == r.Generation && !x.End.After(r.End)
		})
	}
	return nil
}

// visibleOn asks, and returns the view of which the answer is: the source did not
// change meanwhile.
func (s *session) visibleOn(r scope.Read) (set gtid.Set, v *backend.View, err error) {
	for again := true; again && err == nil; again = lostKey(s.view()) != lostKey(v) {
		v = s.view()
		set, err = s.visibleIn(v, r)
	}
	return set, v, err
}

func (s *session) visibleIn(v *backend.View, r scope.Read) (gtid.Set, error) {
	if n := v.Node(r.Addr); n.Usable() && n.Role == backend.RoleReplica && n.Incarnation.Generation == r.Generation {
		if c, err := s.replicaConn(n, true); err == nil {
			if set, err := s.visible(c); err == nil {
				return set, nil
			}
		}
	}
	c, err := s.homeConn(time.Now(), false)
	if err != nil {
		return gtid.Set{}, err
	}
	return s.visible(c)
}

// visible is all that readers of a connection's server may have seen by now. A
// commit shows before its GTID is in gtid_executed, and until it is there it is in
// gtid_owned: so that is read first. It also has what is not visible yet; too much
// is asked for then, never too little.
func (s *session) visible(c *backend.Conn) (gtid.Set, error) {
	s.bound(c)
	defer c.SetDeadline(noDeadline)
	row, err := c.Query("SELECT @@GLOBAL.gtid_owned,@@GLOBAL.gtid_executed")
	if err == nil && len(row) != 2 {
		err = errString("no answer")
	}
	if err != nil {
		c.Broken = true
		return gtid.Set{}, err
	}
	owned, err := gtid.Parse(withoutOwners(row[0]))
	if err != nil {
		return gtid.Set{}, err
	}
	executed, err := gtid.Parse(row[1])
	return executed.Union(owned), err
}

// withoutOwners takes the threads out of gtid_owned: "uuid:5#15:6#16" is uuid:5:6.
func withoutOwners(owned string) string {
	var out strings.Builder
	for owned != "" {
		text, rest, found := strings.Cut(owned, "#")
		out.WriteString(text)
		if !found {
			break
		}
		owned = strings.TrimLeft(rest, "0123456789")
	}
	return out.String()
}
