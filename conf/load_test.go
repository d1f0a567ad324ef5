package conf

import (
	"os"
	"path/filepath"
	"testing"
)

// fiveLines is the configuration of the README.
const fiveLines = `
[listen]
mysql = "127.0.0.1:6033"
http = "127.0.0.1:6080"

[cluster]
servers = ["127.0.0.1:3311", "127.0.0.1:3312", "127.0.0.1:3313"]

[monitor]
user = "monitor"
password = "monitor_pw"

[[users]]
name = "app"
password = "app_pw"
`

// load writes text to a file and loads it, with env as the environment.
func load(t *testing.T, text string, env map[string]string) (*Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(path, func(k string) string { return env[k] })
}

func TestFiveLines(t *testing.T) {
	c, err := load(t, fiveLines, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Users) != 1 || c.Users[0].Name != "app" || c.Users[0].Password.Reveal() != "app_pw" {
		t.Errorf("users: %+v", c.Users)
	}
	if len(c.Warnings) > 0 {
		t.Errorf("warnings: %q", c.Warnings)
	}
}
