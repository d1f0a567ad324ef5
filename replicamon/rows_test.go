package replicamon

import (
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/gtid"
)

func TestReadPosition(t *testing.T) {
	p, err := readPosition([]row{{"executed": u(1) + ":1-5,\n" + u(2) + ":7", "uuid": u(1), "ro": "1"}})
	if err != nil || !p.executed.Equal(gs("1:1-5 2:7")) || !p.readOnly || p.uuid != u(1) {
		t.Errorf("%+v %v", p, err)
	}
	for _, rows := range [][]row{nil, {{}, {}}, {{"executed": "garbage", "uuid": "x"}}, {{"executed": ""}}} {
		if _, err := readPosition(rows); err == nil {
			t.Errorf("%v was taken as a position", rows)
		}
	}
	// What is missing must not read as writable.
	if p, _ := readPosition([]row{{"executed": "", "uuid": "x"}}); !p.readOnly {
		t.Error("read_only unknown taken as writable")
	}
}

func TestReadStatus(t *testing.T) {
	var st status
	if err := st.readNode([]row{{"uuid": u(2), "version": "8.0.36", "ro": "0", "sro": "1", "gtid_mode": "ON", "enforce": "ON", "collation_id": "255"}}); err != nil {
		t.Fatal(err)
	}
	if !st.readOnly || st.collation != 255 {
		t.Errorf("%+v", st)
	}
	if err := st.readNode(nil); err == nil {
		t.Error("no row taken as a node")
	}
	err := st.readReplica([]row{
		{"Channel_Name": "", "Source_UUID": u(1), "Source_Host": "h", "Source_Port": "3306", "Replica_IO_Running": "Connecting",
			"Replica_SQL_Running": "Yes", "Last_IO_Errno": "2003", "Last_IO_Error": "Can't connect", "Last_SQL_Errno": "0",
			"SQL_Delay": "5", "Retrieved_Gtid_Set": u(1) + ":1-9", "Replicate_Do_DB": "x", "Replicate_Wild_Ignore_Table": "y.%"},
		{"Channel_Name": "two", "Source_UUID": u(3), "Replica_IO_Running": "No", "Replica_SQL_Running": "No", "SQL_Delay": "0", "Replicate_Ignore_Server_Ids": "7"},
	})
	if err != nil {
		t.Fatal(err)
	}
	st.readConnections([]row{{"channel": "two", "queued_age": "1500"}, {"channel": "gone", "queued_age": "1"}, {"channel": ""}})
	st.readWorkers([]row{
		{"channel": "", "id": "1", "state": "ON", "errno": "0", "applying": u(1) + ":10", "retries": "2", "applying_age": "2000000", "applying_for": "-5"},
		{"channel": "", "id": "2", "state": "OFF", "errno": "1062", "error": "Duplicate entry", "applying": "", "applied_age": "3000000"},
	})
	want := []channel{
		{sourceUUID: u(1), source: "h:3306", io: "Connecting", sql: "Yes", ioError: "2003: Can't connect", delay: 5 * time.Second,
			filter: "Replicate_Do_DB=x, Replicate_Wild_Ignore_Table=y.%", received: gs("1:1-9"), behind: -1, queuedAge: noAge},
		{name: "two", sourceUUID: u(3), source: ":", io: "No", sql: "No", filter: "Replicate_Ignore_Server_Ids=7", behind: -1, queuedAge: 1500 * time.Microsecond},
	}
	if !reflect.DeepEqual(st.channels, want) {
		t.Errorf("%+v", st.channels)
	}
	if st.filters() != "Replicate_Do_DB=x, Replicate_Wild_Ignore_Table=y.%; channel two: Replicate_Ignore_Server_Ids=7" {
		t.Error(st.filters())
	}
	workers := []worker{
		{id: 1, running: true, applying: u(1) + ":10", retries: 2, applyingAge: 2 * time.Second, applyingFor: 0, appliedAge: noAge},
		{id: 2, errText: "1062: Duplicate entry", applyingAge: noAge, applyingFor: -1, appliedAge: 3 * time.Second},
	}
	if !reflect.DeepEqual(st.workers, workers) {
		t.Errorf("%+v", st.workers)
	}
	if io, sql := st.threads(); io != "No" || sql != "No" {
		t.Errorf("threads %s %s", io, sql)
	}
	if got := st.lastError(); got != "worker 2: 1062: Duplicate entry" {
		t.Error(got)
	}
	if err := st.readReplica([]row{{"Retrieved_Gtid_Set": "garbage"}}); err == nil {
		t.Error("garbage taken as a set")
	}
	st.readBinlog([]row{{"Binlog_Ignore_DB": "tmp", "Binlog_Do_DB": ""}})
	if st.binlogFilter != "Binlog_Ignore_DB=tmp" {
		t.Error(st.binlogFilter)
	}
}

