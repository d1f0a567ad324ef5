<?php

return [
    'default' => 'mysql',
    'connections' => ['mysql' => [
        'driver' => 'mysql',
        'host' => getenv('CW_HOST'),
        'port' => getenv('CW_PORT'),
        'database' => 'web',
        'username' => getenv('CW_USER'),
        'password' => getenv('CW_PASSWORD'),
        'charset' => 'utf8mb4',
        'collation' => 'utf8mb4_0900_ai_ci',
        'prefix' => '',
        'strict' => true,
    ]],
];
