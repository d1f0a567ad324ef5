package rig

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
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

// Metrics is one reading of /metrics: the value of each series, which is written
// as there, with its labels.
type Metrics map[string]float64

// ReadMetrics reads /metrics of the HTTP port at addr.
func ReadMetrics(ctx context.Context, addr string) (Metrics, error) {
	text, err := get(ctx, "http://"+addr+"/metrics")
	if err != nil {
		return nil, err
	}
	return parseMetrics(text)
}

// MustMetrics is ReadMetrics for a test, which ends if it fails.
func MustMetrics(t testing.TB, addr string) Metrics {
	t.Helper()
	m, err := ReadMetrics(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// parseMetrics reads Prometheus' text format: name{labels} value.
func parseMetrics(text string) (Metrics, error) {
	m := Metrics{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		cut := strings.LastIndexByte(line, ' ')
		if cut < 0 {
			return nil, fmt.Errorf("metrics line %q has no value", line)
		}
		v, err := strconv.ParseFloat(line[cut+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("metrics line %q: %w", line, err)
		}
		m[strings.TrimSpace(line[:cut])] = v
	}
	return m, nil
}

// Sum adds up the series of a metric whose labels contain all the given
// fragments, each written as in the page: target="source".
func (m Metrics) Sum(name string, labels ...string) float64 {
	total, _ := m.sum(name, labels)
	return total
}

// sum is Sum, and whether there is such a series at all.
func (m Metrics) sum(name string, labels []string) (total float64, found bool) {
	for series, v := range m {
		base, rest, _ := strings.Cut(series, "{")
		if base == name && containsAll(rest, labels) {
			total, found = total+v, true
		}
	}
	return total, found
}

// Minus returns the growth since an earlier sample.
func (m Metrics) Minus(before Metrics) Metrics {
	out := Metrics{}
	for series, v := range m {
		out[series] = v - before[series]
	}
	return out
}

func containsAll(s string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

// OnReplicas reads from /metrics of the HTTP port at addr how many statements
// replicas have answered, for whatever reason.
func OnReplicas(t testing.TB, addr string) float64 {
	t.Helper()
	n, err := MustMetrics(t, addr).queriesTo("replica")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (m Metrics) queriesTo(target string) (float64, error) {
	const name = "causeway_queries_total"
	n, found := m.sum(name, []string{fmt.Sprintf("target=%q", target)})
	if !found {
		return 0, fmt.Errorf("/metrics has no %s of target %q", name, target)
	}
	return n, nil
}