func TestAwaitSQL(t *testing.T) {
	need := gs("1:1-5 2:7")
	for limit, want := range map[time.Duration]string{
		100 * time.Millisecond: "0.100", 0: "0.001", -time.Second: "0.001", 1500 * time.Microsecond: "0.002", time.Second: "1.000",
	} {
		sql := awaitSQL(need, limit)
		if !strings.Contains(sql, "WAIT_FOR_EXECUTED_GTID_SET('"+u(1)+":1-5,"+u(2)+":7', "+want+")") {
			t.Errorf("%v: %s", limit, sql)
		}
	}
}

func TestDefaultsSQL(t *testing.T) {
	if got := defaultsSQL([]string{"sql_mode", "time_zone"}); got != "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('sql_mode','time_zone')" {
		t.Error(got)
	}
}

func TestApplyLag(t *testing.T) {
	busy := worker{applying: "x", applyingAge: 3 * time.Second, appliedAge: time.Minute}
	idle := worker{applyingAge: noAge, appliedAge: 2 * time.Second}
	never := worker{applyingAge: noAge, appliedAge: noAge}
	for _, tt := range []struct {
		name      string
		workers   []worker
		unapplied uint64
		sql       string
		queued    time.Duration
		posLag    time.Duration
		want      time.Duration
	}{
		{"all applied", []worker{idle}, 0, "Yes", noAge, 0, 0},
		{"all received applied, but stopped", []worker{idle}, 0, "No", noAge, 0, -1},
		{"applying", []worker{idle, busy}, 2, "Yes", noAge, 9 * time.Second, 3 * time.Second},
		{"stopped with one", []worker{idle}, 1, "No", time.Second, 9 * time.Second, time.Second},
		{"stopped with many", []worker{idle}, 7, "No", time.Second, 9 * time.Second, 2 * time.Second},
		{"stopped with many after a long idle time", []worker{idle}, 7, "No", time.Second, time.Second, time.Second},
		{"stopped, nothing known", []worker{never}, 7, "No", noAge, -1, -1},
		{"no right to look", nil, 7, "Yes", noAge, time.Second, -1},
	} {
		n := node{posLag: tt.posLag, status: &status{workers: tt.workers, channels: []channel{{queuedAge: tt.queued}}}}
		if got := n.applyLag(tt.unapplied, tt.sql); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestWorkerDetail(t *testing.T) {
	st := status{workers: []worker{{id: 1}, {id: 2, applying: "g:1", applyingFor: time.Second}, {id: 3, applying: "g:2", applyingFor: 2 * time.Second, retries: 4}}}
	if got := st.workerDetail(); got != "worker 3: g:2 for 2s (retried 4 times); worker 2: g:1 for 1s" {
		t.Error(got)
	}
}

func TestOfUUID(t *testing.T) {
	tagged := gtid.MustParse(u(1) + ":1-5:tag:1-3," + u(2) + ":1")
	if got := ofUUID(tagged, strings.ToUpper(u(1))); !got.Equal(gtid.MustParse(u(1) + ":1-5:tag:1-3")) {
		t.Error(got)
	}
	if !ofUUID(tagged, u(9)).IsEmpty() || !ofUUID(gtid.Set{}, u(1)).IsEmpty() {
		t.Error("not empty")
	}
}

func TestReadHeld(t *testing.T) {
	for locks, want := range map[string]backend.Held{
		"": {}, "USER LEVEL LOCK": {UserLocks: true}, "TABLE": {TableLocks: true},
		"GLOBAL": {GlobalLock: true}, "BACKUP LOCK": {InstanceLock: true}, "GLOBAL,TABLE": {GlobalLock: true, TableLocks: true},
	} {
		if got, err := readHeld(row{"locks": locks}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v, want %+v", locks, got, err, want)
		}
	}
	held, err := readHeld(row{"vars": `{"a": "12", "b": "34"}`})
	if err != nil || !maps.Equal(held.UserVars, map[string]string{"a": "12", "b": "34"}) {
		t.Errorf("%v, %v", held.UserVars, err)
	}
}

// Workers of an applier that is stopped still show what they held last: none is busy.
func TestNoWorkerOfAStoppedApplierIsBusy(t *testing.T) {
	st := &status{workers: []worker{{id: 1, applying: u(1) + ":10", applyingAge: time.Second, appliedAge: noAge}, {id: 2, applyingAge: noAge, appliedAge: noAge}}}
	for thread, want := range map[string]int{"Yes": 1, "No": 0} {
		l := backend.Lag{SQLThread: thread}
		if st.tellWorkers(&l); l.WorkersBusy != want || l.Workers != 2 {
			t.Errorf("applier %s: %d of %d busy, want %d of 2", thread, l.WorkersBusy, l.Workers, want)
		}
	}
}
