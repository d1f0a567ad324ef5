package wirefeat

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"causeway/tests/cluster"
	"causeway/wire"
)

const clear, encrypted = "--ssl-mode=DISABLED", "--ssl-mode=REQUIRED"

// lay makes an empty table on all nodes.
func lay(t *testing.T) {
	t.Helper()
	shared.Lay(t, "CREATE DATABASE IF NOT EXISTS wf", "DROP TABLE IF EXISTS wf.t", "CREATE TABLE wf.t (id INT AUTO_INCREMENT PRIMARY KEY, b LONGBLOB)")
}

// TestMySQLClientCompresses: MySQL's own client library, by every way to ask.
// What is sent and what is answered is 4 MB that compress well.
func TestMySQLClientCompresses(t *testing.T) {
	lay(t)
	cw := cluster.StartCauseway(t, shared, "[limits]\nmax_allowed_packet = \"128MB\"\n")
	const size = 4 << 20
	for _, test := range []struct {
		name       string
		args       []string
		compressed bool
	}{
		{"not asked for", []string{clear}, false},
		{"zlib", []string{clear, "--compression-algorithms=zlib"}, true},
		{"zstd", []string{clear, "--compression-algorithms=zstd"}, true},
		{"zstd 1", []string{clear, "--compression-algorithms=zstd", "--zstd-compression-level=1"}, true},
		{"zstd 22", []string{clear, "--compression-algorithms=zstd", "--zstd-compression-level=22"}, true},
		{"any", []string{clear, "--compression-algorithms=zstd,zlib,uncompressed"}, true},
		{"compress", []string{clear, "--compress"}, true},
		{"zlib in TLS", []string{encrypted, "--compression-algorithms=zlib"}, true},
		{"zstd in TLS", []string{encrypted, "--compression-algorithms=zstd"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := startMeter(t, cw.Addr)
			args := append(test.args, "--batch", "--skip-column-names", "--max-allowed-packet=64M", "wf")
			cmd := program(t, "mysql", m.addr, args...)
			text := strings.Repeat("causeway ", size/9)
			cmd.Stdin = strings.NewReader("SELECT 1;\nINSERT INTO t (b) VALUES ('" + text + "');\nSELECT b FROM t WHERE id = LAST_INSERT_ID();\nSELECT no_such_column;\n")
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			err := cmd.Run()
			if out.String() != "1\n"+text+"\n" {
				t.Errorf("%d bytes came back", out.Len())
			}
			if err == nil || !strings.Contains(errs.String(), "ERROR 1054 (42S22) at line 4: Unknown column 'no_such_column'") {
				t.Errorf("%v: %s", err, errs.String())
			}
			up, down := m.up.Load(), m.down.Load()
			t.Logf("sent %d bytes, received %d", up, down)
			if little := up < size/4 && down < size/4; little != test.compressed {
				t.Errorf("sent %d bytes, received %d", up, down)
			}
		})
	}
}

// TestCompressionSwitchedOff: a client that insists is told so by its library,
// one that does not is served.
func TestCompressionSwitchedOff(t *testing.T) {
	cw := cluster.StartCauseway(t, shared, "[listen]\ncompression = [\"zstd\"]\n")
	out, err := program(t, "mysql", cw.Addr, "--compression-algorithms=zlib", "--execute=SELECT 1").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "ERROR 2066") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err = program(t, "mysql", cw.Addr, "--compression-algorithms=zlib,zstd,uncompressed", "--execute=SELECT 1").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestCompressedLargePackets: packets of more than 16 MB, either way, in files
