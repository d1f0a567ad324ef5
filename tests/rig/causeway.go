package rig

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Causeway is one running Causeway in front of a cluster.
type Causeway struct {
	*Proc
	Addr string // MySQL protocol
	HTTP string // /metrics, /readyz
}

const causewayConfig = `[listen]
mysql = %q
http = %q

[cluster]
servers = [%s]

[monitor]
user = "monitor"
password = "monitor_pw"

[[users]]
name = %q
password = %q
`

// StartCauseway builds the binary, or takes the one that CAUSEWAY_BIN names,
// starts it on free ports with more lines of configuration appended, and
// returns once /readyz says that it serves.
func StartCauseway(ctx context.Context, dir string, c *Cluster, more string) (*Causeway, error) {
	program := os.Getenv("CAUSEWAY_BIN")
	var err error
	if program == "" {
		if program, err = Build(ctx, dir, "."); err != nil {
			return nil, err
		}
	}
	cw := &Causeway{}
	if cw.Addr, err = FreeAddr(); err != nil {
		return nil, err
	}
	if cw.HTTP, err = FreeAddr(); err != nil {
		return nil, err
	}
	var servers []string
	for _, addr := range c.Nodes() {
		servers = append(servers, strconv.Quote(addr))
	}
	path := filepath.Join(dir, "causeway.toml")
	text := fmt.Sprintf(causewayConfig, cw.Addr, cw.HTTP, strings.Join(servers, ", "), AppUser, AppPassword) + more
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, err
	}
	if cw.Proc, err = Start(dir, "causeway-run", program, "serve", "--config", path); err != nil {
		return nil, err
	}
	if err := cw.await(30*time.Second, func() error { _, err := cw.get(ctx, "/readyz"); return err }); err != nil {
		_ = cw.Stop()
		return nil, err
	}
	return cw, nil
}

// get fetches a page of Causeway's HTTP port; any status but 200 is an error.
func (cw *Causeway) get(ctx context.Context, page string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+cw.HTTP+page, nil)
	if err != nil {
		return "", err
	}
	req.Close = true // an idle connection would count among Causeway's goroutines
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s: %s", page, resp.Status, strings.TrimSpace(string(body)))
	}
	return string(body), nil
}

// Metrics is one reading of /metrics: the values of all series by name, the
// series that differ in labels only added up.
type Metrics map[string]float64

// Metrics reads /metrics.
func (cw *Causeway) Metrics(ctx context.Context) (Metrics, error) {
	text, err := cw.get(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	return parseMetrics(text)
}

// parseMetrics reads Prometheus' text format: name{labels} value.
func parseMetrics(text string) (Metrics, error) {
	m := Metrics{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value := line, line
		if i := strings.IndexAny(line, "{ "); i > 0 {
			name = line[:i]
		}
		if i := strings.LastIndexByte(line, ' '); i > 0 {
			value = line[i+1:]
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, fmt.Errorf("metrics line %q: %w", line, err)
		}
		m[name] += v
	}
	return m, nil
}
