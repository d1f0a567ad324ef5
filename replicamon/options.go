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

	// AllowFiltered lets replicas serve whose replication filters, or whose
	// source's binlog filters, make gtid_executed say more than the data has.
	AllowFiltered bool

	User     string // needs REPLICATION CLIENT and SELECT on performance_schema.*
	Password string

	TLS         *tls.Config // nil: no TLS
	TLSOptional bool        // TLS only where the server offers it

	Interval         time.Duration // between two status probes; 500ms
	PositionInterval time.Duration // between two position probes; 100ms
	DefaultsInterval time.Duration // between two looks at global variables; 5s
	Timeout          time.Duration // for one probe with its connect; 1s
	WatchTimeout     time.Duration // longest single wait on a replica; 100ms

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
	for _, name := range o.Defaults {
		if !isVariableName(name) {
			return fmt.Errorf("replicamon: %q is not the name of a variable", name)
		}
	}
	return nil
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
