package admin

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"causeway/backend"
)

func node(addr string, role backend.Role, up bool, exclude string) *backend.Node {
	return &backend.Node{Addr: addr, Role: role, Up: up, Exclude: exclude}
}

func view(nodes ...*backend.Node) *backend.View { return &backend.View{Nodes: nodes} }

func TestReady(t *testing.T) {
	source := node("s:1", backend.RoleSource, true, "")
	replica := node("r:1", backend.RoleReplica, true, "")
	joining := node("r:2", backend.RoleReplica, true, "joining: waits for the source's position")
	down := node("r:3", backend.RoleReplica, false, "")
	unknown := node("u:1", backend.RoleUnknown, true, "")
	up := Status{Listening: true}
	const noNode = "neither a source nor a usable replica is known"
	cases := []struct {
		name    string
		view    *backend.View
		status  Status
		reasons []string
	}{
		{"source and replica", view(source, replica), up, nil},
		{"source alone", view(source, down), up, nil},
		{"replica alone", view(replica), up, nil},
		{"not listening", view(source), Status{}, []string{"the MySQL port is not open"}},
		{"draining", view(source), Status{Listening: true, Draining: true}, []string{"shutting down: no new clients"}},
		{"nothing known", nil, up, []string{noNode}},
		{"no nodes", view(), up, []string{noNode}},
		{"joining replica", view(joining), up, []string{noNode}},
		{"dead replica", view(down), up, []string{noNode}},
		{"unknown role", view(unknown), up, []string{noNode}},
		{"all wrong", nil, Status{Draining: true}, []string{"the MySQL port is not open", "shutting down: no new clients", noNode}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			rec := get(t, newServer(c.view, c.status), "/readyz")
			var body readiness
			if err := json.Unmarshal(rec.Body.Bytes(), &body); err != nil {
				t.Fatalf("%v in %s", err, rec.Body)
			}
			want := http.StatusOK
			if len(c.reasons) > 0 {
				want = http.StatusServiceUnavailable
			}
			if rec.Code != want || body.Ready != (want == http.StatusOK) {
				t.Errorf("code %d, ready %v, want %d", rec.Code, body.Ready, want)
			}
			if got := strings.Join(body.Reasons, "|"); got != strings.Join(c.reasons, "|") {
				t.Errorf("reasons %q", body.Reasons)
			}
			if c.view != nil && len(body.Nodes) != len(c.view.Nodes) {
				t.Errorf("nodes %+v", body.Nodes)
			}
		})
	}
}

func TestReadyNamesTheReasons(t *testing.T) {
	s := newServer(view(
		node("s:1", backend.RoleSource, true, ""),
		node("r:1", backend.RoleReplica, false, ""),
		node("r:2", backend.RoleReplica, true, "replication filters"),
	), Status{Listening: true})
	var body readiness
	if err := json.Unmarshal(get(t, s, "/readyz").Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	want := []nodeStatus{{"s:1", "source", true, ""}, {"r:1", "replica", false, "does not answer"}, {"r:2", "replica", false, "replication filters"}}
	for i, w := range want {
		if body.Nodes[i] != w {
			t.Errorf("node %d: %+v, want %+v", i, body.Nodes[i], w)
		}
	}
}
