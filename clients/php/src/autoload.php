<?php
// For applications without Composer: require this file.
spl_autoload_register(function (string $class): void {
    if (strncmp($class, 'Causeway\\', 9) === 0) {
        $file = __DIR__ . '/' . str_replace('\\', '/', substr($class, 9)) . '.php';
        if (is_file($file)) {
            require $file;
        }
    }
});
