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
