package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"causeway/tests/cluster"
)

// TestDrill is make drill in half a minute.
func TestDrill(t *testing.T) {
	c := cluster.Start(t, cluster.Options{})
	e, err := run(t.Context(), plan{30 * time.Second}, c, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.print(os.Stdout); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "drill.png")
	if err := e.draw(file); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Size() < 10_000 {
		t.Errorf("the plot: %v, %v", info, err)
	}
	for _, fault := range e.judge() {
		t.Error(fault)
	}
}
