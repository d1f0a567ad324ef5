package admin

import (
	"encoding/json"
	"io"
	"net/http"

	"causeway/backend"
)

// readiness is the body of /readyz.
type readiness struct {
	Ready   bool         `json:"ready"`
	Reasons []string     `json:"reasons"` // why not; empty if ready
	Nodes   []nodeStatus `json:"nodes"`
}

type nodeStatus struct {
	Addr   string `json:"addr"`
	Role   string `json:"role"`
	Usable bool   `json:"usable"`
	Reason string `json:"reason,omitempty"` // why it is not usable
}

// judge decides whether a load balancer should send clients here: the MySQL
// port is open, and at least reads can be answered. A source without replicas
// is enough, and so are replicas without a source, as reads go on there.
//
//	listening  draining  usable nodes     ready
//	yes        no        source           yes
//	yes        no        replica          yes
//	yes        no        none             no
//	no         no        source, replica  no
//	yes        yes       source, replica  no
func judge(v *backend.View, s Status) readiness {
	r := readiness{Reasons: []string{}, Nodes: []nodeStatus{}}
	if !s.Listening {
		r.Reasons = append(r.Reasons, "the MySQL port is not open")
	}
	if s.Draining {
		r.Reasons = append(r.Reasons, "shutting down: no new clients")
	}
	usable := false
	if v != nil {
		for _, n := range v.Nodes {
			one := nodeStatusOf(n)
			usable = usable || (one.Usable && n.Role != backend.RoleUnknown)
			r.Nodes = append(r.Nodes, one)
		}
	}
	if !usable {
		r.Reasons = append(r.Reasons, "neither a source nor a usable replica is known")
	}
	r.Ready = len(r.Reasons) == 0
	return r
}

func nodeStatusOf(n *backend.Node) nodeStatus {
	s := nodeStatus{Addr: n.Addr, Role: n.Role.String(), Usable: n.Usable(), Reason: n.Exclude}
	if !n.Up && s.Reason == "" {
		s.Reason = "does not answer"
	}
	return s
}

// ready answers 200 or 503, with the reasons in JSON.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	r := judge(s.opts.View(), s.opts.Status())
	w.Header().Set("Content-Type", "application/json")
	if !r.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	_ = out.Encode(r) // a client that left needs no answer
}

// health answers 200 for as long as the process can answer at all: a database
// that is down is no reason to restart the proxy.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok\n")
}
