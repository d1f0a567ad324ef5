<?php
// What all checks in PHP share: running one, and printing what it saw.

$GLOBALS['seen'] = 0;

function emit(string $name, mixed $value): void
{
    echo json_encode(['name' => $name, 'value' => $value], JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION), "\n";
}

// An error of the server is something seen; one of the client's own breaks the check.
function check(string $name, callable $f): void
{
    try {
        $value = $f();
    } catch (Throwable $e) {
        $value = error($e);
    }
    emit($name, plain($value));
    $GLOBALS['seen']++;
}

function error(Throwable $e): array
{
    if ($e instanceof mysqli_sql_exception) {
        return ['errno' => $e->getCode(), 'sqlstate' => $e->getSqlState(), 'message' => address($e->getMessage())];
    }
    if ($e instanceof PDOException) {
        return ['errno' => $e->errorInfo[1] ?? $e->getCode(), 'sqlstate' => $e->errorInfo[0] ?? $e->getCode(), 'message' => address($e->getMessage())];
    }
    return ['broken' => get_class($e) . ': ' . $e->getMessage() . ' at ' . basename($e->getFile()) . ':' . $e->getLine()];
}

function address(string $s): string
{
    return str_replace(':' . getenv('CW_PORT'), ':PORT', $s);
}

// plain makes values fit for JSON and keeps their types visible.
function plain(mixed $v): mixed
{
    if (is_array($v)) {
        return array_map('plain', $v);
    }
    if (is_string($v) && !mb_ok($v)) {
        return ['hex' => bin2hex($v)];
    }
    return is_float($v) ? ['float' => (string) $v] : $v;
}

function mb_ok(string $s): bool
{
    return preg_match('//u', $s) === 1;
}
