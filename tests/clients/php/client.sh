# shellcheck shell=bash disable=SC2154
# mysqli and PDO, with PHP's own mysqlnd. Their version is that of the PHP that is there.

fetch() { php_with_mysql; }
start() {
	php_with_mysql
	exec php "${php_options[@]}" checks.php
}
