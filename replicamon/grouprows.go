package replicamon

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"causeway/gtid"
)

// The statements of the status probe that concern a group. A server without the
// plugin has no members. What is received is asked for after the roles: it then
// holds all that came before the election.
const (
	groupSQL = "SELECT m.MEMBER_ID AS id, m.MEMBER_HOST AS host, m.MEMBER_PORT AS port, m.MEMBER_STATE AS state," +
		" m.MEMBER_ROLE AS role, s.VIEW_ID AS view_id, s.COUNT_TRANSACTIONS_IN_QUEUE AS queued," +
		" s.COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE AS unapplied" +
		" FROM performance_schema.replication_group_members m" +
		" LEFT JOIN performance_schema.replication_group_member_stats s ON s.MEMBER_ID = m.MEMBER_ID AND s.CHANNEL_NAME = m.CHANNEL_NAME" +
		" WHERE m.CHANNEL_NAME = '" + groupApplier + "'"

	groupDetailSQL = "SELECT (SELECT RECEIVED_TRANSACTION_SET FROM performance_schema.replication_connection_status" +
		" WHERE CHANNEL_NAME = '" + groupApplier + "') AS received," +
		" (SELECT SERVICE_STATE FROM performance_schema.replication_applier_status" +
		" WHERE CHANNEL_NAME = '" + groupApplier + "') AS applier," +
		" (SELECT VARIABLE_VALUE FROM performance_schema.global_variables WHERE VARIABLE_NAME = '" + groupNameVar + "') AS name," +
		" (SELECT VARIABLE_VALUE FROM performance_schema.global_variables WHERE VARIABLE_NAME = '" + groupViewVar + "') AS view_change," +
		" (SELECT VARIABLE_VALUE FROM performance_schema.global_variables WHERE VARIABLE_NAME = '" + groupSingleVar + "') AS single"

	groupNameVar   = "group_replication_group_name"
	groupViewVar   = "group_replication_view_change_uuid"
	groupSingleVar = "group_replication_single_primary_mode"
)

// askGroup finds out whether the node belongs to a group, and what it knows of
// it. An account that may not look still learns that there is one.
func (s *mysqlSession) askGroup(ctx context.Context, st *status) error {
	rows, err := s.query(ctx, groupSQL)
	if kindOf(err) == errDenied && err != nil {
		return s.deniedGroup(ctx, st)
	}
	if err != nil || len(rows) == 0 {
		return err
	}
	detail, err := s.query(ctx, groupDetailSQL)
	if kindOf(err) == errDenied && err != nil {
		return s.deniedGroup(ctx, st)
	}
	if err != nil {
		return err
	}
	return st.readGroup(rows, detail)
}

func (s *mysqlSession) deniedGroup(ctx context.Context, st *status) error {
	vars, err := s.defaults(ctx, []string{groupNameVar})
	if name := vars[groupNameVar]; name != "" {
		st.group = &group{name: name, denied: true}
	}
	return err
}

// readGroup takes in the node's view of its group. A server that has the plugin
// but was never told a group's name is like one without it.
func (st *status) readGroup(rows, detail []row) error {
	if len(detail) != 1 {
		return fmt.Errorf("group: %d rows", len(detail))
	}
	d := detail[0]
	if d["name"] == "" {
		return nil
	}
	received, err := gtid.Parse(d["received"])
	if err != nil {
		return fmt.Errorf("RECEIVED_TRANSACTION_SET: %w", err)
	}
	g := &group{name: d["name"], received: received, applier: d["applier"], multi: !strings.EqualFold(d["single"], "ON")}
	if strings.Contains(d["view_change"], "-") { // else AUTOMATIC: the group's own
		g.viewChange = d["view_change"]
	}
	g.readMembers(rows, st.uuid)
	st.group = g
	if c, ok := g.channel(); ok {
		st.channels = append(st.channels, c)
	}
	return nil
}

// readMembers finds itself among the members. One that has not started yet has
// a single row without a name.
func (g *group) readMembers(rows []row, uuid string) {
	g.self = member{uuid: uuid, state: "OFFLINE"}
	primaries := 0
	for _, r := range rows {
		m := member{uuid: r["id"], addr: r["host"] + ":" + r["port"], state: r["state"], role: r["role"]}
		if m.role == memberPrimary {
			primaries++
		}
		g.members = append(g.members, m)
		if !sameUUID(m.uuid, uuid) {
			continue
		}
		g.self, g.viewID = m, r["view_id"]
		g.queued, _ = strconv.ParseUint(r["queued"], 10, 64)
		g.unapplied, _ = strconv.ParseUint(r["unapplied"], 10, 64)
	}
	g.multi = g.multi || primaries > 1
}
