package rig

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"causeway/tests/cluster"
)

// Output runs a program in the checkout's folder and returns its standard
// output without surrounding space. An error carries what it said on stderr.
func Output(ctx context.Context, name string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = cluster.Root(), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	return strings.TrimSpace(stdout.String()), nil
}

// Tools fetches sysbench and HAProxy if they are missing and returns the folder
// with both programs and, in lua, sysbench's scripts.
func Tools(ctx context.Context) (string, error) {
	return Output(ctx, "scripts/install-tools")
}

// Build compiles a main package of this module into dir and returns the
// binary's path.
func Build(ctx context.Context, dir, pkg string) (string, error) {
	out := filepath.Join(dir, filepath.Base(pkg))
	_, err := Output(ctx, "go", "build", "-o", out, pkg)
	return out, err
}
