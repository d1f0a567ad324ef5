package check

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"
)

// pause is the time between two looks.
const pause = 20 * time.Millisecond

// Must ends the test if there is an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Until waits for what must come, and ends the test if it has not after a minute:
// only a failure takes that long.
func Until(t testing.TB, what string, done func() bool) {
	t.Helper()
	Within(t, time.Minute, what, done)
}

// Within is Until with another limit than a minute.
func Within(t testing.TB, limit time.Duration, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !done(); time.Sleep(pause) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// Patience is a context for what must not hang: it ends after a minute, and works
// while the test is cleaned up, too.
func Patience(t testing.TB) context.Context { return Limit(t, time.Minute) }

// Limit is Patience with another limit than a minute.
func Limit(t testing.TB, limit time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

// Number is how often, how much or with which seed the environment wants a test,
// otherwise if it says nothing.
func Number[N int | uint64](t testing.TB, name string, otherwise N) N {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return N(n)
}
