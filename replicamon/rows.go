package replicamon

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"causeway/backend"
	"causeway/gtid"
)

// row is one row of a result by column name; a NULL is missing.
type row map[string]string

// The statements of the status probe. Ages are computed by the server that
// holds the timestamps; a zero timestamp gives NULL.
const (
	positionSQL = "SELECT @@global.gtid_executed AS executed, @@global.server_uuid AS uuid, @@global.read_only AS ro, @@global.gtid_mode AS gtid_mode," +
		" UNIX_TIMESTAMP(NOW(6)) AS clock"

	nodeSQL = "SELECT @@global.server_uuid AS uuid, @@global.version AS version, @@global.read_only AS ro," +
		" @@global.super_read_only AS sro, @@global.gtid_mode AS gtid_mode," +
		" @@global.enforce_gtid_consistency AS enforce," +
		" (SELECT ID FROM information_schema.COLLATIONS WHERE COLLATION_NAME = @@global.collation_server) AS collation_id"

	replicaSQL = "SHOW REPLICA STATUS"

	connectionSQL = "SELECT CHANNEL_NAME AS channel, TIMESTAMPDIFF(MICROSECOND," +
		" LAST_QUEUED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP, NOW(6)) AS queued_age, QUEUEING_TRANSACTION AS receiving" +
		" FROM performance_schema.replication_connection_status"

	workerSQL = "SELECT CHANNEL_NAME AS channel, WORKER_ID AS id, SERVICE_STATE AS state," +
		" LAST_ERROR_NUMBER AS errno, LAST_ERROR_MESSAGE AS error, APPLYING_TRANSACTION AS applying," +
		" APPLYING_TRANSACTION_RETRIES_COUNT AS retries," +
		" TIMESTAMPDIFF(MICROSECOND, APPLYING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP, NOW(6)) AS applying_age," +
		" TIMESTAMPDIFF(MICROSECOND, APPLYING_TRANSACTION_START_APPLY_TIMESTAMP, NOW(6)) AS applying_for," +
		" TIMESTAMPDIFF(MICROSECOND, LAST_APPLIED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP, NOW(6)) AS applied_age, t.PROCESSLIST_STATE AS doing" +
		" FROM performance_schema.replication_applier_status_by_worker w" +
		" LEFT JOIN performance_schema.threads t ON t.THREAD_ID = w.THREAD_ID"
)

// awaitSQL asks for need and, in the same statement, for the position: MySQL
// evaluates the columns from left to right, so the position is read after the
// wait. A limit of 0 would wait for ever.
func awaitSQL(need gtid.Set, limit time.Duration) string {
	limit = max(limit, time.Millisecond)
	return fmt.Sprintf("SELECT WAIT_FOR_EXECUTED_GTID_SET('%s', %.3f) AS timed_out, @@global.gtid_executed AS executed,"+
		" @@global.server_uuid AS uuid, @@global.read_only AS ro", need.Line(), limit.Seconds())
}

func defaultsSQL(names []string) string {
	return "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('" + strings.Join(names, "','") + "')"
}

// binlogSQL names the statement that tells of the binary log's filters.
func binlogSQL(v string) string {
	if parsed, ok := parseVersion(v); ok && parsed.less(binaryLogVersion) {
		return "SHOW MASTER STATUS"
	}
	return "SHOW BINARY LOG STATUS"
}

func readPosition(rows []row) (position, error) {
	if len(rows) != 1 {
		return position{}, fmt.Errorf("position: %d rows", len(rows))
	}
	set, err := gtid.Parse(rows[0]["executed"])
	if err != nil {
		return position{}, fmt.Errorf("position: %w", err)
	}
	uuid := rows[0]["uuid"]
	if uuid == "" {
		return position{}, fmt.Errorf("position: no server_uuid")
	}
	return position{uuid: uuid, executed: set, readOnly: rows[0]["ro"] != "0", gtidMode: rows[0]["gtid_mode"], clock: unixTime(rows[0]["clock"])}, nil
}

func (st *status) readNode(rows []row) error {
	if len(rows) != 1 || rows[0]["uuid"] == "" {
		return fmt.Errorf("node: %d rows or no server_uuid", len(rows))
	}
	r := rows[0]
	st.uuid, st.version = r["uuid"], r["version"]
	st.superReadOnly = r["sro"] != "0"
	st.readOnly = r["ro"] != "0" || st.superReadOnly
	st.gtidMode, st.enforceGTID = r["gtid_mode"], r["enforce"]
	id, _ := strconv.ParseUint(r["collation_id"], 10, 16)
	st.collation = uint16(id)
	return nil
}

func (st *status) readReplica(rows []row) error {
	for _, r := range rows {
		if r["Channel_Name"] == groupApplier || r["Channel_Name"] == groupRecovery {
			continue // see group.channel
		}
		received, err := gtid.Parse(r["Retrieved_Gtid_Set"])
		if err != nil {
			return fmt.Errorf("Retrieved_Gtid_Set: %w", err)
		}
		if st.gtidMode == modeOff {
			received = gtid.Set{} // from when it had GTIDs
		}
		delay, _ := strconv.Atoi(r["SQL_Delay"])
		st.channels = append(st.channels, channel{
			name:       r["Channel_Name"],
			sourceUUID: r["Source_UUID"],
			source:     r["Source_Host"] + ":" + r["Source_Port"],
			io:         r["Replica_IO_Running"],
			sql:        r["Replica_SQL_Running"],
			ioError:    numbered(r["Last_IO_Errno"], r["Last_IO_Error"]),
			sqlError:   numbered(r["Last_SQL_Errno"], r["Last_SQL_Error"]),
			delay:      time.Duration(delay) * time.Second,
			filter:     words(r, filterColumns),
			received:   received,
			behind:     seconds(r, "Seconds_Behind_Source"),
			sqlState:   r["Replica_SQL_Running_State"],
			queuedAge:  noAge,
		})
	}
	return nil
}

