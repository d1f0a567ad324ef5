package demo

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"causeway/tests/cluster"
)

// stage is one demo on ports of its own.
type stage struct {
	program string
	flags   []string
	dir     string
	mysql   int
}

func newStage(t *testing.T) *stage {
	t.Helper()
	causeway, err := cluster.Build()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{program: filepath.Join(t.TempDir(), "demo"), dir: filepath.Join(t.TempDir(), "d")}
	build := exec.Command("go", "build", "-o", s.program, "./scripts/demo")
	build.Dir = cluster.Root()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	base := cluster.FreeBase(5)
	s.mysql = base + 4
	s.flags = []string{"--dir", s.dir, "--base", strconv.Itoa(base), "--mysql", strconv.Itoa(s.mysql),
		"--http", strconv.Itoa(base + 5), "--seconds", "8", "--causeway", causeway}
	t.Cleanup(func() { _, _ = s.run("down") })
	return s
}

func (s *stage) run(command string) (string, error) {
	cmd := exec.Command(s.program, append([]string{command}, s.flags...)...)
	cmd.Dir = cluster.Root()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestDemo(t *testing.T) {
	s := newStage(t)
	out, err := s.run("up")
	if err != nil {
		t.Fatalf("demo up: %v\n%s", err, out)
	}
	for _, want := range []string{
		`(?m)^\[5/5\] `,
		`INSERT INTO shop .* source .*write`,
		`FOR UPDATE +source .*locking_read`,
		`SELECT item, stock FROM shop WHERE id = 1 +replica[12] .*apples, 10`,
		`replica1's is stopped +\d`,
		`Through Causeway: +[1-9]\d* of [1-9]\d* reads on replicas \(.*\), 0 stale\.`,
		`Without it: .*: [1-9]\d* of [1-9]\d* stale\.`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("nothing like %s in\n%s", want, out)
		}
	}

	// It keeps running, and the command that it prints connects to it.
	command := regexp.MustCompile(`(?m)^ +(\S*mysql -h .*)$`).FindStringSubmatch(out)
	if command == nil {
		t.Fatalf("no command to connect in\n%s", out)
	}
	client := exec.Command("sh", "-c", command[1])
	client.Stdin = strings.NewReader("SELECT stock FROM shop; SHOW CAUSEWAY ROUTE")
	if out, err := client.CombinedOutput(); err != nil || !strings.Contains(string(out), "Reason") {
		t.Errorf("%s: %v\n%s", command[1], err, out)
	}
	s.mustEnd(t)
}

// mustEnd takes it down; nothing may be left.
func (s *stage) mustEnd(t *testing.T) {
	t.Helper()
	if out, err := s.run("down"); err != nil {
		t.Fatalf("demo down: %v\n%s", err, out)
	}
	if _, err := os.Stat(s.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the demo's folder is still there: %v", err)
	}
	for _, port := range []int{s.mysql, s.mysql - 1, s.mysql - 2, s.mysql - 3} {
		if c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			_ = c.Close()
			t.Errorf("somebody still listens on port %d", port)
		}
	}
	if out, err := s.run("down"); err != nil || out != "" {
		t.Errorf("a second down: %v\n%s", err, out)
	}
}

// A port that somebody has is named before anything is started.
func TestPortInUse(t *testing.T) {
	s := newStage(t)
	l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(s.mysql))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	out, err := s.run("up")
	if err == nil || !strings.Contains(out, "port "+strconv.Itoa(s.mysql)+" is in use") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(s.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was started: %v", err)
	}
}
