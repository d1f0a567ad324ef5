package clients

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// queriesTo reads from /metrics how many statements a kind of target has answered.
func queriesTo(ctx context.Context, addr, target string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	return sumOf(resp.Body, target)
}

// sumOf adds up causeway_queries_total over all reasons of a target.
func sumOf(page io.Reader, target string) (float64, error) {
	sum, found := 0.0, false
	lines := bufio.NewScanner(page)
	for lines.Scan() {
		line := lines.Text()
		if !strings.HasPrefix(line, "causeway_queries_total{") || !strings.Contains(line, fmt.Sprintf("target=%q", target)) {
			continue
		}
		v, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		if err != nil {
			return 0, fmt.Errorf("metrics line %q: %w", line, err)
		}
		sum, found = sum+v, true
	}
	if !found {
		return 0, fmt.Errorf("/metrics has no causeway_queries_total of target %q", target)
	}
	return sum, lines.Err()
}

func TestSumOf(t *testing.T) {
	const page = `# HELP causeway_queries_total x
causeway_queries_total{reason="read",target="replica"} 3
causeway_queries_total{reason="token",target="replica"} 4
causeway_queries_total{reason="write",target="source"} 9
`
	if n, err := sumOf(strings.NewReader(page), "replica"); err != nil || n != 7 {
		t.Errorf("got %v, %v", n, err)
	}
	if _, err := sumOf(strings.NewReader(page), "nosuch"); err == nil {
		t.Error("an unknown target passed")
	}
}
