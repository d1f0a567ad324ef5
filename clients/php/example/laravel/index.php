<?php
declare(strict_types=1);
// A tiny Laravel application with Causeway's helper: a browser posts a comment,
// is redirected, and reads it back. It differs from one without the helper by a
// line in config/app.php. (With Composer not even that: Laravel finds it.)
// Settings come from the environment: CW_HOST, CW_PORT, CW_USER, CW_PASSWORD;
// HELPER=off leaves the helper out, TRACER=below or above adds comments in front
// of or behind statements. Start: php -S 127.0.0.1:8080 index.php
error_reporting(E_ALL & ~E_DEPRECATED);
require 'Illuminate/autoload.php'; // Debian's; with Composer it is vendor/autoload.php
require __DIR__ . '/../../src/autoload.php';
foreach (['Kernel', 'Handler', 'Routes', 'TracedConnection'] as $class) {
    require __DIR__ . "/app/$class.php";
}

$storage = sys_get_temp_dir() . '/causeway-laravel-' . getmypid();
is_dir($storage) || mkdir("$storage/framework", 0700, true);
putenv("APP_PACKAGES_CACHE=$storage/packages.php");
putenv("APP_SERVICES_CACHE=$storage/services.php");

$app = new Illuminate\Foundation\Application(__DIR__);
$app->useStoragePath($storage);
$app->singleton(Illuminate\Contracts\Http\Kernel::class, App\Kernel::class);
$app->singleton(Illuminate\Contracts\Debug\ExceptionHandler::class, App\Handler::class);

$kernel = $app->make(Illuminate\Contracts\Http\Kernel::class);
$request = Illuminate\Http\Request::capture();
$response = $kernel->handle($request);
$response->send();
$kernel->terminate($request, $response);
