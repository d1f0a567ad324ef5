<?php
// Checks of mysqli, on PHP's own mysqlnd.

function my(?string $schema = 'clients', int $flags = 0, bool $persistent = false, int $patience = 20): mysqli
{
    mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
    $m = mysqli_init();
    $m->options(MYSQLI_OPT_LOCAL_INFILE, true);
    $m->options(MYSQLI_OPT_READ_TIMEOUT, $patience);
    $m->real_connect(($persistent ? 'p:' : '') . getenv('CW_HOST'), getenv('CW_USER'), getenv('CW_PASSWORD'), $schema, (int) getenv('CW_PORT'), null, $flags);
    $m->set_charset('utf8mb4');
    return $m;
}

function my_result(mysqli $m, mysqli_result|bool $r): mixed
{
    if ($r === true || $r === false) {
        return ['affected' => $m->affected_rows, 'id' => $m->insert_id, 'warnings' => $m->warning_count, 'info' => $m->info];
    }
    $columns = array_map(fn ($f) => [$f->name, $f->orgname, $f->table, $f->db, $f->type, $f->flags, $f->length, $f->decimals, $f->charsetnr], $r->fetch_fields());
    $v = ['columns' => $columns, 'rows' => $r->fetch_all(MYSQLI_NUM), 'warnings' => $m->warning_count];
    $r->free();
    return $v;
}

function my_each(mysqli $m, string ...$statements): array
{
    $list = [];
    foreach ($statements as $s) {
        try {
            $list[] = my_result($m, $m->query($s));
        } catch (mysqli_sql_exception $e) {
            $list[] = error($e) + ['error_list' => $m->error_list];
        }
    }
    return $list;
}

function my_multi(mysqli $m, string $s): array
{
    $list = [];
    try {
        $m->multi_query($s);
        do {
            $list[] = my_result($m, $m->store_result());
        } while ($m->more_results() && $m->next_result());
    } catch (mysqli_sql_exception $e) {
        $list[] = error($e);
    }
    return $list;
}

function my_prepared(mysqli $m, string $sql, string $types, mixed ...$args): mixed
{
    $s = $m->prepare($sql);
    if ($types !== '') {
        $s->bind_param($types, ...$args);
    }
    $s->execute();
    $r = $s->get_result();
    $v = $r === false ? ['affected' => $s->affected_rows, 'id' => $s->insert_id] : my_result($m, $r);
    $s->close();
    return $v;
}

