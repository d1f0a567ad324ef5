package cluster

import (
	"errors"
	"fmt"
	"os"
	"testing"
)

// Main is the body of a package's TestMain: it starts one cluster for all tests,
// hands it to setup, runs the tests, ends the cluster and what serves it, and exits.
func Main(m *testing.M, o Options, setup func(*Cluster) error) {
	os.Exit(runShared(m, o, setup))
}

func runShared(m *testing.M, o Options, setup func(*Cluster) error) (code int) {
	c, stop, err := StartShared(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "no MySQL cluster:", err)
		return 1
	}
	defer stop()
	defer func() {
		if err := c.endServing(); err != nil {
			fmt.Fprintln(os.Stderr, "causeway did not end well:", err)
			code = 1
		}
	}()
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

// KeepSource is the setup that only remembers the source, for clusters of one node.
func KeepSource(in **Node) func(*Cluster) error {
	return func(c *Cluster) error {
		*in = c.Source()
		return nil
	}
}

// Serve starts a Causeway in a setup of Main. It ends with the tests, which fail if
// it does not end well.
func (c *Cluster) Serve(extra string) (*Causeway, error) {
	cw, stop, err := StartSharedCauseway(c, extra)
	if err == nil {
		c.serving = append(c.serving, stop)
	}
	return cw, err
}

func (c *Cluster) endServing() error {
	var errs []error
	for _, stop := range c.serving {
		errs = append(errs, stop())
	}
	return errors.Join(errs...)
}
