package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
)

// Root is the repository's folder: the nearest one above the working folder
// with a go.mod. It panics outside of a checkout, where no test can run.
var Root = sync.OnceValue(func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic("BUG: no working folder: " + err.Error())
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			panic("BUG: tests/cluster used outside of the repository")
		}
		dir = parent
	}
})

// Build builds Causeway for tests and returns the program. It is built once a
// test process, and not at all if nothing changed since the last time.
// CAUSEWAY_BIN names another program to test, CAUSEWAY_TEST_RACE=1 adds the
// race detector.
func Build() (string, error) { return build() }

var build = sync.OnceValues(func() (string, error) {
	if bin := os.Getenv("CAUSEWAY_BIN"); bin != "" {
		return filepath.Abs(bin)
	}
	bin := filepath.Join(Root(), "bin", "causeway-test")
	args := []string{"build", "-o", bin}
	if os.Getenv("CAUSEWAY_TEST_RACE") != "" {
		bin += "-race"
		args = []string{"build", "-race", "-o", bin}
	}
	if err := os.MkdirAll(filepath.Dir(bin), 0o755); err != nil {
		return "", err
	}
	// Packages are tested in several processes: one builds, the others find it done.
	lock, err := os.OpenFile(bin+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Dir = Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building causeway: %w\n%s", err, out)
	}
	return bin, nil
})
