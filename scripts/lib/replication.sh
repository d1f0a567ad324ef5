# shellcheck shell=bash disable=SC2154,SC2059
# Who replicates from whom. Needs common.sh and node.sh; the file "current" in
# the cluster's folder names the source of the moment.

# create_accounts on the source, before any replica follows: they replicate,
# so no node has a transaction that the source lacks.
create_accounts() {
	sql source "
		CREATE DATABASE app; CREATE DATABASE test; CREATE DATABASE sbtest;
		CREATE USER repl@'127.0.0.1' IDENTIFIED BY 'repl_pw';
		GRANT REPLICATION SLAVE ON *.* TO repl@'127.0.0.1';
		CREATE USER monitor@'127.0.0.1' IDENTIFIED BY 'monitor_pw';
		GRANT REPLICATION CLIENT, REPLICATION SLAVE, PROCESS ON *.* TO monitor@'127.0.0.1';
		GRANT SELECT ON performance_schema.* TO monitor@'127.0.0.1';
		CREATE USER app@'127.0.0.1' IDENTIFIED BY 'app_pw';
		GRANT ALL ON *.* TO app@'127.0.0.1' WITH GRANT OPTION"
}

# follow NAME SOURCE: NAME replicates from SOURCE and tries again each second, for ever.
# Without GTIDs it begins with the first log of a source that is new.
follow() {
	local from='SOURCE_AUTO_POSITION=1'
	[ "$gtid" = yes ] || from="SOURCE_LOG_FILE='binlog.000001', SOURCE_LOG_POS=4"
	sql "$1" "
		STOP REPLICA;
		CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=$(node_port "$2"),
			SOURCE_USER='repl', SOURCE_PASSWORD='repl_pw', $from,
			GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=0;
		START REPLICA"
}

# set_guard NAME GUARD: now, and at each start from now on.
set_guard() {
	local ro=ON super=OFF
	case $2 in
	none) ro=OFF ;;
	super_read_only) super=ON ;;
	esac
	sql "$1" "SET GLOBAL super_read_only=$super; SET GLOBAL read_only=$ro"
	echo "$2" >"$dir/$1/guard"
}

# executed NAME: what it has, as caught_up takes it: without GTIDs the end of its binary log.
executed() {
	if [ "$gtid" = no ]; then
		sql "$1" 'SHOW BINARY LOG STATUS' | awk '{ printf "%s %s\n", $1, $2 }'
		return
	fi
	sql "$1" 'SELECT REPLACE(@@global.gtid_executed, "\n", "")'
}

