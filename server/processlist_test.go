package server

import "testing"

// The row of whoever asks tells of SHOW PROCESSLIST, not of the statement before
// it: drivers look for their own id by it.
func TestProcesslistOwnRow(t *testing.T) {
	l := startLab(t, 0)
	k := l.client()
	for _, before := range []string{"SELECT a FROM t", "BEGIN"} {
		k.run(before)
		rows := k.query("SHOW PROCESSLIST").rows
		if len(rows) != 1 || rows[0][7] != "show processlist" {
			t.Errorf("after %s: %q", before, rows)
		}
	}
}

// What only begins like SHOW PROCESSLIST goes to a server.
func TestProcesslistForm(t *testing.T) {
	for text, want := range map[string]bool{
		"show processlist": true, "show full processlist": true, "show processlist ;": true, "show processlist;": true,
		"show processlistx": false, "show processlist limit ?": false, "show processlist ; select ?": false, "show full processlist_bad": false,
	} {
		if got := processlistForm.MatchString(text); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
