package check

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// failing is a test that remembers why it ended.
type failing struct {
	testing.TB
	why string
}

func (f *failing) Helper() {}

func (f *failing) Fatal(args ...any) { f.end(fmt.Sprint(args...)) }

func (f *failing) Fatalf(format string, args ...any) { f.end(fmt.Sprintf(format, args...)) }

func (f *failing) end(why string) {
	f.why = why
	runtime.Goexit()
}

// ends runs a check and returns why it ended the test, "" if it did not.
func ends(run func(testing.TB)) string {
	f, done := &failing{}, make(chan struct{})
	go func() {
		defer close(done)
		run(f)
	}()
	<-done
	return f.why
}

func TestMust(t *testing.T) {
	if why := ends(func(t testing.TB) { Must(t, nil) }); why != "" {
		t.Errorf("without an error: %s", why)
	}
	if why := ends(func(t testing.TB) { Must(t, errors.New("no such thing")) }); why != "no such thing" {
		t.Errorf("with an error: %q", why)
	}
}

func TestWithin(t *testing.T) {
	looks := 0
	if why := ends(func(t testing.TB) { Until(t, "it comes", func() bool { looks++; return looks == 3 }) }); why != "" || looks != 3 {
		t.Errorf("what comes: %q after %d looks", why, looks)
	}
	if why := ends(func(t testing.TB) { Within(t, time.Millisecond, "it comes", func() bool { return false }) }); !strings.Contains(why, "it comes") {
		t.Errorf("what never comes: %q", why)
	}
}

func TestNumber(t *testing.T) {
	const name = "CAUSEWAY_CHECK_NUMBER"
	if got := Number(t, name, 7); got != 7 {
		t.Errorf("unset: %d", got)
	}
	t.Setenv(name, "12")
	if got := Number(t, name, uint64(7)); got != 12 {
		t.Errorf("set: %d", got)
	}
	t.Setenv(name, "many")
	if why := ends(func(t testing.TB) { Number(t, name, 7) }); !strings.Contains(why, name) {
		t.Errorf("no number: %q", why)
	}
}
