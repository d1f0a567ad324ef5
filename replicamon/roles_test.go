package replicamon

import (
	"testing"
)

func TestRoles(t *testing.T) {
	stopped := func(st *status) {
		for i := range st.channels {
			st.channels[i].io, st.channels[i].sql = "No", "No"
		}
	}
	connecting := func(st *status) { st.channels[0].io = "Connecting" }
	for _, tt := range []struct {
		name    string
		st      [3]func(*status) // nil: down
		source  string
		unclear string
		want    []string
	}{
		{"plain", [3]func(*status){writable, replicaOf(1), replicaOf(1)}, "a", "", []string{"a source", "b replica", "c replica"}},
		{"the source is not the first", [3]func(*status){replicaOf(3), replicaOf(3), writable}, "c", "", []string{"a replica", "b replica", "c source"}},
		{"chain", [3]func(*status){writable, replicaOf(1), replicaOf(2)}, "a", "", []string{"a source", "b replica", "c replica"}},
		{"writable replicas", [3]func(*status){writable, both(replicaOf(1), writable), both(replicaOf(1), writable)}, "a", "", []string{"a source", "b replica", "c replica"}},
		{"writable in the middle of a chain", [3]func(*status){writable, both(replicaOf(1), writable), replicaOf(2)}, "a", "", []string{"a source", "b replica", "c replica"}},
		{"all read only", [3]func(*status){readOnly, replicaOf(1), replicaOf(1)}, "", "no server is writable", []string{"a unknown: no role"}},
		{"source down", [3]func(*status){nil, replicaOf(1), replicaOf(1)}, "", "no server is writable", []string{"a unknown: down", "b replica: joining: replicates from", "c replica: joining"}},
		{"alone", [3]func(*status){writable, nil, nil}, "a", "", []string{"a source"}},
		{"two writable, one followed", [3]func(*status){writable, writable, replicaOf(1)}, "a", "", []string{"a source", "b unknown: writable, but not the source", "c replica"}},
		{"two writable, the other followed", [3]func(*status){writable, writable, replicaOf(2)}, "b", "", []string{"a unknown: writable, but not the source", "b source", "c replica"}},
		{"two writable, none followed", [3]func(*status){writable, writable, nil}, "", "more than one server is writable: a, b", []string{"a unknown: writable, but not clearly", "b unknown: writable, but not clearly"}},
		{"three writable", [3]func(*status){writable, writable, writable}, "", "more than one server is writable: a, b, c", nil},
		{"promoted, channel stopped but kept", [3]func(*status){nil, both(replicaOf(1), writable, stopped), replicaOf(2)}, "b", "", []string{"a unknown: down", "b source", "c replica"}},
		{"writable replica of a dead source", [3]func(*status){nil, both(replicaOf(1), writable, connecting), replicaOf(1)}, "", "no server is writable", nil},
		{"writable, stopped, nobody follows", [3]func(*status){nil, both(replicaOf(1), writable, stopped), replicaOf(1)}, "", "no server is writable", nil},
		{"writable intermediate of a dead source", [3]func(*status){nil, both(replicaOf(1), writable, connecting), replicaOf(2)}, "", "no server is writable", nil},
		{"ring with one writable", [3]func(*status){both(replicaOf(2), writable), replicaOf(1), replicaOf(1)}, "a", "", []string{"a source", "b replica", "c replica"}},
		{"ring with two writable", [3]func(*status){both(replicaOf(2), writable), both(replicaOf(1), writable), replicaOf(1)}, "", "no server is writable", nil},
		{"replica of a stranger", [3]func(*status){writable, replicaOf(9), replicaOf(1)}, "a", "", []string{"a source", "b replica: foreign", "c replica"}},
		{"replica of both", [3]func(*status){writable, both(replicaOf(9), replicaOf(1)), replicaOf(1)}, "a", "", []string{"a source", "b replica", "c replica"}},
		{"never connected", [3]func(*status){writable, func(st *status) { replicaOf(1)(st); st.channels[0].sourceUUID = "" }, replicaOf(1)}, "a", "", []string{"a source", "b replica: joining: it has not yet connected", "c replica"}},
		{"replicates from the wrong node", [3]func(*status){writable, writable, both(replicaOf(2))}, "b", "", []string{"a unknown: writable", "b source", "c replica"}},
		{"replica without channels", [3]func(*status){writable, readOnly, replicaOf(1)}, "a", "", []string{"a source", "b unknown: no role", "c replica"}},
		{"gtid_mode off at the source", [3]func(*status){both(writable, func(st *status) { st.gtidMode = "OFF" }), replicaOf(1), replicaOf(1)}, "", "the writable server a is refused: gtid_mode is OFF; set gtid_mode=ON (and enforce_gtid_consistency=ON) on every server, or take it as a cluster without GTIDs by [routing] sticky", []string{"a unknown: refused: gtid_mode is OFF; set gtid_mode=ON"}},
		{"gtid_mode permissive at a replica", [3]func(*status){writable, both(replicaOf(1), func(st *status) { st.gtidMode = "ON_PERMISSIVE" }), replicaOf(1)}, "a", "", []string{"a source", "b replica: refused: gtid_mode is ON_PERMISSIVE", "c replica"}},
		{"consistency not enforced", [3]func(*status){both(writable, func(st *status) { st.enforceGTID = "WARN" }), replicaOf(1), replicaOf(1)}, "", "the writable server a is refused: enforce_gtid_consistency is WARN; set enforce_gtid_consistency=ON on every server", []string{"a unknown: refused: enforce_gtid_consistency is WARN; set enforce_gtid_consistency=ON"}},
		{"filter at a replica", [3]func(*status){writable, both(replicaOf(1), func(st *status) { st.channels[0].filter = "Replicate_Do_DB=x" }), replicaOf(1)}, "a", "", []string{"a source", "b replica: replication filters: Replicate_Do_DB=x", "c replica"}},
		{"filter above a replica", [3]func(*status){writable, both(replicaOf(1), func(st *status) { st.channels[0].filter = "Replicate_Do_DB=x" }), replicaOf(2)}, "a", "", []string{"a source", "b replica: replication filters", "c replica: replication filters: at b"}},
		{"filter at the source", [3]func(*status){both(writable, func(st *status) { st.binlogFilter = "Binlog_Ignore_DB=x" }), replicaOf(1), replicaOf(1)}, "a", "", []string{"a source", "b replica: replication filters: a does not log everything", "c replica: replication filters"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newSim(t)
			for i, st := range tt.st {
				if st == nil {
					m.next(failed{i: i, kind: errGone, text: "connection refused"})
					continue
				}
				m.connect(i, i+1, "1:1-10", true)
			}
			for i, st := range tt.st {
				if st != nil {
					m.status(i, st)
				}
			}
			m.wantSource(tt.source)
			if m.s.unclear != tt.unclear {
				t.Errorf("unclear: %q, want %q", m.s.unclear, tt.unclear)
			}
			if m.s.source >= 0 {
				m.answer(m.s.source, m.s.source+1, "1:1-10")
			}
			m.want(tt.want...)
		})
	}
}
