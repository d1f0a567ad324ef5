package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"os"
	"time"

	"causeway/conf"
)

// clientTLS returns what clients see: the configured certificate, or one made
// now. As with MySQL's own automatic certificate nobody can check the latter,
// but it keeps passwords and rows from being read on the way.
func clientTLS(c conf.TLS) (*tls.Config, error) {
	cert, err := certificate(c)
	if err != nil {
		return nil, fmt.Errorf("tls certificate: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}, nil
}

func certificate(c conf.TLS) (tls.Certificate, error) {
	if c.Cert != "" {
		return tls.LoadX509KeyPair(c.Cert, c.Key)
	}
	return selfSigned(time.Now())
}

// selfSigned makes a certificate that outlives any process.
func selfSigned(now time.Time) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: "Causeway automatic certificate"},
		NotBefore:    now.Add(-24 * time.Hour), // clients' clocks may be behind
		NotAfter:     now.AddDate(10, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// backendTLS returns how servers are connected to: nil for never, and whether
// a server without TLS is taken all the same. ServerName stays empty unless it
// is configured; whoever dials fills in the host.
func backendTLS(c conf.Backend) (config *tls.Config, optional bool, err error) {
	switch c.TLS {
	case conf.TLSDisabled:
		return nil, false, nil
	case conf.TLSPreferred, conf.TLSRequired:
		// As with MySQL's own clients these two modes hide the traffic and
		// check nobody; verify does.
		return &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, c.TLS == conf.TLSPreferred, nil
	}
	config = &tls.Config{ServerName: c.ServerName, MinVersion: tls.VersionTLS12}
	if c.CA == "" {
		return config, false, nil
	}
	pem, err := os.ReadFile(c.CA)
	if err != nil {
		return nil, false, fmt.Errorf("backend.ca: %w", err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, false, fmt.Errorf("backend.ca: no certificate in %s", c.CA)
	}
	return config, false, nil
}
