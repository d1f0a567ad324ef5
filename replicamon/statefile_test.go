package replicamon

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

func TestStateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	if r, err := readRecord(path); err != nil || r.Source != "" {
		t.Fatalf("a first start: %v %v", r, err)
	}
	want := &record{Version: recordVersion, Source: u(2), SourceAddr: "b", Fences: []fence{{UUID: u(1), Addr: "a", By: "b", Since: time.Unix(5, 0).UTC()}}}
	for range 2 { // over a file that is there, too
		if err := writeRecord(path, want); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readRecord(path)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v %v", got, err)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 1 {
		t.Errorf("left behind: %v %v", files, err)
	}
	if err := os.WriteFile(path, []byte(`{"version": 2, "source": "x", "later": [1]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := readRecord(path); err != nil || r.Source != "x" {
		t.Errorf("a newer file: %+v %v", r, err)
	}
	for _, broken := range []string{"", "{", "null", `{"version": 1, "fences": 3}`, `{"version": 1, "fences": [{}]}`, `{}`} {
		if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readRecord(path); err == nil || !strings.Contains(err.Error(), "then remove the file") {
			t.Errorf("%q: %v", broken, err)
		}
	}
	if err := writeRecord(filepath.Join(t.TempDir(), "no", "such"), want); err == nil {
		t.Error("a folder that is not there")
	}
}

// TestFenceIsKept: the file has the fence before the view shows the new source.
func TestFenceIsKept(t *testing.T) {
	m := failedOver(t)
	path := filepath.Join(t.TempDir(), "state.json")
	mon := newMonitor(Options{Servers: []string{"a", "b", "c"}, StateFile: path}.withDefaults(), zerolog.Nop(), nil)
	before := cluster(t)
	mon.state = before.s
	before.next(failed{i: 0, kind: errGone, text: "connection refused"})
	mon.apply((*mon.probes.Load())[0], failed{i: 0, kind: errGone, text: "connection refused"})
	n := mon.state.nodes[1]
	st := status{asked: before.now, uuid: n.uuid, gtidMode: "ON", enforceGTID: "ON"}
	mon.apply((*mon.probes.Load())[1], statusAnswered{i: 1, gen: n.gen, st: st})
	r, err := readRecord(path)
	if err != nil || len(r.Fences) != 1 || r.Fences[0].UUID != m.s.record.Fences[0].UUID || r.Source != u(2) {
		t.Errorf("the file has %+v %v", r, err)
	}
}
