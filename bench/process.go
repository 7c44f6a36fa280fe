package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"plexus/internal/client"
	"plexus/internal/config"
	"plexus/internal/store"
)

// Bounds of waiting for a process. What takes longer is no measurement.
const (
	readyBound = 30 * time.Second
	endBound   = 20 * time.Second
	turnBound  = time.Minute
)

// daemon is a `plexus serve` of its own home.
type daemon struct {
	cmd    *exec.Cmd
	client *client.Client
	state  config.State
	paths  config.Paths
	ready  time.Duration // from the start of the process to its first answer
	said   bytes.Buffer  // what it wrote to its standard error
	exited chan struct{} // closed when the process has ended
	err    error         // how it ended
}

func (w *world) env(home string) []string {
	return append(os.Environ(), "PLEXUS_HOME="+home, "NO_COLOR=1", "SHELL=/bin/sh")
}

// startDaemon runs a daemon on any free port and waits until it answers.
func (w *world) startDaemon(ctx context.Context, home string) (*daemon, error) {
	d := &daemon{paths: config.At(home), exited: make(chan struct{})}
	d.cmd = exec.Command(w.binary, "serve", "--port", "0")
	d.cmd.Env = w.env(home)
	d.cmd.Stderr = &d.said
	start := time.Now()
	if err := d.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a daemon: %w", err)
	}
	go func() { // ends with the process, which end sees to
		d.err = d.cmd.Wait()
		close(d.exited)
	}()
	if err := d.await(ctx); err != nil {
		_ = d.cmd.Process.Kill()
		<-d.exited
		return nil, fmt.Errorf("start a daemon: %w: %s", err, d.said.String())
	}
	d.ready = time.Since(start)
	return d, nil
}

// await polls for the daemon: it writes how to reach it when it is ready.
func (d *daemon) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyBound)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		var err error
		if d.client, d.state, err = client.Find(ctx, d.paths); err == nil && d.state.PID == d.cmd.Process.Pid {
			return nil
		}
		select {
		case <-tick.C:
		case <-d.exited:
			return errors.New("it ended")
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// end asks the daemon to end and waits for it; one that does not is killed.
func (d *daemon) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endBound)
	defer cancel()
	_ = d.client.Post(ctx, "/api/shutdown", nil, nil)
	select {
	case <-d.exited:
	case <-ctx.Done():
		_ = d.cmd.Process.Kill()
		<-d.exited
	}
}

// approve approves a folder and returns its id.
func (d *daemon) approve(ctx context.Context, path string) (string, error) {
	var f store.Folder
	err := d.client.Post(ctx, "/api/folders", map[string]string{"path": path}, &f)
	return f.ID, err
}

// set changes a setting.
func (d *daemon) set(ctx context.Context, key, value string) error {
	return d.client.Do(ctx, client.Request{Method: "PUT", Path: "/api/settings/" + key, In: map[string]string{"value": value}})
}

// thread makes a thread; a task is given with give.
func (d *daemon) thread(ctx context.Context, folder, model string) (string, error) {
	var t store.Thread
	err := d.client.Post(ctx, "/api/threads", map[string]string{"folder": folder, "model": model}, &t)
	return t.ID, err
}

func (d *daemon) give(ctx context.Context, thread, task string) error {
	return d.client.Post(ctx, "/api/threads/"+thread+"/turns", map[string]string{"text": task}, nil)
}

// answered waits until the thread's turn has its answer.
func (d *daemon) answered(ctx context.Context, thread string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, turnBound, fmt.Errorf("the turn was not over within %s", turnBound))
	defer cancel()
	for u, err := range d.client.Follow(ctx, thread, 0) {
		if err != nil {
			return err
		}
		if u.Event == nil || u.Event.Kind != store.EventTurn {
			continue
		}
		var t store.Turn
		if err := json.Unmarshal(u.Event.Body, &t); err != nil {
			return err
		}
		if t.State == store.TurnAnswered {
			return nil
		}
		if t.State.Final() {
			return fmt.Errorf("the turn %s: %s %s", t.State, t.Code, t.Reason)
		}
	}
	return context.Cause(ctx)
}
