package web

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/rig"
)

// startLimit is how long a server of a site may need until it listens; a JVM on
// a busy machine needs some time.
const startLimit = 2 * time.Minute

// site is one web application on several servers, as a load balancer would have
// them: every request goes to the next one.
type site struct {
	servers []*rig.Proc
	urls    []string
}

// startSite starts one server for each set of environment variables. All
// connect to the database at addr.
func startSite(t *testing.T, language, addr string, envs ...string) *site {
	t.Helper()
	s := &site{}
	dir := t.TempDir()
	for i, env := range envs {
		listen, err := rig.FreeAddr()
		check.Must(t, err)
		run := append(rig.ClientEnv(addr), "LISTEN="+listen, "TMPDIR="+dir, env, rig.Clients(), "run", "web/"+language)
		p, err := rig.Start(dir, fmt.Sprintf("%s-%d", language, i), "env", run...)
		check.Must(t, err)
		s.servers, s.urls = append(s.servers, p), append(s.urls, "http://"+listen)
		t.Cleanup(func() { s.end(t, p) })
	}
	for i, p := range s.servers {
		check.Must(t, p.AwaitPort(s.urls[i][len("http://"):], startLimit))
	}
	return s
}

// end stops a server; what it said is shown when the test failed.
func (s *site) end(t *testing.T, p *rig.Proc) {
	_ = p.Stop() // ended by a signal
	if text, err := os.ReadFile(p.Log); t.Failed() && err == nil {
		t.Logf("%s said:\n%s", p.Name, text[max(0, len(text)-3000):])
	}
}

const haproxyConfig = `defaults
    mode tcp
    balance roundrobin
    timeout connect 5s
    timeout client 60s
    timeout server 60s
listen causeways
    bind %s
    server a %s
    server b %s
`

// startBalancer runs HAProxy in front of two Causeways.
func startBalancer(t *testing.T, a, b string) string {
	t.Helper()
	tools, err := rig.Tools(t.Context())
	check.Must(t, err)
	addr, err := rig.FreeAddr()
	check.Must(t, err)
	dir := t.TempDir()
	config := filepath.Join(dir, "haproxy.cfg")
	check.Must(t, os.WriteFile(config, fmt.Appendf(nil, haproxyConfig, addr, a, b), 0o600))
	p, err := rig.Start(dir, "haproxy", filepath.Join(tools, "haproxy"), "-db", "-f", config)
	check.Must(t, err)
	t.Cleanup(func() { _ = p.Stop() })
	check.Must(t, p.AwaitPort(addr, startLimit))
	return addr
}