// filterColumns are the columns of SHOW REPLICA STATUS that show a filter.
var filterColumns = []string{
	"Replicate_Do_DB", "Replicate_Ignore_DB", "Replicate_Do_Table", "Replicate_Ignore_Table",
	"Replicate_Wild_Do_Table", "Replicate_Wild_Ignore_Table", "Replicate_Rewrite_DB", "Replicate_Ignore_Server_Ids",
}

func (st *status) readBinlog(rows []row) {
	if len(rows) > 0 {
		st.binlogFilter = words(rows[0], []string{"Binlog_Do_DB", "Binlog_Ignore_DB"})
	}
}

func (st *status) readConnections(rows []row) {
	for _, r := range rows {
		for i := range st.channels {
			if st.channels[i].name == r["channel"] {
				st.channels[i].queuedAge = signedAge(r, "queued_age")
				st.channels[i].receiving = r["receiving"]
			}
		}
	}
}

func (st *status) readWorkers(rows []row) {
	for _, r := range rows {
		if r["channel"] == groupRecovery {
			continue
		}
		id, _ := strconv.Atoi(r["id"])
		retries, _ := strconv.Atoi(r["retries"])
		w := worker{
			channel: r["channel"], id: id, running: r["state"] == "ON",
			errText:  numbered(r["errno"], r["error"]),
			applying: r["applying"], retries: retries,
			applyingAge: signedAge(r, "applying_age"), applyingFor: age(r, "applying_for"),
			appliedAge: signedAge(r, "applied_age"), doing: r["doing"],
		}
		st.workers = append(st.workers, w)
	}
}

// words lists the non-empty columns among names.
func words(r row, names []string) string {
	var out []string
	for _, name := range names {
		if v := r[name]; v != "" {
			out = append(out, name+"="+v)
		}
	}
	return strings.Join(out, ", ")
}

func numbered(errno, text string) string {
	if errno == "" || errno == "0" {
		return ""
	}
	return errno + ": " + text
}

// seconds reads a whole number of seconds; -1: there is none.
func seconds(r row, column string) time.Duration {
	n, err := strconv.ParseUint(r[column], 10, 31)
	if err != nil {
		return -1
	}
	return time.Duration(n) * time.Second
}

// noAge is the age of what has none.
const noAge = time.Duration(math.MinInt64)

// signedAge reads a number of microseconds. An age by another host's clock can
// be negative; what the clocks differ by is taken off later, by trueAge.
func signedAge(r row, column string) time.Duration {
	us, err := strconv.ParseInt(r[column], 10, 64)
	if err != nil {
		return noAge
	}
	return time.Duration(us) * time.Microsecond
}

// trueAge takes off how far the clock that told the present is ahead of the one
// that told the past; -1: there is no age.
func trueAge(d, ahead time.Duration) time.Duration {
	if d == noAge {
		return -1
	}
	return max(0, d-ahead)
}

// age reads an age by one clock; -1: there is none.
func age(r row, column string) time.Duration { return trueAge(signedAge(r, column), 0) }

// unixTime reads seconds since 1970 with microseconds; zero: not understood.
func unixTime(text string) time.Time {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || seconds <= 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(math.Round(seconds * 1e6)))
}

// heldSQL asks what a connection holds for itself. The types of locks are those
// that outlive a statement, or a transaction: what else is done to a table takes
// weaker ones, or is over.
func heldSQL(connID uint32) string {
	return fmt.Sprintf("SELECT (SELECT GROUP_CONCAT(DISTINCT l.OBJECT_TYPE) FROM performance_schema.metadata_locks l WHERE l.OWNER_THREAD_ID = t.THREAD_ID"+
		" AND l.LOCK_STATUS = 'GRANTED' AND (l.OBJECT_TYPE = 'USER LEVEL LOCK' OR l.OBJECT_TYPE IN ('GLOBAL', 'BACKUP LOCK') AND l.LOCK_TYPE = 'SHARED'"+
		" OR l.OBJECT_TYPE = 'TABLE' AND l.LOCK_TYPE IN ('SHARED_READ_ONLY', 'SHARED_NO_WRITE', 'SHARED_NO_READ_WRITE'))) AS locks,"+
		" (SELECT JSON_OBJECTAGG(LOWER(v.VARIABLE_NAME), SHA2(v.VARIABLE_VALUE, 256)) FROM performance_schema.user_variables_by_thread v WHERE v.THREAD_ID = t.THREAD_ID AND v.VARIABLE_VALUE IS NOT NULL) AS vars"+
		" FROM performance_schema.threads t WHERE t.PROCESSLIST_ID = %d", connID)
}

func readHeld(row map[string]string) (backend.Held, error) {
	locks := row["locks"]
	held := backend.Held{
		UserLocks: strings.Contains(locks, "USER LEVEL LOCK"), TableLocks: strings.Contains(locks, "TABLE"),
		GlobalLock: strings.Contains(locks, "GLOBAL"), InstanceLock: strings.Contains(locks, "BACKUP LOCK"),
	}
	if row["vars"] == "" {
		return held, nil
	}
	return held, json.Unmarshal([]byte(row["vars"]), &held.UserVars)
}
