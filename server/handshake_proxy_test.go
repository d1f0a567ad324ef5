package server

import (
	"bytes"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"causeway/wire"
)

const v1Header = "PROXY TCP4 192.0.2.7 10.0.0.1 56324 3306\r\n"

// behindProxies is a login server that trusts these.
func behindProxies(t *testing.T, timeout time.Duration, networks ...string) *loginServer {
	t.Helper()
	o := testOptions(true)
	o.Timeout = timeout
	for _, n := range networks {
		o.Proxies = append(o.Proxies, netip.MustParsePrefix(n))
	}
	h, err := newHandshaker(o)
	if err != nil {
		t.Fatal(err)
	}
	return startLoginServer(t, h)
}

func TestProxyHeaderNamesTheClient(t *testing.T) {
	s := behindProxies(t, loginTimeout, "10.0.0.0/8", "127.0.0.1/32")
	for _, test := range []struct{ name, header, host string }{
		{"v1", v1Header, "192.0.2.7"},
		{"v1 unknown", "PROXY UNKNOWN\r\n", "127.0.0.1"},
		{"v2", "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\xc0\x00\x02\x08\x0a\x00\x00\x01\xdc\x04\x0c\xea", "192.0.2.8"},
		{"v2 health check", "\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00", "127.0.0.1"},
		{"v2 IPv6", "\r\n\r\n\x00\r\nQUIT\n\x21\x21\x00\x24" + string(net.ParseIP("2001:db8::9")) + string(net.ParseIP("::1")) + "\x00\x01\x00\x02", "2001:db8::9"},
	} {
		for _, tls := range []bool{false, true} {
			t.Run(test.name, func(t *testing.T) {
				k := &testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginNative, proxyHeader: test.header, tls: tls}
				wantCode(t, k.login(s.addr), 0)
				k.close()
				if login := <-s.logins; login.Host != test.host || login.TLS != tls {
					t.Errorf("host %q, TLS %v", login.Host, login.TLS)
				}
				k = &testClient{user: "app", password: "wrong", firstPlugin: wire.PluginNative, proxyHeader: test.header, tls: tls}
				defer k.close()
				if err := k.login(s.addr); err == nil || !strings.Contains(err.Error(), "'app'@'"+test.host+"' (using password: YES)") {
					t.Errorf("wrong password: %v", err)
				}
			})
		}
	}
}

// TestProxyHeaderRefused: one that does not belong there, and none where one does.
func TestProxyHeaderRefused(t *testing.T) {
	trusted := behindProxies(t, loginTimeout, "127.0.0.0/8")
	stranger := behindProxies(t, loginTimeout, "10.0.0.0/8")
	nobody := behindProxies(t, loginTimeout)
	for _, test := range []struct {
		name, header, want string
		to                 *loginServer
	}{
		{"broken", "PROXY TCP4 192.0.2.7\r\n", "expects a PROXY", trusted},
		{"wrong version", "\r\n\r\n\x00\r\nQUIT\n\x31\x11\x00\x0c", "expects a PROXY", trusted},
		{"another protocol", "GET / HTTP/1.0\r\n\r\n", "expects a PROXY", trusted},
		{"twice", v1Header + v1Header, "takes no PROXY", trusted},
		{"from a stranger", v1Header, "takes no PROXY", stranger},
		{"v2 from a stranger", "\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00", "takes no PROXY", stranger},
		{"nobody is trusted", v1Header, "takes no PROXY", nobody},
		{"no header needed", "", "", stranger},
	} {
		t.Run(test.name, func(t *testing.T) {
			nc, err := net.Dial("tcp", test.to.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			nc.SetDeadline(time.Now().Add(loginTimeout))
			nc.Write([]byte(test.header))
			c := wire.NewConn(nc)
			p, err := c.ReadPacket()
			if err == nil && p[0] == 10 && test.want != "" { // greeted; the refusal follows
				p, err = c.ReadPacket()
			}
			switch {
			case err != nil:
				t.Fatal(err)
			case test.want == "" && p[0] == 10:
			case p[0] != wire.HeaderERR || p[1] != 0x13 || p[2] != 0x04 || !bytes.Contains(p, []byte(test.want)):
				t.Errorf("got %q, want error 1043 with %q", p, test.want)
			}
		})
	}
}

// TestProxyHeaderAwaited: whoever waits for a greeting is told why none came.
func TestProxyHeaderAwaited(t *testing.T) {
	s := behindProxies(t, 50*time.Millisecond, "127.0.0.1/32")
	k := &testClient{user: "app", password: "app_pw"}
	defer k.close()
	if err := k.login(s.addr); err == nil || !strings.Contains(err.Error(), "expects a PROXY protocol header") {
		t.Error(err)
	}
}

// TestProxyHeaderInTheLog: the operator sees who and why, once.
func TestProxyHeaderInTheLog(t *testing.T) {
	var log bytes.Buffer
	l := startLab(t, 0, func(o *Options) {
		o.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		o.Log = zerolog.New(zerolog.SyncWriter(&log)).Level(zerolog.WarnLevel)
	})
	for range 3 {
		k := &testClient{user: "app", password: "app_pw", proxyHeader: "nonsense"}
		wantCode(t, k.login(l.addr), wire.ErrBadHandshake)
		k.close()
	}
	if err := l.stop(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), "refused for its PROXY protocol header"); n != 1 || !strings.Contains(log.String(), `"from":"127.0.0.1:`) {
		t.Errorf("%d warnings in %s", n, log.String())
	}
}

func TestContains(t *testing.T) {
	networks := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("fe80::/10")}
	for a, want := range map[string]bool{
		"10.9.8.7": true, "::ffff:10.9.8.7": true, "11.0.0.1": false, "2001:db8::1": true, "2001:db9::1": false, "fe80::1%eth0": true, "::1": false,
	} {
		if contains(networks, netip.MustParseAddr(a)) != want {
			t.Errorf("%s: not %v", a, want)
		}
	}
}
