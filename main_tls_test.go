package main

import (
	"crypto/tls"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"testing"

	"causeway/conf"
	"causeway/server"
)

// handshake lets client and server talk TLS over a loopback connection. (Over
// net.Pipe, without buffers, two sides that both send an alert block.)
func handshake(t *testing.T, client, server *tls.Config) error {
	t.Helper()
	ln, err := tls.Listen("tcp", "127.0.0.1:0", server)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			_ = nc.(*tls.Conn).Handshake()
			nc.Close()
		}
	}()
	nc, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	return tls.Client(nc, client).Handshake()
}

// authority writes the certificate that server shows as a PEM file.
func authority(t *testing.T, server *tls.Config) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificates[0].Certificate[0]})
	if err := os.WriteFile(path, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBackendTLS(t *testing.T) {
	made, err := server.TLSConfig("", "")
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name     string
		conf     conf.Backend
		none     bool // no TLS at all
		optional bool
		accepts  bool // the unknown certificate
	}{
		{"disabled", conf.Backend{TLS: conf.TLSDisabled}, true, false, false},
		{"preferred", conf.Backend{TLS: conf.TLSPreferred}, false, true, true},
		{"required", conf.Backend{TLS: conf.TLSRequired}, false, false, true},
		{"verify by the system", conf.Backend{TLS: conf.TLSVerify, ServerName: "db"}, false, false, false},
		{"verify by a file, another name", conf.Backend{TLS: conf.TLSVerify, CA: authority(t, made), ServerName: "db"}, false, false, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			client, optional, err := backendTLS(c.conf)
			if err != nil || (client == nil) != c.none || optional != c.optional {
				t.Fatalf("config %v, optional %v, error %v", client, optional, err)
			}
			if client == nil {
				return
			}
			if err := handshake(t, client, made); (err == nil) != c.accepts {
				t.Errorf("handshake: %v", err)
			}
		})
	}
	if _, _, err := backendTLS(conf.Backend{TLS: conf.TLSVerify, CA: "none.pem"}); err == nil {
		t.Error("no error without the file")
	}
}
