package main

import (
	"bytes"
	"strings"
	"testing"

	"causeway/conf"
)

func TestLogFormats(t *testing.T) {
	for _, c := range []struct{ format, want string }{{conf.LogAuto, `"message":"hello"`}, {conf.LogJSON, `"message":"hello"`}, {conf.LogConsole, "INF hello"}} {
		var out bytes.Buffer
		log := newLogger(conf.Log{Level: "info", Format: c.format}, &out)
		log.Debug().Msg("quiet")
		log.Info().Msg("hello")
		if got := out.String(); !strings.Contains(got, c.want) || strings.Contains(got, "quiet") {
			t.Errorf("%s: %s", c.format, got)
		}
	}
	if isTerminal(&bytes.Buffer{}) {
		t.Error("a buffer is no terminal")
	}
}