function mysqli_checks(): void
{
    check('mysqli/connect', fn () => [my()->server_info, my()->server_version, my()->protocol_version, my()->character_set_name(), my_each(my(), 'SELECT DATABASE(), CURRENT_USER(), @@sql_mode, @@collation_connection')]);
    check('mysqli/connect without a schema', function () {
        $m = my(null);
        $v = my_each($m, 'SELECT DATABASE()', 'SELECT * FROM items');
        $m->select_db('clients2');
        return [$v, my_each($m, 'SELECT name FROM items')];
    });
    check('mysqli/unknown schema', fn () => my('nosuch')->server_info);
    check('mysqli/wrong password', fn () => (new mysqli(getenv('CW_HOST'), 'app', 'wrong', 'clients', (int) getenv('CW_PORT')))->server_info);
    check('mysqli/charsets', function () {
        $m = my();
        $list = [];
        foreach (['latin1', 'utf8mb4', 'gbk', 'nosuch'] as $c) {
            try {
                $list[] = [$m->set_charset($c), $m->get_charset()->collation, my_each($m, 'SELECT l1, vc, @@character_set_results FROM kinds WHERE id = 1'), $m->real_escape_string("\xbf'é")];
            } catch (mysqli_sql_exception $e) {
                $list[] = error($e);
            }
        }
        return $list;
    });
    check('mysqli/types, text', fn () => my_each(my(), 'SELECT * FROM kinds ORDER BY id'));
    check('mysqli/types, prepared', fn () => my_prepared(my(), 'SELECT * FROM kinds WHERE id > ? ORDER BY id', 'i', 0));
    check('mysqli/parameters', fn () => my_prepared(my(), 'SELECT ?, ?, ?, ?, COUNT(*) FROM items', 'idss', -5, 2.5, "😀'\\\0", null));
    check('mysqli/insert id and affected rows', fn () => my_each(my(), "INSERT INTO items (name) VALUES ('h1')", 'SELECT LAST_INSERT_ID()', "INSERT INTO items (name) VALUES ('h2'), ('h3')", 'UPDATE items SET qty = 55 WHERE id <= 2', 'UPDATE items SET qty = 55 WHERE id <= 3', 'SELECT ROW_COUNT()', "DELETE FROM items WHERE name LIKE 'h_'"));
    check('mysqli/found rows', fn () => my_each(my(flags: MYSQLI_CLIENT_FOUND_ROWS), 'UPDATE items SET qty = 55 WHERE id <= 2', 'UPDATE items SET qty = 55 WHERE id <= 2'));
    // Through a Causeway without compression this waits for its time limits: not in CI.
    getenv('CW_SET') === 'short' || check('mysqli/compression', fn () => my_each(my(flags: MYSQLI_CLIENT_COMPRESS, patience: 2), 'SELECT word FROM numbers ORDER BY n LIMIT 200', "SELECT REPEAT('x', 100000)"));
    check('mysqli/own write is read', function () {
        $m = my();
        $missed = 0;
        for ($i = 0; $i < 50; $i++) {
            $m->query("UPDATE items SET qty = $i WHERE id = 3");
            $missed += (int) $m->query('SELECT qty FROM items WHERE id = 3')->fetch_row()[0] === $i ? 0 : 1;
        }
        return $missed;
    });
    check('mysqli/errors', fn () => my_each(my(), 'SELEC 1', 'SELECT * FROM nosuch', "INSERT INTO items (name) VALUES ('apple')", 'INSERT INTO child (item) VALUES (-1)', "INSERT INTO strict VALUES (1000, 'x')", 'SELECT 1; SELECT 2', 'USE nosuch', 'SELECT name FROM items WHERE id = 1', ' '));
    check('mysqli/warnings', function () {
        $m = my();
        $list = my_each($m, "SELECT CAST('x' AS SIGNED), 1/0");
        for ($w = $m->get_warnings(), $more = (bool) $w; $more; $more = $w->next()) {
            $list[] = [$w->errno, $w->sqlstate, $w->message];
        }
        return [$list, my_each($m, 'SHOW WARNINGS', 'DROP TABLE IF EXISTS nosuch', 'SELECT @@warning_count')];
    });
    check('mysqli/several statements', fn () => [
        my_multi(my(), 'SELECT name FROM items WHERE id = 1; UPDATE items SET qty = 5 WHERE id = 1; SELECT qty FROM items WHERE id = 1'),
        my_multi(my(), 'SELECT 1; SELEC 2; SELECT 3'),
        my_multi($m = my(), 'CALL two_results(); SELECT COUNT(*) FROM numbers'), my_each($m, 'SELECT COUNT(*) FROM numbers'),
        my_multi($m, 'CALL fails()'), my_multi($m, "CALL adds('php'); DELETE FROM items WHERE name = 'php'"),
    ]);
    check('mysqli/commands out of order', function () {
        $m = my();
        $r = $m->query('SELECT n FROM numbers', MYSQLI_USE_RESULT);
        $r->fetch_row();
        $v = my_each($m, 'SELECT 1');
        $r->free();
        return [$v, my_each($m, 'SELECT COUNT(*) FROM numbers')];
    });
    check('mysqli/procedures, prepared', function () {
        $m = my();
        $s = $m->prepare('CALL two_results()');
        $s->execute();
        $list = [];
        do {
            if ($r = $s->get_result()) {
                $list[] = my_result($m, $r);
            }
        } while ($s->more_results() && $s->next_result());
        $s->close();
        return [$list, my_each($m, 'SET @c = 1', 'CALL in_out(4, @b, @c)', 'SELECT @b, @c')];
    });
    mysqli_statements();
    mysqli_sessions();
}