# caught_up NAME SET SECONDS: waits until NAME has executed SET, or fails.
caught_up() {
	if [ "$gtid" = no ]; then
		[ "$(sql "$1" "SELECT SOURCE_POS_WAIT('${2% *}', ${2#* }, $3) >= 0")" = 1 ]
		return
	fi
	[ "$(sql "$1" "SELECT WAIT_FOR_EXECUTED_GTID_SET('$2', $3)")" = 0 ]
}

# verify that every running replica has what the source has: it then really replicates.
verify() {
	local current name want
	current=$(cat "$dir/current")
	[ "$(node_state "$current")" = running ] || { say "$current, the source, does not run"; return; }
	want=$(executed "$current")
	for name in $(node_names); do
		if [ "$name" = "$current" ] || [ "$(node_state "$name")" != running ]; then continue; fi
		caught_up "$name" "$want" 60 || {
			sql "$name" "SELECT LAST_ERROR_MESSAGE FROM performance_schema.replication_connection_status
				UNION SELECT LAST_ERROR_MESSAGE FROM performance_schema.replication_applier_status_by_coordinator
				UNION SELECT LAST_ERROR_MESSAGE FROM performance_schema.replication_applier_status_by_worker" >&2
			die "$name does not get what $current writes" "Its log is $dir/$name/mysqld.log"
		}
	done
	say "replication works: source 127.0.0.1:$(node_port "$current"), $replicas replicas up to port $((base + 1 + replicas))"
}

# ---- promotion

# promote NAME FLAG: the old source is fenced first if it is alive and can be
# reached. Whatever it is, NAME takes all it can get before it takes writes.
promote() {
	local name=$1 force=${2-} old state
	old=$(cat "$dir/current")
	[ "$name" != "$old" ] || die "$name is the source already"
	[ "$(node_state "$name")" = running ] || die "$name is $(node_state "$name"); a source must run"
	state=$(node_state "$old")
	[ "$force" != --cut-off ] || state='cut off'
	if [ "$state" = running ]; then
		set_guard "$old" super_read_only
		take_all "$name" "$(executed "$old")" "$force"
	else
		say "$old is $state and stays as it is"
		sql "$name" 'STOP REPLICA IO_THREAD'
		take_all "$name" "$(received "$name")" "$force"
	fi
	sql "$name" 'STOP REPLICA; RESET REPLICA ALL'
	set_guard "$name" none
	echo "$name" >"$dir/current"
	repoint "$name" "$old" "$state"
	say "$name (127.0.0.1:$(node_port "$name")) is the source now"
}

received() {
	sql "$1" 'SELECT REPLACE(RECEIVED_TRANSACTION_SET, "\n", "") FROM performance_schema.replication_connection_status
		WHERE CHANNEL_NAME = ""'
}

# take_all NAME SET FORCE: a paused applier is started for it, and only as far:
# one that has begun on a transaction of which the rest was never received takes
# 60 s to stop. --force goes on without.
take_all() {
	sql "$1" "START REPLICA SQL_THREAD UNTIL SQL_AFTER_GTIDS = '$2'" 2>/dev/null || true
	caught_up "$1" "$2" 30 && return
	[ "$3" = --force ] || die "$1 does not catch up within 30 s (see scripts/cluster status)" \
		"Nothing was promoted. --force promotes it as it is: what it lacks is lost."
	say "$1 is promoted without all of the old source's transactions"
}

# repoint all others to NAME; the old source only if it was alive.
repoint() {
	local name=$1 old=$2 old_state=$3 other
	for other in $(node_names); do
		[ "$other" = "$name" ] && continue
		[ "$other" = "$old" ] && [ "$old_state" != running ] && continue
		if [ "$(node_state "$other")" != running ]; then
			say "$other is $(node_state "$other") and was not repointed; later: scripts/cluster attach $other"
			continue
		fi
		follow "$other" "$name"
	done
}

# attach NAME: a node that missed a promotion becomes a replica of the current source.
attach() {
	local current
	current=$(cat "$dir/current")
	[ "$1" != "$current" ] || die "$1 is the source"
	if [ "$(node_state "$1")" = dead ]; then
		[ "$(cat "$dir/$1/guard")" != none ] || echo super_read_only >"$dir/$1/guard"
		node_launch "$1"
		node_ready "$1"
	fi
	[ "$(cat "$dir/$1/guard")" != none ] || set_guard "$1" super_read_only
	follow "$1" "$current"
}

# ---- status

# gtid_count SET prints how many transactions a set has.
gtid_count() {
	tr -d ' \n' <<<"$1" | tr ',:' '\n' |
		awk -F- '/^[0-9]+(-[0-9]+)?$/ { n += (NF == 2 ? $2 - $1 : 0) + 1 } END { print n + 0 }'
}

status() {
	local current name row=' %-9s %5s %8s  %-8s %-7s %-16s %-10s %-7s %5s %8s %6s\n'
	current=$(cat "$dir/current")
	printf "$row" NODE PORT PID STATE ROLE GUARD RECEIVER APPLIER DELAY MISSING EXTRA
	for name in $(node_names); do status_row "$name" "$current" "$row"; done
}

# status_row prints what one node says of itself; one that cannot be asked has dashes.
status_row() {
	local name=$1 role=replica state guard receiver=- applier=- delay=- missing=- extra=- pid mine set=
	[ "$name" = "$2" ] && role=source
	state=$(node_state "$name")
	pid=$(node_pid "$name") || pid=-
	guard=$(cat "$dir/$name/guard")
	if [ "$state" = running ]; then
		# The source last: what it writes meanwhile is missing here, and nothing here is extra.
		mine=$(executed "$name") || true
		[ "$(node_state "$2")" != running ] || set=$(executed "$2") || true
		[ "$gtid" = yes ] || mine='' set='' # nothing tells what it lacks
		read -r guard receiver applier delay missing extra < <(sql "$name" "
			SELECT IF(@@super_read_only, 'super_read_only', IF(@@read_only, 'read_only', 'none')),
				IFNULL((SELECT SERVICE_STATE FROM performance_schema.replication_connection_status LIMIT 1), '-'),
				IFNULL((SELECT SERVICE_STATE FROM performance_schema.replication_applier_status LIMIT 1), '-'),
				IFNULL((SELECT DESIRED_DELAY FROM performance_schema.replication_applier_configuration LIMIT 1), '-'),
				IFNULL(NULLIF(REPLACE(GTID_SUBTRACT('$set', '$mine'), '\n', ''), ''), '-'),
				IFNULL(NULLIF(REPLACE(GTID_SUBTRACT('$mine', '$set'), '\n', ''), ''), '-')") || true
		missing=$(gtid_count "$missing") extra=$(gtid_count "$extra")
	fi
	# Nothing to compare with: it is the source itself, or the source cannot be asked.
	if [ "$role" = source ] || [ -z "$set" ]; then missing=- extra=-; fi
	printf "$3" "$name" "$(node_port "$name")" "$pid" "$state" "$role" "$guard" "$receiver" "$applier" "$delay" "$missing" "$extra"
}
