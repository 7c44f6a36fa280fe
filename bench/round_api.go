package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	runEcho = "{plx:run}echo hi{/plx:run}"
	over    = "{plx:done}over{/plx:done}"
)

// measureRoundAPI gives a daemon tasks for an API model that replies at once with `echo hi` and then with an answer. A
// round's own cost is the time from the end of the first reply to the arrival of the request that brings the results.
func measureRoundAPI(ctx context.Context, w *world) ([]row, error) {
	project := filepath.Join(w.dir, "round-api-project")
	if err := os.Mkdir(project, 0o700); err != nil {
		return nil, err
	}
	d, err := w.startDaemon(ctx, filepath.Join(w.dir, "round-api"))
	if err != nil {
		return nil, err
	}
	defer d.end(ctx)
	said, results := make(chan time.Time, 10), make(chan time.Time, 10)
	e := newEndpoint(func(_ context.Context, last string, say func(string) error, end func() error) {
		arrived := time.Now()
		if isTask(last) {
			_ = say(runEcho)
			said <- time.Now()
		} else {
			results <- arrived
			_ = say(over)
		}
		_ = end()
	})
	defer e.close()
	if err := e.use(ctx, d); err != nil {
		return nil, err
	}
	folder, err := d.approve(ctx, project)
	if err != nil {
		return nil, err
	}
	var rounds, turns []float64
	for range 60 {
		thread, err := d.thread(ctx, folder, "api")
		if err != nil {
			return nil, err
		}
		start := time.Now()
		if err := d.give(ctx, thread, "Say hi"); err != nil {
			return nil, err
		}
		if err := d.answered(ctx, thread); err != nil {
			return nil, err
		}
		turns = append(turns, ms(time.Since(start)))
		if len(said) != 1 || len(results) != 1 {
			return nil, fmt.Errorf("the server saw %d tasks and %d results of one turn", len(said), len(results))
		}
		end := <-said
		rounds = append(rounds, ms((<-results).Sub(end)))
	}
	rows := []row{
		{"round on an API model, own cost with `echo hi`", "ms", rounds, atMost(10)},
		{"  whole turn: task posted to answer heard, two replies", "ms", turns, bound{}},
	}
	if kib, err := memory(d.cmd.Process.Pid, "VmHWM"); err == nil {
		rows = append(rows, row{"  most memory that the daemon had", "MiB", []float64{kib / 1024}, bound{}})
	}
	return rows, nil
}
