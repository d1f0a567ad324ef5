// Package demo runs what `make demo` and `make demo-down` run, on other ports
// and for a shorter time, and looks at what they leave. Only tests live here.
package demo
