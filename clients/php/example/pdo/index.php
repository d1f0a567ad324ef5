<?php
declare(strict_types=1);
// A tiny web application with Causeway's helper and plain PDO: a browser posts a
// comment, is redirected, and reads it back. Settings come from the environment:
// CW_HOST, CW_PORT, CW_USER, CW_PASSWORD; HELPER=off leaves the helper out,
// TRACER=below or above adds comments in front of or behind statements.
// Start: php -S 127.0.0.1:8080 index.php
require __DIR__ . '/../../src/autoload.php';
require __DIR__ . '/TracedPDO.php';

if (getenv('HELPER') !== 'off') {
    Causeway\Web::start(); // 1: before anything is printed
}
$class = match (true) {
    getenv('HELPER') === 'off' => PDO::class,
    in_array(getenv('TRACER'), ['below', 'above'], true) => TracedPDO::class,
    default => Causeway\PDO::class, // 2: in the place of PDO
};
$pdo = new $class('mysql:dbname=web;host=' . getenv('CW_HOST') . ';port=' . getenv('CW_PORT'), getenv('CW_USER'), getenv('CW_PASSWORD'),
    [PDO::ATTR_PERSISTENT => getenv('TRACER') === 'none']);

/** Writes a comment in one of the ways that applications have. */
function write(PDO $pdo, string $text, string $how): string
{
    $transaction = $how !== 'autocommit';
    if ($transaction) {
        $pdo->beginTransaction();
    }
    $pdo->prepare('INSERT INTO comments (text) VALUES (?)')->execute([$text]);
    $id = $pdo->lastInsertId();
    if ($transaction) {
        $how === 'rollback' ? $pdo->rollBack() : $pdo->commit();
    }
    return $id;
}

function read(PDO $pdo, string $id, string $how): string|false
{
    $transaction = $how !== 'autocommit';
    if ($transaction) {
        $pdo->exec('START TRANSACTION READ ONLY');
    }
    $statement = $pdo->prepare('SELECT text FROM comments WHERE id = ?');
    $statement->execute([$id]);
    $text = $statement->fetchColumn();
    if ($transaction) {
        $pdo->exec('COMMIT');
    }
    return $text;
}

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if ($_SERVER['REQUEST_METHOD'] === 'POST' && $path === '/comments') {
    $id = write($pdo, $_POST['text'], $_POST['how']);
    header("Location: /comments/$id?how=" . rawurlencode($_POST['how']), true, 303);
} elseif (preg_match('~\A/comments/(\d+)\z~', $path, $m) && ($text = read($pdo, $m[1], $_GET['how'] ?? '')) !== false) {
    echo '<p>' . htmlspecialchars($text) . "</p>\n";
} else {
    http_response_code(404);
    echo "no such comment\n";
}
