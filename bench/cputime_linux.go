package main

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is what all threads of a process have run so far, to the nanosecond: its own clock, of which /proc tells
// hundredths of a second.
func cpuTime(pid int) (time.Duration, error) {
	const process = 2 // CPUCLOCK_SCHED of clock_getcpuclockid(3)
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|process), &t); err != nil {
		return 0, fmt.Errorf("read the CPU clock of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}
