package share

import "testing"

const life, list = "run1.repl1.0", "abc"

// healthy is a sight that shows everything.
func healthy() Sight {
	return Sight{
		Life: life, Now: 1000,
		Leases: map[string]Lease{"a": {life, "p1", list, 1400}, "b": {life, "p2", list, 1001}},
		Floor:  Floor{Life: life, Begun: 500, Until: 5000},
	}
}

func TestJudge(t *testing.T) {
	lease := func(name string, l Lease) func(*Sight) { return func(s *Sight) { s.Leases[name] = l } }
	for _, c := range []struct {
		name   string
		change func(*Sight)
		want   Distrust
		about  string
	}{
		{"all is well", func(*Sight) {}, Trusted, ""},
		{"a replica of the store", func(s *Sight) { s.Life = "" }, NotWritable, ""},
		{"the floor of another life", func(s *Sight) { s.Floor.Life = "run0" }, NoFloor, ""},
		{"no floor", func(s *Sight) { s.Floor = Floor{} }, NoFloor, ""},
		{"a floor that is too old", func(s *Sight) { s.Floor.Until = 1000 }, NoFloor, ""},
		{"a member that never came", func(s *Sight) { delete(s.Leases, "b") }, Leaseless, "b"},
		{"a lease that has run out", lease("b", Lease{life, "p2", list, 1000}), Leaseless, "b"},
		{"a lease that was copied to a promoted replica", lease("a", Lease{"run0", "p1", list, 1400}), Leaseless, "a"},
		{"a member with another list", lease("b", Lease{life, "p2", "other", 1400}), OtherList, "b"},
		{"a member that is not on the list", lease("c", Lease{life, "p3", list, 1400}), Unlisted, "c"},
		{"one that was on it once", lease("c", Lease{life, "p3", list, 900}), Trusted, ""},
	} {
		s := healthy()
		c.change(&s)
		if why, about := judge(&s, []string{"a", "b"}, list); why != c.want || about != c.about {
			t.Errorf("%s: %q %q, want %q %q", c.name, why, about, c.want, c.about)
		}
	}
}

func TestAllowLease(t *testing.T) {
	for _, c := range []struct {
		name  string
		order LeaseOrder
		want  Verdict
	}{
		{"a renewal", LeaseOrder{Name: "a", Lease: Lease{life, "p1", list, 1500}}, Done},
		{"a new member", LeaseOrder{Name: "c", Lease: Lease{life, "p3", list, 1500}}, Done},
		{"another life", LeaseOrder{Name: "a", Lease: Lease{"run0", "p1", list, 1500}}, OtherLife},
		{"an order that comes late", LeaseOrder{Name: "a", Lease: Lease{life, "p1", list, 1000}}, Late},
		{"a second process of the name", LeaseOrder{Name: "a", Lease: Lease{life, "p9", list, 1500}}, Taken},
	} {
		s := healthy()
		if got := AllowLease(&s, &c.order); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	s := healthy()
	s.Now = 1400
	if got := AllowLease(&s, &LeaseOrder{Name: "a", Lease: Lease{life, "p9", list, 1500}}); got != Done {
		t.Errorf("the name of a process that is gone: %s", got)
	}
}

func TestAllowPublish(t *testing.T) {
	for _, c := range []struct {
		name  string
		order PublishOrder
		now   Millis
		want  Verdict
	}{
		{"a member", PublishOrder{Name: "a", Life: life, Proc: "p1"}, 1000, Done},
		{"its lease has run out", PublishOrder{Name: "a", Life: life, Proc: "p1"}, 1400, NoLease},
		{"the lease is another process's", PublishOrder{Name: "a", Life: life, Proc: "p9"}, 1000, NoLease},
		{"it never had one", PublishOrder{Name: "c", Life: life, Proc: "p3"}, 1000, NoLease},
		{"another life", PublishOrder{Name: "a", Life: "run0", Proc: "p1"}, 1000, OtherLife},
	} {
		s := healthy()
		s.Now = c.now
		if got := AllowPublish(&s, &c.order); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestDigestOf(t *testing.T) {
	if digestOf([]string{"a", "b"}) != digestOf([]string{"b", "a"}) || digestOf([]string{"a", "b"}) == digestOf([]string{"a", "c"}) {
		t.Error("a digest names the members, not their order")
	}
}
