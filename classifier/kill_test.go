package classifier

import "testing"

func TestKillTarget(t *testing.T) {
	for _, tc := range []struct {
		sql, expr string
		ok        bool
	}{
		{"KILL 5", "5", true},
		{"kill /* c */ QUERY @id ;", "@id", true},
		{"KILL CONNECTION connection_id () -- x", "connection_id ()", true},
		{"KILL @a + 1", "@a + 1", true},
		{"KILL ?", "?", true},
		{"KILL (CONNECTION_ID())", "(CONNECTION_ID())", true},
		{"KILL 1) AS SIGNED) FROM t WHERE ((1", "1) AS SIGNED) FROM t WHERE ((1", false},
		{"KILL (1", "(1", false},
		{"KILL ')'", "')'", true},
		{"KILL QUERY", "", false},
		{"KILL", "", false},
		{"KILL 5; KILL 6", "", false},
		{"KILL 'open", "", false},
		{"KILL /*!99999 QUERY */ 5", "", false},
		{"SELECT 1", "", false},
	} {
		if expr, ok := KillTarget([]byte(tc.sql), Mode{}); expr != tc.expr || ok != tc.ok {
			t.Errorf("%s: %q %v", tc.sql, expr, ok)
		}
	}
}
