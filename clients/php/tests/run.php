<?php
declare(strict_types=1);
// The library's own tests: php tests/run.php. With CW_HOST, CW_PORT, CW_USER and
// CW_PASSWORD those of PDO run too, on plain MySQL, where @causeway_token is a
// user variable like any other: a test writes into it what Causeway would.
require __DIR__ . '/../src/autoload.php';
require __DIR__ . '/lib.php';
foreach (['carrier', 'cookies', 'sql', 'pdo'] as $name) {
    require __DIR__ . "/$name.php";
}
printf("%d passed, %d failed\n", $passed, $failed);
exit($failed === 0 && $passed > 0 ? 0 : 1);
