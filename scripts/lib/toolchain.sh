# shellcheck shell=bash disable=SC2154
# Interpreters and compilers for the clients of tests/clients: the machine's own
# where there is one, else Debian's, unpacked into the cache. Needs common.sh and apt.sh.

# debian NAME PACKAGE... prints the folder with these packages unpacked, of the
# Debian release that this machine runs, so that they work with its own libc.
debian() {
	local dest=$cache_dir/clients/debian-$1
	shift
	with_lock "$dest.lock" apt_closure "$dest" "$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")" "$@" >&2
	printf '%s\n' "$dest"
}

# debian_libs ROOT prints a library path for programs of ROOT that run with the
# machine's own loader: without the libc that belongs to another loader.
debian_libs() {
	local path list=
	for path in "$1"/usr/lib/*-linux-gnu "$1"/lib/*-linux-gnu; do
		[ ! -d "$path" ] || list=$list${list:+:}$path
	done
	rm -f "$1"/{usr/,}lib/*-linux-gnu/{libc,libm,libpthread,libdl,librt,libresolv,ld-linux-x86-64}.so.[0-9]*
	printf '%s\n' "$list"
}

# need PROGRAM PACKAGE... puts PROGRAM on the PATH, if it must from Debian's packages.
need() {
	local program=$1 root
	shift
	command -v "$program" >/dev/null && return
	root=$(debian "$program" "$@")
	PATH=$PATH:$root/usr/bin:$root/usr/sbin
	export PATH LD_LIBRARY_PATH
	LD_LIBRARY_PATH=$(debian_libs "$root")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	command -v "$program" >/dev/null || die "no $program in Debian's $*"
}

# jars POM fetches what a pom names, with all that it needs, into jars/ of the working
# folder. Maven's own repository is a folder that all Java clients share; it is
# not made for two at once. The lock is taken in a shell of its own, as there may be another one outside.
jars() {
	need mvn maven default-jdk-headless
	(with_lock "$cache_dir/clients/maven.lock" copy_jars "$1")
}

copy_jars() {
	mvn -q -B -f "$1" -Dmaven.repo.local="$cache_dir/clients/maven" \
		org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
		-DincludeScope=runtime -DoutputDirectory="$PWD/jars"
}

# php_with_mysql finds a PHP with mysqli and PDO, or takes Debian's: php_options
# are then what tells it where its extensions are.
php_with_mysql() {
	php_options=(-d memory_limit=1G -d mysqli.allow_local_infile=1)
	local root has=
	! command -v php >/dev/null || has=$(php -m)
	if [[ $has == *mysqli* && $has == *pdo_mysql* ]]; then return; fi
	root=$(debian php php-cli php-mysql)
	php_options+=(-n -d "extension_dir=$(echo "$root"/usr/lib/php/20*)")
	local name
	for name in pdo mysqlnd mysqli pdo_mysql ctype tokenizer; do php_options+=(-d "extension=$name"); done
	PATH=$root/bin:$PATH
	export PATH LD_LIBRARY_PATH
	LD_LIBRARY_PATH=$(debian_libs "$root")
	mkdir -p "$root/bin"
	ln -sf "$(echo "$root"/usr/bin/php[0-9]*)" "$root/bin/php"
}

# php_with_laravel takes Debian's PHP with Doctrine's and Laravel's libraries: $php
# with php_options is the program.
php_with_laravel() {
	local root name
	root=$(debian php-orm php-doctrine-orm php-laravel-framework php-cli php-mysql php-mbstring php-xml)
	LD_LIBRARY_PATH=$(debian_libs "$root")
	export LD_LIBRARY_PATH
	php=$(echo "$root"/usr/bin/php[0-9]*)
	php_options=(-n -d memory_limit=1G -d "include_path=.:$root/usr/share/php" -d "extension_dir=$(echo "$root"/usr/lib/php/20*)")
	for name in pdo mysqlnd mysqli pdo_mysql ctype tokenizer mbstring iconv dom; do php_options+=(-d "extension=$name"); done
}
