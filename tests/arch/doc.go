// Package arch holds the rules that the code keeps about itself: who may import
// whom, how long files and functions may be, that every package says what it
// is, that nothing names the machine it was written on, and that the README
// shows only commands that something runs.
//
// It has tests only. They read and parse the files of the repository
// themselves: a test that asks another program is cached by go test and misses
// changes. Nobody imports it.
package arch
