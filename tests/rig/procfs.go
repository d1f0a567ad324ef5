package rig

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// userHZ is the kernel's unit for CPU times in /proc: a fixed 100 a second on
// every Linux that Go runs on.
const userHZ = 100

// CPU returns the user and system time used so far by a process, all of its
// threads, and its children, living and waited for.
func CPU(pid int) (time.Duration, error) {
	total, err := cpuOf(pid)
	if err != nil {
		return 0, err
	}
	for _, child := range children(pid) {
		if d, err := cpuOf(child); err == nil { // may have ended meanwhile
			total += d
		}
	}
	return total, nil
}

// RSS returns the resident memory of a process in bytes.
func RSS(pid int) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	return parseStatusKB(b, "VmRSS:")
}

// cpuOf reads utime, stime, cutime and cstime of one process.
func cpuOf(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseStatCPU(b)
}

// parseStatCPU reads fields 14 to 17 of /proc/PID/stat. The second field is the
// program's name in brackets and may itself hold spaces and brackets.
func parseStatCPU(stat []byte) (time.Duration, error) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return 0, fmt.Errorf("no program name in stat %q", stat)
	}
	fields := strings.Fields(string(stat[end+1:])) // starts with field 3
	if len(fields) < 15 {
		return 0, fmt.Errorf("stat is too short: %q", stat)
	}
	var ticks int64
	for _, f := range fields[11:15] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / userHZ, nil
}

// parseStatusKB reads one "Name:   123 kB" line of /proc/PID/status, in bytes.
func parseStatusKB(status []byte, name string) (int64, error) {
	for line := range strings.Lines(string(status)) {
		f := strings.Fields(line)
		if len(f) == 3 && f[0] == name && f[2] == "kB" {
			kb, err := strconv.ParseInt(f[1], 10, 64)
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("no %s in the process status", name)
}

// children returns the living descendants of a process.
func children(pid int) []int {
	var all []int
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range tasks {
		b, _ := os.ReadFile(path) // a thread that ended has no children
		for _, f := range strings.Fields(string(b)) {
			if n, err := strconv.Atoi(f); err == nil {
				all = append(append(all, n), children(n)...)
			}
		}
	}
	return all
}
