# shellcheck shell=bash disable=SC2154,SC2034
# The example of clients/php with Laravel, as Debian has it; "unit" runs the
# library's own tests with Debian's PHP.
sources=("$root_dir/clients/php/src" "$root_dir/clients/php/example/laravel" "$root_dir/clients/php/tests")

fetch() { (php_with_laravel); }
start() {
	php_with_laravel
	if [ "${1-}" = unit ]; then exec "$php" "${php_options[@]}" "$root_dir/clients/php/tests/run.php"; fi
	exec "$php" "${php_options[@]}" -d zend_extension=opcache -q -S "$LISTEN" "$root_dir/clients/php/example/laravel/index.php"
}
