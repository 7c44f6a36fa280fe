//go:build !linux

package main

import (
	"errors"
	"time"
)

// cpuTime is what all threads of a process have run so far.
func cpuTime(int) (time.Duration, error) {
	return 0, errors.New("the CPU time of another process is read on Linux only")
}
