package tokens

import (
	"context"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
)

// TestDriver: go-sql-driver, which prepares statements with arguments unless it is
// told to put them into the text, hands a token over between two pools.
func TestDriver(t *testing.T) {
	lay(t)
	a, b := cluster.StartCauseway(t, shared, budget), cluster.StartCauseway(t, shared, budget)
	for _, n := range shared.Replicas() {
		check.Must(t, n.Pause(t.Context()))
	}
	shared.HealAfter(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w := cluster.OpenApp(t, a.Addr, "tok")
	w.SetMaxOpenConns(1)
	r, err := cluster.OpenApp(t, b.Addr, "tok").Conn(ctx)
	check.Must(t, err)
	defer r.Close()
	for v := range 3 {
		var token, gtids string
		_, err = w.ExecContext(ctx, "REPLACE INTO r VALUES (9, ?)", v)
		check.Must(t, err)
		check.Must(t, w.QueryRowContext(ctx, "SELECT @causeway_token, @causeway_gtids LIMIT 1").Scan(&token, &gtids))
		if token == "" || token != gtids {
			t.Fatalf("token %q, GTIDs %q", token, gtids)
		}
		_, err = r.ExecContext(ctx, "SET @causeway_token = ?", token)
		check.Must(t, err)
		got := -1
		check.Must(t, r.QueryRowContext(ctx, "SELECT v FROM r WHERE id = ?", 9).Scan(&got))
		if got != v {
			t.Errorf("read %d, want %d", got, v)
		}
		st, err := r.PrepareContext(ctx, "SELECT @causeway_gtids AS g")
		check.Must(t, err)
		check.Must(t, st.QueryRowContext(ctx).Scan(&gtids))
		check.Must(t, st.Close())
		if gtids == "" {
			t.Error("the reader has no token")
		}
	}
	if _, err := r.ExecContext(ctx, "SET @causeway_token = ?", 5); err == nil {
		t.Error("a number was taken for a token")
	}
}
