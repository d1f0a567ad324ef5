package dial

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"causeway/backend"
	"causeway/tests/check"
)

// TestVerify gives the server a certificate for 127.0.0.1 (those that it makes
// for itself name no host) and checks who is let through.
func TestVerify(t *testing.T) {
	ca := newAuthority(t)
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	ca.issue(t, dir)
	before := map[string]string{}
	for _, v := range []string{"ssl_ca", "ssl_cert", "ssl_key"} {
		old, err := mysqls.Source().Value(check.Patience(t), "SELECT @@"+v)
		if err != nil {
			t.Fatal(err)
		}
		before[v] = old
	}
	setTLS(t, dir+"/ca.pem", dir+"/cert.pem", dir+"/key.pem")
	defer setTLS(t, before["ssl_ca"], before["ssl_cert"], before["ssl_key"])

	good, other := ca.pool(), newAuthority(t).pool()
	for _, c := range []struct {
		name string
		cfg  *tls.Config
		mode string
		fail any // target of errors.As; nil: succeeds
	}{
		{"right", &tls.Config{RootCAs: good}, backend.TLSVerify, nil},
		{"right, by a name", &tls.Config{RootCAs: good, ServerName: "db.example"}, backend.TLSVerify, nil},
		{"unknown authority", &tls.Config{RootCAs: other}, backend.TLSVerify, new(x509.UnknownAuthorityError)},
		{"no roots given", nil, backend.TLSVerify, new(x509.UnknownAuthorityError)},
		{"another host", &tls.Config{RootCAs: good, ServerName: "other.example"}, backend.TLSVerify, new(x509.HostnameError)},
		{"not verified", &tls.Config{RootCAs: other}, backend.TLSRequired, nil},
	} {
		_, g, err := login(t, "root", "", func(cfg *backend.DialConfig) { cfg.TLSMode, cfg.TLSConfig = c.mode, c.cfg })
		switch {
		case c.fail == nil && (err != nil || !g.TLS):
			t.Errorf("%s: %+v, %v", c.name, g, err)
		case c.fail != nil && !errors.As(err, c.fail):
			t.Errorf("%s: got %v, want a %T", c.name, err, c.fail)
		}
	}
}

func setTLS(t *testing.T, ca, cert, key string) {
	t.Helper()
	exec(t, fmt.Sprintf("SET GLOBAL ssl_ca = '%s'; SET GLOBAL ssl_cert = '%s'; SET GLOBAL ssl_key = '%s'; ALTER INSTANCE RELOAD TLS", ca, cert, key))
}

type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	key := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{cert, key}
}

func (a authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// issue writes ca.pem, cert.pem and key.pem of a server on 127.0.0.1.
func (a authority) issue(t *testing.T, dir string) {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "test server"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"db.example"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"ca.pem":   {Type: "CERTIFICATE", Bytes: a.cert.Raw},
		"cert.pem": {Type: "CERTIFICATE", Bytes: der},
		"key.pem":  {Type: "PRIVATE KEY", Bytes: keyDER},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
