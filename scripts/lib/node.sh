# shellcheck shell=bash disable=SC2154
# One MySQL node of a cluster: its folder, its configuration, its process.
# Needs common.sh and apt.sh, and set: dir (the cluster's folder), bin (the programs),
# base, replicas, workers, durable, group, gtid, buffer_pool, options.
#
# A node's folder holds my.cnf (made anew at each start), data/, mysqld.log,
# general.log, pid, clock if it is wrong, and guard: how the node protects itself from writes
# (none, read_only, super_read_only). The guard outlives a restart.

# node_names prints the names in port order.
node_names() {
	local i
	echo source
	for ((i = 1; i <= replicas; i++)); do echo "replica$i"; done
}

# node_name WORD prints the name of the node that a name or port means.
node_name() {
	local name=$1
	if [[ $name =~ ^[0-9]+$ ]]; then
		name=replica$((name - base - 1))
		[ "$name" = replica0 ] && name=source
	fi
	[[ " $(node_names | tr '\n' ' ') " == *" $name "* ]] ||
		die "no node '$1' in $dir" "Nodes: $(node_names | tr '\n' ' ')(or their ports)"
	printf '%s\n' "$name"
}

node_port() {
	if [ "$1" = source ]; then echo $((base + 1)); else echo $((base + 1 + ${1#replica})); fi
}

# node_pid prints the pid of the node's mysqld and fails if it does not run.
# The command line is looked at, as a pid may have a new owner after a crash.
node_pid() {
	local pid
	pid=$(cat "$dir/$1/pid" 2>/dev/null) && [ -n "$pid" ] &&
		{ tr '\0' '\n' <"/proc/$pid/cmdline"; } 2>/dev/null | grep -qxF -- "--defaults-file=$dir/$1/my.cnf" &&
		printf '%s\n' "$pid"
}

# process_state PID prints the letter that /proc/PID/stat has, or nothing.
process_state() {
	local stat
	if { stat=$(<"/proc/$1/stat"); } 2>/dev/null; then
		stat=${stat##*) }
		printf '%s\n' "${stat%% *}"
	fi
}

# node_state prints running, frozen or dead.
node_state() {
	local pid
	if ! pid=$(node_pid "$1"); then
		echo dead
		return
	fi
	case $(process_state "$pid") in
	T) echo frozen ;;
	Z | X | '') echo dead ;;
	*) echo running ;;
	esac
}

# sql NAME STATEMENTS: as root; rows without headings on stdout.
sql() {
	"$bin/mysql" --no-defaults --protocol=tcp --host=127.0.0.1 --port="$(node_port "$1")" \
		--user=root --connect-timeout=10 --batch --skip-column-names --execute="$2"
}

# node_conf NAME writes the node's my.cnf. What only some versions know is "loose".
node_conf() {
	local home=$dir/$1 flush='sync_binlog=0
innodb_flush_log_at_trx_commit=2'
	[ "$durable" = yes ] && flush='sync_binlog=1
innodb_flush_log_at_trx_commit=1'
	cat >"$home/my.cnf" <<-TEXT
		[mysqld]
		datadir=$home/data
		log_error=$home/mysqld.log
		general_log_file=$home/general.log
		socket=mysql.sock
		bind_address=127.0.0.1
		port=$(node_port "$1")
		server_id=$(node_port "$1")
		report_host=127.0.0.1
		report_port=$(node_port "$1")
		skip_name_resolve=ON
		mysqlx=OFF
		$([ "$(id -u)" = 0 ] && echo user=root)

		log_bin=binlog
		$(if [ "$gtid" = yes ]; then echo 'gtid_mode=ON
enforce_gtid_consistency=ON'; else echo gtid_mode=OFF; fi)
		log_replica_updates=ON
		replica_parallel_workers=$workers
		replica_preserve_commit_order=ON
		relay_log_recovery=ON
		session_track_gtids=OFF
		$(case $(cat "$home/guard") in
		super_read_only) echo 'read_only=ON
super_read_only=ON' ;;
		read_only) echo read_only=ON ;;
		esac)

		$flush
		innodb_buffer_pool_size=$buffer_pool
		loose_innodb_redo_log_capacity=256M
		innodb_use_native_aio=OFF
		max_connections=1200
		max_allowed_packet=128M
		performance_schema=ON
		local_infile=ON
		secure_file_priv=
		loose_log_bin_trust_function_creators=ON
		loose_mysql_native_password=ON
		$([ "$group" = no ] || group_conf "$1")
		${options-}
	TEXT
}

# node_template prints the data folder that all nodes are copied from. It is
# initialised once for each server version; root may log in at 127.0.0.1.
node_template() {
	local template
	template=$cache_dir/template-$("$bin/mysqld" --version | cksum | cut -d' ' -f1)
	[ -d "$template" ] || with_lock "$template.lock" init_template "$template"
	printf '%s\n' "$template"
}

