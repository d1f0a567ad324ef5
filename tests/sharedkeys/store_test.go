package sharedkeys

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"causeway/share"
	"causeway/store"
	"causeway/tests/check"
	"causeway/tests/redis"
)

const procA, procB = "proca", "procb"

// client is a store.Client of a server.
func client(t *testing.T, o store.Options) *store.Client {
	t.Helper()
	o.Timeout, o.Prefix = 10*time.Second, "test"
	c := store.New(o)
	t.Cleanup(func() { check.Must(t, c.Close()) })
	return c
}

// look fails the test if the store does not answer.
func look(t *testing.T, c *store.Client, names ...string) share.Sight {
	t.Helper()
	s, err := c.Look(t.Context(), names)
	check.Must(t, err)
	return s
}

func lease(t *testing.T, c *store.Client, life, proc string, end share.Millis, floor share.Floor) share.Verdict {
	t.Helper()
	_, verdict, err := c.Lease(t.Context(), share.LeaseOrder{Name: "a", Lease: share.Lease{Life: life, Proc: proc, List: "list", End: end}, Floor: floor})
	check.Must(t, err)
	return verdict
}

func publish(t *testing.T, c *store.Client, life, proc string, seq uint64, set string) share.Verdict {
	t.Helper()
	verdict, err := c.Publish(t.Context(), share.PublishOrder{Name: "a", Life: life, Proc: proc, Seq: seq, TTL: time.Minute,
		Items: []share.Published{{Name: "u\x00k", Set: set}, {Name: "proxy", Set: set}}})
	check.Must(t, err)
	return verdict
}

func wantVerdict(t *testing.T, what string, got, want share.Verdict) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// TestScripts: the scripts say what share.AllowLease and AllowPublish say.
func TestScripts(t *testing.T) {
	r := redis.Start(t)
	c := client(t, store.Options{Addrs: []string{r.Addr}})
	s := look(t, c, "u\x00k")
	if s.Life == "" || len(s.Leases) > 0 || s.Floor.Set != "" || len(s.Entries) > 0 {
		t.Fatalf("an empty server shows %+v", s)
	}
	life, end := s.Life, s.Now+600_000
	wantVerdict(t, "no lease yet", publish(t, c, life, procA, 1, "x:1"), share.NoLease)
	wantVerdict(t, "another life", lease(t, c, "other", procA, end, share.Floor{}), share.OtherLife)
	wantVerdict(t, "too late", lease(t, c, life, procA, s.Now-1, share.Floor{}), share.Late)
	wantVerdict(t, "a lease", lease(t, c, life, procA, end, share.Floor{Life: life, Begun: s.Now, Until: end, Set: "x:1-9"}), share.Done)
	wantVerdict(t, "an older floor", lease(t, c, life, procA, end, share.Floor{Life: life, Begun: s.Now - 1, Until: end, Set: "x:1-2"}), share.Done)
	wantVerdict(t, "another process", lease(t, c, life, procB, end, share.Floor{}), share.Taken)
	wantVerdict(t, "published", publish(t, c, life, procA, 2, "x:1-20"), share.Done)
	wantVerdict(t, "an older order, late", publish(t, c, life, procA, 1, "x:1-10"), share.Done)
	wantVerdict(t, "in another life", publish(t, c, "other", procA, 3, "x:1-30"), share.OtherLife)
	wantVerdict(t, "by another process", publish(t, c, life, procB, 1, "x:1-30"), share.NoLease)
	s = look(t, c, "u\x00k", "proxy", "nobody")
	want := share.Lease{Life: life, Proc: procA, List: "list", End: end}
	if s.Leases["a"] != want || s.Floor.Set != "x:1-9" || s.Floor.Until != end || len(s.Entries) != 2 || s.Entries["u\x00k"][0] != "x:1-20" || s.Entries["proxy"][0] != "x:1-20" {
		t.Errorf("the store shows %+v", s)
	}
}

// TestOldProcessesGo: what a process that is gone published goes when the floor has it.
func TestOldProcessesGo(t *testing.T) {
	c := client(t, store.Options{Addrs: []string{redis.Start(t).Addr}})
	s := look(t, c)
	end := s.Now + 600_000
	wantVerdict(t, "a lease", lease(t, c, s.Life, procA, end, share.Floor{}), share.Done)
	wantVerdict(t, "published", publish(t, c, s.Life, procA, 1, "x:1"), share.Done)
	wantVerdict(t, "the end of the lease", lease(t, c, s.Life, procA, look(t, c).Now+50, share.Floor{}), share.Done)
	check.Until(t, "the lease runs out", func() bool { return lease(t, c, s.Life, procB, end, share.Floor{}) == share.Done })
	wantVerdict(t, "published by the next", publish(t, c, s.Life, procB, 1, "x:2"), share.Done)
	if s = look(t, c, "proxy"); len(s.Entries["proxy"]) != 2 {
		t.Fatalf("the store shows %+v", s)
	}
	wantVerdict(t, "a floor", lease(t, c, s.Life, procB, end, share.Floor{Life: s.Life, Begun: s.Now + 1, Until: end, Set: "x:1-2"}), share.Done)
	check.Until(t, "the old entry goes", func() bool {
		publish(t, c, s.Life, procB, 2, "x:2-3")
		return slices.Equal(look(t, c, "proxy").Entries["proxy"], []string{"x:2-3"})
	})
}

