package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func (d *demo) startCluster(ctx context.Context) error {
	for _, port := range []int{d.mysqlPort, d.httpPort} {
		if c, err := net.Dial("tcp", loopback(port)); err == nil {
			_ = c.Close()
			return fmt.Errorf("port %d is in use; choose another: go run ./scripts/demo up --mysql PORT --http PORT", port)
		}
	}
	if err := os.MkdirAll(d.dir, 0o755); err != nil {
		return err
	}
	get := exec.CommandContext(ctx, "scripts/get-mysql")
	get.Stderr = &indenter{d.out}
	out, err := get.Output()
	if err != nil {
		return fmt.Errorf("scripts/get-mysql: %w", err)
	}
	d.client = strings.TrimSpace(string(out))
	if err := d.cluster(ctx, "--base", strconv.Itoa(d.base), "up"); err != nil {
		return err
	}
	return d.cluster(ctx, "status")
}

// cluster runs scripts/cluster for the demo's cluster and shows what it says.
func (d *demo) cluster(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "scripts/cluster", append([]string{"--dir", d.clusterDir()}, args...)...)
	cmd.Stdout, cmd.Stderr = &indenter{d.out}, &indenter{d.out}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("scripts/cluster %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// indenter shows a program's output as part of a step.
type indenter struct{ out io.Writer }

func (w *indenter) Write(p []byte) (int, error) {
	if _, err := w.out.Write([]byte(indent(string(p)))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// startCauseway leaves Causeway running in a session of its own, so that
// it outlives this program and the terminal's ^C.
func (d *demo) startCauseway(ctx context.Context) error {
	text := d.configText()
	if err := os.WriteFile(d.configFile(), []byte(text), 0o600); err != nil {
		return err
	}
	log, err := os.Create(d.logFile())
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(d.program, "serve", "--config", d.configFile())
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s (make build makes it): %w", d.program, err)
	}
	if err := os.WriteFile(d.pidFile(), []byte(strconv.Itoa(cmd.Process.Pid)), 0o644); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if err := d.awaitReady(ctx, ended); err != nil {
		return err
	}
	fmt.Fprint(d.out, indent(text))
	fmt.Fprintf(d.out, "\n  %s serve --config %s: ready, pid %d, log %s\n", d.program, d.configFile(), cmd.Process.Pid, d.logFile())
	return nil
}

func (d *demo) awaitReady(ctx context.Context, ended <-chan error) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		resp, err := http.Get("http://" + loopback(d.httpPort) + "/readyz")
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			err = errors.New(resp.Status)
		}
		select {
		case how := <-ended:
			return fmt.Errorf("causeway ended: %v\n%s", how, d.logTail())
		case <-ctx.Done():
			return fmt.Errorf("causeway is not ready: %w\n%s", err, d.logTail())
		case <-tick.C:
		}
	}
}

func (d *demo) logTail() string {
	text, _ := os.ReadFile(d.logFile())
	lines := strings.SplitAfter(string(text), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "")
}

// down ends what a former up left, and removes its folder. It is quiet when
// there is nothing.
func (d *demo) down() error {
	if _, err := os.Stat(d.dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := d.stopCauseway(); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(d.clusterDir(), "cluster.conf")); err == nil {
		if err := d.cluster(context.Background(), "down"); err != nil {
			return err
		}
	}
	return os.RemoveAll(d.dir)
}

// stopCauseway asks it to end and waits; its grace for open transactions is the
// configuration's drain_timeout, so it is not waited for much longer than that.
func (d *demo) stopCauseway() error {
	pid, ok := d.causewayPid()
	if !ok {
		return nil
	}
	_ = syscall.Kill(pid, syscall.SIGTERM)
	for deadline := time.Now().Add(40 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if _, ok := d.causewayPid(); !ok {
			fmt.Fprintf(d.out, "  causeway (pid %d) has ended\n", pid)
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("causeway (pid %d) does not end", pid)
		}
	}
}

// causewayPid is the process of a former up, if it still runs: the command line
// must name this demo's configuration, as a pid can have a new owner.
func (d *demo) causewayPid() (int, bool) {
	text, err := os.ReadFile(d.pidFile())
	if err != nil {
		return 0, false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, false
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return pid, err == nil && bytes.Contains(line, append([]byte(d.configFile()), 0))
}
