package server

import "testing"

func TestTrxForms(t *testing.T) {
	for text, want := range map[string]bool{
		"begin": true, "BEGIN WORK": true, "start transaction": true, "start transaction read only": true,
		"start transaction read write": true, "commit": true, "rollback work": true, "commit and chain": true,
		"rollback and no chain no release": true, "commit release": true,
		"start transaction read only, read write": false, "start transaction with consistent snapshot": false,
		"begin x": false, "commit prepared": false, "rollback to savepoint s": false, "commit and": false,
	} {
		if got := trxForms.MatchString(text); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// An empty transaction takes the GTID that gtid_next says, so it runs.
func TestLazyTrxAfterGTIDNext(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("SET gtid_next = 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:1'")
	l.forget()
	k.run("BEGIN", "COMMIT")
	wantTexts(t, l.source, "BEGIN", "COMMIT")
}
