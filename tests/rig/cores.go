package rig

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// SplitCores halves the cores that this process may use: a half for the
// database servers, the other for clients and proxies.
func SplitCores() (servers, others []int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, nil, err
	}
	var all []int
	for core := range len(set) * 64 {
		if set.IsSet(core) {
			all = append(all, core)
		}
	}
	if len(all) < 2 {
		return nil, nil, fmt.Errorf("there is one core only, nothing to split")
	}
	return all[:len(all)/2], all[len(all)/2:], nil
}

// Confine keeps a process to some cores: all threads that it has, and so those
// that they start, and programs that it starts from now on.
func Confine(pid int, cores []int) error {
	var set unix.CPUSet
	for _, core := range cores {
		set.Set(core)
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return err
	}
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			return err
		}
		if err := unix.SchedSetaffinity(id, &set); err != nil && err != unix.ESRCH { // it has ended
			return err
		}
	}
	return nil
}
