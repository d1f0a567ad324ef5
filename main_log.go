package main

import (
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"

	"causeway/conf"
)

// The library keeps this for the whole process.
func init() { zerolog.TimeFieldFormat = time.RFC3339Nano }

// newLogger writes for people on a terminal and JSON lines elsewhere, unless
// the configuration names one of the two.
func newLogger(c conf.Log, out io.Writer) zerolog.Logger {
	level, err := zerolog.ParseLevel(c.Level)
	if err != nil {
		panic("BUG: log level: " + err.Error()) // conf has checked it
	}
	if c.Format == conf.LogConsole || c.Format == conf.LogAuto && isTerminal(out) {
		out = zerolog.ConsoleWriter{Out: out, TimeFormat: time.TimeOnly + ".000", NoColor: !isTerminal(out)}
	}
	return zerolog.New(out).Level(level).With().Timestamp().Logger()
}

// isTerminal takes any character device for a terminal: /dev/null is the only
// other one that logs are sent to, and there the format matters to nobody.
func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
