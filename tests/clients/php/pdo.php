<?php
// Checks of PDO: prepares of the server and emulated ones.

function pdo(array $options = [], string $dsn = ';dbname=clients;charset=utf8mb4'): PDO
{
    return new PDO('mysql:host=' . getenv('CW_HOST') . ';port=' . getenv('CW_PORT') . $dsn, getenv('CW_USER'), getenv('CW_PASSWORD'), $options + [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
}

function pdo_run(PDO $p, string $sql, array $args = []): mixed
{
    try {
        $s = $p->prepare($sql);
        $s->execute($args);
        $list = [];
        do {
            if ($s->columnCount() === 0) {
                $list[] = ['affected' => $s->rowCount(), 'id' => $p->lastInsertId()];
                continue;
            }
            $meta = array_map(fn ($i) => $s->getColumnMeta($i), range(0, $s->columnCount() - 1));
            $list[] = ['columns' => $meta, 'rows' => $s->fetchAll(PDO::FETCH_NUM)];
        } while ($s->nextRowset());
        $s->closeCursor();
        return $list;
    } catch (PDOException $e) {
        return error($e);
    }
}

function pdo_each(PDO $p, string ...$statements): array
{
    return array_map(fn ($s) => pdo_run($p, $s), $statements);
}

function pdo_checks(): void
{
    foreach (['native' => false, 'emulated' => true] as $word => $emulate) {
        pdo_kind("pdo $word", fn (array $more = [], string $dsn = ';dbname=clients;charset=utf8mb4') => pdo($more + [PDO::ATTR_EMULATE_PREPARES => $emulate], $dsn));
    }
    check('pdo/unknown schema', fn () => pdo([], ';dbname=nosuch')->getAttribute(PDO::ATTR_SERVER_VERSION));
    check('pdo/wrong password', fn () => new PDO('mysql:host=' . getenv('CW_HOST') . ';port=' . getenv('CW_PORT'), 'app', 'wrong'));
    check('pdo/persistent', function () {
        $list = [];
        for ($i = 0; $i < 3; $i++) {
            $p = pdo([PDO::ATTR_PERSISTENT => true]);
            $list[] = pdo_each($p, 'SELECT @left, @@autocommit, @@sql_mode, DATABASE()', 'SET @left = 1', "SET sql_mode = ''", 'UPDATE items SET qty = 78 WHERE id = 5', 'SELECT qty FROM items WHERE id = 5');
            $p = null;
        }
        return $list;
    });
    check('pdo/found rows', fn () => pdo_each(pdo([PDO::MYSQL_ATTR_FOUND_ROWS => true]), 'UPDATE items SET qty = 55 WHERE id <= 2', 'UPDATE items SET qty = 55 WHERE id <= 2'));
    check('pdo/init command', fn () => pdo_each(pdo([PDO::MYSQL_ATTR_INIT_COMMAND => "SET NAMES latin1, time_zone = '+05:00', @i = 4"]), 'SELECT l1, CAST(ts AS CHAR), @i FROM kinds WHERE id = 1'));
    check('pdo/autocommit off', function () {
        $p = pdo([PDO::ATTR_AUTOCOMMIT => 0]);
        $v = pdo_each($p, 'SELECT @@autocommit', 'UPDATE items SET qty = 321 WHERE id = 2', 'SELECT qty FROM items WHERE id = 2', 'ROLLBACK', 'SELECT qty <> 321 FROM items WHERE id = 2');
        return [$v, $p->inTransaction()];
    });
}

function pdo_kind(string $kind, callable $open): void
{
    check("$kind/connect", fn () => [$open()->getAttribute(PDO::ATTR_SERVER_VERSION), pdo_each($open([], ''), 'SELECT DATABASE(), @@sql_mode', 'SELECT * FROM items', 'USE clients2', 'SELECT name FROM items')]);
    check("$kind/types", fn () => pdo_run($open(), 'SELECT * FROM kinds WHERE id > ? ORDER BY id', [0]));
    check("$kind/types as strings", fn () => pdo_run($open([PDO::ATTR_STRINGIFY_FETCHES => true]), 'SELECT * FROM kinds WHERE id > ? ORDER BY id', [0]));
    check("$kind/parameters", function () use ($open) {
        $s = $open()->prepare('SELECT ?, ?, ?, ?, ?, COUNT(*) FROM items');
        $s->bindValue(1, -5, PDO::PARAM_INT);
        $s->bindValue(2, "😀'\\\0");
        $s->bindValue(3, null, PDO::PARAM_NULL);
        $s->bindValue(4, true, PDO::PARAM_BOOL);
        $s->bindValue(5, "\0\xff'", PDO::PARAM_LOB);
        $s->execute();
        return $s->fetchAll(PDO::FETCH_NUM);
    });
    check("$kind/named parameters", fn () => pdo_run($open(), 'SELECT n, word FROM numbers WHERE n = :n OR word = :w ORDER BY n', ['n' => 3, 'w' => 'word 7']));
    check("$kind/writes", fn () => pdo_each($open(), "INSERT INTO items (name) VALUES ('q1')", 'SELECT LAST_INSERT_ID()', "INSERT INTO items (name) VALUES ('q2'), ('q3')", "SELECT name FROM items WHERE name LIKE 'q_' ORDER BY name", "DELETE FROM items WHERE name LIKE 'q_'", 'UPDATE items SET qty = qty WHERE id = 1'));
    check("$kind/executed again", function () use ($open) {
        $p = $open();
        $s = $p->prepare('INSERT INTO items (name, qty) VALUES (?, ?)');
        $list = [];
        foreach ([['r1', 1], ['r2', null], ['r2', '3'], ['r2', 3], ['r4', 4.0]] as $args) {
            try {
                $s->execute($args);
                $list[] = [$s->rowCount(), $p->lastInsertId()];
            } catch (PDOException $e) {
                $list[] = error($e);
            }
            $list[] = pdo_run($p, 'SELECT name, qty FROM items WHERE name = ?', [$args[0]]);
        }
        return [$list, pdo_run($p, "DELETE FROM items WHERE name LIKE 'r_'")];
    });
    check("$kind/blob", function () use ($open) {
        $p = $open();
        $v = str_repeat("\0\xfe'\\", 1 << 19);
        $list = [];
        $s = $p->prepare('INSERT INTO blobs VALUES (1, ?, ?)');
        $s->bindValue(1, $v, PDO::PARAM_LOB);
        $s->bindValue(2, str_repeat('😀', 1000));
        $s->execute();
        $s = $p->prepare('SELECT v, tx FROM blobs WHERE id = ?');
        $s->execute([1]);
        [$back, $tx] = $s->fetch(PDO::FETCH_NUM);
        return [$back === $v, strlen($tx), pdo_run($p, 'DELETE FROM blobs')];
    });
    check("$kind/transactions", function () use ($open) {
        $p = $open();
        $list = [];
        $p->beginTransaction();
        $list[] = [$p->inTransaction(), pdo_each($p, 'UPDATE items SET qty = 71 WHERE id = 1', 'SELECT qty FROM items WHERE id = 1', 'SAVEPOINT a', 'UPDATE items SET qty = 72 WHERE id = 1', 'ROLLBACK TO SAVEPOINT a')];
        $p->commit();
        $list[] = [$p->inTransaction(), pdo_each($p, 'SELECT qty FROM items WHERE id = 1')];
        $p->beginTransaction();
        $list[] = pdo_each($p, 'CREATE TABLE made (a INT)', 'DROP TABLE made');
        $list[] = $p->inTransaction();
        try {
            $p->commit();
        } catch (PDOException $e) {
            $list[] = $e->getMessage();
        }
        return $list;
    });
    check("$kind/unbuffered", function () use ($open) {
        $p = $open([PDO::MYSQL_ATTR_USE_BUFFERED_QUERY => false]);
        $s = $p->prepare('SELECT a.n FROM numbers a, numbers b WHERE b.n < ?');
        $s->execute([20]);
        $sum = 0;
        for ($i = 0; $i < 3; $i++) {
            $sum += $s->fetchColumn();
        }
        $v = pdo_run($p, 'SELECT 1');
        $s->closeCursor();
        return [$v, pdo_run($p, 'SELECT COUNT(*) FROM numbers')];
    });
    check("$kind/procedures", fn () => [pdo_run($open(), 'CALL two_results()'), pdo_run($p = $open(), 'CALL in_out_rows(?, @b)', [1]), pdo_run($p, 'SELECT @b'), pdo_run($p, 'CALL fails()'), pdo_run($open(), 'SELECT doubled(?)', [4])]);
    check("$kind/errors", fn () => pdo_each($open(), 'SELEC 1', 'SELECT * FROM nosuch', "INSERT INTO items (name) VALUES ('apple')", 'SELECT COUNT(*) FROM numbers'));
    check("$kind/several statements", fn () => [pdo_run($open(), 'SELECT 1; SELECT name FROM items WHERE id = 1'), pdo_run($open(), 'UPDATE items SET qty = 5 WHERE id = 1; SELECT qty FROM items WHERE id = 1; SELEC 1')]);
    check("$kind/state", fn () => pdo_each($open(), "SET time_zone = '+03:00'", 'SELECT CAST(ts AS CHAR) FROM kinds WHERE id = 1', 'SET @x = 5', 'SELECT @x, COUNT(*) FROM numbers', 'CREATE TEMPORARY TABLE t (a INT)', 'SELECT * FROM t', 'DROP TEMPORARY TABLE t', 'SHOW WARNINGS'));
}