// TestEvictionIsAnotherLife: what is evicted for want of memory is not missed in silence.
func TestEvictionIsAnotherLife(t *testing.T) {
	r := redis.Start(t, "--maxmemory-policy", "allkeys-lru")
	c := client(t, store.Options{Addrs: []string{r.Addr}})
	life := look(t, c).Life
	admin := goredis.NewClient(&goredis.Options{Addr: r.Addr})
	defer admin.Close()
	check.Must(t, admin.Set(t.Context(), "x", string(make([]byte, 1<<20)), 0).Err())
	check.Must(t, admin.ConfigSet(t.Context(), "maxmemory", "1mb").Err())
	check.Until(t, "something is evicted", func() bool {
		_ = admin.Set(t.Context(), "y", "1", 0).Err()
		return r.Info("evicted_keys") != "0"
	})
	check.Must(t, admin.ConfigSet(t.Context(), "maxmemory", "0").Err())
	if look(t, c).Life == life {
		t.Error("keys were evicted, and the store's life goes on")
	}
}

// TestEmptiedIsAnotherLife: what was under way to a store when it was emptied counts for nothing.
func TestEmptiedIsAnotherLife(t *testing.T) {
	r := redis.Start(t)
	c := client(t, store.Options{Addrs: []string{r.Addr}})
	admin := goredis.NewClient(&goredis.Options{Addr: r.Addr})
	defer admin.Close()
	s := look(t, c)
	end := s.Now + 600_000
	floor := share.Floor{Life: s.Life, Begun: s.Now, Until: end, Set: "x:1"}
	wantVerdict(t, "a lease", lease(t, c, s.Life, procA, end, share.Floor{}), share.Done)
	check.Must(t, admin.FlushAll(t.Context()).Err())
	wantVerdict(t, "a floor from before", lease(t, c, s.Life, procA, end, floor), share.OtherLife)
	wantVerdict(t, "a publication from before", publish(t, c, s.Life, procA, 1, "x:1"), share.OtherLife)
	if now := look(t, c); now.Life == s.Life || now.Life == "" || now.Life != look(t, c).Life || len(now.Leases) > 0 || now.Floor.Set != "" {
		t.Errorf("it was %s, and shows %+v", s.Life, now)
	}
}

// TestCluster: all keys of a script are on one node.
func TestCluster(t *testing.T) {
	r := redis.Start(t, "--cluster-enabled", "yes")
	admin := goredis.NewClient(&goredis.Options{Addr: r.Addr})
	defer admin.Close()
	check.Must(t, admin.ClusterAddSlotsRange(t.Context(), 0, 16383).Err())
	check.Until(t, "the cluster is whole", func() bool { return redis.ClusterOK(admin) })
	c := client(t, store.Options{Addrs: []string{r.Addr}, Cluster: true})
	s := look(t, c)
	wantVerdict(t, "a lease", lease(t, c, s.Life, procA, s.Now+600_000, share.Floor{}), share.Done)
	wantVerdict(t, "published", publish(t, c, s.Life, procA, 1, "x:1"), share.Done)
	if s = look(t, c, "proxy"); len(s.Entries["proxy"]) != 1 {
		t.Errorf("the store shows %+v", s)
	}
}

// TestReplicaOfTheStore takes no writes: its word is not taken for the store's.
func TestReplicaOfTheStore(t *testing.T) {
	first := redis.Start(t)
	second := redis.Start(t, "--replicaof", "127.0.0.1 "+first.Addr[len("127.0.0.1:"):])
	check.Until(t, "the replica is there", func() bool { return second.Info("master_link_status") == "up" })
	if s := look(t, client(t, store.Options{Addrs: []string{second.Addr}})); s.Life != "" {
		t.Errorf("a replica shows the life %s", s.Life)
	}
}

// TestTLSAndPassword: both are used, and a wrong password is an error.
func TestTLSAndPassword(t *testing.T) {
	cert, key, pool := certificate(t)
	port := redis.FreePort(t)
	redis.Start(t, "--requirepass", "secret", "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-auth-clients", "no")
	o := store.Options{Addrs: []string{"127.0.0.1:" + port}, Password: "secret", TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	if look(t, client(t, o)).Life == "" {
		t.Error("no life over TLS")
	}
	o.Password = "wrong"
	if _, err := client(t, o).Look(t.Context(), nil); err == nil {
		t.Error("a wrong password was taken")
	}
}

func certificate(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check.Must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	check.Must(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	check.Must(t, err)
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	check.Must(t, os.WriteFile(cert, certPEM, 0o600))
	check.Must(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600))
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(certPEM)
	return cert, key, pool
}