function mysqli_statements(): void
{
    check('mysqli/executed again', function () {
        $m = my();
        $s = $m->prepare('SELECT n, word FROM numbers WHERE n = ?');
        $list = [];
        foreach ([1, '2', null, 500] as $arg) {
            $s->execute([$arg]);
            $list[] = my_result($m, $s->get_result());
        }
        return $list;
    });
    check('mysqli/long data', function () {
        $m = my();
        $s = $m->prepare('INSERT INTO blobs VALUES (?, ?, ?)');
        $null = null;
        $id = 1;
        $s->bind_param('ibb', $id, $null, $null);
        $list = [];
        foreach ([0, 3] as $parts) {
            $id = $parts;
            for ($i = 0; $i < $parts; $i++) {
                $s->send_long_data(1, str_repeat("\xfe\0'", 500000));
            }
            $s->send_long_data(2, '😀');
            $s->execute();
            $list[] = my_each($m, "SELECT LENGTH(v), SHA2(v, 256), tx FROM blobs WHERE id = $parts");
        }
        $s->send_long_data(1, 'dropped');
        $s->reset();
        return [$list, my_each($m, 'DELETE FROM blobs')];
    });
    check('mysqli/cursor', function () {
        $m = my();
        $s = $m->prepare('SELECT n FROM numbers ORDER BY n');
        $s->attr_set(MYSQLI_STMT_ATTR_CURSOR_TYPE, MYSQLI_CURSOR_TYPE_READ_ONLY);
        $s->execute();
        $s->bind_result($n);
        $list = [];
        for ($i = 0; $i < 10 && $s->fetch(); $i++) {
            $list[] = $n;
        }
        $between = my_each($m, 'SELECT COUNT(*) FROM items WHERE id < 3');
        while ($s->fetch()) {
            $list[] = $n;
        }
        $s->close();
        return [count($list), array_sum($list), $between, my_each($m, 'SELECT COUNT(*) FROM numbers')];
    });
    check('mysqli/unbuffered', function () {
        $m = my();
        $s = $m->prepare('SELECT a.n FROM numbers a, numbers b WHERE b.n < ?');
        $s->execute([50]);
        $s->bind_result($n);
        $sum = 0;
        while ($s->fetch()) {
            $sum += $n;
        }
        $s->close();
        return [$sum, my_each($m, 'SELECT COUNT(*) FROM numbers')];
    });
    check('mysqli/errors of PREPARE', function () {
        $m = my();
        $list = [];
        foreach (['SELEC ?', 'SELECT ? FROM nosuch', 'SELECT 1; SELECT ?'] as $sql) {
            try {
                $m->prepare($sql);
            } catch (mysqli_sql_exception $e) {
                $list[] = error($e);
            }
        }
        return [$list, my_prepared($m, 'SELECT COUNT(*) FROM numbers WHERE n > ?', 'i', 5)];
    });
}

