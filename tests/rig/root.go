package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Root returns the checkout's folder: the nearest one upwards with a go.mod.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.mod here or above: run inside the checkout")
		}
		dir = up
	}
}

// Output runs a program in the checkout's folder and returns its standard
// output without surrounding space. An error carries what it said on stderr.
func Output(ctx context.Context, name string, args ...string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, &stdout, &stderr
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
	name := filepath.Base(pkg)
	if pkg == "." {
		name = "causeway"
	}
	out := filepath.Join(dir, name)
	_, err := Output(ctx, "go", "build", "-o", out, pkg)
	return out, err
}
