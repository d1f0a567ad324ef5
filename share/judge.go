package share

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// Distrust is why an answer of the store does not tell all that a read must see.
type Distrust string

// The reasons; Trusted is none.
const (
	Trusted     Distrust = ""
	NoAnswer    Distrust = "no_answer"    // or an answer that cannot be read
	NotJoined   Distrust = "not_joined"   // this process holds no lease
	NotWritable Distrust = "not_writable" // a replica of the store answered
	NoFloor     Distrust = "no_floor"     // what expired or got lost is not covered
	Leaseless   Distrust = "leaseless"    // a member may acknowledge without publishing
	OtherList   Distrust = "other_list"   // a member goes by another list of members
	Unlisted    Distrust = "unlisted"     // a member that is not on the list
)

// judge tells whether a sight shows everything that any member has acknowledged, and
// if not, why, and which member that is about.
func judge(s *Sight, members []string, list string) (Distrust, string) {
	switch {
	case s.Life == "":
		return NotWritable, ""
	case s.Floor.Life != s.Life || s.Floor.Until <= s.Now:
		return NoFloor, ""
	}
	for _, name := range members {
		l, ok := s.Leases[name]
		switch {
		case !ok || !l.holds(s):
			return Leaseless, name
		case l.List != list:
			return OtherList, name
		}
	}
	for name, l := range s.Leases {
		if l.holds(s) && !slices.Contains(members, name) {
			return Unlisted, name
		}
	}
	return Trusted, ""
}

// holds tells whether a lease holds at a sight: one that was copied to a server that
// took over is of another life.
func (l Lease) holds(s *Sight) bool { return l.Life == s.Life && l.End > s.Now }

// digestOf names a list of members, whatever its order.
func digestOf(members []string) string {
	sorted := slices.Sorted(slices.Values(members))
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(sorted, "\x00"))))[:16]
}

// AllowLease is the store's side of a LeaseOrder, for stores that are not made of
// scripts: what Lua says in package store.
func AllowLease(s *Sight, o *LeaseOrder) Verdict {
	held, ok := s.Leases[o.Name]
	switch {
	case s.Life == "" || s.Life != o.Lease.Life:
		return OtherLife
	case o.Lease.End <= s.Now:
		return Late
	case ok && held.holds(s) && held.Proc != o.Lease.Proc:
		return Taken
	}
	return Done
}

// AllowPublish is the store's side of a PublishOrder.
func AllowPublish(s *Sight, o *PublishOrder) Verdict {
	held, ok := s.Leases[o.Name]
	switch {
	case s.Life == "" || s.Life != o.Life:
		return OtherLife
	case !ok || !held.holds(s) || held.Proc != o.Proc:
		return NoLease
	}
	return Done
}
