// Package conf turns a TOML file into a checked Config.
//
// It owns the names, defaults, limits and explanations of all options: one
// table (options.go) drives reading, defaulting, the reload marks and the
// reference in docs/configuration.md. A Config that Load returns without an
// error is complete: nobody downstream fills in a default or checks again.
//
// Load reports every problem at once, each with its line, its key, what is
// wrong and what to write instead. The file is read loosely (into maps) and
// checked key by key, so one wrong type hides no other mistake; only broken
// TOML syntax ends the reading early, as nothing after it can be trusted.
//
// The package never opens a connection, never prints, and never puts a secret
// into an error: see Secret. It imports nothing of Causeway and is the only
// user of the TOML library. All functions may be called concurrently; a Config
// is not changed after Load and may then be read by all.
//
// The file's syntax is TOML 1.0, https://toml.io/en/v1.0.0.
package conf
