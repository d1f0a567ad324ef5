package rig

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// get fetches a page; any status but 200 is an error.
func get(ctx context.Context, url string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
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
		return "", fmt.Errorf("%s: %s: %s", url, resp.Status, strings.TrimSpace(string(body)))
	}
	return string(body), nil
}

// Metrics is one reading of /metrics: the values of all series by name, the
// series that differ in labels only added up.
type Metrics map[string]float64

// ReadMetrics reads /metrics of the HTTP port at addr.
func ReadMetrics(ctx context.Context, addr string) (Metrics, error) {
	text, err := get(ctx, "http://"+addr+"/metrics")
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

// QueriesTo reads from /metrics of the HTTP port at addr how many statements a
// kind of target has answered, for whatever reason.
func QueriesTo(ctx context.Context, addr, target string) (float64, error) {
	text, err := get(ctx, "http://"+addr+"/metrics")
	if err != nil {
		return 0, err
	}
	return queriesTo(text, target)
}

func queriesTo(text, target string) (float64, error) {
	var mine strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(line, fmt.Sprintf("target=%q", target)) {
			mine.WriteString(line)
		}
	}
	const name = "causeway_queries_total"
	m, err := parseMetrics(mine.String())
	n, found := m[name]
	if err == nil && !found {
		err = fmt.Errorf("/metrics has no %s of target %q", name, target)
	}
	return n, err
}
