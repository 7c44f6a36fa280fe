package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	idleSettle  = 2 * time.Second // after the first answer, for what a start leaves to do
	idleWindow  = 3 * time.Second
	idleWindows = 4
)

// measureIdle watches a daemon that nobody talks to. It needs Linux; elsewhere the rows stay empty.
func measureIdle(ctx context.Context, w *world) ([]row, error) {
	cpu := row{"daemon, CPU when idle", "%", nil, atMost(0.1)}
	rss := row{"daemon, resident when idle", "MiB", nil, atMost(40)}
	d, err := w.startDaemon(ctx, filepath.Join(w.dir, "idle"))
	if err != nil {
		return nil, err
	}
	defer d.end(ctx)
	if _, err := cpuTime(d.cmd.Process.Pid); err != nil {
		return []row{cpu, rss}, nil
	}
	if err := pause(ctx, idleSettle); err != nil {
		return nil, err
	}
	for range idleWindows {
		before, err := cpuTime(d.cmd.Process.Pid)
		if err != nil {
			return nil, err
		}
		start := time.Now()
		if err := pause(ctx, idleWindow); err != nil {
			return nil, err
		}
		after, err := cpuTime(d.cmd.Process.Pid)
		if err != nil {
			return nil, err
		}
		cpu.got = append(cpu.got, 100*float64(after-before)/float64(time.Since(start)))
		kib, err := memory(d.cmd.Process.Pid, "VmRSS")
		if err != nil {
			return nil, err
		}
		rss.got = append(rss.got, kib/1024)
	}
	return []row{cpu, rss}, nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// memory reads a field of a process's status, in KiB.
func memory(pid int, field string) (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 64)
		}
	}
	return 0, fmt.Errorf("the status of process %d has no %s", pid, field)
}
