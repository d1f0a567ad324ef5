package conf

import (
	"fmt"
	"strings"
)

// minSecret is how many bytes a secret that signs tokens has at least. It is
// token.MinSecret, which a test of main compares.
const minSecret = 16

// secretList is a secret or a list of them. It never shows one that it refuses.
func secretList() kind[[]Secret] {
	const instead = `write it in quotes, or a list such as ["new", "old"]`
	return kind[[]Secret]{"string or list of strings", func(v any) ([]Secret, *fault) {
		if s, ok := v.(string); ok {
			v = []any{s}
		}
		items, ok := v.([]any)
		if !ok {
			return nil, &fault{"a secret must be a string, this is of type " + typeName(v), instead}
		}
		var secrets []Secret
		for _, item := range items {
			s, ok := item.(string)
			if !ok {
				return nil, &fault{"a secret must be a string, one is of type " + typeName(item), instead}
			}
			secrets = append(secrets, NewSecret(s))
		}
		return secrets, nil
	}}
}

// checkToken resolves the two ways to give secrets and judges them.
func (r *reader) checkToken() {
	t, key := &r.cfg.Token, "token.secret"
	if t.SecretFile != "" {
		if r.given[key] {
			r.problem("token.secret_file", "is one secret too many beside token.secret", "keep one of the two")
			return
		}
		key = "token.secret_file"
		t.Secrets = r.secretFile(key, t.SecretFile)
	}
	for i, s := range t.Secrets {
		if n := len(s.Reveal()); n < minSecret {
			r.problem(key, fmt.Sprintf("secret %d has %d bytes, the least is %d", i+1, n, minSecret), "write a long random one, such as openssl rand -hex 32 gives")
		}
	}
}

func (r *reader) secretFile(key, file string) (secrets []Secret) {
	var all Secret
	r.passwordFile(key, &all, file)
	for line := range strings.Lines(all.Reveal()) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			secrets = append(secrets, NewSecret(line))
		}
	}
	return secrets
}
