package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"io"
	"log"
	"testing"

	"github.com/go-sql-driver/mysql"

	"causeway/backend"
	"causeway/wire"
)

// TestGoDriverLogsIn: an independent client against our side of the login.
func TestGoDriverLogsIn(t *testing.T) {
	s := startLoginServer(t, testHandshaker(t, true))
	roots := x509.NewCertPool()
	cert, err := x509.ParseCertificate(loginTLS().Certificates[0].Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	roots.AddCert(cert)
	for _, c := range []struct {
		name string
		set  func(*mysql.Config)
		code uint16
	}{
		{"clear", func(c *mysql.Config) {}, 0},
		{"TLS", func(c *mysql.Config) { c.TLS = &tls.Config{InsecureSkipVerify: true} }, 0},
		{"TLS, our certificate verified", func(c *mysql.Config) {
			c.TLS = &tls.Config{RootCAs: roots, ServerName: "localhost"}
		}, 0},
		{"wrong password, RSA", func(c *mysql.Config) { c.Passwd = "no" }, 1045},
		{"wrong password, TLS", func(c *mysql.Config) {
			c.Passwd = "no"
			c.TLS = &tls.Config{InsecureSkipVerify: true}
		}, 1045},
		{"unknown user", func(c *mysql.Config) { c.User = "nobody" }, 1045},
		{"no password", func(c *mysql.Config) { c.Passwd = "" }, 1045},
		{"no password needed", func(c *mysql.Config) { c.User, c.Passwd = "empty", "" }, 0},
		{"long password", func(c *mysql.Config) { c.User, c.Passwd = "long", testAccounts["long"] }, 0},
		{"attributes", func(c *mysql.Config) { c.ConnectionAttributes = "program_name:x" }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := mysql.NewConfig()
			cfg.User, cfg.Passwd, cfg.Net, cfg.Addr, cfg.DBName = "app", "app_pw", "tcp", s.addr, "db"
			cfg.Logger = log.New(io.Discard, "", 0)
			c.set(cfg)
			connector, err := mysql.NewConnector(cfg)
			if err != nil {
				t.Fatal(err)
			}
			db := sql.OpenDB(connector)
			defer db.Close()
			err = db.Ping()
			var e *mysql.MySQLError
			switch {
			case c.code == 0 && err != nil:
				t.Error(err)
			case c.code != 0 && (!errors.As(err, &e) || e.Number != c.code):
				t.Errorf("got %v, want %d", err, c.code)
			}
		})
	}
}

// TestDialAgainstHandshake: our two sides of the login against each other.
func TestDialAgainstHandshake(t *testing.T) {
	with := startLoginServer(t, testHandshaker(t, true))
	without := startLoginServer(t, testHandshaker(t, false))
	for _, mode := range []string{backend.TLSDisabled, backend.TLSPreferred, backend.TLSRequired, backend.TLSVerify} {
		for _, s := range []*loginServer{with, without} {
			for _, c := range []struct {
				user, password string
				code           uint16
			}{
				{"app", "app_pw", 0}, {"app", "no", 1045}, {"app", "", 1045},
				{"empty", "", 0}, {"empty", "x", 1045}, {"nobody", "x", 1045},
			} {
				checkDial(t, s, s == with, mode, c.user, c.password, c.code)
			}
		}
	}
}

func checkDial(t *testing.T, s *loginServer, offered bool, mode, user, password string, code uint16) {
	t.Helper()
	roots := x509.NewCertPool()
	cert, _ := x509.ParseCertificate(loginTLS().Certificates[0].Certificate[0])
	roots.AddCert(cert)
	c, g, err := backend.Dial(context.Background(), backend.DialConfig{
		Addr: s.addr, User: user, Password: password, Database: "db", TLSMode: mode,
		TLSConfig: &tls.Config{RootCAs: roots}, Caps: wire.CapFoundRows | wire.CapMultiStatements,
	})
	if c != nil {
		defer c.Close()
	}
	if !offered && (mode == backend.TLSRequired || mode == backend.TLSVerify) {
		var e *wire.Error
		if err == nil || errors.As(err, &e) {
			t.Errorf("%s without an offer: %v", mode, err)
		}
		return
	}
	wantCode(t, err, code)
	if err != nil {
		return
	}
	encrypted := mode == backend.TLSRequired || mode == backend.TLSVerify // preferred does without on the same host
	if g.TLS != (offered && encrypted) || g.ConnectionID == 0 || g.Version != "8.4.0-test" ||
		!g.Caps.Has(wire.CapFoundRows|wire.CapMultiStatements|wire.CapSessionTrack|wire.CapDeprecateEOF) ||
		g.Caps.Has(wire.CapLocalFiles) {
		t.Errorf("%s, TLS offered %v: %+v", mode, offered, g)
	}
	if err := c.WritePacket([]byte{byte(wire.ComPing)}); err == nil {
		err = c.Flush()
		if p, rerr := c.ReadPacket(); err != nil || rerr != nil || p[0] != wire.HeaderOK {
			t.Errorf("ping: %x, %v, %v", p, err, rerr)
		}
	}
}

func TestVerifyRefusesAStranger(t *testing.T) {
	s := startLoginServer(t, testHandshaker(t, true))
	_, _, err := backend.Dial(context.Background(), backend.DialConfig{
		Addr: s.addr, User: "app", Password: "app_pw", TLSMode: backend.TLSVerify,
		TLSConfig: &tls.Config{RootCAs: x509.NewCertPool(), InsecureSkipVerify: true},
	})
	var unknown x509.UnknownAuthorityError
	if !errors.As(err, &unknown) {
		t.Errorf("%v", err)
	}
	_, _, err = backend.Dial(context.Background(), backend.DialConfig{
		Addr: s.addr, User: "app", Password: "app_pw", TLSMode: "perhaps",
	})
	if err == nil {
		t.Error("an unknown mode")
	}
}
