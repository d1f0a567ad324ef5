# shellcheck shell=bash disable=SC2154
# The suites of Python's drivers and tools, out of their source distributions.
# All run under pytest, whose report is in JUnit's form.
pins=(requirements.txt sdists.txt)

fetch() {
	need python3 python3 python3-venv
	need cc gcc libc6-dev
	local root libs line file
	root=$(debian libmariadb libmariadb-dev libmariadb3)
	libs=$(echo "$root"/usr/lib/*-linux-gnu)
	export MYSQLCLIENT_CFLAGS="-I$root/usr/include/mariadb" MYSQLCLIENT_LDFLAGS="-L$libs -lmariadb -Wl,-rpath,$libs"
	python3 -m venv venv
	local pip=(venv/bin/pip --disable-pip-version-check)
	"${pip[@]}" install --progress-bar off --no-deps -r "$source_dir/requirements.txt"
	# Without isolation: to read a package's name needs no tools of its own fetched anew.
	while read -r line; do
		"${pip[@]}" download --progress-bar off --no-deps --no-build-isolation --no-binary :all: -d sdists "$line"
	done <"$source_dir/sdists.txt"
	for file in sdists/*.tar.gz; do tar -xzf "$file" -C sdists; done
}

# copy FOLDER is where the suite runs: some write beside their tests.
copy() {
	cp -r "$home/sdists/"$1/. "$CW_TMP/suite"
	cd "$CW_TMP/suite" || exit
}

pytest() {
	exec "$home/venv/bin/python" -m pytest -q -p no:cacheprovider --timeout=120 --junitxml="$CW_REPORT" "$@"
}

start() {
	export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$source_dir
	mkdir -p "$CW_TMP/suite"
	"start_$CW_SUITE"
}

# The driver's last release that carries its tests.
start_pymysql() {
	copy 'PyMySQL-*'
	cat >pymysql/tests/databases.json <<-TEXT
		[{"host": "$CW_HOST", "port": $CW_PORT, "user": "$CW_USER", "passwd": "$CW_PASSWORD", "db": "test1", "use_unicode": true, "local_infile": true},
		 {"host": "$CW_HOST", "port": $CW_PORT, "user": "$CW_USER", "passwd": "$CW_PASSWORD", "db": "test2"}]
	TEXT
	export PYTHONPATH=$PWD:$source_dir/pymysql-names
	pytest pymysql/tests
}

start_mysqlclient() {
	copy 'mysqlclient-*/tests'
	cat >"$CW_TMP/test.cnf" <<-TEXT
		[MySQLdb-tests]
		host=$CW_HOST
		port=$CW_PORT
		user=$CW_USER
		password=$CW_PASSWORD
		database=test
	TEXT
	export TESTDB=$CW_TMP/test.cnf MARIADB_PLUGIN_DIR
	MARIADB_PLUGIN_DIR=$(echo "$cache_dir"/clients/debian-libmariadb/usr/lib/*-linux-gnu/libmariadb3/plugin)
	pytest .
}

# The dialect's own tests, and the suite that every dialect must pass.
start_sqlalchemy() {
	copy 'sqlalchemy-*'
	pytest --dburi="mysql+pymysql://$CW_USER:$CW_PASSWORD@$CW_HOST:$CW_PORT/test?charset=utf8mb4" \
		test/dialect/mysql test/dialect/test_suite.py
}
