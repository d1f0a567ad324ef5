package wire

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// collect writes down what WalkTrack tells.
func collect(block []byte) ([]string, error) {
	var got []string
	err := WalkTrack(block, func(kind TrackKind, name, value []byte) error {
		got = append(got, fmt.Sprintf("%d %s=%s", kind, name, value))
		return nil
	})
	return got, err
}

const uuid154 = "3e11fa47-71ca-11e1-9e33-c80aa9429562:154"

// trackGolden is one block with every kind: autocommit off, schema test, state
// changed, a GTID, a read-only transaction, and a kind that no server has yet.
var trackGolden = `
	00 0f 0a 6175746f636f6d6d6974 03 4f4646
	01 05 04 74657374
	02 01 31
	03 2a 00 28 33653131666134372d373163612d313165312d396533332d6338306161393432393536323a313534
	04 1d 1c 5354415254205452414e53414354494f4e2052454144204f4e4c593b
	05 09 08 545f5f5f5f5f5f5f
	06 02 aabb`

func TestWalkTrackGolden(t *testing.T) {
	got, err := collect(unhex(t, trackGolden))
	want := []string{
		"0 autocommit=OFF", "1 =test", "2 =1", "3 =" + uuid154,
		"4 =START TRANSACTION READ ONLY;", "5 =T_______", "6 =\xaa\xbb",
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestAppendTrackMatchesGolden(t *testing.T) {
	b := AppendTrackVariable(nil, "autocommit", "OFF")
	b = AppendTrackSchema(b, "test")
	b = AppendTrackStateChange(b, true)
	b = AppendTrackGTIDs(b, uuid154)
	b = AppendTrackTransaction(b, TrackTransactionCharacteristics, "START TRANSACTION READ ONLY;")
	b = AppendTrackTransaction(b, TrackTransactionState, "T_______")
	want := unhex(t, trackGolden)
	if want = want[:len(want)-4]; !bytes.Equal(b, want) {
		t.Errorf("got  %x\nwant %x", b, want)
	}
}

func TestWalkTrackLongSet(t *testing.T) {
	set := strings.Repeat("x", 70000)
	got, err := collect(AppendTrackStateChange(AppendTrackGTIDs(nil, set), false))
	if err != nil || len(got) != 2 || got[0] != "3 ="+set || got[1] != "2 =0" {
		t.Errorf("%d entries, %v", len(got), err)
	}
}

func TestWalkTrackSeveralVariablesInOneEntry(t *testing.T) {
	got, err := collect(unhex(t, "00 08 01 61 01 62 01 63 01 64"))
	if err != nil || !reflect.DeepEqual(got, []string{"0 a=b", "0 c=d"}) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestWalkTrackRefuses(t *testing.T) {
	for name, s := range map[string]string{
		"kind alone":               "01",
		"entry longer than block":  "01 05 04 74",
		"value longer than entry":  "01 02 04 74 65 73 74",
		"no value":                 "01 00",
		"variable without value":   "00 02 01 61",
		"variable without name":    "00 02 00 30",
		"variable of nothing":      "00 00",
		"GTIDs of nothing":         "03 00",
		"GTIDs in a new encoding":  "03 03 01 01 61",
		"GTIDs longer than entry":  "03 03 00 05 61",
		"16 EB":                    "03 fe ff ff ff ff ff ff ff ff",
		"garbage behind a good":    "01 02 01 64 03",
		"second variable cut":      "00 06 01 61 01 62 01 63",
		"characteristics cut":      "04 02 05 61",
		"transaction state is NUL": "05 01 fb",
	} {
		if got, err := collect(unhex(t, s)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestWalkTrackStopsAtTheCallersError(t *testing.T) {
	stop := errors.New("stop")
	calls := 0
	err := WalkTrack(unhex(t, trackGolden), func(TrackKind, []byte, []byte) error {
		calls++
		return stop
	})
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

func TestWalkTrackDoesNotAllocate(t *testing.T) {
	block := unhex(t, trackGolden)
	n := 0
	fn := func(_ TrackKind, _, value []byte) error { n += len(value); return nil }
	noAllocs(t, func() {
		if err := WalkTrack(block, fn); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzWalkTrack(f *testing.F) {
	addPrefixes(f, unhex(f, trackGolden))
	f.Fuzz(func(t *testing.T, block []byte) {
		total := 0
		WalkTrack(block, func(_ TrackKind, name, value []byte) error {
			total += len(name) + len(value)
			return nil
		})
		if total > len(block) {
			t.Fatalf("%d bytes of values in a block of %d", total, len(block))
		}
	})
}

// What changed twice is told once, by its newer value, as a server tells it.
func TestJoinTracks(t *testing.T) {
	variable := func(name, value string) []byte { return AppendTrackVariable(nil, name, value) }
	schema := func(name string) []byte { return AppendTrackSchema(nil, name) }
	gtids := func(set string) []byte { return AppendTrackGTIDs(nil, set) }
	state := AppendTrackTransaction(nil, TrackTransactionState, "T_______")
	for name, c := range map[string]struct{ old, block, want []byte }{
		"nothing old":      {nil, schema("b"), schema("b")},
		"nothing new":      {schema("a"), nil, schema("a")},
		"the schema":       {schema("a"), schema("b"), schema("b")},
		"a variable":       {slices.Concat(variable("x", "1"), variable("y", "1")), variable("X", "2"), slices.Concat(variable("y", "1"), variable("X", "2"))},
		"both sets stay":   {gtids("a:1"), gtids("a:2"), slices.Concat(gtids("a:1"), gtids("a:2"))},
		"transactions end": {state, variable("x", "1"), slices.Concat(variable("x", "1"), state)},
	} {
		if got := JoinTracks(c.old, c.block); !bytes.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
