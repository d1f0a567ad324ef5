package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSelfSigned(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	cert, err := selfSigned(now)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	key, ok := leaf.PublicKey.(*ecdsa.PublicKey)
	if !ok || key.Curve != elliptic.P256() {
		t.Errorf("key %T", leaf.PublicKey)
	}
	if !leaf.NotBefore.Before(now) || leaf.NotAfter.Before(now.AddDate(9, 0, 0)) {
		t.Errorf("valid from %v to %v", leaf.NotBefore, leaf.NotAfter)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	for _, host := range []string{"localhost", "127.0.0.1", "::1"} {
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, CurrentTime: now}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	other, err := selfSigned(now)
	if err != nil || string(other.Certificate[0]) == string(cert.Certificate[0]) {
		t.Errorf("two processes with one certificate, %v", err)
	}
}

func TestTLSConfigFromFiles(t *testing.T) {
	certFile, keyFile := writePair(t)
	cfg, err := TLSConfig(certFile, keyFile)
	if err != nil || len(cfg.Certificates) != 1 || cfg.MinVersion != tls.VersionTLS12 {
		t.Fatalf("%+v, %v", cfg, err)
	}
	for _, c := range [][2]string{
		{certFile, ""}, {"", keyFile}, {certFile, certFile}, {certFile + ".no", keyFile},
	} {
		if _, err := TLSConfig(c[0], c[1]); err == nil {
			t.Errorf("TLSConfig(%q, %q) succeeded", c[0], c[1])
		}
	}
}

func writePair(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	cert, err := selfSigned(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePEM(t, certFile, "CERTIFICATE", cert.Certificate[0])
	writePEM(t, keyFile, "PRIVATE KEY", der)
	return certFile, keyFile
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPublicKeyPEM(t *testing.T) {
	out, err := publicKeyPEM(&loginKey().PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	block, rest := pem.Decode(out)
	if block == nil || block.Type != "PUBLIC KEY" || len(rest) != 0 {
		t.Fatalf("%s", out)
	}
	if pub, err := x509.ParsePKIXPublicKey(block.Bytes); err != nil || !loginKey().PublicKey.Equal(pub) {
		t.Errorf("%v, %v", pub, err)
	}
	if loginKey().N.BitLen() != 2048 {
		t.Errorf("%d bits", loginKey().N.BitLen())
	}
}
