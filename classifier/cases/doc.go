// Package cases is the table of statements that the classifier is tested with,
// by its own tests and against a real server, which is the authority on what a
// read is. It holds data only.
//
// Every statement whose kind is Read runs without an error on a server of the
// newest supported version with Schema loaded. Specification: the MySQL
// reference manual, and what users of other proxies reported.
package cases

import "causeway/classifier"

// Case is a text and what it must be found to be.
type Case struct {
	SQL   string
	Kind  classifier.Kind
	Flags classifier.Flags // exactly these
}

// Schema makes the tables that the cases name. It is loaded into an empty
// schema, which is the current one for the cases.
var Schema = []string{
	"CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c VARCHAR(100), d DATETIME, j JSON, KEY ia (a), FULLTEXT KEY ft (c))",
	"CREATE TABLE u (id INT PRIMARY KEY AUTO_INCREMENT, tid INT, name VARCHAR(50), amount DECIMAL(10,2))",
	"CREATE TABLE `order` (id INT PRIMARY KEY, `key` INT, `update` INT, `for` INT, `lock` INT, `into` INT)",
	"CREATE TABLE parts (id INT PRIMARY KEY, a INT) PARTITION BY HASH (id) PARTITIONS 2",
	"CREATE VIEW v AS SELECT id, a FROM t",
	"CREATE TABLE log (id INT PRIMARY KEY AUTO_INCREMENT, what VARCHAR(50))",
	"INSERT INTO t VALUES (1, 1, 1, 'one', '2024-01-01', '{\"a\": [1, 2]}'), (2, 2, 2, 'two', '2024-01-02', '[]')",
	"INSERT INTO u VALUES (1, 1, 'x', 1.5), (2, 1, 'y', 2.5)",
	"INSERT INTO `order` VALUES (1, 1, 1, 1, 1, 1)",
	"CREATE FUNCTION ro_f(x INT) RETURNS INT READS SQL DATA RETURN (SELECT MAX(id) FROM t) + x",
	"CREATE FUNCTION wr_f(x INT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO log (what) VALUES (x); RETURN x; END",
	"CREATE FUNCTION `now`() RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO log (what) VALUES ('now'); RETURN 1; END",
	"CREATE PROCEDURE wr_p() BEGIN INSERT INTO log (what) VALUES ('p'); END",
}

// All returns every case.
func All() []Case {
	var all []Case
	for _, part := range [][]Case{reads, lexical, functions, sourceReads, locks, writes, ddl, transactions, sets, others} {
		all = append(all, part...)
	}
	return all
}
