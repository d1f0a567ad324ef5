package replicamon

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"
)

// Options says whom to watch and how. The zero value of every duration means
// its default.
type Options struct {
	Servers []string       // host:port, in the order in which the View lists them
	Weights map[string]int // by server; missing: 1

	Zone  string            // Causeway's own, "": all nodes are as near
	Zones map[string]string // by server; missing: none

	// Discover adds the source's replicas to the nodes.
	Discover         bool
	DiscoverInterval time.Duration // between two looks for them; 2s
	// ForgetAfter is how long a discovered node must be down, and unknown to the
	// source, before it is dropped; 1m.
	ForgetAfter time.Duration

	// AllowFiltered lets replicas serve whose replication filters, or whose
	// source's binlog filters, make gtid_executed say more than the data has.
	AllowFiltered bool

	// WithoutGTIDs takes clusters whose source has gtid_mode = OFF; see nogtid.go.
	WithoutGTIDs bool

	// LagLimits are judged one by one: a replica that is over one may serve
	// under another. Node.Limits has their order.
	LagLimits []LagLimit

	User     string // needs REPLICATION CLIENT and SELECT on performance_schema.*
	Password string

	TLS         *tls.Config // nil: no TLS
	TLSOptional bool        // TLS only where the server offers it

	Interval         time.Duration // between two status probes; 500ms
	PositionInterval time.Duration // between two position probes; 100ms
	DefaultsInterval time.Duration // between two looks at global variables; 5s
	LagWindow        time.Duration // of the samples of apply lag that quantiles are taken from; 30s
	RecoveryWindow   time.Duration // inside a lag limit, before a replica that was over it returns; 60s
	SlowStart        time.Duration // from a tenth of its share to the whole after that; 30s, negative: none
	Timeout          time.Duration // for one probe with its connect; 1s
	WatchTimeout     time.Duration // longest single wait on a replica; 100ms

	// StateFile keeps who was deposed over restarts; "": nothing is kept.
	StateFile string
	Warmup    time.Duration // of View.WarmupUntil, after a promotion; 0: none

	Defaults   []string // global variables to keep in Node.Defaults, lower case
	MaxWaiters int      // refuse to wait beyond that many; 20000
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, def time.Duration) {
		if *d <= 0 {
			*d = def
		}
	}
	set(&o.Interval, 500*time.Millisecond)
	set(&o.PositionInterval, 100*time.Millisecond)
	set(&o.DiscoverInterval, 2*time.Second)
	set(&o.ForgetAfter, time.Minute)
	set(&o.LagWindow, 30*time.Second)
	set(&o.RecoveryWindow, 60*time.Second)
	if o.SlowStart == 0 {
		o.SlowStart = 30 * time.Second
	}
	set(&o.DefaultsInterval, 5*time.Second)
	set(&o.Timeout, time.Second)
	set(&o.WatchTimeout, 100*time.Millisecond)
	if o.MaxWaiters <= 0 {
		o.MaxWaiters = 20000
	}
	return o
}

func (o Options) validate() error {
	if len(o.Servers) == 0 {
		return errors.New("replicamon: no servers")
	}
	seen := map[string]bool{}
	for _, addr := range o.Servers {
		if seen[addr] {
			return fmt.Errorf("replicamon: server %s is listed twice", addr)
		}
		seen[addr] = true
	}
	limits := map[string]bool{}
	for _, l := range o.LagLimits {
		if limits[l.Name] {
			return fmt.Errorf("replicamon: there are two lag limits of %q", l.Name)
		}
		limits[l.Name] = true
		if l.P95 <= 0 || l.FarP95 < 0 {
			return fmt.Errorf("replicamon: the lag limit of %q is %s, in other zones %s; it must be above 0", l.Name, l.P95, l.FarP95)
		}
	}
	for _, name := range o.Defaults {
		if !isVariableName(name) {
			return fmt.Errorf("replicamon: %q is not the name of a variable", name)
		}
	}
	return nil
}

// lagRules are the options that lag is judged by. A sample is old after three
// intervals and the time that one failed probe may take.
func (o Options) lagRules() *lagRules {
	return &lagRules{
		window: o.LagWindow, oldAfter: 3*o.Interval + o.Timeout, limits: o.LagLimits,
		recovery: recovery{window: o.RecoveryWindow, slowStart: o.SlowStart},
	}
}

// isVariableName keeps what goes into a statement's text harmless.
func isVariableName(s string) bool {
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return s != ""
}
