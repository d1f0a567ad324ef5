package group

import (
	"context"
	"testing"

	"causeway/tests/check"
)

// TestBacklog: a member is elected that has not applied yet what its group
// acknowledged. MySQL 9.7 keeps it read only until it has; it answers reads all
// along, without the group's last writes if the consistency is EVENTUAL.
func TestBacklog(t *testing.T) {
	p := start(t)
	ctx := patience(t)
	setAll(t, "group_replication_consistency", "EVENTUAL")
	old, next := shared.Source(), shared.Replicas()[0]
	check.Must(t, next.Exec(ctx, "SET GLOBAL group_replication_member_weight = 90"))
	t.Cleanup(func() {
		check.Must(t, next.Exec(context.Background(), "SET GLOBAL group_replication_member_weight = 50"))
	})
	app, err := p.app().Conn(ctx)
	check.Must(t, err)
	blocker, err := next.DB.Conn(ctx)
	check.Must(t, err)
	// With the default the new primary would hold UNLOCK until its backlog is applied.
	_, err = blocker.ExecContext(ctx, "SET SESSION group_replication_consistency = 'EVENTUAL'; LOCK TABLES grp.t READ")
	check.Must(t, err)
	log := next.LogStatements(t)
	_, err = app.ExecContext(ctx, "INSERT INTO t VALUES (1, 1)")
	check.Must(t, err)
	check.Must(t, old.Kill())
	t.Cleanup(func() { _ = old.Attach() })
	p.untilState(next, "excluded: primary of its group")
	wrote := make(chan error, 1)
	other, err := p.app().Conn(ctx)
	check.Must(t, err)
	go func() {
		_, err := other.ExecContext(ctx, "INSERT INTO t VALUES (2, 2)")
		wrote <- err
	}()
	for range 20 {
		var v int
		check.Must(t, app.QueryRowContext(ctx, "SELECT v FROM t WHERE id = 1 /* own */").Scan(&v))
	}
	if n := log.Count(t, "/* own */") + log.Count(t, "VALUES (2, 2)"); n != 0 {
		t.Errorf("a primary with a backlog got %d statements", n)
	}
	_, err = blocker.ExecContext(ctx, "UNLOCK TABLES")
	check.Must(t, err)
	check.Must(t, blocker.Close())
	check.Must(t, <-wrote)
	elected, err := shared.Elected(ctx)
	check.Must(t, err)
	if elected != next {
		t.Errorf("%s is the primary in spite of the weights", elected.Name)
	}
	if lost := p.Show("LOST"); len(lost) > 0 {
		t.Errorf("reported as lost: %v", lost)
	}
	check.Must(t, old.StartNode())
	setAll(t, "group_replication_consistency", "BEFORE_ON_PRIMARY_FAILOVER")
	check.Within(t, limit, "it serves again", p.allUp)
}

func setAll(t *testing.T, name, value string) {
	t.Helper()
	for _, n := range shared.Nodes() {
		check.Must(t, n.Exec(context.Background(), "SET GLOBAL "+name+" = '"+value+"'"))
	}
}
