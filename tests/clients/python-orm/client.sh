# shellcheck shell=bash disable=SC2154
# SQLAlchemy and Django, on PyMySQL and mysqlclient. mysqlclient is compiled against
# Debian's libmariadb, whose path it keeps.
pins=(requirements.txt)

fetch() {
	need python3 python3 python3-venv
	need cc gcc libc6-dev
	local root=
	root=$(debian libmariadb libmariadb-dev libmariadb3)
	local libs
	libs=$(echo "$root"/usr/lib/*-linux-gnu)
	python3 -m venv venv
	MYSQLCLIENT_CFLAGS="-I$root/usr/include/mariadb" MYSQLCLIENT_LDFLAGS="-L$libs -lmariadb -Wl,-rpath,$libs" \
		venv/bin/pip install --disable-pip-version-check --progress-bar off --no-deps -r "$source_dir/requirements.txt"
}
start() { MARIADB_PLUGIN_DIR=$(echo "$cache_dir"/clients/debian-libmariadb/usr/lib/*-linux-gnu/libmariadb3/plugin) exec "$home/venv/bin/python" checks.py; }