init_template() {
	local template=$1 work=$1.work as_root=()
	[ "$(id -u)" != 0 ] || as_root=(--user=root)
	[ -d "$template" ] && return
	say "initialising a data folder for $("$bin/mysqld" --version | sed 's/.*Ver/MySQL/; s/ for .*//') (once)"
	rm -rf "$work"
	mkdir -p "$work"
	cat >"$work/init.sql" <<-TEXT
		CREATE USER root@'127.0.0.1' IDENTIFIED BY '';
		GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;
		GRANT PROXY ON ''@'' TO root@'127.0.0.1' WITH GRANT OPTION;
	TEXT
	"$bin/mysqld" --no-defaults --initialize-insecure --datadir="$work/data" --init-file="$work/init.sql" \
		--secure-file-priv= --innodb-use-native-aio=OFF --loose-innodb-redo-log-capacity=8M --disable-log-bin \
		--log-error="$work/log" "${as_root[@]}" ||
		{ tail -20 "$work/log" >&2; die "mysqld --initialize failed" "Its log is above."; }
	rm -f "$work/data/auto.cnf"
	mv "$work/data" "$template"
	rm -rf "$work"
}

# node_create NAME GUARD TEMPLATE: the folder of a new node.
node_create() {
	mkdir -p "$dir/$1"
	echo "$2" >"$dir/$1/guard"
	cp -r --reflink=auto --sparse=always "$3" "$dir/$1/data"
}

# node_launch NAME starts a dead node's process and does not wait. The socket's
# lock file names a process that may still be there as a zombie. The cluster's
# lock is closed, or the server would hold it as long as it lives.
node_launch() {
	node_gone "$1"
	rm -f "$dir/$1/data/mysql.sock.lock"
	node_conf "$1"
	# Without the last of these the server's timed waits hang, and its start with them.
	local clock=()
	[ ! -f "$dir/$1/clock" ] || clock=(env "LD_PRELOAD=$(faketime_library)" "FAKETIME=$(cat "$dir/$1/clock")" FAKETIME_DONT_FAKE_MONOTONIC=1
		FAKETIME_FORCE_MONOTONIC_FIX=0)
	(
		cd "$dir/$1" || exit
		exec "${clock[@]}" setsid "$bin/mysqld" "--defaults-file=$dir/$1/my.cnf" </dev/null >>mysqld.log 2>&1 9>&-
	) &
	echo $! >"$dir/$1/pid"
	disown $!
}

# faketime_library prints the library that shifts the clock of a program.
faketime_library() {
	local root=$cache_dir/faketime
	[ -f "$root/.complete" ] || with_lock "$cache_dir/faketime.lock" apt_closure "$root" "$(running_suite)" libfaketime
	echo "$root"/usr/lib/*/faketime/libfaketimeMT.so.1
}

# node_clock NAME SECONDS restarts the node with its clock so much off.
node_clock() {
	node_signal "$1" TERM
	node_gone "$1"
	if [ "$2" = 0 ]; then rm -f "$dir/$1/clock"; else printf '%+d\n' "$2" >"$dir/$1/clock"; fi
	node_launch "$1"
	node_ready "$1"
}

# node_ready NAME waits until the node answers.
node_ready() {
	local since=$SECONDS
	until sql "$1" 'DO 1' 2>/dev/null; do
		if ! node_pid "$1" >/dev/null; then
			sleep 0.3
			node_pid "$1" >/dev/null || { tail -15 "$dir/$1/mysqld.log" >&2; die "$1 did not start" "Its log is $dir/$1/mysqld.log"; }
		fi
		((SECONDS - since < 120)) || die "$1 does not answer after 120 s" "Its log is $dir/$1/mysqld.log"
		sleep 0.1
	done
}

# node_signal NAME SIGNAL fails if the node does not run.
node_signal() {
	local pid
	pid=$(node_pid "$1") || die "$1 is not running"
	kill "-$2" "$pid"
}

# node_freeze NAME stops the process and waits until each of its threads stands:
# the signal alone lets one that is on a processor finish an answer.
node_freeze() {
	local pid
	pid=$(node_pid "$1") || die "$1 is not running"
	kill -STOP "$pid"
	until ! grep -qhv '^State:[[:space:]]*T' <(grep -h '^State:' "/proc/$pid/task/"*/status); do sleep 0.01; done
}

# node_gone NAME waits until the process has ended, with all its threads: the
# first thing to go is its command line, the last its sockets and file locks.
node_gone() {
	local since=$SECONDS pid threads
	pid=$(cat "$dir/$1/pid" 2>/dev/null) || return 0
	while [ -n "$(process_state "$pid")" ]; do
		threads=("/proc/$pid/task/"*)
		if [ "$(process_state "$pid")" = Z ] && [ ${#threads[@]} -le 1 ]; then return; fi
		((SECONDS - since < 60)) || die "$1 does not end after 60 s"
		sleep 0.05
	done
}
