# shellcheck shell=bash disable=SC2154
# mysql2 for Ruby, both as Debian has them: the versions belong together.

ruby_root() {
	root=$(debian ruby ruby ruby-mysql2)
	libs=$(debian_libs "$root")
	local dir
	RUBYLIB=
	for dir in "$root"/usr/lib/ruby/vendor_ruby "$root"/usr/lib/*/ruby/vendor_ruby/[0-9]* "$root"/usr/lib/ruby/[0-9]* "$root"/usr/lib/*/ruby/[0-9]*; do
		RUBYLIB=$RUBYLIB${RUBYLIB:+:}$dir
	done
	export RUBYLIB
}
fetch() { ruby_root; }
start() {
	ruby_root
	export LD_LIBRARY_PATH=$libs
	export MARIADB_PLUGIN_DIR=${libs%%:*}/libmariadb3/plugin
	exec "$(echo "$root"/usr/bin/ruby[0-9]*)" --disable-gems checks.rb
}
