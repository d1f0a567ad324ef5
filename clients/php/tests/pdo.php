<?php
declare(strict_types=1);

use Causeway\Carrier;
use Causeway\PDO;

if (getenv('CW_HOST') === false) {
    echo "without CW_HOST: the tests of PDO do not run\n";
    return;
}

function connect(array $options = []): PDO
{
    return new PDO('mysql:dbname=web;host=' . getenv('CW_HOST') . ';port=' . getenv('CW_PORT'), getenv('CW_USER'), getenv('CW_PASSWORD'), $options);
}

/** A carrier that is entered, and a connection whose commits would give the token g:new. */
function entered(array $tokens = [], array $options = []): array
{
    Carrier::leave();
    $c = new Carrier($tokens);
    $pdo = connect($options);
    $pdo->exec("SET @causeway_token = 'g:new'");
    $c->enter();
    return [$c, $pdo];
}

const WRITE = "INSERT INTO comments (text) VALUES ('php')";

test('the token is there before the first statement', function () {
    foreach ([[], [PDO::ATTR_PERSISTENT => true], [PDO::ATTR_EMULATE_PREPARES => false]] as $options) {
        [$c, $pdo] = entered(['g:old'], $options);
        same('g:old', $pdo->query('SELECT @causeway_token')->fetchColumn());
        [$c, $pdo] = entered(['g:old'], $options);
        $s = $pdo->prepare('SELECT @causeway_token');
        $s->execute();
        same(['g:old', false], [$s->fetchColumn(), $c->changed()]);
    }
});

test('each way to commit', function () {
    $ways = [
        fn (PDO $p) => $p->exec(WRITE),
        fn (PDO $p) => $p->query('/*traceparent=1*/ ' . WRITE),
        fn (PDO $p) => $p->prepare(WRITE)->execute(),
        fn (PDO $p) => [$p->beginTransaction(), $p->exec(WRITE), $p->commit()],
        fn (PDO $p) => [$p->exec('BEGIN'), $p->prepare(WRITE)->execute(), $p->exec('COMMIT')],
        fn (PDO $p) => [$p->beginTransaction(), $p->exec(WRITE), $p->exec('ALTER TABLE comments COMMENT = ""')],
    ];
    foreach ([[], [PDO::ATTR_PERSISTENT => true]] as $options) {
        foreach ($ways as $way) {
            [$c, $pdo] = entered([], $options);
            $way($pdo);
            same([['g:new'], true], [$c->tokens(), $c->changed()]);
        }
    }
});

test('no rollback, no read, no read-only transaction gives a token', function () {
    $ways = [
        fn (PDO $p) => [$p->beginTransaction(), $p->exec(WRITE), $p->prepare(WRITE)->execute(), $p->rollBack()],
        fn (PDO $p) => $p->query('SELECT 1')->fetchAll(),
        fn (PDO $p) => [$p->beginReadOnly(), $p->query('SELECT 1')->fetchAll(), $p->commit()],
        fn (PDO $p) => [$p->exec('START TRANSACTION READ ONLY'), $p->query('SELECT 1')->fetchAll(), $p->exec('COMMIT')],
    ];
    foreach ([[], [PDO::ATTR_PERSISTENT => true]] as $options) {
        foreach ($ways as $way) {
            [$c, $pdo] = entered([], $options);
            $way($pdo);
            same([[], false], [$c->tokens(), $c->changed()]);
        }
    }
});

test('a prepared write that runs again after a rollback', function () {
    foreach ([[], [PDO::ATTR_PERSISTENT => true]] as $options) {
        [$c, $pdo] = entered([], $options);
        $pdo->beginTransaction();
        $s = $pdo->prepare(WRITE);
        $s->execute();
        $pdo->rollBack();
        $s->execute();
        same(['g:new'], $c->tokens());
    }
});

test('a connection that is closed has told its token', function () {
    [$c, $pdo] = entered();
    $pdo->exec(WRITE);
    $pdo = null;
    same(['g:new'], $c->tokens());
});

test('statements of our own are not seen', function () {
    [$c, $pdo] = entered(['g:old'], [PDO::ATTR_ERRMODE => PDO::ERRMODE_SILENT]);
    $pdo->exec(WRITE);
    $id = $pdo->lastInsertId();
    same(true, $id > 0);
    $c->tokens();
    same($id, $pdo->lastInsertId());
    same(PDO::ERRMODE_SILENT, $pdo->getAttribute(PDO::ATTR_ERRMODE));
    same(false, $pdo->exec('INSERT INTO nosuch VALUES (1)'));
    same(1146, $pdo->errorInfo()[1]);
    $pdo->query('SELECT 1');
    same('0', $pdo->lastInsertId());
});

test('without a carrier nothing is added', function () {
    $pdo = connect();
    $pdo->exec(WRITE);
    same(null, $pdo->query('SELECT @causeway_token')->fetchColumn());
});

test('a token that is asked for while rows are streamed is read later', function () {
    [$c, $pdo] = entered([], [PDO::MYSQL_ATTR_USE_BUFFERED_QUERY => false]);
    $pdo->exec(WRITE);
    $s = $pdo->query('SELECT 1 UNION SELECT 2');
    same(1, (int) $s->fetchColumn());
    same([], $c->tokens());
    $s->closeCursor();
    same(['g:new'], $c->tokens());
});

test('a result that is read row by row', function () {
    [$c, $pdo] = entered(['g:old'], [PDO::MYSQL_ATTR_USE_BUFFERED_QUERY => false]);
    $pdo->exec(WRITE);
    $s = $pdo->query('SELECT 1 UNION SELECT 2');
    same(1, (int) $s->fetchColumn());
    $s->closeCursor();
    same(1, count($c->tokens()));
});
