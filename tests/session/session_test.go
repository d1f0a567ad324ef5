package session

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"causeway/tests/cluster"
	"causeway/tests/session/raw"
	"causeway/wire"
)

var (
	shared *cluster.Cluster
	proxy  *cluster.Causeway
)

// patient makes Causeway wait for a replica rather than go to the source, so
// that the scripts' reads run on replicas even on a slow machine.
const patient = "[routing]\nwait = \"3s\"\nmax_wait = \"10s\"\n\n[limits]\nmax_allowed_packet = \"128MB\"\n"

func TestMain(m *testing.M) {
	cluster.Main(m, cluster.Options{}, func(c *cluster.Cluster) (err error) {
		shared = c
		if os.Getenv("CAUSEWAY_SESSION_DIRECT") == "" {
			proxy, err = c.Serve(patient)
		}
		return err
	})
}

// throughCauseway is the address under test. With CAUSEWAY_SESSION_DIRECT set
// it is the source itself: that holds the scripts against themselves.
func throughCauseway() string {
	if proxy == nil {
		return shared.Source().Addr
	}
	return proxy.Addr
}

// TestScripts plays each script on the source and through Causeway.
func TestScripts(t *testing.T) {
	scripts := slices.Concat(stateScripts, diagScripts, trxScripts, commandScripts, preparedScripts)
	for _, p := range profiles {
		for i, s := range scripts {
			if p.turn > 0 && i%2 != p.turn-1 {
				continue
			}
			t.Run(p.name+"/"+s.name, func(t *testing.T) { compare(t, p, s) })
		}
	}
}

func compare(t *testing.T, p profile, s script) {
	want := playOn(t, shared.Source().Addr, p, s)
	got := playOn(t, throughCauseway(), p, s)
	for i := range want {
		if strings.Contains(want[i], "CLIENT ERROR") {
			t.Fatalf("step %d: this client cannot read MySQL's own answer: %s", i+1, want[i])
		}
		if got[i] != want[i] {
			t.Errorf("step %d differs\n--- on MySQL:\n%s--- through Causeway:\n%s", i+1, indent(want[i]), indent(got[i]))
		}
	}
}

// playOn lays the schema anew and plays a script at an address.
func playOn(t *testing.T, addr string, p profile, s script) []string {
	t.Helper()
	lay(t, s.setup)
	o := options(addr, p.caps|s.caps)
	if s.nodb {
		o.DB = ""
	}
	transcript := newPlayer(o, func() { shared.CatchUp(t) }).play(s.steps)
	laid = len(s.setup) == 0 && !slices.ContainsFunc(s.steps, func(s step) bool { return changesSchema.MatchString(s.name) })
	return transcript
}

func options(addr string, caps wire.Capability) raw.Options {
	return raw.Options{
		Addr: addr, User: cluster.AppUser, Password: cluster.AppPassword, DB: "sess", Caps: caps,
		Attrs: map[string]string{"program_name": "session test"},
	}
}

// changesSchema finds statements after which the schema must be laid anew,
// rather too many than too few.
var changesSchema = regexp.MustCompile(`(?i)\b(create|drop|alter|rename|truncate|optimize)\b`)

// laid tells that the base schema is there and only its rows may have changed.
var laid bool

// lay brings the base schema back and waits until all nodes have it.
func lay(t *testing.T, more []string) {
	t.Helper()
	stmts := baseSchema
	if laid {
		stmts = baseRows
	}
	laid = false // until a script is known to leave it alone
	shared.Lay(t, slices.Concat(stmts, more)...)
}

func indent(s string) string {
	if len(s) > 3000 {
		s = s[:3000] + "...\n"
	}
	return "    " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n    ") + "\n"
}
