# shellcheck shell=bash disable=SC2154
# A cluster whose nodes are one single-primary group (Group Replication), each
# node a member; the group itself chooses its primary. Needs common.sh, node.sh
# and replication.sh; group is yes or no.

# Any name will do that is a UUID and no server's: each cluster has its own ports.
group_name=9f0c5e6e-2a64-4f0b-9d43-6a1c0d5b7e10

# group_port NAME: the members' own talk, on the ports after the servers'.
group_port() { echo $(($(node_port "$1") + replicas + 1)); }

group_seeds() {
	local name seeds=
	for name in $(node_names); do seeds+=,127.0.0.1:$(group_port "$name"); done
	echo "${seeds#,}"
}

# group_conf NAME prints what a member's my.cnf needs. A member that is in no
# group yet takes no writes: the group itself opens its primary.
group_conf() {
	cat <<-TEXT
		plugin_load_add=group_replication.so
		group_replication_group_name=$group_name
		group_replication_local_address=127.0.0.1:$(group_port "$1")
		group_replication_group_seeds=$(group_seeds)
		group_replication_start_on_boot=OFF
		group_replication_recovery_get_public_key=ON
		group_replication_single_primary_mode=ON
	TEXT
}

# group_create: the first node makes the group, the others join one by one.
group_create() {
	local name
	node_ready source
	group_join source
	create_accounts
	for name in $(node_names); do
		[ "$name" != source ] || continue
		node_ready "$name"
		group_join "$name"
	done
}

# group_join NAME: with nobody there to join, it makes the group anew.
group_join() {
	local boot=OFF tries=3
	if [ "$(node_state "$1")" = dead ]; then
		node_launch "$1"
		node_ready "$1"
	fi
	[ "$(group_state "$1")" = OFFLINE ] || [ "$(group_state "$1")" = ERROR ] || return 0
	if group_stands; then group_forgets "$1"; else boot=ON; fi
	until group_start "$1" "$boot"; do
		((--tries)) || die "$1 cannot join its group" "Its log is $dir/$1/mysqld.log"
		say "$1 was not let into its group; once more"
	done
	group_online "$1"
}

# group_stands: some running node takes part in the group, be there a primary or
# not. To make the group anew beside it would split it.
group_stands() {
	local name
	for name in $(node_names); do
		[ "$(node_state "$name")" = running ] || continue
		case $(group_state "$name") in ONLINE | RECOVERING) return 0 ;; esac
	done
	return 1
}

# group_forgets NAME waits until the group has a primary and has given up the
# member that NAME was before it died: until then it turns the new one away, now
# and then for so long that START GROUP_REPLICATION fails.
group_forgets() {
	local since=$SECONDS primary
	while ((SECONDS - since < 60)); do
		primary=$(group_primary)
		[ -z "$primary" ] || [ -n "$(sql "$primary" "SELECT 1 FROM performance_schema.replication_group_members
			WHERE MEMBER_PORT = $(node_port "$1")")" ] || return 0
		sleep 0.2
	done
}

# group_start NAME BOOTSTRAP
group_start() {
	sql "$1" "
		SET GLOBAL group_replication_bootstrap_group=$2;
		CHANGE REPLICATION SOURCE TO SOURCE_USER='repl', SOURCE_PASSWORD='repl_pw' FOR CHANNEL 'group_replication_recovery';
		STOP GROUP_REPLICATION;
		START GROUP_REPLICATION;
		SET GLOBAL group_replication_bootstrap_group=OFF"
}

# group_online NAME waits until the member takes part.
group_online() {
	local since=$SECONDS
	until [ "$(group_state "$1")" = ONLINE ]; do
		((SECONDS - since < 120)) || die "$1 is not ONLINE in its group after 120 s" "Its log is $dir/$1/mysqld.log"
		sleep 0.1
	done
}

# group_state NAME prints its own state in its own view.
group_state() {
	sql "$1" "SELECT MEMBER_STATE FROM performance_schema.replication_group_members
		WHERE MEMBER_ID IN ('', @@server_uuid) LIMIT 1"
}

# group_primary prints the name of the node that the running members take for
# their primary; nothing if there is none.
group_primary() {
	local name port
	for name in $(node_names); do
		[ "$(node_state "$name")" = running ] || continue
		port=$(sql "$name" "SELECT p.MEMBER_PORT
			FROM performance_schema.replication_group_members p, performance_schema.replication_group_members me
			WHERE p.MEMBER_ROLE = 'PRIMARY' AND p.MEMBER_STATE = 'ONLINE'
			AND me.MEMBER_ID = @@server_uuid AND me.MEMBER_STATE = 'ONLINE'" 2>/dev/null) || continue
		if [ -n "$port" ]; then
			node_name "$port"
			return
		fi
	done
}

# group_current notes whom the group has made its primary since.
group_current() {
	local primary
	primary=$(group_primary)
	[ -z "$primary" ] || echo "$primary" >"$dir/current"
}

# group_promote NAME: the group hands its primary over; running transactions end first.
group_promote() {
	[ "$1" != "$(cat "$dir/current")" ] || die "$1 is the source already"
	sql "$1" "SELECT group_replication_set_as_primary(@@server_uuid)" >&2
	group_current
	say "$1 (127.0.0.1:$(node_port "$1")) is the source now"
}
