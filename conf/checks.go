package conf

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// check looks at what no key can know alone.
func (r *reader) check() {
	r.checkServers()
	r.checkMonitor()
	r.checkUsers()
	r.checkTLS()
	r.checkRouting()
	r.checkToken()
	r.checkClassName("routing.default_class", r.cfg.Routing.DefaultClass)
	r.checkClassName("listen.class", r.cfg.Listen.Class)
	r.checkPool()
	r.checkStore()
}

func (r *reader) checkPool() {
	if p := r.cfg.Pool; r.given["pool.min_idle"] && p.MinIdle > p.MaxConnections {
		r.problem("pool.min_idle", fmt.Sprintf("%d is more than pool.max_connections (%d)", p.MinIdle, p.MaxConnections), "write a smaller number")
	}
}

func (r *reader) checkServers() {
	c := r.cfg
	if !r.given["cluster.servers"] {
		r.problem("cluster.servers", "is missing", `name every server, such as servers = ["10.0.0.1:3306", "10.0.0.2:3306"]`)
	}
	if c.Listen.HTTP != "" && c.Listen.HTTP == c.Listen.MySQL && !strings.HasSuffix(c.Listen.HTTP, ":0") {
		r.problem("listen.http", "is the address of listen.mysql", "give each its own port")
	}
	for _, p := range c.Listen.ProxyProtocol {
		if p.Bits() == 0 {
			r.warn("listen.proxy_protocol", p.String()+" is everybody: any client can claim any address")
		}
	}
	if c.Cluster.StateFile != "" {
		c.Cluster.StateFile = r.path(c.Cluster.StateFile)
		if _, err := os.Stat(filepath.Dir(c.Cluster.StateFile)); err != nil {
			r.problem("cluster.state_file", "its folder cannot be used: "+err.Error(), "create the folder, writable for Causeway")
		}
	}
	known := map[string]bool{}
	for _, s := range c.Cluster.Servers {
		known[s] = true
		if s == c.Listen.MySQL {
			r.problem("cluster.servers", strconv.Quote(s)+" is Causeway's own listen.mysql", "name the MySQL servers behind it")
		}
	}
	strangers(r, "cluster.weights", c.Cluster.Weights, known)
	strangers(r, "cluster.zones", c.Cluster.Zones, known)
	r.checkZones()
}

// strangers refuses the keys of a table that name no server. With discovery
// they may name one that is found later.
func strangers[V any](r *reader, key string, table map[string]V, known map[string]bool) {
	if r.cfg.Cluster.Discover {
		return
	}
	for _, server := range sortedKeys(table) {
		if len(known) > 0 && !known[server] {
			r.problem(key, strconv.Quote(server)+" is none of cluster.servers",
				"use the servers' own text: "+strings.Join(r.cfg.Cluster.Servers, ", "))
		}
	}
}

func (r *reader) checkZones() {
	c := r.cfg.Cluster
	switch {
	case c.Zone != "" && !slices.Contains(slices.Collect(maps.Values(c.Zones)), c.Zone):
		r.warn("cluster.zone", strconv.Quote(c.Zone)+" is the zone of none of cluster.zones: every replica is in another zone")
	case c.Zone == "" && len(c.Zones) > 0:
		r.warn("cluster.zones", "make no difference without cluster.zone, Causeway's own")
	}
}

func (r *reader) checkMonitor() {
	m := &r.cfg.Monitor
	r.required("monitor.user", m.User, `name the account that probes the servers, such as user = "monitor"`)
	r.password("monitor.", &m.Password, m.PasswordFile, m.PasswordEnv)
	if m.PositionInterval > m.Interval {
		r.problem("monitor.position_interval", fmt.Sprintf("%q is longer than monitor.interval (%q)", m.PositionInterval, m.Interval),
			"write a shorter time")
	}
	if m.LagWindow < 2*m.Interval {
		r.problem("monitor.lag_window", fmt.Sprintf("%q holds less than two looks, monitor.interval being %q", m.LagWindow, m.Interval),
			"write a longer time")
	}
	if m.WatchTimeout >= m.Timeout {
		r.problem("monitor.watch_timeout", fmt.Sprintf("%q is not shorter than monitor.timeout (%q)", m.WatchTimeout, m.Timeout),
			"write a shorter time")
	}
}

// required refuses an empty value, unless a problem with it is known already.
func (r *reader) required(key, value, instead string) {
	switch {
	case value != "" || r.hasProblem(key):
	case r.given[key]:
		r.problem(key, "is empty", instead)
	default:
		r.problem(key, "is missing", instead)
	}
}

func (r *reader) hasProblem(key string) bool {
	for _, p := range r.out.List {
		if p.Key == key {
			return true
		}
	}
	return false
}

// hasProblemIn tells of a problem with any key that begins so.
func (r *reader) hasProblemIn(prefix string) bool {
	for _, p := range r.out.List {
		if strings.HasPrefix(p.Key, prefix) {
			return true
		}
	}
	return false
}

