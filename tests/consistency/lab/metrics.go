package lab

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Metrics is one sample of a /metrics page: series as written there, with
// labels, to value.
type Metrics map[string]float64

// Scrape reads a page in Prometheus' text format.
func Scrape(ctx context.Context, url string) (Metrics, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("scrape %s: %s", url, resp.Status)
	}
	return ParseMetrics(resp.Body)
}

// ParseMetrics reads Prometheus' text format. Comments are skipped.
func ParseMetrics(r io.Reader) (Metrics, error) {
	m := Metrics{}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		line := strings.TrimSpace(sc.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		cut := strings.LastIndexByte(line, ' ')
		if cut < 0 {
			return nil, fmt.Errorf("metrics: no value in %q", line)
		}
		v, err := strconv.ParseFloat(line[cut+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("metrics: %q: %w", line, err)
		}
		m[strings.TrimSpace(line[:cut])] = v
	}
	return m, sc.Err()
}

// Sum adds up the series of a metric whose labels contain all the given
// fragments, each written as in the page: target="source".
func (m Metrics) Sum(name string, labels ...string) float64 {
	total := 0.0
	for series, v := range m {
		base, rest, _ := strings.Cut(series, "{")
		if base == name && containsAll(rest, labels) {
			total += v
		}
	}
	return total
}

// Matching returns the series of a metric with their values, for messages.
func (m Metrics) Matching(prefix string) Metrics {
	out := Metrics{}
	for series, v := range m {
		if strings.HasPrefix(series, prefix) && v != 0 {
			out[series] = v
		}
	}
	return out
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
