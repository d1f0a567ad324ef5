package conf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTokenSecrets(t *testing.T) {
	const long, longer = "0123456789abcdef", "0123456789abcdef0"
	file := filepath.Join(t.TempDir(), "secrets")
	if err := os.WriteFile(file, []byte(long+"\r\n"+longer+"\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		text, problem string
		want          []string
	}{
		{"", "", nil},
		{`secret = "` + long + `"`, "", []string{long}},
		{`secret = ["` + longer + `", "` + long + `"]`, "", []string{longer, long}},
		{`secret_file = "` + file + `"`, "", []string{long, longer}},
		{`secret = "short"`, "secret 1 has 5 bytes", nil},
		{`secret = ["` + long + `", ""]`, "secret 2 has 0 bytes", nil},
		{`secret = 5`, "must be a string", nil},
		{`secret = [5]`, "must be a string", nil},
		{`secret_file = "/nowhere/at/all"`, "cannot be read", nil},
		{"secret = \"" + long + "\"\nsecret_file = \"" + file + "\"", "one secret too many", nil},
		{`secret = "unfinished-business`, "not shown here", nil},
	} {
		c, err := load(t, fiveLines+"\n"+"[token]\n"+tc.text+"\n", nil)
		if tc.problem != "" {
			if err == nil || !strings.Contains(err.Error(), tc.problem) || strings.Contains(err.Error(), "short") && strings.Contains(err.Error(), "business") {
				t.Errorf("%s: %v, want %q", tc.text, err, tc.problem)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		var got []string
		for _, s := range c.Token.Secrets {
			got = append(got, s.Reveal())
		}
		if strings.Join(got, "|") != strings.Join(tc.want, "|") {
			t.Errorf("%s: %q", tc.text, got)
		}
	}
}