func (r *reader) checkUsers() {
	c := r.cfg
	if len(c.Users) == 0 && !r.hasProblem(usersKey) {
		r.problem(usersKey, "is missing", "write a [[users]] table with name and password for each account that applications use")
	}
	first := map[string]int{}
	for i := range c.Users {
		u, prefix := &c.Users[i], userPrefix(i)
		r.required(prefix+"name", u.Name, `name the account, such as name = "app"`)
		if j, taken := first[u.Name]; taken && u.Name != "" {
			r.problem(prefix+"name", fmt.Sprintf("%q is the name of users[%d] too", u.Name, j+1), "name each user once")
		} else {
			first[u.Name] = i
		}
		r.password(prefix, &u.Password, u.PasswordFile, u.PasswordEnv)
		r.checkClassName(prefix+"class", u.Class)
		r.checkClassName(prefix+"max_class", u.MaxClass)
		if u.MaxConnections > c.Limits.MaxConnections {
			r.problem(prefix+"max_connections", fmt.Sprintf("%d is above limits.max_connections (%d)", u.MaxConnections, c.Limits.MaxConnections),
				"write a smaller number or raise that limit")
		}
	}
}

// password resolves the three ways to give one; exactly one must be used. An
// empty password is possible, but only when written as such.
func (r *reader) password(prefix string, dst *Secret, file, env string) {
	var used []string
	for _, key := range []string{"password", "password_file", "password_env"} {
		if r.given[prefix+key] {
			used = append(used, prefix+key)
		}
	}
	switch {
	case len(used) == 0:
		r.problem(prefix+"password", "is missing", "give one of password, password_file and password_env")
	case len(used) > 1:
		r.problem(used[1], "is one password too many beside "+used[0], "keep one of password, password_file and password_env")
	case file != "":
		r.passwordFile(prefix+"password_file", dst, file)
	case env != "":
		value := r.getenv(env)
		if value == "" {
			r.problem(prefix+"password_env", "the environment variable of that name is empty or not set", "set it where Causeway is started")
		}
		*dst = NewSecret(value)
	case !strings.HasSuffix(used[0], ".password") && !r.hasProblem(used[0]):
		r.problem(used[0], "is empty", "remove it or name where the password is")
	}
}

// maxPassword bounds what is read from a password file; it may be a device.
const maxPassword = 64 << 10

func (r *reader) passwordFile(key string, dst *Secret, file string) {
	data, mode, err := readPassword(r.path(file))
	text := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	switch {
	case err != nil:
		r.problem(key, "cannot be read: "+reason(err), "name a file that Causeway's user can read")
	case len(data) > maxPassword:
		r.problem(key, "the file is longer than any password", "put the password alone into it")
	case text == "":
		r.problem(key, "the file is empty", "put the password into it")
	}
	if err == nil && mode.Perm()&0o007 != 0 {
		r.warn(key, fmt.Sprintf("%s is open to every user of this machine (mode %04o); run chmod 600 on it", file, mode.Perm()))
	}
	*dst = NewSecret(text)
}

// readPassword returns the file's content, cut after maxPassword and a byte.
func readPassword(path string) ([]byte, os.FileMode, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxPassword+1))
	return data, info.Mode(), err
}

// path makes a file's name absolute to the configuration's folder.
func (r *reader) path(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(r.dir, file)
}

func (r *reader) checkTLS() {
	t, b := &r.cfg.TLS, &r.cfg.Backend
	switch {
	case t.Cert != "" && t.Key == "":
		r.problem("tls.key", "is missing beside tls.cert", "name the certificate's key file, or neither")
	case t.Cert == "" && t.Key != "":
		r.problem("tls.cert", "is missing beside tls.key", "name the key's certificate file, or neither")
	case t.Cert != "":
		t.Cert, t.Key = r.path(t.Cert), r.path(t.Key)
		if _, err := tls.LoadX509KeyPair(t.Cert, t.Key); err != nil {
			r.problem("tls.cert", "cannot be used with tls.key: "+reason(err), "name a PEM certificate and its own private key")
		}
	}
	if b.CA != "" {
		b.CA = r.path(b.CA)
		if data, err := os.ReadFile(b.CA); err != nil {
			r.problem("backend.ca", "cannot be read: "+reason(err), "name a PEM file")
		} else if !x509.NewCertPool().AppendCertsFromPEM(data) {
			r.problem("backend.ca", "has no certificate in it", "name a PEM file")
		}
	}
	for key, set := range map[string]bool{"backend.ca": b.CA != "", "backend.server_name": b.ServerName != ""} {
		if set && b.TLS != TLSVerify && !r.hasProblem("backend.tls") {
			r.problem(key, fmt.Sprintf("has no effect with backend.tls = %q", b.TLS), `write tls = "verify", or remove it`)
		}
	}
}

// reason drops the operation and the path from a file error.
func reason(err error) string {
	for {
		inner, ok := err.(interface{ Unwrap() error })
		if !ok || inner.Unwrap() == nil {
			return err.Error()
		}
		err = inner.Unwrap()
	}
}

func (r *reader) checkRouting() {
	rt, fb := &r.cfg.Routing, &r.cfg.Fallback
	if rt.MaxWait < rt.Wait {
		r.problem("routing.max_wait", fmt.Sprintf("%q is shorter than routing.wait (%q)", rt.MaxWait, rt.Wait), "write at least as long a time")
	}
	if fb.QPS > 0 && fb.Burst < 1 {
		r.problem("fallback.burst", fmt.Sprintf("a burst of %g lets no read through", fb.Burst), "write at least 1, or qps = 0 for no fallback")
	}
	if rt.UnsafeSkipTokenCheck {
		r.warn("routing.unsafe_skip_token_check", "sessions may miss their own writes")
	}
}
