# shellcheck shell=bash disable=SC2034
# Shared by the scripts beside it: where things are, how they speak.
# Everything that is said goes to stderr; stdout is for results only.

root_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache_dir=${CAUSEWAY_CACHE:-${HOME:-/tmp}/.cache/causeway}

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# die MESSAGE [HINT...]: the message, then one hint a line, and the end.
die() {
	say "error: $1"
	shift
	local hint
	for hint in "$@"; do printf '  %s\n' "$hint" >&2; done
	exit 1
}

# with_lock FILE COMMAND...: runs the command while no other process holds the
# file. The descriptor is closed in the command's children by those who leave
# processes behind (see start_node), else a mysqld would hold the lock for life.
with_lock() {
	local file=$1
	shift
	mkdir -p "$(dirname "$file")"
	exec 9>"$file"
	if ! flock -n 9; then
		say "waiting for another ${0##*/} to finish ($file)"
		flock 9
	fi
	"$@"
	exec 9>&-
}
