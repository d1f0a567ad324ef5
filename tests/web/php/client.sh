# shellcheck shell=bash disable=SC2154,SC2034
# The example of clients/php with plain PDO; "unit" runs the library's own tests.
sources=("$root_dir/clients/php/src" "$root_dir/clients/php/example/pdo" "$root_dir/clients/php/tests")

fetch() { (php_with_mysql); }
start() {
	php_with_mysql
	if [ "${1-}" = unit ]; then exec php "${php_options[@]}" "$root_dir/clients/php/tests/run.php"; fi
	exec php "${php_options[@]}" -q -S "$LISTEN" "$root_dir/clients/php/example/pdo/index.php"
}
