package scope

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"causeway/gtid"
)

const uuid = "3e11fa47-71ca-11e1-9e33-c80aa9429562"

func set(t testing.TB, text string) gtid.Set {
	t.Helper()
	s, err := gtid.Parse(uuid + ":" + text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func wantToken(t *testing.T, e *Entry, text string) {
	t.Helper()
	if got := e.Token().Set; !got.Equal(set(t, text)) {
		t.Errorf("the token is %s, want %s", got.Line(), text)
	}
}

func TestEvictedGoesToTheFloor(t *testing.T) {
	b := NewBook(2, 0)
	now := time.Now()
	for i, name := range []string{"a", "b", "c"} {
		b.Open(name, gtid.Token{}, now).Raise(set(t, fmt.Sprint(10*(i+1))), 0, nil)
	}
	if b.Find("a") != nil {
		t.Fatal("the oldest of three is still in a book for two")
	}
	wantToken(t, b.Floor(), "10")
	if b.Find("b") == nil || b.Find("c") == nil || b.Len() != 2 {
		t.Fatal("the others are gone")
	}
	b.Open("b", gtid.Token{}, now) // written again: c goes first
	b.Open("a", gtid.Token{}, now)
	if b.Find("c") != nil || b.Find("b") == nil {
		t.Error("the one written last went before an older one")
	}
	wantToken(t, b.Find("a"), "10:30") // what it once needed is among it, by the floor
}

func TestExpired(t *testing.T) {
	b := NewBook(10, time.Minute)
	now := time.Now()
	b.Open("a", gtid.Token{}, now).Raise(set(t, "5"), 0, nil)
	b.Expire(now.Add(59 * time.Second))
	if b.Find("a") == nil {
		t.Fatal("gone before its time")
	}
	b.Expire(now.Add(time.Minute))
	if b.Find("a") != nil {
		t.Fatal("not expired")
	}
	wantToken(t, b.Floor(), "5")
}

func TestStart(t *testing.T) {
	b := NewBook(10, 0)
	e := b.Open("a", gtid.Token{Set: set(t, "1-7")}, time.Now())
	e.Raise(set(t, "9"), 0, nil)
	wantToken(t, e, "1-7:9")
	e.Raise(set(t, "11"), 0, func(gtid.Set) gtid.Set { return set(t, "1-11") })
	wantToken(t, e, "1-11")
}

// TestRaisedAfterItWent: a writer may hold an entry that is forgotten meanwhile.
func TestRaisedAfterItWent(t *testing.T) {
	b := NewBook(1, 0)
	held := b.Open("a", gtid.Token{}, time.Now())
	b.Open("b", gtid.Token{}, time.Now())
	settled := held.Doubt()
	if !b.InDoubt(b.Find("a")) || !b.InDoubt(b.Find("b")) {
		t.Error("the doubt of a forgotten entry is nobody's")
	}
	held.Raise(set(t, "4"), 0, nil)
	wantToken(t, b.Floor(), "4")
	settled()
	settled()
	if b.InDoubt(b.Find("a")) {
		t.Error("still in doubt")
	}
}

func TestInDoubtStays(t *testing.T) {
	b := NewBook(1, time.Minute)
	now := time.Now()
	settled := b.Open("a", gtid.Token{}, now).Doubt()
	b.Open("b", gtid.Token{}, now)
	b.Expire(now.Add(time.Hour))
	if b.Find("a") == nil {
		t.Fatal("an entry in doubt was forgotten")
	}
	settled()
	b.Expire(now.Add(time.Hour))
	if b.Find("a") != nil {
		t.Error("an entry stays after its doubt and its time")
	}
}

func TestForget(t *testing.T) {
	var e Entry
	e.Raise(set(t, "1-9"), 1, nil)
	lost, told := e.Forget(set(t, "8-20"), 1, 1)
	if !told || !lost.Equal(set(t, "8-9")) {
		t.Errorf("lost: %s, %v", lost.Line(), told)
	}
	wantToken(t, &e, "1-7")
	if _, told := e.Forget(set(t, "1-20"), 1, 1); told {
		t.Error("the same loss was told of twice")
	}
	if _, told := e.Forget(gtid.Set{}, 2, 1); !told || !e.Token().Set.IsEmpty() {
		t.Error("a token of an older epoch is kept")
	}
	e.Raise(set(t, "3"), 2, nil)
	e.Raise(set(t, "99"), 1, nil) // it comes late, of a history that is over
	wantToken(t, &e, "3")
}

func TestNil(t *testing.T) {
	var e *Entry
	e.Raise(set(t, "1"), 0, nil)
	e.Doubt()()
	if _, told := e.Forget(set(t, "1"), 0, 1); told || e.InDoubt() || !e.Token().Set.IsEmpty() {
		t.Error("a nil entry holds something")
	}
}

// TestNothingIsLost: whatever is forgotten meanwhile, after a raise the name needs
// what was raised.
func TestNothingIsLost(t *testing.T) {
	b := NewBook(3, 0)
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := range 2000 {
				name := fmt.Sprint((w + i) % 7)
				gtids := set(t, fmt.Sprint(1+2*(w*2000+i)))
				b.Open(name, gtid.Token{}, time.Now()).Raise(gtids, 0, func(s gtid.Set) gtid.Set { return s.Widen(set(t, "1-99999"), 4) })
				e := b.Find(name)
				if e == nil {
					e = b.Floor()
				}
				if !e.Token().Set.Contains(gtids) {
					t.Errorf("%s was forgotten", gtids.Line())
					return
				}
			}
		})
	}
	all.Wait()
	if b.Len() > 3 {
		t.Errorf("%d entries in a book for 3", b.Len())
	}
}
