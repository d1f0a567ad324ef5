package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const goodConfig = `
[listen]
mysql = "127.0.0.1:0"
http = "127.0.0.1:0"
[cluster]
servers = ["127.0.0.1:1", "127.0.0.1:2"]
weights = { "127.0.0.1:2" = 3 }
[monitor]
user = "monitor"
password = "monitor_pw"
[[users]]
name = "app"
password_env = "APP_PASSWORD"
`

// command runs causeway with args and returns what it wrote.
func command(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	env := map[string]string{"APP_PASSWORD": "app_pw"}
	err = run(context.Background(), append([]string{"causeway"}, args...), &out, &errs, func(k string) string { return env[k] })
	return out.String(), errs.String(), err
}

func configFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "causeway.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCheck(t *testing.T) {
	path := configFile(t, goodConfig)
	out, _, err := command(t, "check", "--config", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range []string{path + ": OK", "mysql 127.0.0.1:0", "server      127.0.0.1:2, weight 3", "user        app", "round_robin, as F0", "F0: session, at most 2s stale"} {
		if !strings.Contains(out, piece) {
			t.Errorf("no %q in\n%s", piece, out)
		}
	}
	if strings.Contains(out, "app_pw") || strings.Contains(out, "monitor_pw") {
		t.Errorf("shows a password:\n%s", out)
	}
}

func TestCheckTheExample(t *testing.T) {
	out, _, err := command(t, "check", "-c", "conf/causeway.toml")
	if err != nil || !strings.Contains(out, "OK") {
		t.Errorf("%v %s", err, out)
	}
}

func TestCheckTellsWhatRulesDo(t *testing.T) {
	rule := "[[rule]]\nname = \"keep\"\nregex = \"^DELETE FROM\"\ndeny = true\n"
	out, _, err := command(t, "check", "--config", configFile(t, goodConfig+rule))
	if want := "rule        keep: if regex=^DELETE FROM, then deny"; err != nil || !strings.Contains(out, want) {
		t.Errorf("%v, no %q in\n%s", err, want, out)
	}
}

func TestCheckShowsWarnings(t *testing.T) {
	out, _, err := command(t, "check", "--config", configFile(t, goodConfig+"[routing]\nunsafe_skip_token_check = true\n"))
	if err != nil || !strings.Contains(out, "warning     routing.unsafe_skip_token_check") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestCheckNamesAllProblems(t *testing.T) {
	path := configFile(t, strings.Replace(goodConfig, `"127.0.0.1:0"`, "1", 1)+"[routing]\nwiat = \"1s\"\n")
	out, _, err := command(t, "check", "--config", path)
	if err == nil || out != "" {
		t.Fatalf("error %v, output %q", err, out)
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "listen.mysql") || !strings.Contains(lines[1], `did you mean "routing.wait"`) {
		t.Errorf("error %v", err)
	}
	if _, _, err := command(t, "serve", "--config", path); err == nil || !strings.Contains(err.Error(), "listen.mysql") {
		t.Errorf("serve with it: %v", err)
	}
}

func TestVersion(t *testing.T) {
	version, commit = "v1.2.3", "0123abc"
	t.Cleanup(func() { version, commit = "", "" })
	out, _, err := command(t, "version")
	want := "causeway v1.2.3\ncommit   0123abc\ngo       " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + "\n"
	if err != nil || out != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out, want)
	}
}

func TestVersionOfAPlainBuild(t *testing.T) {
	v, c := buildVersion()
	if v == "" || c == "" {
		t.Errorf("version %q, commit %q", v, c)
	}
}

func TestUsage(t *testing.T) {
	cases := []struct {
		args []string
		want string
	}{
		{nil, "give a command"},
		{[]string{"server"}, `no command "server"`},
		{[]string{"--nope"}, "nope"},
		{[]string{"serve"}, `"config"`},
		{[]string{"check"}, `"config"`},
		{[]string{"check", "--config"}, "config"},
		{[]string{"check", "--conifg", "x"}, "conifg"},
		{[]string{"check", "--config", "none.toml"}, "none.toml"},
		{[]string{"check", "--config", "conf/causeway.toml", "extra"}, `unexpected argument "extra"`},
		{[]string{"version", "extra"}, `unexpected argument "extra"`},
	}
	for _, c := range cases {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			_, _, err := command(t, c.args...)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"-h"}, {"serve", "--help"}, {"check", "--help"}} {
		out, _, err := command(t, args...)
		if err != nil || !strings.Contains(out, "USAGE") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}

// readme puts the README's configuration, with free ports, into a folder and
// goes there.
func readme(t *testing.T) {
	t.Helper()
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "\n```toml\n")
	block, _, found := strings.Cut(rest, "\n```\n")
	if !found {
		t.Fatal("the README has no configuration")
	}
	t.Chdir(t.TempDir())
	block = strings.NewReplacer(":6033", ":0", ":6080", ":0").Replace(block)
	if err := os.WriteFile("causeway.toml", []byte(block), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestReadmeCheck(t *testing.T) {
	readme(t)
	if out, _, err := command(t, "check", "--config", "causeway.toml"); err != nil || !strings.Contains(out, "causeway.toml: OK") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestReadmeServe(t *testing.T) {
	readme(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // to the point where it would accept clients, and down again
	var log logBuffer
	if err := run(ctx, []string{"causeway", "serve", "--config", "causeway.toml"}, &log, &log, os.Getenv); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "accepting clients") {
		t.Errorf("the log:\n%s", log.String())
	}
}
