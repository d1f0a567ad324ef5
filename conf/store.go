package conf

import (
	"crypto/x509"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// TokenStore says over what several Causeways share keys and wide scopes.
type TokenStore struct {
	Redis            string // addresses, separated by commas; "": nothing is shared
	Sentinel         string // name of the server at Sentinel
	Cluster          bool
	User             string
	Password         Secret
	PasswordFile     string
	PasswordEnv      string
	SentinelPassword Secret
	TLS              string // TLSDisabled, TLSRequired or TLSVerify
	CA               string
	Prefix           string
	Name             string   // of this Causeway
	Proxies          []string // all that share the store
	Lease, Timeout   time.Duration
}

// The values of Token.StoreDown.
const (
	StoreWait   = "wait"
	StoreRefuse = "refuse"
)

// Addrs are the addresses of Redis.
func (s *TokenStore) Addrs() []string {
	var out []string
	for addr := range strings.SplitSeq(s.Redis, ",") {
		out = append(out, strings.TrimSpace(addr))
	}
	return out
}

const storePrefix = "token.store."

// checkStore looks at [token.store] if it is in use.
func (r *reader) checkStore() {
	c := &r.cfg.Token.Store
	if c.Redis == "" {
		r.checkNoStore()
		return
	}
	addrs := c.Addrs()
	for _, addr := range addrs {
		if f := checkAddress(addr, false); f != nil {
			r.problem(storePrefix+"redis", f.wrong, `write host:port, several separated by commas`)
		}
	}
	switch {
	case c.Cluster && c.Sentinel != "":
		r.problem(storePrefix+"cluster", "is true beside token.store.sentinel", "keep one of them")
	case len(addrs) > 1 && !c.Cluster && c.Sentinel == "":
		r.problem(storePrefix+"redis", "has several addresses", "name one, or write cluster = true, or sentinel with the name of the server")
	}
	r.checkProxies()
	r.checkStoreTimes()
	if r.given[storePrefix+"password"] || r.given[storePrefix+"password_file"] || r.given[storePrefix+"password_env"] {
		r.password(storePrefix, &c.Password, c.PasswordFile, c.PasswordEnv)
	}
	if c.CA != "" {
		c.CA = r.path(c.CA)
		if data, err := os.ReadFile(c.CA); err != nil {
			r.problem(storePrefix+"ca", "cannot be read: "+reason(err), "name a PEM file")
		} else if !x509.NewCertPool().AppendCertsFromPEM(data) {
			r.problem(storePrefix+"ca", "has no certificate in it", "name a PEM file")
		}
	}
}

// checkNoStore: what is said about a store that is not there would do nothing.
func (r *reader) checkNoStore() {
	c := &r.cfg.Token.Store
	if c.Name != "" || len(c.Proxies) > 0 || c.Sentinel != "" || c.Cluster || c.User != "" {
		r.problem(storePrefix+"redis", "is missing", `say where Redis is, such as redis = "10.0.0.9:6379", or remove [token.store]`)
	}
	if r.cfg.Token.StoreDown == StoreRefuse {
		r.problem("token.store_down", `is "refuse", and there is no store that can be down`, `say where it is by token.store.redis, or remove it`)
	}
}

func (r *reader) checkProxies() {
	c := &r.cfg.Token.Store
	r.required(storePrefix+"name", c.Name, `name this Causeway, such as name = "a"; no two may have one name`)
	for i, name := range c.Proxies {
		switch {
		case name == "":
			r.problem(storePrefix+"proxies", "names nobody in one place", "name each Causeway that shares the store")
		case slices.Contains(c.Proxies[:i], name):
			r.problem(storePrefix+"proxies", strconv.Quote(name)+" is named twice", "name each once")
		}
	}
	if !slices.Contains(c.Proxies, c.Name) && c.Name != "" {
		r.problem(storePrefix+"proxies", fmt.Sprintf("does not have this one's name (%q)", c.Name),
			"name all Causeways that share the store, the same list in each one's configuration")
	}
}

func (r *reader) checkStoreTimes() {
	c, t := &r.cfg.Token.Store, &r.cfg.Token
	if 3*c.Timeout > c.Lease {
		r.problem(storePrefix+"timeout", fmt.Sprintf("%q is more than a third of token.store.lease (%q)", c.Timeout, c.Lease), "write a shorter time, or a longer lease")
	}
	if r.cfg.Routing.MaxWait < 2*c.Lease {
		r.problem(storePrefix+"lease", fmt.Sprintf("twice %q is more than routing.max_wait (%q), for which a write waits at most", c.Lease, r.cfg.Routing.MaxWait),
			"write a shorter time, or a longer max_wait")
	}
	if t.KeyTTL < 20*c.Lease {
		r.problem("token.key_ttl", fmt.Sprintf("%q is less than twenty times token.store.lease (%q)", t.KeyTTL, c.Lease), "write a longer time")
	}
}
