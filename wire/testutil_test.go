package wire

import (
	"encoding/hex"
	"strings"
	"testing"
)

// unhex reads golden bytes written in hex with blanks and newlines.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatalf("golden bytes: %v", err)
	}
	return b
}

// addPrefixes seeds a fuzz target with a golden payload and all its beginnings,
// each of which is a packet cut short.
func addPrefixes(f *testing.F, payload []byte, args ...any) {
	for i := range len(payload) + 1 {
		f.Add(append([]any{payload[:i:i]}, args...)...)
	}
}

// noAllocs fails if fn allocates.
func noAllocs(t *testing.T, fn func()) {
	t.Helper()
	if n := testing.AllocsPerRun(100, fn); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
