<?php

return [
    'name' => 'comments',
    'env' => 'production',
    'debug' => false,
    'key' => 'base64:' . base64_encode(hash('sha256', 'an example', true)),
    'cipher' => 'AES-256-CBC',
    'timezone' => 'UTC',
    'locale' => 'en',
    'fallback_locale' => 'en',
    'providers' => array_merge([
        Illuminate\Cookie\CookieServiceProvider::class,
        Illuminate\Database\DatabaseServiceProvider::class,
        Illuminate\Encryption\EncryptionServiceProvider::class,
        Illuminate\Filesystem\FilesystemServiceProvider::class,
        Illuminate\Foundation\Providers\FoundationServiceProvider::class,
        Illuminate\View\ViewServiceProvider::class,
        App\Routes::class,
    ], getenv('HELPER') === 'off' ? [] : [Causeway\Laravel\CausewayServiceProvider::class]),
    'aliases' => [],
];
