# shellcheck shell=bash disable=SC2154
# Doctrine's DBAL and Laravel's database layer (Illuminate), with PHP, as Debian has them.

fetch() { (php_with_laravel); }
start() {
	php_with_laravel
	exec "$php" "${php_options[@]}" checks.php
}
