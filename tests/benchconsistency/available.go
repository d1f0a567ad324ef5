package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"causeway/tests/cluster"
)

// far is how the replicas lag while modes are tried.
var far = lag{name: "8s", enter: delay(8)}

// findAvailable notes which modes this Causeway does not have: its configuration
// refuses them, or with all replicas far behind they do not keep their promise
// (a comment that Causeway does not know is just a comment).
func (b *bench) findAvailable(ctx context.Context, r *report) error {
	for _, m := range r.modes {
		why, err := refusal(b.cluster, m)
		if err == nil && why == "" && m.promise != nothing {
			err = b.lagging(ctx, m, far, func(f *forum) (err error) {
				why, err = f.try(ctx)
				return err
			})
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		if why != "" {
			b.say("%s is not available: %s", m.name, why)
			r.missing[m.name] = why
		}
	}
	return nil
}

// refusal asks causeway check: it is what is wrong with a mode's configuration,
// "" if nothing is.
func refusal(c *cluster.Cluster, m mode) (string, error) {
	program, err := cluster.Build()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "causeway-check-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "causeway.toml")
	if err := os.WriteFile(file, []byte(cluster.ConfigText("127.0.0.1:0", "", c.Addrs())+m.config()), 0o600); err != nil {
		return "", err
	}
	out, err := exec.Command(program, "check", "--config", file).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		first, _, _ := strings.Cut(string(out), "\n")
		return strings.TrimPrefix(first, file+": "), nil
	}
	return "", err
}

// try writes and reads as the workload does, while no replica can have the
// write; it says what is wrong, "" if the promise is kept.
func (f *forum) try(ctx context.Context) (why string, err error) {
	writer, other := f.newUser(0, 0), f.newUser(1, 0)
	for thread := range 3 {
		switch w := f.write(ctx, writer, thread); {
		case errors.Is(w.err, errNoToken):
			return w.err.Error(), nil
		case w.err != nil:
			return "", w.err
		}
		mine, theirs := f.read(ctx, writer, thread, false), f.read(ctx, other, thread, false)
		switch {
		case mine.err != nil || theirs.err != nil:
			return "", errors.Join(mine.err, theirs.err)
		case mine.missedOwn:
			return "tried with replicas " + far.name + " behind, a read missed the user's own write", nil
		case f.mode.promise == all && theirs.missedAny:
			return "tried with replicas " + far.name + " behind, a read missed another user's acknowledged write", nil
		}
	}
	return "", nil
}
