package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// Set by the linker: -X main.version=v1.2.3 -X main.commit=0123abc.
var version, commit string

// buildVersion returns version and commit: the linker's, else what the Go
// toolchain noted, else words that say that nobody told.
func buildVersion() (v, c string) {
	v, c = version, commit
	if info, ok := debug.ReadBuildInfo(); ok {
		if v == "" && info.Main.Version != "" && info.Main.Version != "(devel)" {
			v = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && c == "" {
				c = s.Value
			}
		}
	}
	if v == "" {
		v = "development"
	}
	if c == "" {
		c = "unknown"
	}
	return v, c
}

func printVersion(out io.Writer) {
	v, c := buildVersion()
	fmt.Fprintf(out, "causeway %s\ncommit   %s\ngo       %s %s/%s\n", v, c, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
