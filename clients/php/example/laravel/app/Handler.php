<?php
declare(strict_types=1);

namespace App;

final class Handler extends \Illuminate\Foundation\Exceptions\Handler
{
    /** Without views: the message alone. */
    public function render($request, \Throwable $e)
    {
        return response($e->getMessage() . "\n", $e instanceof \Symfony\Component\HttpKernel\Exception\HttpExceptionInterface ? $e->getStatusCode() : 500);
    }
}
