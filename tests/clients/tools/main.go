// Command tools is the client program for the command-line tools: mysql,
// mysqldump, mysqlimport, mysqlslap and mydumper, and what MariaDB has in their
// place. It prints as the package tests/clients wants it, and starts nothing but these.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"
)

// obj is an observation with several parts.
type obj map[string]any

var seen int

func emit(name string, value any) {
	line, err := json.Marshal(obj{"name": name, "value": value})
	if err != nil {
		fmt.Fprintln(os.Stderr, name, err)
		os.Exit(1)
	}
	fmt.Println(string(line))
}

func check(name string, value any) {
	emit(name, value)
	seen++
}

// tool is how a program is started: MySQL's run with their own loader, Debian's
// with a library path.
type tool struct {
	name string
	argv []string
	env  []string
}

func mysqlTool(name string) tool {
	path := filepath.Join(os.Getenv("CW_MYSQL_ROOT"), "usr/bin", name)
	if os.Getenv("MYSQLD") != "" {
		return tool{name: name, argv: []string{filepath.Join(os.Getenv("CW_MYSQL"), name)}}
	}
	return tool{name: name, argv: []string{os.Getenv("CW_MYSQL_LOADER"), "--library-path", os.Getenv("CW_MYSQL_LIBS"), path}}
}

func debianTool(name string) tool {
	libs := os.Getenv("CW_DEBIAN_LIBS")
	plugins := filepath.Join(strings.Split(libs, ":")[0], "libmariadb3/plugin")
	return tool{name: name, argv: []string{filepath.Join(os.Getenv("CW_DEBIAN"), "usr/bin", name)}, env: []string{"LD_LIBRARY_PATH=" + libs, "MARIADB_PLUGIN_DIR=" + plugins}}
}

// account are the options that all tools have in common.
func (t tool) account() []string {
	a := []string{"--host=" + os.Getenv("CW_HOST"), "--port=" + os.Getenv("CW_PORT"), "--user=" + os.Getenv("CW_USER"), "--password=" + os.Getenv("CW_PASSWORD")}
	switch {
	case t.name == "mydumper" || t.name == "myloader":
		return a
	case t.env != nil: // MariaDB's
		return append([]string{"--no-defaults", "--protocol=tcp", "--skip-ssl"}, a...)
	}
	own := []string{"--no-defaults", "--protocol=tcp", "--get-server-public-key"}
	if t.name == "mysql" {
		own = append(own, "--loose-commands") // DELIMITER and the like, which 9.x must be asked for
	}
	return append(own, a...)
}

// run starts the tool and returns what it said and how it ended.
func (t tool) run(stdin string, args ...string) (string, obj) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	all := append(append(append([]string{}, t.argv[1:]...), t.account()...), args...)
	cmd := exec.CommandContext(ctx, t.argv[0], all...)
	cmd.Env = append(os.Environ(), t.env...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err := cmd.Run()
	o := obj{"stderr": clean(problems.String())}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		o["exit"] = exit.ExitCode()
	case err != nil:
		o["broken"] = err.Error()
	}
	return out.String(), o
}

// changing are parts of outputs that differ from run to run: addresses, times,
// versions of the tools, ids, statistics of tables.
var changing = regexp.MustCompile(`(?m)^mysql\w*: \[Warning\] Using a password.*\n|^\*\* .*\n|127\.0\.0\.1(:\d+)?|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|Host: \S+|thread \d+|\d+\.\d+ seconds|\(pid=\d+\)|(Rows|Avg_row_length|Cardinality)="\d+"`)

func clean(s string) string { return changing.ReplaceAllString(s, "") }

// said is a whole output, or its sum if that is long.
func said(s string) any {
	s = clean(s)
	if len(s) < 3000 {
		return s
	}
	return obj{"length": len(s), "sha256": fmt.Sprintf("%x", sha256.Sum256([]byte(s)))}
}

func (t tool) check(name, stdin string, args ...string) {
	out, end := t.run(stdin, args...)
	end["stdout"] = said(out)
	check(t.name+"/"+name, end)
}

const script = `SELECT * FROM kinds ORDER BY id;
SELECT name, qty FROM items ORDER BY id;
UPDATE items SET qty = 12 WHERE id = 2; SELECT qty FROM items WHERE id = 2;
BEGIN; INSERT INTO items (name) VALUES ('from a script'); ROLLBACK; SELECT COUNT(*) FROM items;
USE clients2;
SELECT * FROM items;
SELECT CAST('x' AS SIGNED); SHOW WARNINGS;
DELIMITER //
SELECT 1; SELECT 2 //
DELIMITER ;
CALL clients.two_results();
SELECT @x := 5; SELECT @x, n FROM clients.numbers WHERE n < 3;
SELECT /* a comment */ COUNT(*) FROM clients.numbers -- at the end
;
SELECT * FROM nosuch;
SELECT 'after an error';
SOURCE nosuch.sql
`

