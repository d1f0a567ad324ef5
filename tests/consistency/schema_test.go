package consistency

import (
	"context"
	"database/sql"
	"fmt"
)

// schema is what the workers write to. Each row has one owner.
var schema = []string{
	"DROP DATABASE IF EXISTS rw_main",
	"DROP DATABASE IF EXISTS rw_side",
	"CREATE DATABASE rw_main",
	"CREATE DATABASE rw_side",
	"CREATE TABLE rw_main.rw (id INT PRIMARY KEY, owner INT NOT NULL, v BIGINT NOT NULL, note VARCHAR(40) NOT NULL, KEY (owner))",
	"CREATE TABLE rw_side.rw LIKE rw_main.rw",
	"CREATE TABLE rw_main.owners (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL)",
	"CREATE TABLE rw_main.ids (id INT PRIMARY KEY, owner INT NOT NULL)",
	"CREATE TABLE rw_main.loose (id INT PRIMARY KEY, owner INT NOT NULL, KEY (owner)) ENGINE=MyISAM",
	`CREATE PROCEDURE rw_main.put(i INT, o INT, val BIGINT)
		INSERT INTO rw_main.rw VALUES (i, o, val, CONCAT('n', val)) AS new ON DUPLICATE KEY UPDATE v = new.v, note = new.note`,
	`CREATE PROCEDURE rw_main.put_and_list(i INT, o INT, val BIGINT) BEGIN
		SELECT COUNT(*) FROM rw_main.owners WHERE id = o;
		CALL rw_main.put(i, o, val);
		SELECT val;
		END`,
	`CREATE PROCEDURE rw_main.put_and_fail(i INT, o INT, val BIGINT) BEGIN
		CALL rw_main.put(i, o, val);
		SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'failed on purpose';
		END`,
	`CREATE FUNCTION rw_main.put_fn(i INT, o INT, val BIGINT) RETURNS BIGINT MODIFIES SQL DATA BEGIN
		INSERT INTO rw_main.rw VALUES (i, o, val, CONCAT('n', val)) AS new ON DUPLICATE KEY UPDATE v = new.v, note = new.note;
		RETURN val;
		END`,
	`CREATE FUNCTION rw_main.bump(i INT) RETURNS BIGINT MODIFIES SQL DATA BEGIN
		DECLARE now BIGINT;
		UPDATE rw_main.rw SET v = v + 1000000000, note = CONCAT('n', v) WHERE id = i;
		SELECT v INTO now FROM rw_main.rw WHERE id = i;
		RETURN now;
		END`,
	"CREATE ALGORITHM=MERGE VIEW rw_main.bumping AS SELECT id, rw_main.bump(id) AS v FROM rw_main.ids",
	`CREATE FUNCTION rw_main.loose_and_fail(i INT, o INT) RETURNS INT MODIFIES SQL DATA BEGIN
		INSERT INTO rw_main.loose VALUES (i, o);
		SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'failed on purpose';
		RETURN 1;
		END`,
}

// createSchema drops and creates all that the workers use.
func createSchema(ctx context.Context, source *sql.DB, workers int) error {
	stmts := []string{"SET GLOBAL log_bin_trust_function_creators = 1", "SET GLOBAL local_infile = 1"}
	stmts = append(stmts, schema...)
	for id := range workers {
		stmts = append(stmts,
			fmt.Sprintf("INSERT INTO rw_main.owners VALUES (%d, 'owner%d')", id, id),
			fmt.Sprintf("INSERT INTO rw_main.loose VALUES (%d, -1)", looseTaken(id)),
			fmt.Sprintf("CREATE TABLE rw_main.locked_%d (id INT PRIMARY KEY, v BIGINT NOT NULL)", id),
		)
		for i := range rowsPerWorker {
			stmts = append(stmts, fmt.Sprintf("INSERT INTO rw_main.ids VALUES (%d, %d)", id*1000+i, id))
		}
	}
	for _, s := range stmts {
		if _, err := source.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%.60s: %w", s, err)
		}
	}
	return nil
}

// looseTaken is the row of the MyISAM table that a worker's inserts run into.
func looseTaken(worker int) int { return worker*1000000 + 999999 }
