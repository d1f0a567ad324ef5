-- What every client finds. Laid anew on the source before each run.
DROP DATABASE IF EXISTS clients;
DROP DATABASE IF EXISTS clients2;
CREATE DATABASE clients CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci;
CREATE DATABASE clients2 CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci;
USE clients;

-- One column of each type: row 1 ordinary values, row 2 the ends of the ranges, row 3 NULL.
CREATE TABLE kinds (
  id INT PRIMARY KEY,
  t TINYINT, s SMALLINT, m MEDIUMINT, i INT, b BIGINT, ub BIGINT UNSIGNED,
  de DECIMAL(30,10), f FLOAT, d DOUBLE, bi BIT(12), ye YEAR,
  da DATE, ti TIME(6), dt DATETIME(6), ts TIMESTAMP NULL,
  c CHAR(10), vc VARCHAR(100), tx TEXT, bn BINARY(4), vb VARBINARY(10), bl BLOB,
  en ENUM('red','green'), se SET('a','b','c'), js JSON, l1 VARCHAR(20) CHARACTER SET latin1
);
INSERT INTO kinds VALUES
  (1, 1, 2, 3, 4, 5, 6, 12.5, 1.5, 2.25, b'101', 2024, '2024-02-29', '12:34:56.789', '2024-02-29 23:59:58.123456', '2024-02-29 12:00:00',
   'ten', 'Grüße 😀', 'text', x'01020304', x'ff00', x'00ff27', 'green', 'a,c', '{"a": [1, 2.5, null, "😀"]}', 'é'),
  (2, -128, -32768, -8388608, -2147483648, -9223372036854775808, 18446744073709551615, -99999999999999999999.9999999999, -3.402e38, 1.7976931348623157e308,
   b'111111111111', 2155, '9999-12-31', '-838:59:59', '9999-12-31 23:59:59.499999', '2038-01-19 03:14:07',
   '', '', '', x'00000000', x'', x'', 'red', '', '[]', ''),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

CREATE TABLE items (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(100) UNIQUE, qty INT NOT NULL DEFAULT 0);
INSERT INTO items (name, qty) VALUES ('apple', 1), ('pear', 2), ('plum', 3), ('😀', 4), ('quince', 5);
CREATE TABLE numbers (n INT PRIMARY KEY, word VARCHAR(20));
INSERT INTO numbers
  WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 500) SELECT n, CONCAT('word ', n) FROM r;
CREATE TABLE blobs (id INT PRIMARY KEY, v LONGBLOB, tx LONGTEXT);
CREATE TABLE loaded (a INT, b VARCHAR(50), c DOUBLE);
CREATE TABLE child (id INT AUTO_INCREMENT PRIMARY KEY, item INT NOT NULL, FOREIGN KEY (item) REFERENCES items (id));
CREATE TABLE strict (small TINYINT NOT NULL, short VARCHAR(3));

CREATE TABLE clients2.items (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(100));
INSERT INTO clients2.items (name) VALUES ('other');

DELIMITER //
CREATE PROCEDURE two_results() BEGIN SELECT id, name FROM items WHERE id <= 2 ORDER BY id; SELECT COUNT(*) AS n FROM numbers; END //
CREATE PROCEDURE in_out(IN a INT, OUT b INT, INOUT c INT) BEGIN SET b = a * 2; SET c = c + a; END //
CREATE PROCEDURE in_out_rows(IN a INT, OUT b INT) BEGIN SET b = a + 1; SELECT name FROM items WHERE id = a; END //
CREATE PROCEDURE adds(IN what VARCHAR(100)) BEGIN INSERT INTO items (name) VALUES (what); SELECT name FROM items WHERE name = what; END //
CREATE PROCEDURE fails() BEGIN SELECT 1 AS one; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'by hand', MYSQL_ERRNO = 5001; END //
CREATE FUNCTION doubled(a INT) RETURNS INT DETERMINISTIC NO SQL RETURN a * 2 //
DELIMITER ;