// that LOAD DATA LOCAL sends, in statements, in answers and in dumps.
func TestCompressedLargePackets(t *testing.T) {
	cw := cluster.StartCauseway(t, shared, "[limits]\nmax_allowed_packet = \"128MB\"\n")
	for _, method := range []string{"zlib", "zstd"} {
		t.Run(method, func(t *testing.T) {
			lay(t)
			file := filepath.Join(t.TempDir(), "load")
			value := strings.Repeat(letters(1<<20), 18)
			if err := os.WriteFile(file, []byte(value+"\n"+letters(1<<16)+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			common := []string{clear, "--compression-algorithms=" + method, "--max-allowed-packet=128M"}
			cmd := program(t, "mysql", cw.Addr, append(common, "--local-infile=1", "--batch", "--skip-column-names", "wf")...)
			cmd.Stdin = strings.NewReader("LOAD DATA LOCAL INFILE '" + file + "' INTO TABLE t (b);\nINSERT INTO t (b) VALUES ('" + value + "');\n" +
				"SELECT LENGTH(b), b = '" + value + "' FROM t ORDER BY id;\nSELECT b FROM t WHERE id = 1;\n")
			var errs bytes.Buffer
			cmd.Stderr = &errs
			out, err := cmd.Output()
			want := fmt.Sprintf("%d\t1\n%d\t0\n%d\t1\n%s\n", len(value), 1<<16, len(value), value)
			if err != nil || string(out) != want {
				t.Fatalf("%v: %d bytes, want %d: %.300s%s", err, len(out), len(want), out, errs.String())
			}
			dump, err := program(t, "mysqldump", cw.Addr, append(common, "--set-gtid-purged=OFF", "--no-tablespaces", "--skip-comments", "--hex-blob=0", "wf")...).Output()
			if err != nil || !bytes.Contains(dump, []byte(value)) || bytes.Count(dump, []byte("INSERT INTO")) == 0 {
				t.Errorf("dump of %d bytes, %v", len(dump), err)
			}
		})
	}
}

// letters is text that does not compress much.
func letters(n int) string {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = 'a' + byte(r.IntN(26))
	}
	return string(b)
}

// TestGoDriverCompresses: go-sql-driver, with values of more than 16 MB, in
// the text and the prepared protocol, in TLS and without.
func TestGoDriverCompresses(t *testing.T) {
	lay(t)
	cw := cluster.StartCauseway(t, shared, "[limits]\nmax_allowed_packet = \"128MB\"\n")
	for _, inTLS := range []bool{false, true} {
		t.Run(fmt.Sprintf("TLS %v", inTLS), func(t *testing.T) {
			m := startMeter(t, cw.Addr)
			var complaints bytes.Buffer
			db := compressedDB(t, m.addr, inTLS, &complaints)
			value := bytes.Repeat([]byte("0123456789abcdef"), wire.MaxPayload/16+100)
			res, err := db.ExecContext(t.Context(), "INSERT INTO t (b) VALUES (?)", value)
			if err != nil {
				t.Fatal(err)
			}
			id, _ := res.LastInsertId()
			for _, read := range []string{fmt.Sprintf("SELECT b FROM t WHERE id = %d", id), "SELECT b FROM t WHERE id = ?"} {
				var args []any
				if strings.Contains(read, "?") {
					args = append(args, id)
				}
				var got []byte
				if err := db.QueryRowContext(t.Context(), read, args...).Scan(&got); err != nil || !bytes.Equal(got, value) {
					t.Errorf("%s: %d bytes, %v", read, len(got), err)
				}
			}
			if up, down := m.up.Load(), m.down.Load(); up > wire.MaxPayload/4 || down > wire.MaxPayload/2 {
				t.Errorf("sent %d bytes, received %d", up, down)
			}
			if complaints.Len() > 0 {
				t.Errorf("the driver says: %s", complaints.String())
			}
		})
	}
}

func compressedDB(t *testing.T, addr string, inTLS bool, complaints io.Writer) *sql.DB {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr, cfg.DBName = cluster.AppUser, cluster.AppPassword, "tcp", addr, "wf"
	cfg.MaxAllowedPacket = 128 << 20
	cfg.Logger = logger{complaints}
	if inTLS {
		cfg.TLS = &tls.Config{InsecureSkipVerify: true}
	}
	if err := cfg.Apply(mysql.EnableCompression(true)); err != nil {
		t.Fatal(err)
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	return db
}

type logger struct{ io.Writer }

func (l logger) Print(v ...any) { fmt.Fprintln(l, v...) }

// TestCompressedStreaming: a result much larger than all buffers passes
// through without being held.
func TestCompressedStreaming(t *testing.T) {
	lay(t)
	cw := cluster.StartCauseway(t, shared, "")
	var complaints bytes.Buffer
	db := compressedDB(t, cw.Addr, false, &complaints)
	if _, err := db.ExecContext(t.Context(), "INSERT INTO t (b) VALUES (REPEAT(?, 16384))", letters(64)); err != nil { // 1 MB
		t.Fatal(err)
	}
	const rows = 300
	before := residentMemory(t, cw.Pid)
	read, err := db.QueryContext(t.Context(), "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i, b FROM n, t", rows)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	sum, n := sha256.New(), 0
	for read.Next() {
		var i int
		var b sql.RawBytes
		if err := read.Scan(&i, &b); err != nil {
			t.Fatal(err)
		}
		sum.Write(b)
		n++
	}
	after := residentMemory(t, cw.Pid)
	t.Logf("resident memory before %d KB, after %d KB", before>>10, after>>10)
	if err := read.Err(); err != nil || n != rows || after-before > 48<<20 {
		t.Errorf("%d rows, %v; memory from %d to %d", n, err, before, after)
	}
}

func residentMemory(t *testing.T, pid int) int64 {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Fatal(err)
	}
	var total, resident int64
	if _, err := fmt.Sscan(string(data), &total, &resident); err != nil {
		t.Fatal(err)
	}
	return resident * int64(os.Getpagesize())
}
