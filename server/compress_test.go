package server

import (
	"bytes"
	"context"
	"database/sql"
	"log"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"causeway/wire"
)

func compressing(names ...string) func(*Options) {
	return func(o *Options) { o.Compression = names }
}

// compressedClient logs in and compresses if the server offered what it wants.
func (l *lab) compressedClient(caps wire.Capability, level byte) *dbClient {
	l.t.Helper()
	k := &dbClient{t: l.t, testClient: &testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginNative,
		caps: clientCaps | wire.CapDeprecateEOF | caps, zstdLevel: level}}
	if err := k.login(l.addr); err != nil {
		l.t.Fatalf("login: %v", err)
	}
	k.c.Compress(wire.CompressionOf(caps), int(level))
	l.t.Cleanup(k.close)
	return k
}

// largeStatement takes two packets. Under the race detector compression takes
// minutes for so much.
var largeStatement = map[bool]int{false: wire.MaxPayload + 100, true: 1 << 20}[raceEnabled]

// TestCompressedSessions: every command and answer, large ones too, by every method.
func TestCompressedSessions(t *testing.T) {
	l := startLab(t, 1, compressing("zlib", "zstd"))
	for name, c := range map[string]struct {
		caps  wire.Capability
		level byte
	}{
		"zlib": {wire.CapCompress, 0}, "zstd 1": {wire.CapZstd, 1}, "zstd 22": {wire.CapZstd, 22},
		"zstd, no level": {wire.CapZstd, 0}, "both are zlib": {wire.CapCompress | wire.CapZstd, 3},
	} {
		t.Run(name, func(t *testing.T) {
			k := l.compressedClient(c.caps, c.level)
			for range 3 {
				k.wantFrom("replica1", "SELECT 1")
			}
			k.wantFrom("source", "SELECT '"+strings.Repeat("x", largeStatement)+"' FOR UPDATE")
			k.run("INSERT INTO t VALUES (1)")
			k.wantError(wire.ErrParse, "Causeway", "SHOW CAUSEWAY NONSENSE")
			k.command(wire.ComChangeUser, string((&wire.ChangeUser{User: "app", AuthPlugin: wire.PluginNative,
				Auth: wire.NativePassword("app_pw", k.nonce)}).Append(nil, k.caps)[1:]))
			if err := k.follow(); err != nil {
				t.Fatalf("change of user: %v", err)
			}
			k.wantFrom("source", "SELECT 1 FOR UPDATE")
		})
	}
}

// TestCompressionOffered: only what is configured can be had.
func TestCompressionOffered(t *testing.T) {
	both := wire.CapCompress | wire.CapZstd
	for names, want := range map[string]wire.Capability{"": 0, "zlib": wire.CapCompress, "zstd": wire.CapZstd, "zlib zstd": both} {
		o := testOptions(false)
		var err error
		if o.Compression, err = compressionMethods(strings.Fields(names)); err != nil {
			t.Fatal(err)
		}
		h, err := newHandshaker(o)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.caps() & both; got != want {
			t.Errorf("%q: offered %v, want %v", names, got, want)
		}
		s := startLoginServer(t, h)
		k := &testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginNative, caps: clientCaps | both, zstdLevel: 3}
		wantCode(t, k.login(s.addr), 0)
		k.close()
		if login := <-s.logins; login.Caps&both != want {
			t.Errorf("%q: negotiated %v, want %v", names, login.Caps&both, want)
		}
	}
	if _, err := compressionMethods([]string{"lz4"}); err == nil {
		t.Error("lz4 is taken")
	}
}

func TestCompressionLevelRefused(t *testing.T) {
	l := startLab(t, 0, compressing("zlib", "zstd"))
	k := &testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginNative, caps: clientCaps | wire.CapZstd, zstdLevel: 23}
	defer k.close()
	wantCode(t, k.login(l.addr), wire.ErrCompressionLevel)
	other := &testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginNative, caps: clientCaps, zstdLevel: 23}
	defer other.close()
	wantCode(t, other.login(l.addr), 0) // it did not ask for zstd
}

// TestCompressedNonsense: a client that breaks the rules is told so and leaves;
// the others do not notice.
func TestCompressedNonsense(t *testing.T) {
	l := startLab(t, 1, compressing("zlib", "zstd"))
	good := l.compressedClient(wire.CapCompress, 0)
	for name, test := range map[string]struct {
		bytes string
		code  uint16
	}{
		"wrong number":     {"\x05\x00\x00\x07\x00\x00\x00\x01\x00\x00\x00\x0e", wire.ErrPacketsOutOfOrder},
		"no zlib":          {"\x05\x00\x00\x00\x80\x00\x00\x01\x00\x00\x00\x0e", wire.ErrNetUncompress},
		"nothing unfolded": {"\x00\x00\x00\x00\x80\x00\x00", wire.ErrNetUncompress},
	} {
		t.Run(name, func(t *testing.T) {
			k := l.compressedClient(wire.CapCompress, 0)
			k.wantFrom("replica1", "SELECT 1")
			if _, err := k.c.NetConn().Write([]byte(test.bytes)); err != nil {
				t.Fatal(err)
			}
			k.c = wire.NewConn(k.c.NetConn()) // what the answer is in, byte for byte
			if err := k.c.Need(7 + 9); err != nil {
				t.Fatal(err)
			}
			if b := k.c.Buffered(); b[4]|b[5]|b[6] != 0 || b[11] != wire.HeaderERR || uint16(b[12])|uint16(b[13])<<8 != test.code {
				t.Errorf("answer % x", b)
			}
			good.wantFrom("replica1", "SELECT 1")
		})
	}
}

// noise does not compress and needs no quoting.
func noise(n int) string {
	r := rand.NewChaCha8([32]byte{1})
	b := make([]byte, n)
	r.Read(b)
	for i, c := range b {
		b[i] = 'A' + c&31
	}
	return strings.ReplaceAll(string(b), "\\", "-")
}

// TestCompressedGoDriver: an independent client that compresses.
func TestCompressedGoDriver(t *testing.T) {
	l := startLab(t, 1, compressing("zlib"))
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr, cfg.InterpolateParams = "app", "app_pw", "tcp", l.addr, true
	var complaints bytes.Buffer
	cfg.Logger = log.New(&complaints, "", 0)
	cfg.MaxAllowedPacket = 64 << 20
	if err := cfg.Apply(mysql.EnableCompression(true)); err != nil {
		t.Fatal(err)
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	for _, n := range []int{1, 100, largeStatement} {
		var node string
		if err := db.QueryRowContext(context.Background(), "SELECT '"+string(noise(n))+"' FOR UPDATE").Scan(&node); err != nil || node != "source" {
			t.Errorf("statement of %d bytes: %q %v", n, node, err)
		}
	}
	if complaints.Len() > 0 { // about numbers, for instance, which it does not refuse
		t.Errorf("the driver says: %s", complaints.String())
	}
	methods := map[wire.Compression]int{}
	l.srv.eachSession(func(x *session) { methods[x.client.Compression()]++ })
	if methods[wire.Zlib] == 0 || methods[wire.Uncompressed] > 0 {
		t.Errorf("sessions by method: %v", methods)
	}
}
