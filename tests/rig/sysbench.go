package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Sysbench is one way to run sysbench's OLTP scripts against an address.
type Sysbench struct {
	Tools          string // from Tools
	Addr           string
	User, Password string
	Script         string // oltp_point_select, oltp_read_write, ...
	PSMode         string // disable: text protocol; auto: prepared statements
	Threads        int
	Tables, Rows   int
	Time           time.Duration
}

// SysbenchResult is what one run reported.
type SysbenchResult struct {
	Queries       int64
	QueriesPerSec float64
	TrxPerSec     float64 // that were committed
	Ignored       int64   // deadlocks and lock timeouts, which the script repeats
	Reconnects    int64
	AvgMS, P95MS  float64
}

// Prepare drops and creates the script's tables.
func (s Sysbench) Prepare(ctx context.Context) error {
	_, _ = s.command(ctx, "cleanup") // there may be nothing yet
	_, err := s.command(ctx, "prepare")
	return err
}

// Run runs the script and returns its report. Any error that sysbench does not
// itself repeat ends it and is returned with its output.
func (s Sysbench) Run(ctx context.Context) (SysbenchResult, error) {
	out, err := s.command(ctx, "run")
	if err != nil {
		return SysbenchResult{}, err
	}
	return parseSysbench(out)
}

func (s Sysbench) command(ctx context.Context, verb string) (string, error) {
	host, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return "", err
	}
	args := []string{
		s.Script + ".lua", "--db-driver=mysql", "--mysql-db=sbtest",
		"--mysql-host=" + host, "--mysql-port=" + port,
		"--mysql-user=" + s.User, "--mysql-password=" + s.Password,
		"--db-ps-mode=" + s.PSMode,
		fmt.Sprintf("--threads=%d", s.Threads),
		fmt.Sprintf("--tables=%d", s.Tables), fmt.Sprintf("--table-size=%d", s.Rows),
		fmt.Sprintf("--time=%d", int(s.Time.Seconds())), verb,
	}
	cmd := exec.CommandContext(ctx, filepath.Join(s.Tools, "sysbench"), args...)
	// The scripts load each other from the working folder.
	cmd.Dir = filepath.Join(s.Tools, "lua")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("sysbench %s %s at %s: %w\n%s", s.Script, verb, s.Addr, err, out.String())
	}
	return out.String(), nil
}

var (
	queriesLine    = regexp.MustCompile(`(?m)^\s+queries:\s+(\d+)\s+\(([\d.]+) per sec`)
	trxLine        = regexp.MustCompile(`(?m)^\s+transactions:\s+\d+\s+\(([\d.]+) per sec`)
	ignoredLine    = regexp.MustCompile(`(?m)^\s+ignored errors:\s+(\d+)`)
	reconnectsLine = regexp.MustCompile(`(?m)^\s+reconnects:\s+(\d+)`)
	avgLine        = regexp.MustCompile(`(?m)^\s+avg:\s+([\d.]+)`)
	p95Line        = regexp.MustCompile(`(?m)^\s+95th percentile:\s+([\d.]+)`)
)

// parseSysbench reads the report that sysbench 1.0 prints after a run.
func parseSysbench(out string) (SysbenchResult, error) {
	if strings.Contains(out, "FATAL:") {
		return SysbenchResult{}, fmt.Errorf("sysbench reported a fatal error:\n%s", out)
	}
	var r SysbenchResult
	err := errors.Join(
		scan(out, queriesLine, &r.Queries, &r.QueriesPerSec),
		scan(out, trxLine, &r.TrxPerSec),
		scan(out, ignoredLine, &r.Ignored),
		scan(out, reconnectsLine, &r.Reconnects),
		scan(out, avgLine, &r.AvgMS),
		scan(out, p95Line, &r.P95MS),
	)
	if err != nil {
		return r, fmt.Errorf("%w\n%s", err, out)
	}
	return r, nil
}

// scan stores the groups of a pattern's first match into *int64 and *float64.
func scan(text string, pattern *regexp.Regexp, into ...any) error {
	m := pattern.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("sysbench's report has no line like %s", pattern)
	}
	var err error
	for i, v := range into {
		switch v := v.(type) {
		case *int64:
			*v, err = strconv.ParseInt(m[i+1], 10, 64)
		case *float64:
			*v, err = strconv.ParseFloat(m[i+1], 64)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
