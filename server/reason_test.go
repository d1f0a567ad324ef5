package server

import (
	"regexp"
	"testing"

	"causeway/classifier"
)

func TestReasonNames(t *testing.T) {
	label := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	seen := map[string]reason{}
	for r := range reason(reasonCount) {
		name := r.String()
		if !label.MatchString(name) {
			t.Errorf("reason %d has no name fit for a metric label: %q", r, name)
		}
		if other, ok := seen[name]; ok {
			t.Errorf("reasons %d and %d are both %q", other, r, name)
		}
		seen[name] = r
	}
}

func TestTargetNames(t *testing.T) {
	for i, name := range targetNames {
		if name == "" {
			t.Errorf("target %d has no name", i)
		}
	}
}

func TestKindReason(t *testing.T) {
	for _, k := range allKinds {
		if r := kindReason(k); r == reasonNone || r == reasonRead || r == reasonToken {
			t.Errorf("%v goes to the source because of %v", k, r)
		}
	}
	for k, want := range map[classifier.Kind]reason{
		classifier.Write: reasonWrite, classifier.Call: reasonWrite, classifier.DDL: reasonDDL, classifier.LockingRead: reasonLockingRead,
		classifier.Begin: reasonTransaction, classifier.XA: reasonXA, classifier.LockTables: reasonLockedTables,
		classifier.ReadSource: reasonSourceOnly, classifier.Unknown: reasonUnknown, classifier.Set: reasonSession, classifier.Kill: reasonSession,
	} {
		if got := kindReason(k); got != want {
			t.Errorf("%v: %v, want %v", k, got, want)
		}
	}
}

// An ERR of these may hide a commit, and a lost answer leaves the session in doubt.
func TestMayHaveCommitted(t *testing.T) {
	harmless := map[classifier.Kind]bool{
		classifier.Read: true, classifier.ReadSource: true, classifier.Diagnostics: true, classifier.LockingRead: true,
		classifier.Savepoint: true, classifier.Use: true, classifier.Kill: true, classifier.Empty: true, classifier.Handler: true, classifier.Set: true,
	}
	for _, k := range allKinds {
		if got := mayHaveCommitted(class(k, 0)); got == harmless[k] {
			t.Errorf("%v: %v", k, got)
		}
		for _, f := range []classifier.Flags{classifier.MayCommit, classifier.ImplicitCommit, classifier.UnknownFunction} {
			if !mayHaveCommitted(class(k, f)) {
				t.Errorf("%v with %v: false", k, f)
			}
		}
	}
	for _, f := range []classifier.Flags{classifier.MultiStatement, classifier.SetsGlobal, classifier.SetsAutocommit | classifier.MayCommit} {
		if !mayHaveCommitted(class(classifier.Set, f)) {
			t.Errorf("SET with %v: false", f)
		}
	}
}

func TestReplicaCannot(t *testing.T) {
	for _, code := range []uint16{1792, 1290, 1146, 1054, 1049, 1305} {
		if !replicaCannot(code) {
			t.Errorf("%d is not asked again", code)
		}
	}
	for _, code := range []uint16{1064, 1317, 3024, 1205, 1213, 1142, 1045, 0} {
		if replicaCannot(code) {
			t.Errorf("%d is asked again", code)
		}
	}
}
