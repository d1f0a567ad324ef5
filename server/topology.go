package server

import (
	"strconv"
	"strings"

	"causeway/backend"
	"causeway/wire"
)

// maxNodeWeight is the greatest weight that the configuration takes.
const maxNodeWeight = 1000

// topologyChange is one of the statements that change the list of nodes.
type topologyChange struct {
	verb   string // "add", "remove" or "weight"
	addr   string
	weight int // -1: not given
	zone   string
}

// parseTopology reads the words after CAUSEWAY:
//
//	ADD SERVER 'host:port' [WEIGHT n] [ZONE 'z']
//	REMOVE SERVER 'host:port'
//	SET WEIGHT 'host:port' = n
func parseTopology(words []string) (c topologyChange, ok bool) {
	if len(words) < 3 {
		return c, false
	}
	c = topologyChange{addr: words[2], weight: -1}
	switch rest := words[3:]; strings.Join(words[:2], " ") {
	case "add server":
		c.verb = "add"
		return c, c.readOptions(rest)
	case "remove server":
		c.verb = "remove"
		return c, len(rest) == 0
	case "set weight":
		c.verb = "weight"
		return c, len(rest) == 2 && rest[0] == "=" && c.readWeight(rest[1])
	}
	return c, false
}

// readOptions reads WEIGHT and ZONE, each at most once.
func (c *topologyChange) readOptions(words []string) bool {
	for ; len(words) >= 2; words = words[2:] {
		switch {
		case words[0] == "weight" && c.weight < 0:
			if !c.readWeight(words[1]) {
				return false
			}
		case words[0] == "zone" && c.zone == "" && words[1] != "":
			c.zone = words[1]
		default:
			return false
		}
	}
	return len(words) == 0
}

func (c *topologyChange) readWeight(word string) bool {
	n, err := strconv.Atoi(word)
	c.weight = n
	return err == nil && n >= 0 && n <= maxNodeWeight
}

// changeTopology serves such a statement.
func (s *session) changeTopology(c topologyChange) error {
	var err error
	switch c.verb {
	case "add":
		err = s.srv.opts.Monitor.AddServer(c.addr, c.weight, c.zone)
	case "remove":
		err = s.srv.opts.Monitor.RemoveServer(c.addr)
	default:
		err = s.setWeight(c)
	}
	if err != nil {
		return s.fail(asClientError(err))
	}
	s.log.Warn().Str("by", s.login.User).Str("node", c.addr).Str("change", c.verb).Int("weight", c.weight).Str("zone", c.zone).
		Msg("an operator changed the servers; that holds until Causeway restarts")
	return s.operated()
}

func (s *session) setWeight(c topologyChange) error {
	for _, n := range s.view().Nodes {
		if strings.EqualFold(n.Addr, c.addr) {
			n.Live.SetWeight(c.weight)
			return nil
		}
	}
	return wire.NewError(wire.ErrServerIsntAvailable, "Causeway: %s is no server of this cluster; SHOW CAUSEWAY SERVERS lists them", c.addr)
}

// goneNodes remembers nodes that were down when they were taken out: what still
// runs there is cut off as if they were listed. One goroutine uses it.
type goneNodes struct {
	last *backend.View
	down map[string]*backend.Node
}

// follow takes in the present view.
func (g *goneNodes) follow(v *backend.View) {
	if g.last != nil {
		for _, n := range g.last.Nodes {
			if !n.Up && v.Node(n.Addr) == nil {
				g.down[n.Addr] = n
			}
		}
	}
	g.last = v
}

// node is what is known of a node now, or was when it was taken out.
func (g *goneNodes) node(v *backend.View, addr string) *backend.Node {
	if n := v.Node(addr); n != nil {
		return n
	}
	return g.down[addr]
}

// dialFailed counts a connection to a node that failed.
func (s *Server) dialFailed(addr string) {
	s.dialed.LoadOrStore(addr, true)
	s.metrics.dialErrors.WithLabelValues(addr).Inc()
}

// forgetNodes drops what is kept by the address of nodes that are not there any more.
func (s *Server) forgetNodes(v *backend.View) {
	s.dialed.Range(func(key, _ any) bool {
		if addr := key.(string); v.Node(addr) == nil {
			s.dialed.Delete(addr)
			s.metrics.dialErrors.DeleteLabelValues(addr)
		}
		return true
	})
	s.refusals.Range(func(key, _ any) bool {
		if r, ok := key.(refusal); ok && v.Node(r.addr) == nil { // other keys are of clients
			s.refusals.Delete(key)
		}
		return true
	})
}
