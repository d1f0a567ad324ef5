# shellcheck shell=bash disable=SC2154,SC2016
# Debian packages without root: apt resolves and downloads into folders of its
# own, dpkg -x unpacks, and the programs run with the unpacked loader and
# libraries, so nothing on the machine changes and its libc does not matter.
# Needs common.sh.

# debian_mirrors prints the archive addresses that this machine's own apt uses,
# best first: those of the running release, without the security archives.
debian_mirrors() {
	local codename
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
		awk -v name="$codename" '
			$2 != "main" || $1 ~ /security/ || $3 ~ /security/ || seen[$3]++ { next }
			{ print ($1 == name ? 0 : 1), $3 }' |
		sort -s -k1,1n | cut -d' ' -f2-
}

# apt_conf DIR: lists, cache, sources and an empty package status under DIR.
# The machine's own configuration is read before it, so its proxy and
# credentials still apply, but none of its hooks.
apt_conf() {
	cat <<-EOF
		Dir::State "$1/state";
		Dir::State::status "$1/status";
		Dir::Cache "$1/cache";
		Dir::Log "$1/log";
		Dir::Etc::sourcelist "$1/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		Dir::Etc::preferences "/dev/null";
		Dir::Etc::preferencesparts "/dev/null";
		APT::Sandbox::User "$(id -un)";
		APT::Install-Recommends "false";
		Acquire::Languages "none";
		Acquire::Retries "3";
		#clear APT::Update;
		#clear DPkg;
	EOF
}

# apt_own DIR COMMAND...: apt-get with the configuration above.
apt_own() {
	local dir=$1
	shift
	apt-get -qq -c "$dir/apt.conf" "$@"
}

# apt_lists DIR SUITE: package lists of SUITE from the first mirror that has it.
apt_lists() {
	local dir=$1 suite=$2 mirror keys=/usr/share/keyrings/debian-archive-keyring.gpg options=
	[ -f "$keys" ] && options="[signed-by=$keys] "
	mkdir -p "$dir"/{state/lists/partial,cache/archives/partial,log}
	: >"$dir/status"
	apt_conf "$dir" >"$dir/apt.conf"
	while read -r mirror; do
		echo "deb $options$mirror $suite main" >"$dir/sources.list"
		apt_own "$dir" update 2>"$dir/update.log" && ! grep -q '^E:' "$dir/update.log" && return
	done < <(debian_mirrors)
	[ -f "$dir/update.log" ] && cat "$dir/update.log" >&2
	die "no Debian mirror gave the package lists of '$suite'" \
		"The mirrors are those of this machine's apt (apt-get indextargets shows them)." \
		"Check the network with 'apt-get update', or name a server that is here: MYSQLD=/path/to/mysqld"
}

# running_suite prints the code name of the Debian release this machine runs.
running_suite() (
	. /etc/os-release
	if [ "${ID:-}" = debian ] && [ -n "${VERSION_CODENAME:-}" ]; then echo "$VERSION_CODENAME"; else echo stable; fi
)

# apt_closure DEST SUITE PACKAGE...: unpacks the packages with all that they
# need into DEST. Idempotent; a half-done folder never gets the name DEST.
apt_closure() {
	local dest=$1 suite=$2
	shift 2
	[ -f "$dest/.complete" ] && return
	if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
		die "apt-get and dpkg are needed to get $*" \
			"This works on Debian. Elsewhere install MySQL 8.0.26 or later and set MYSQLD=/path/to/mysqld"
	fi
	local work=$dest.work count size
	rm -rf "$work" "$dest"
	mkdir -p "$work/root"
	say "reading the package lists of Debian $suite"
	apt_lists "$work/apt" "$suite"
	count=$(apt_own "$work/apt" install --print-uris "$@" | grep -c "^'") ||
		die "Debian $suite has no installable '$*' at the moment" "Try later, or set MYSQLD=/path/to/mysqld"
	size=$(apt_own "$work/apt" install --print-uris "$@" | awk '{ s += $3 } END { printf "%d", s / 1e6 }')
	say "downloading $* ($count packages, $size MB)"
	apt_own "$work/apt" install -y --download-only "$@" >"$work/download.log" 2>&1 ||
		{ tail -5 "$work/download.log" >&2; die "the download failed" "Run it again: it starts afresh."; }
	apt_unpack "$work"
	touch "$work/root/.complete"
	mv "$work/root" "$dest"
	rm -rf "$work"
}

# apt_unpack WORK: all downloaded packages into WORK/root, less what no program reads.
apt_unpack() {
	local work=$1 deb
	say "unpacking"
	for deb in "$work"/apt/cache/archives/*.deb; do
		dpkg -x "$deb" "$work/root" || die "cannot unpack ${deb##*/}" "Is the disk full? (df -h $work)"
	done
	rm -rf "$work"/root/usr/share/{doc,man,info,locale,lintian,bug}
}

# closure_loader ROOT prints the unpacked dynamic loader.
closure_loader() {
	local path
	for path in "$1"/usr/lib64/ld-linux-*.so.* "$1"/lib64/ld-linux-*.so.* "$1"/usr/lib/ld-linux-*.so.*; do
		if [ -e "$path" ]; then
			readlink -f "$path"
			return
		fi
	done
	die "no dynamic loader in $1" "Remove that folder and run again."
}

# closure_libs ROOT [EXTRA...] prints a library path for the loader.
closure_libs() {
	local root=$1 triplet path extra
	shift
	for path in "$root"/usr/lib/*-linux-gnu*; do triplet=${path##*/}; done
	path=$root/usr/lib/$triplet
	for extra in "$@" "lib/$triplet" usr/lib; do path=$path:$root/$extra; done
	printf '%s\n' "$path"
}
