# shellcheck shell=bash disable=SC2154
# The programs that come with MySQL (scripts/get-mysql has them), and mydumper,
# MariaDB's mysqlslap and its own command line from Debian.

tools_env() {
	"$root_dir/scripts/get-mysql" >/dev/null
	mysql_root=$cache_dir/mysql
	root=$(debian mariadb-tools mydumper mariadb-client)
	libs=$(debian_libs "$root")
}
fetch() { tools_env; }
build() { go build -o "$built/checks" .; }
start() {
	tools_env
	CW_MYSQL=$("$root_dir/scripts/get-mysql") CW_MYSQL_ROOT=$mysql_root \
		CW_MYSQL_LOADER=$(closure_loader "$mysql_root") CW_MYSQL_LIBS=$(closure_libs "$mysql_root") \
		CW_DEBIAN=$root CW_DEBIAN_LIBS=$libs exec "$built/checks"
}