function mysqli_sessions(): void
{
    check('mysqli/transactions', function () {
        $m = my();
        $list = [];
        $m->begin_transaction();
        $list[] = my_each($m, 'UPDATE items SET qty = 61 WHERE id = 1');
        $m->savepoint('a');
        $list[] = my_each($m, 'UPDATE items SET qty = 62 WHERE id = 1', 'ROLLBACK TO a', 'SELECT qty FROM items WHERE id = 1');
        $m->commit();
        $list[] = my_each($m, 'SELECT qty FROM items WHERE id = 1');
        $m->begin_transaction(MYSQLI_TRANS_START_READ_ONLY);
        $list[] = my_each($m, 'SELECT qty FROM items WHERE id = 1', 'UPDATE items SET qty = 63 WHERE id = 1');
        $m->rollback();
        $m->begin_transaction(MYSQLI_TRANS_START_WITH_CONSISTENT_SNAPSHOT | MYSQLI_TRANS_START_READ_WRITE);
        $list[] = my_each($m, 'UPDATE items SET qty = 64 WHERE id = 1');
        $m->rollback();
        $m->autocommit(false);
        $list[] = my_each($m, 'UPDATE items SET qty = 65 WHERE id = 1', 'SELECT qty FROM items WHERE id = 1');
        $m->rollback(MYSQLI_TRANS_COR_AND_CHAIN);
        $list[] = my_each($m, 'SELECT qty FROM items WHERE id = 1');
        $m->autocommit(true);
        return [$list, my_each($m, 'SELECT qty, @@autocommit FROM items WHERE id = 1')];
    });
    check('mysqli/change user', function () {
        $m = my();
        my_each($m, 'SET @x = 5', "SET sql_mode = ''", 'CREATE TEMPORARY TABLE gone (a INT)', 'BEGIN', 'UPDATE items SET qty = 888 WHERE id = 4');
        $m->change_user(getenv('CW_USER'), getenv('CW_PASSWORD'), 'clients2');
        $list = my_each($m, 'SELECT @x, @@sql_mode, DATABASE(), @@character_set_client', 'SELECT * FROM gone', 'SELECT name FROM items', 'SELECT qty <> 888 FROM clients.items WHERE id = 4');
        try {
            $m->change_user('app', 'wrong', 'clients');
        } catch (mysqli_sql_exception $e) {
            $list[] = error($e);
        }
        return $list;
    });
    check('mysqli/schema', function () {
        $m = my();
        $m->select_db('clients2');
        $list = my_each($m, 'SELECT name FROM items');
        try {
            $m->select_db('nosuch');
        } catch (mysqli_sql_exception $e) {
            $list[] = error($e);
        }
        return [$list, my_each($m, 'SELECT DATABASE()', 'SELECT name FROM items')];
    });
    check('mysqli/persistent', function () {
        $list = [];
        for ($i = 0; $i < 3; $i++) {
            $m = my(persistent: true);
            $list[] = my_each($m, 'SELECT @left, @@autocommit, DATABASE()', 'SET @left = 1', 'SET autocommit = 0', 'UPDATE items SET qty = 777 WHERE id = 5', 'USE clients2');
            $m->close();
        }
        // The last one is still open behind the scenes: taking it again ends its transaction.
        return [$list, my_each(my(persistent: true), 'START TRANSACTION', 'SELECT qty <> 777 FROM items WHERE id = 5', 'COMMIT')];
    });
    check('mysqli/connection id', fn () => my_id($m = my()) === $m->thread_id);
    check('mysqli/kill', function () {
        [$a, $b] = [my(), my()];
        $id = my_id($a);
        $v = my_each($b, "KILL $id");
        usleep(300000);
        try {
            $w = my_each($a, 'SELECT COUNT(*) FROM numbers')[0]['errno'] ?? 'alive';
        } catch (Throwable $e) {
            $w = 'ended';
        }
        return [$v, is_int($w) && in_array($w, [2006, 4031, 1053], true) ? 'gone away' : $w];
    });
    check('mysqli/async and ping', function () {
        $m = my();
        $m->query('SELECT SLEEP(0.2), COUNT(*) FROM items', MYSQLI_ASYNC);
        do {
            $r = $e = $j = [$m];
        } while (mysqli_poll($r, $e, $j, 1) === 0);
        $v = my_result($m, $m->reap_async_query());
        return [$v, my_each($m, 'SELECT 1', 'DO 0'), $m->stat() !== ''];
    });
    check('mysqli/load data', function () {
        $m = my();
        $path = getenv('CW_TMP') . '/load.csv';
        file_put_contents($path, str_repeat("1,one,1.5\n2,😀,-2\n", 100));
        $v = my_each($m, "LOAD DATA LOCAL INFILE '$path' INTO TABLE loaded FIELDS TERMINATED BY ','", 'SELECT a, b, c, COUNT(*) FROM loaded GROUP BY a, b, c ORDER BY a', 'DELETE FROM loaded');
        return [$v, @my_each($m, "LOAD DATA LOCAL INFILE '/nosuch' INTO TABLE loaded")[0]['errno'], my_each($m, 'SELECT COUNT(*) FROM numbers')];
    });
    check('mysqli/state', fn () => my_each(my(), "SET time_zone = '+03:00'", 'SELECT ts FROM kinds WHERE id = 1', 'SET @x = 5, @y = NULL', 'SELECT @x, @y, COUNT(*) FROM numbers', 'CREATE TEMPORARY TABLE t (a INT)', 'SELECT * FROM t', 'DROP TEMPORARY TABLE t', "SELECT GET_LOCK('php', 1)", "SELECT RELEASE_LOCK('php')", 'SELECT SQL_CALC_FOUND_ROWS n FROM numbers LIMIT 2', 'SELECT FOUND_ROWS()', "PREPARE p FROM 'SELECT n FROM numbers WHERE n = ?'", 'EXECUTE p USING @x', 'DEALLOCATE PREPARE p', 'EXECUTE p'));
}

function my_id(mysqli $m): int
{
    return (int) $m->query('SELECT CONNECTION_ID()')->fetch_row()[0];
}
