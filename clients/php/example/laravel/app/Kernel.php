<?php
declare(strict_types=1);

namespace App;

/** The stack that every Laravel application has; the helper's middleware goes around it. */
final class Kernel extends \Illuminate\Foundation\Http\Kernel
{
    protected $middleware = [
        \Illuminate\Foundation\Http\Middleware\ValidatePostSize::class,
    ];

    protected $middlewareGroups = ['web' => [
        \Illuminate\Cookie\Middleware\EncryptCookies::class,
        \Illuminate\Cookie\Middleware\AddQueuedCookiesToResponse::class,
        \Illuminate\Routing\Middleware\SubstituteBindings::class,
    ]];
}
