package cluster

import (
	"fmt"
	"os"
	"testing"
)

// Main is the body of a package's TestMain: it starts one cluster for all tests,
// hands it to setup, runs the tests, ends the cluster and exits.
func Main(m *testing.M, o Options, setup func(*Cluster) error) {
	os.Exit(runShared(m, o, setup))
}

func runShared(m *testing.M, o Options, setup func(*Cluster) error) int {
	c, stop, err := StartShared(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "no MySQL cluster:", err)
		return 1
	}
	defer stop()
	if err := setup(c); err != nil {
		fmt.Fprintln(os.Stderr, "preparing the cluster:", err)
		return 1
	}
	return m.Run()
}

// Keep is the setup that only remembers the cluster.
func Keep(in **Cluster) func(*Cluster) error {
	return func(c *Cluster) error {
		*in = c
		return nil
	}
}
