package classifier_test

import (
	"testing"

	"causeway/classifier"
	"causeway/classifier/cases"
)

// TestCases classifies the whole table, each text a second time from the cache.
func TestCases(t *testing.T) {
	c := classifier.New(classifier.Options{})
	for _, tc := range cases.All() {
		for _, how := range []string{"first", "again"} {
			got := c.Classify([]byte(tc.SQL), classifier.Mode{})
			if got.Kind != tc.Kind || got.Flags != tc.Flags {
				t.Errorf("%q (%s)\n got %s %s\nwant %s %s\ndigest %q",
					tc.SQL, how, got.Kind, got.Flags, tc.Kind, tc.Flags, got.Digest)
				break
			}
		}
	}
}

// TestTokensAlone: the token check finds the same without the parser.
func TestTokensAlone(t *testing.T) {
	for _, tc := range cases.All() {
		if tc.Kind == classifier.Read || tc.Flags.Has(classifier.ExecutableComment) {
			continue // the parser takes nothing back there: TestCases
		}
		if got := classifier.TokensAlone([]byte(tc.SQL), classifier.Mode{}); got != tc.Kind {
			t.Errorf("%q: %s, want %s", tc.SQL, got, tc.Kind)
		}
	}
}
