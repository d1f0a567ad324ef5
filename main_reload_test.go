package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/rs/zerolog"

	"causeway/backend"
	"causeway/conf"
)

func weightsView() *backend.View {
	v := &backend.View{}
	for _, addr := range []string{"a:1", "b:1", "c:1"} {
		v.Nodes = append(v.Nodes, &backend.Node{Addr: addr, Weight: 1, Live: &backend.Live{}})
	}
	return v
}

func TestApplyWeights(t *testing.T) {
	v := weightsView()
	for _, step := range []struct {
		weights map[string]int
		changed int
		want    [3]int
	}{
		{nil, 0, [3]int{1, 1, 1}},
		{map[string]int{"b:1": 5}, 1, [3]int{1, 5, 1}},
		{map[string]int{"b:1": 0, "c:1": 2}, 2, [3]int{1, 0, 2}},
		{map[string]int{"gone:1": 9}, 2, [3]int{1, 1, 1}},
	} {
		if got := applyWeights(v, conf.Cluster{Weights: step.weights}); got != step.changed {
			t.Errorf("%v: %d changes, want %d", step.weights, got, step.changed)
		}
		for i, n := range v.Nodes {
			if got := n.CurrentWeight(); got != step.want[i] {
				t.Errorf("%v: %s has %d, want %d", step.weights, n.Addr, got, step.want[i])
			}
		}
	}
}

// A file with mistakes changes nothing; the next good one is taken.
func TestReloader(t *testing.T) {
	v := weightsView()
	hup := make(chan os.Signal)
	answers := make(chan error, 2)
	answers <- errors.New("cluster.weights: no")
	answers <- nil
	load := func() (*conf.Config, error) {
		if err := <-answers; err != nil {
			return nil, err
		}
		return &conf.Config{Cluster: conf.Cluster{Weights: map[string]int{"a:1": 7}}}, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	var log bytes.Buffer
	go func() {
		defer close(done)
		reloader{load, hup}.run(ctx, func() *backend.View { return v }, zerolog.New(&log))
	}()
	hup <- syscall.SIGHUP
	hup <- syscall.SIGHUP // taken once the first was dealt with
	cancel()
	<-done
	if got := v.Nodes[0].CurrentWeight(); got != 7 {
		t.Errorf("weight %d after a bad and a good file, want 7", got)
	}
	if !strings.Contains(log.String(), "was not taken over") || !strings.Contains(log.String(), `"weights_changed":1`) {
		t.Errorf("log: %s", log.String())
	}
}
