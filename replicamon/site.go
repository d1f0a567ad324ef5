package replicamon

import (
	"time"

	"causeway/backend"
)

// site is what is said of a node, not found out: it outlives all its lives.
type site struct {
	addr   string
	weight int
	zone   string
	far    bool // in another zone than Causeway
	origin backend.Origin
	added  time.Time // while running; zero: it was there from the start
}

// siteOf is what the options say of a server, which may be one that they do not list.
func (o Options) siteOf(addr string) site {
	at := site{addr: addr, weight: 1, zone: o.Zones[addr]}
	if w, ok := o.Weights[addr]; ok {
		at.weight = w
	}
	at.far = o.isFar(at.zone)
	return at
}

// isFar: where Causeway has no zone all nodes are as near; where it has one, a
// node that has none stands elsewhere.
func (o Options) isFar(zone string) bool { return o.Zone != "" && zone != o.Zone }
