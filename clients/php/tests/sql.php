<?php
declare(strict_types=1);

use Causeway\Sql;

test('which statements may commit', function () {
    $cases = [
        'SELECT 1' => false, ' select 1' => false, '(SELECT 1)' => false, "/* a */ -- b\n# c\nSELECT 1" => false, 'SHOW TABLES' => false, 'ROLLBACK' => false,
        'INSERT INTO t VALUES (1)' => true, "/*traceparent='0-1'*/ UPDATE t SET a = 1" => true, 'COMMIT' => true, 'BEGIN' => true, 'CALL p()' => true,
        'WITH c AS (SELECT 1) DELETE FROM t' => true, '/*! INSERT INTO t VALUES (1) */' => true, 'SELECT 1; INSERT INTO t VALUES (1)' => true,
        'SET autocommit = 1' => true, '/* open' => true, '' => true, 'ALTER TABLE t' => true, 'SELECTED' => true,
    ];
    foreach ($cases as $query => $want) {
        same([$query, $want], [$query, Sql::mayCommit($query)]);
    }
});

test('which begin a read-only transaction', function () {
    same([true, true, false, false], array_map([Sql::class, 'beginsReadOnly'], [
        'start transaction read only', '/*t=1*/ START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY', 'START TRANSACTION', 'START TRANSACTION; SELECT "READ ONLY"']));
});
