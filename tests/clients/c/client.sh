# shellcheck shell=bash disable=SC2154
# libmariadb, as Debian has it, and the machine's C compiler.

libmariadb() {
	root=$(debian libmariadb libmariadb-dev libmariadb3)
	libs=$(echo "$root"/usr/lib/*-linux-gnu)
}
fetch() { libmariadb; }
build() {
	libmariadb
	need cc gcc libc6-dev
	cc -std=c11 -Wall -Werror -I"$root/usr/include/mariadb" -o "$built/checks" checks.c -L"$libs" -lmariadb -Wl,-rpath,"$libs"
}
start() {
	libmariadb
	MARIADB_PLUGIN_DIR=$libs/libmariadb3/plugin exec "$built/checks"
}
