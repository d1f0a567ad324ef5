package classifier

import (
	"slices"
	"testing"

	"causeway/classifier"
)

// TestScopesOfLists: which of the variables of a SET list are the session's.
func TestScopesOfLists(t *testing.T) {
	s := newSession(t)
	c := classifier.New(classifier.Options{})
	for _, list := range []string{
		"GLOBAL sort_buffer_size = 300000, join_buffer_size = 311296",
		"GLOBAL sort_buffer_size = 300000, @x = 1, join_buffer_size = 311296",
		"GLOBAL sort_buffer_size = 300000, @@join_buffer_size = 311296",
		"GLOBAL sort_buffer_size = 300000, SESSION join_buffer_size = 311296",
		"@@global.sort_buffer_size = 300000, join_buffer_size = 311296",
		"SESSION sort_buffer_size = 300000, join_buffer_size = 311296",
		"sort_buffer_size = 300000, join_buffer_size = 311296",
		"sort_buffer_size = 300000, GLOBAL join_buffer_size = 311296",
	} {
		s.must("SET SESSION join_buffer_size = 262144, SESSION sort_buffer_size = 262144")
		s.must("SET " + list)
		names := c.Classify([]byte("SET "+list), classifier.Mode{}).Names
		set := s.value("SELECT @@session.join_buffer_size") == "311296"
		if set != slices.Contains(names, "join_buffer_size") {
			t.Errorf("SET %s: the session's join_buffer_size set: %v, names %v", list, set, names)
		}
	}
	s.must("SET GLOBAL join_buffer_size = DEFAULT, GLOBAL sort_buffer_size = DEFAULT")
}
