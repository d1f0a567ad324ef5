package dial

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"causeway/tests/check"
	"causeway/tests/cluster"
)

// programs is the folder of MySQL's own programs.
func programs(t *testing.T) string {
	t.Helper()
	out, err := osexec.Command(filepath.Join(cluster.Root(), "scripts", "get-mysql")).Output()
	if err != nil {
		t.Fatalf("no mysql client: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// TestMySQLClientLogsIn: MySQL's own client library against Causeway's side of
// the login. What it prints is what it prints for a MySQL server.
func TestMySQLClientLogsIn(t *testing.T) {
	cw := cluster.StartCauseway(t, mysqls, "")
	bin := programs(t)
	plugins := filepath.Join(filepath.Dir(bin), "mysql", "usr", "lib", "mysql", "plugin")
	host, port, _ := strings.Cut(cw.Addr, ":")
	const (
		clear     = "--ssl-mode=DISABLED"
		key       = "--get-server-public-key"
		encrypted = "--ssl-mode=REQUIRED"
		native    = "--default-auth=mysql_native_password"
		cleartext = "--default-auth=mysql_clear_password"
		denied    = "ERROR 1045 (28000): Access denied for user 'app'@'127.0.0.1' (using password: YES)"
	)
	for _, c := range []struct {
		name, user, password string
		args                 []string
		want                 string // in what it prints
	}{
		{"clear", "app", "app_pw", []string{clear}, "SSL:\t\t\tNot in use"},
		{"clear with the key", "app", "app_pw", []string{clear, key}, "Not in use"},
		{"TLS", "app", "app_pw", []string{encrypted}, "Cipher in use is TLS_"},
		{"TLS if offered", "app", "app_pw", nil, "Cipher in use is TLS_"},
		{"wrong, clear", "app", "no", []string{clear}, "ERROR 2061 (HY000): Authentication plugin 'caching_sha2_password' reported error: Authentication requires secure connection."},
		{"wrong, clear with the key", "app", "no", []string{clear, key}, denied},
		{"wrong, TLS", "app", "no", []string{encrypted}, denied},
		{"none given", "app", "", []string{clear}, "ERROR 1045 (28000): Access denied for user 'app'@'127.0.0.1' (using password: NO)"},
		{"unknown user", "who", "no", []string{encrypted}, "ERROR 1045 (28000): Access denied for user 'who'@'127.0.0.1' (using password: YES)"},
		{"native", "app", "app_pw", []string{clear, native}, "Not in use"},
		{"native, TLS", "app", "app_pw", []string{encrypted, native}, "Cipher in use is TLS_"},
		{"native, wrong", "app", "no", []string{clear, native}, denied},
		{"clear text plugin is not taken up", "app", "app_pw", []string{clear, cleartext, "--enable-cleartext-plugin"}, "Not in use"},
		{"compression", "app", "app_pw", []string{clear, "--compression-algorithms=zstd,zlib,uncompressed"}, "Not in use"},
		{"unknown schema", "app", "app_pw", []string{clear, "--database=no_such_schema"}, "ERROR 1049 (42000): Unknown database 'no_such_schema'"},
		{"schema", "app", "app_pw", []string{clear, "--database=test"}, "Current database:\ttest"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append([]string{"--no-defaults", "--protocol=tcp", "--host=" + host, "--port=" + port,
				"--user=" + c.user, "--plugin-dir=" + plugins, "--loose-commands"}, c.args...)
			cmd := osexec.CommandContext(check.Patience(t), filepath.Join(bin, "mysql"), append(args, `--execute=\s`)...)
			cmd.Env = append(os.Environ(), "MYSQL_PWD="+c.password, "LIBMYSQL_ENABLE_CLEARTEXT_PLUGIN=")
			out, _ := cmd.CombinedOutput()
			if !strings.Contains(string(out), c.want) {
				t.Errorf("want %q in\n%s", c.want, out)
			}
		})
	}
}
