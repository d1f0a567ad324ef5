package replicamon

import (
	"strings"
	"time"

	"causeway/gtid"
)

// status is one answer to the status probe: what a node is, and how its
// replication is doing.
type status struct {
	asked, answered time.Time

	uuid          string
	version       string
	collation     uint16
	readOnly      bool // read_only; super_read_only implies it
	superReadOnly bool
	gtidMode      string
	enforceGTID   string
	binlogFilter  string // Binlog_Do_DB / Binlog_Ignore_DB in words, "" if none

	group    *group    // nil: it belongs to none
	channels []channel // of a group's secondary also the one that pictures its group
	workers  []worker
	denied   string // what the monitor's account could not look at, "" if nothing
}

// channel is one replication channel of a node.
type channel struct {
	name       string
	sourceUUID string // "" until it has connected once
	source     string // host:port
	io, sql    string
	ioError    string
	sqlError   string
	delay      time.Duration
	filter     string // in words, "" if none
	received   gtid.Set
	behind     time.Duration // Seconds_Behind_Source; -1: NULL
	queuedAge  time.Duration // since the newest received transaction's commit, by two clocks; noAge: unknown
	receiving  string        // GTID of what the receiver is in the middle of
	sqlState   string        // what the applier says it does
}

// worker is one applier thread.
type worker struct {
	channel     string
	id          int
	running     bool
	errText     string
	applying    string        // GTID under way, "" if idle
	doing       string        // in the server's words
	applyingAge time.Duration // since its commit on its source, by two clocks; noAge: unknown
	applyingFor time.Duration // since this worker began; -1 unknown
	appliedAge  time.Duration // since the commit of the last one applied, by two clocks; noAge: unknown
	retries     int
}

// replicates tells whether the channel does anything at all now.
func (c channel) replicates() bool {
	return c.io == "Yes" || c.io == "Connecting" || c.sql == "Yes"
}

func (st *status) isReplica() bool { return len(st.channels) > 0 }

func (st *status) active() bool {
	for _, c := range st.channels {
		if c.replicates() {
			return true
		}
	}
	return false
}

// filters joins the replication filters of all channels, "" if there are none.
func (st *status) filters() string {
	var out []string
	for _, c := range st.channels {
		if c.filter == "" {
			continue
		}
		if c.name != "" {
			out = append(out, "channel "+c.name+": "+c.filter)
		} else {
			out = append(out, c.filter)
		}
	}
	return strings.Join(out, "; ")
}

func (st *status) received() gtid.Set {
	var s gtid.Set
	for _, c := range st.channels {
		s = s.Union(c.received)
	}
	return s
}

// refuseGTID returns why a node's GTID configuration cannot be used, or "".
func (st *status) refuseGTID() string {
	if st.gtidMode != "ON" {
		return "refused: gtid_mode is " + st.gtidMode + "; set gtid_mode=ON (and enforce_gtid_consistency=ON) on every server"
	}
	if st.enforceGTID != "ON" {
		return "refused: enforce_gtid_consistency is " + st.enforceGTID + "; set enforce_gtid_consistency=ON on every server"
	}
	return ""
}
