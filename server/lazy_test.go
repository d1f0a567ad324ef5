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
