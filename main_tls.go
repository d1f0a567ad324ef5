package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"causeway/conf"
)

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
