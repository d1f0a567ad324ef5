package conf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

func TestSecretIsNeverShown(t *testing.T) {
	const pw = "hunter2"
	s := NewSecret(pw)
	type holder struct {
		Shown  Secret
		hidden Secret
		Ptr    *Secret
		Map    map[string]Secret
	}
	h := holder{s, s, &s, map[string]Secret{"a": s}}
	var out []string
	for _, v := range []any{s, &s, h, &h, []Secret{s}, []any{s, h}, User{Password: s}, &Config{Users: []User{{Password: s}}}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p", "%20s"} {
			out = append(out, fmt.Sprintf(verb, v))
		}
		out = append(out, fmt.Sprint(v), fmt.Sprintln(v))
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(data))
		var b bytes.Buffer
		logger := zerolog.New(&b)
		logger.Info().Interface("v", v).Msg("")
		console := zerolog.New(zerolog.ConsoleWriter{Out: &b, NoColor: true})
		console.Info().Interface("v", v).Msgf("%v", v)
		slog.New(slog.NewTextHandler(&b, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "v", v)
		out = append(out, b.String())
	}
	out = append(out, errors.Join(fmt.Errorf("%v", s)).Error(), s.String())
	for _, text := range out {
		if strings.Contains(text, pw) || strings.Contains(text, fmt.Sprintf("%x", pw)) || strings.Contains(text, fmt.Sprintf("%X", pw)) {
			t.Errorf("shown: %s", text)
		}
	}
	if got := fmt.Sprint(s); got != "[secret]" {
		t.Errorf("Sprint: %s", got)
	}
	if s.Reveal() != pw || (Secret{}).Reveal() != "" {
		t.Error("Reveal")
	}
	if !s.Equal(NewSecret(pw)) || s.Equal(NewSecret("x")) || !(Secret{}).Equal(NewSecret("")) {
		t.Error("Equal")
	}
}
