<?php
// The client program for Doctrine's DBAL and Laravel's Illuminate, as JSON lines.
error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);
ini_set('display_errors', 'stderr');
require __DIR__ . '/../php/lib.php';
require_once 'Doctrine/DBAL/autoload.php';
require_once 'Illuminate/Database/autoload.php';

use Doctrine\DBAL\DriverManager;
use Illuminate\Database\Capsule\Manager;

// attempt keeps an error of the server beside what was seen.
function attempt(callable $f): mixed
{
    try {
        return $f();
    } catch (PDOException | Doctrine\DBAL\Exception $e) {
        $first = $e;
        while ($first->getPrevious()) {
            $first = $first->getPrevious();
        }
        return ['class' => get_class($e), 'first' => error($first)['errno'] ?? $first->getCode()];
    }
}

function doctrine(string $driver): void
{
    $open = fn () => DriverManager::getConnection(['driver' => $driver, 'host' => getenv('CW_HOST'), 'port' => (int) getenv('CW_PORT'), 'user' => getenv('CW_USER'), 'password' => getenv('CW_PASSWORD'), 'dbname' => 'clients', 'charset' => 'utf8mb4']);
    check("doctrine $driver/rows", fn () => [$open()->fetchAllAssociative('SELECT * FROM kinds ORDER BY id'), $open()->fetchOne('SELECT COUNT(*) FROM numbers WHERE n > ?', [100]), get_class($open()->getDatabasePlatform())]);
    check("doctrine $driver/writes", function () use ($open) {
        $c = $open();
        return [$c->insert('items', ['name' => 'd1', 'qty' => 2]), (string) $c->lastInsertId(), $c->update('items', ['qty' => 3], ['name' => 'd1']), $c->fetchAssociative('SELECT name, qty FROM items WHERE name = ?', ['d1']),
            attempt(fn () => $c->insert('items', ['name' => 'd1'])), attempt(fn () => $c->fetchOne('SELECT * FROM nosuch')), $c->delete('items', ['name' => 'd1'])];
    });
    check("doctrine $driver/transactions", function () use ($open) {
        $c = $open();
        $c->setNestTransactionsWithSavepoints(true);
        $c->beginTransaction();
        $c->executeStatement('UPDATE items SET qty = 61 WHERE id = 1');
        $c->beginTransaction();
        $c->executeStatement('UPDATE items SET qty = 62 WHERE id = 1');
        $c->rollBack();
        $c->commit();
        $list = [$c->fetchOne('SELECT qty FROM items WHERE id = 1')];
        $list[] = attempt(fn () => $c->transactional(function ($c) {
            $c->executeStatement('UPDATE items SET qty = 63 WHERE id = 1');
            $c->executeStatement('SELEC');
        }));
        $c->setTransactionIsolation(2);
        $c->beginTransaction();
        $list[] = [$c->fetchOne('SELECT qty FROM items WHERE id = 1'), $c->fetchOne('SELECT @@transaction_isolation')];
        $c->rollBack();
        return $list;
    });
    check("doctrine $driver/schema", function () use ($open) {
        $s = $open()->createSchemaManager();
        $names = $s->listTableNames();
        sort($names);
        return [$names, array_map(fn ($c) => [$c->getName(), get_class($c->getType()), $c->getNotnull()], array_values($s->listTableColumns('items'))), array_keys($s->listTableIndexes('items')), count($s->listTableForeignKeys('child'))];
    });
    check("doctrine $driver/prepared and streamed", function () use ($open) {
        $c = $open();
        $s = $c->prepare('SELECT n, word FROM numbers WHERE n = ?');
        $list = array_map(fn ($n) => $s->executeQuery([$n])->fetchAllNumeric(), [1, '2', 500]);
        $sum = 0;
        foreach ($c->iterateColumn('SELECT n FROM numbers') as $n) {
            $sum += $n;
        }
        return [$list, $sum];
    });
}

function laravel(): void
{
    $m = new Manager();
    $one = ['driver' => 'mysql', 'username' => getenv('CW_USER'), 'password' => getenv('CW_PASSWORD'), 'port' => getenv('CW_PORT'), 'database' => 'clients', 'charset' => 'utf8mb4', 'collation' => 'utf8mb4_0900_ai_ci', 'prefix' => '', 'strict' => true];
    $m->addConnection($one + ['host' => getenv('CW_HOST')]);
    // The application's own split, with "sticky": both halves are the same Causeway.
    $m->addConnection($one + ['sticky' => true, 'read' => ['host' => [getenv('CW_HOST')]], 'write' => ['host' => [getenv('CW_HOST')]]], 'split');
    foreach (['default', 'split'] as $name) {
        check("laravel $name/builder", function () use ($m, $name) {
            $c = $m->getConnection($name);
            $id = $c->table('items')->insertGetId(['name' => "l $name", 'qty' => 1]);
            return [$id > 5, (array) $c->table('items')->find($id), $c->table('items')->where('id', $id)->increment('qty', 5), $c->table('items')->where('id', $id)->value('qty'), attempt(fn () => $c->table('items')->insert(['name' => "l $name"])),
                $c->table('items')->upsert([['name' => "l $name", 'qty' => 9]], ['name'], ['qty']), $c->table('items')->where('name', "l $name")->lockForUpdate()->value('qty'), $c->table('items')->delete($id), $c->table('numbers')->where('n', '<', 50)->sum('n')];
        });
        check("laravel $name/transactions", function () use ($m, $name) {
            $c = $m->getConnection($name);
            $list = [attempt(fn () => $c->transaction(function ($c) {
                $c->table('items')->where('id', 2)->update(['qty' => 71]);
                $c->select('SELEC');
            }))];
            $c->beginTransaction();
            $c->table('items')->where('id', 2)->update(['qty' => 72]);
            $c->beginTransaction();
            $c->table('items')->where('id', 2)->update(['qty' => 73]);
            $c->rollBack();
            $list[] = $c->table('items')->where('id', 2)->value('qty');
            $c->commit();
            $list[] = [$c->table('items')->where('id', 2)->value('qty'), $c->transactionLevel()];
            return $list;
        });
        check("laravel $name/session", fn () => (array) $m->getConnection($name)->selectOne('SELECT @@sql_mode AS m, @@collation_connection AS c, DATABASE() AS d'));
    }
    check('laravel default/schema', function () use ($m) {
        $s = $m->getConnection()->getSchemaBuilder();
        $s->create('made', function ($t) {
            $t->id();
            $t->string('name', 50)->unique();
            $t->json('data')->nullable();
            $t->timestamps();
        });
        $columns = $s->getColumnListing('made');
        sort($columns);
        $m->getConnection()->table('made')->insert(['name' => 'x', 'data' => json_encode(['a' => 1])]);
        $v = [$s->hasTable('made'), $columns, $m->getConnection()->table('made')->where('data->a', 1)->count(), $m->getConnection()->table('made')->select('name')->get()->all()];
        $s->drop('made');
        return [json_decode(json_encode($v)), $s->hasTable('made')];
    });
}

doctrine('pdo_mysql');
doctrine('mysqli');
laravel();
emit('end', $GLOBALS['seen']);
