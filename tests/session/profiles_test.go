package session

import (
	"causeway/tests/session/raw"
	"causeway/wire"
)

// profile is a set of capabilities as some drivers ask for it.
type profile struct {
	name string
	caps wire.Capability
	turn int // 0: plays every script; 1 and 2: every second one
}

var profiles = []profile{
	// mysqlnd, PyMySQL, go-sql-driver: EOF packets, no trackers.
	{"classic", wire.CapMultiStatements | wire.CapLocalFiles, 0},
	// libmysqlclient, Connector/J: all that the server offers.
	{"modern", raw.Modern | wire.CapMultiStatements | wire.CapLocalFiles | wire.CapQueryAttributes, 0},
	// Found rows instead of changed rows, trackers without DEPRECATE_EOF.
	{"found", wire.CapMultiStatements | wire.CapLocalFiles | wire.CapFoundRows | wire.CapSessionTrack | wire.CapIgnoreSpace, 0},
	// The same packets in compressed ones, each script with one of the methods.
	{"zlib", raw.Modern | wire.CapMultiStatements | wire.CapLocalFiles | wire.CapQueryAttributes | wire.CapCompress, 1},
	{"zstd", wire.CapMultiStatements | wire.CapLocalFiles | wire.CapZstd, 2},
}

// baseSchema is laid before the first script and after each that changed more
// than rows; baseRows is all that the others need.
var baseSchema = append([]string{
	"DROP DATABASE IF EXISTS sess",
	"DROP DATABASE IF EXISTS sess2",
	"DROP DATABASE IF EXISTS sess3",
	"CREATE DATABASE sess CHARACTER SET utf8mb4",
	"CREATE DATABASE sess2 CHARACTER SET utf8mb4",
	"CREATE TABLE sess.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT, s VARCHAR(50))",
	"CREATE TABLE sess2.t LIKE sess.t",
	"CREATE TABLE sess.words (id INT PRIMARY KEY, s VARCHAR(50) CHARACTER SET utf8mb4, l VARCHAR(50) CHARACTER SET latin1)",
	"CREATE TABLE sess.times (id INT PRIMARY KEY, ts TIMESTAMP(3) NULL, dt DATETIME, d DATE, tm TIME(6))",
	"CREATE TABLE sess.kinds (id INT PRIMARY KEY, ti TINYINT, bi BIGINT UNSIGNED, de DECIMAL(20,5), f FLOAT, d DOUBLE, b BIT(9), e ENUM('x','y'), st SET('p','q'), bl BLOB, tx TEXT, j JSON, vb VARBINARY(10), c CHAR(5), y YEAR)",
	"CREATE PROCEDURE sess.put(val INT) INSERT INTO sess.t (v) VALUES (val)",
	"CREATE PROCEDURE sess.two_results(INOUT n INT) BEGIN SELECT id FROM sess.t ORDER BY id LIMIT 2; SELECT 'second', n; SET n = n + 1; END",
	"CREATE PROCEDURE sess.signals() BEGIN INSERT INTO sess.t (v) VALUES (7); SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'on purpose', MYSQL_ERRNO = 1644; END",
	"CREATE PROCEDURE sess.temporary() CREATE TEMPORARY TABLE sess.made (id INT) SELECT 5 AS id",
	"CREATE FUNCTION sess.plus_one(n INT) RETURNS INT DETERMINISTIC NO SQL RETURN n + 1",
	"CREATE FUNCTION sess.writes(n INT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO sess.t (v) VALUES (n); RETURN n; END",
	"CREATE VIEW sess.tv AS SELECT id, v FROM sess.t WHERE v > 20",
}, baseRows...)

// baseRows are the rows of the base schema, with the ids that an empty table
// would give.
var baseRows = []string{
	"BEGIN",
	"DELETE FROM sess.t",
	"DELETE FROM sess2.t",
	"DELETE FROM sess.words",
	"DELETE FROM sess.times",
	"DELETE FROM sess.kinds",
	"INSERT INTO sess.t VALUES (1, 10, 'one'), (2, 20, 'two'), (3, 30, 'three'), (4, 40, 'four'), (5, 50, 'five')",
	"INSERT INTO sess2.t VALUES (1, 1000, 'other')",
	"INSERT INTO sess.words VALUES (1, 'é', 'é'), (2, '日本', '?'), (3, '🙂', 'ü')",
	"INSERT INTO sess.times VALUES (1, '2024-05-06 07:08:09.123', '2024-05-06 07:08:09', '2024-05-06', '-12:13:14.5'), (2, NULL, NULL, NULL, NULL)",
	"INSERT INTO sess.kinds VALUES (1, -5, 18446744073709551615, -123.45678, 1.5, 2.25e100, b'101', 'y', 'p,q', x'00ff', 'long text', '{\"a\": [1, 2]}', x'0001', 'ab', 2024), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
	"COMMIT",
	"ALTER TABLE sess.t AUTO_INCREMENT = 6",
	"ALTER TABLE sess2.t AUTO_INCREMENT = 2",
}
