<?php
// The PHP client program: mysqli and PDO, as JSON lines.
require __DIR__ . '/lib.php';
require __DIR__ . '/mysqli.php';
require __DIR__ . '/pdo.php';

error_reporting(E_ALL & ~E_DEPRECATED);
ini_set('display_errors', 'stderr');
mysqli_checks();
pdo_checks();
emit('end', $GLOBALS['seen']);