func commandLines() {
	for _, t := range []tool{mysqlTool("mysql"), debianTool("mariadb")} {
		for _, how := range []string{"--table", "--batch", "--xml", "--html"} {
			t.check("script "+how, script, how, "--force", "--show-warnings", "--default-character-set=utf8mb4", "clients")
		}
		t.check("one statement", "", "--execute=SELECT name FROM items WHERE id = 1; SELECT COUNT(*) FROM numbers", "clients")
		t.check("stops at an error", "SELECT 1;\nSELEC 2;\nSELECT 3;\n", "clients")
		t.check("quick", "", "--quick", "--skip-column-names", "--execute=SELECT a.n FROM numbers a, numbers b WHERE b.n < 20 ORDER BY 1", "clients")
		t.check("unknown schema", "", "--execute=SELECT 1", "nosuch")
		t.check("safe updates", "", "--safe-updates", "--force", "--execute=UPDATE items SET qty = 1; SELECT COUNT(*) FROM numbers", "clients")
		t.check("completion", "rehash\nSELECT 1;\nuse clients2\nSELECT DATABASE();\n", "--auto-rehash", "clients")
		t.check("compression", "", "--compress", "--execute=SELECT word FROM numbers ORDER BY n", "clients")
	}
	mysqlTool("mysqladmin").check("ping", "", "ping")
	mysqlTool("mysqlcheck").check("check", "", "clients2")
}

func dumps() {
	for _, t := range []tool{mysqlTool("mysqldump"), debianTool("mariadb-dump")} {
		own := []string{"--skip-dump-date", "--skip-comments"}
		if t.env == nil {
			own = append(own, "--set-gtid-purged=OFF")
		}
		for name, args := range map[string][]string{
			"single transaction": {"--single-transaction", "--routines", "--hex-blob", "clients"},
			"locked":             {"--lock-tables", "--databases", "clients", "clients2"},
			"all locked":         {"--lock-all-tables", "--databases", "clients"},
			"as XML":             {"--xml", "clients2"},
			"some rows":          {"--where=n < 10", "--skip-extended-insert", "--complete-insert", "clients", "numbers"},
			"flushed":            {"--flush-logs", "--single-transaction", "clients2"},
		} {
			t.check(name, "", append(own, args...)...)
		}
		again(t, own)
	}
}

// again loads a dump into another schema and looks at what arrived.
func again(t tool, own []string) {
	my := mysqlTool("mysql")
	dump, end := t.run("", append(own, "--single-transaction", "--skip-triggers", "--no-tablespaces", "clients")...)
	target := "again_" + strings.ReplaceAll(t.name, "-", "_")
	_, made := my.run("", "--execute=CREATE DATABASE "+target)
	dump = strings.TrimPrefix(dump, "/*M!999999\\- enable the sandbox mode */ \n")
	_, loaded := my.run(dump, target)
	out, looked := my.run("START TRANSACTION; CHECKSUM TABLE items, numbers, kinds; SHOW TABLES; COMMIT;", target)
	_, dropped := my.run("", "--execute=DROP DATABASE "+target)
	check(t.name+"/loaded again", []any{end, made, loaded, out, looked, dropped})
}

func imports() {
	path := filepath.Join(os.Getenv("CW_TMP"), "loaded.tsv")
	if err := os.WriteFile(path, []byte(strings.Repeat("1\tone\t1.5\n2\ttwo\t-2\n", 500)), 0o600); err != nil {
		check("mysqlimport/local", obj{"broken": err.Error()})
		return
	}
	mysqlTool("mysqlimport").check("local", "", "--local", "clients", path)
	mysqlTool("mysql").check("what was imported", "", "--execute=START TRANSACTION; SELECT a, b, c, COUNT(*) FROM loaded GROUP BY a, b, c ORDER BY a; DELETE FROM loaded; COMMIT", "clients")
}

// slap tells only how it ended: its output is all times.
func slap() {
	for _, t := range []tool{mysqlTool("mysqlslap"), debianTool("mariadb-slap")} {
		_, mixed := t.run("", "--concurrency=4", "--iterations=1", "--number-of-queries=200", "--create-schema=clients2", "--query=SELECT COUNT(*) FROM clients.numbers; UPDATE clients.items SET qty = qty + 1 WHERE id = 5; SELECT qty FROM clients.items WHERE id = 5", "--delimiter=;", "--no-drop")
		check(t.name+"/given statements", mixed)
	}
}

// mydumper writes one file a table; all but its notes about the run are compared.
func mydumper() {
	dir := filepath.Join(os.Getenv("CW_TMP"), "mydumper-"+os.Getenv("CW_PORT"))
	t := debianTool("mydumper")
	_, end := t.run("", "--database=clients", "--outputdir="+dir, "--threads=3", "--routines", "--trx-consistency-only")
	files := obj{}
	names, _ := filepath.Glob(filepath.Join(dir, "*.sql"))
	sort.Strings(names)
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			end["broken"] = err.Error()
		}
		files[filepath.Base(name)] = said(string(b))
	}
	end["files"] = files
	check("mydumper/dump", end)
}

func main() {
	commandLines()
	dumps()
	imports()
	slap()
	mydumper()
	emit("end", seen)
}
