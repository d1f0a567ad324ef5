# shellcheck shell=bash disable=SC2154
# Doctrine's DBAL and Laravel's database layer (Illuminate), with PHP, as Debian has them.

fetch() { php_orm; }
php_orm() {
	root=$(debian php-orm php-doctrine-orm php-laravel-framework php-cli php-mysql php-mbstring php-xml)
	libs=$(debian_libs "$root")
	php_options=(-n -d memory_limit=1G -d "include_path=.:$root/usr/share/php" -d "extension_dir=$(echo "$root"/usr/lib/php/20*)")
	local name
	for name in pdo mysqlnd mysqli pdo_mysql ctype tokenizer mbstring iconv dom; do php_options+=(-d "extension=$name"); done
}
start() {
	php_orm
	export LD_LIBRARY_PATH=$libs
	exec "$(echo "$root"/usr/bin/php[0-9]*)" "${php_options[@]}" checks.php
}
