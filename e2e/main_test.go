// Package e2e tests the real binary with real Chromium and the practice site,
// each test with a home, ports and folders of its own.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"plexus/internal/chromium"
	"plexus/internal/client"
	"plexus/internal/config"
	"plexus/internal/store"
)

// binary is the plexus under test.
var binary string

func TestMain(m *testing.M) {
	os.Exit(build(m))
}

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "plexus-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "plexus")
	cmd := exec.Command("go", "build", "-o", binary, "plexus/cmd/plexus")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build plexus: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// needChromium fails, and never skips, where a browser is part of the promise.
func needChromium(t *testing.T) {
	t.Helper()
	if _, err := chromium.Find(); err != nil {
		t.Fatalf("%v: run `make chromium`", err)
	}
}

// bound is how long any one wait of a test may last.
const bound = 60 * time.Second

// home is an instance of Plexus: a home of its own and, between start and kill, a daemon.
type home struct {
	t      *testing.T
	dir    string
	folder string // approved
	daemon *exec.Cmd
	client *client.Client
	state  config.State
}

func newHome(t *testing.T) *home {
	t.Helper()
	h := &home{t: t, dir: t.TempDir(), folder: t.TempDir()}
	h.start()
	h.plexus("folders", "add", h.folder)
	return h
}

func (h *home) env() []string {
	return append(os.Environ(), "PLEXUS_HOME="+h.dir, "NO_COLOR=1", "SHELL=/bin/sh")
}

// start runs `plexus serve` on any free port and waits until it answers.
func (h *home) start() { h.startAt(0) }

func (h *home) startAt(port int) {
	h.t.Helper()
	cmd := exec.Command(binary, "serve", "--port", strconv.Itoa(port))
	cmd.Env = h.env()
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.daemon = cmd
	h.t.Cleanup(func() {
		if h.daemon == cmd {
			h.end()
		}
	})
	// The first line is printed when the port is taken; the state file follows when all is ready.
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		h.t.Fatalf("plexus serve ended early: %v", err)
	}
	h.eventually("the daemon answers", func() bool {
		h.client, h.state, err = client.Find(h.t.Context(), config.At(h.dir))
		return err == nil && h.state.PID == cmd.Process.Pid
	})
}

// kill ends the daemon as a crash does.
func (h *home) kill() {
	h.t.Helper()
	if err := h.daemon.Process.Kill(); err != nil {
		h.t.Fatal(err)
	}
	_ = h.daemon.Wait()
	h.daemon = nil
}

// end asks the daemon to end and waits for it.
func (h *home) end() {
	h.t.Helper()
	_ = h.daemon.Process.Signal(syscall.SIGTERM)
	done := make(chan error, 1)
	go func() { done <- h.daemon.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			h.t.Errorf("the daemon ended with %v", err)
		}
	case <-time.After(bound):
		_ = h.daemon.Process.Kill()
		h.t.Error("the daemon did not end")
	}
	h.daemon = nil
}

// eventually polls what has no event to wait for.
func (h *home) eventually(what string, ok func() bool) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), bound)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			h.t.Fatalf("never: %s\n%s", what, h.plexus("threads"))
		}
	}
}

// result is how a command ended.
type result struct {
	code     int
	out, err string
}

// command runs plexus and returns how it ended.
func (h *home) command(args ...string) result {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 2*bound)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = h.env()
	cmd.Dir = h.folder
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if ctx.Err() != nil {
		h.t.Fatalf("plexus %s did not end: %s%s", strings.Join(args, " "), out.String(), errs.String())
	}
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		h.t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// plexus runs a command that must do well and returns what it printed.
func (h *home) plexus(args ...string) string {
	h.t.Helper()
	r := h.command(args...)
	if r.code != 0 {
		h.t.Fatalf("plexus %s: exit %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.err)
	}
	return r.out
}

// scenario writes a scenario file and returns the model that plays it.
func (h *home) scenario(text string) string {
	h.t.Helper()
	path := filepath.Join(h.t.TempDir(), "scenario.yaml")
	h.write(path, text)
	return "scripted:" + path
}

func (h *home) write(path, text string) {
	h.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// thread makes a thread with its first task.
func (h *home) thread(model, text string) store.Thread {
	h.t.Helper()
	var folders []store.Folder
	h.get("/api/folders", &folders)
	var th store.Thread
	if err := h.client.Post(h.t.Context(), "/api/threads", map[string]string{"folder": folders[0].ID, "model": model, "text": text}, &th); err != nil {
		h.t.Fatal(err)
	}
	return th
}

func (h *home) get(path string, out any) {
	h.t.Helper()
	if err := h.client.Get(h.t.Context(), path, out); err != nil {
		h.t.Fatalf("GET %s: %v", path, err)
	}
}

// turns returns the thread's turns.
func (h *home) turns(thread string) []store.Turn {
	h.t.Helper()
	var all []store.Turn
	h.get("/api/threads/"+thread+"/turns", &all)
	return all
}

// inState waits until the thread's first turn is in a state.
func (h *home) inState(thread string, want store.TurnState) store.Turn {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), bound)
	defer cancel()
	var got store.Turn
	for u, err := range h.client.Follow(ctx, thread, 0) {
		if err != nil {
			h.t.Fatal(err)
		}
		if u.Event == nil || u.Event.Kind != store.EventTurn {
			continue
		}
		if err := json.Unmarshal(u.Event.Body, &got); err != nil {
			h.t.Fatal(err)
		}
		if got.State == want {
			return got
		}
		if got.State.Final() {
			break
		}
	}
	h.t.Fatalf("the turn is %s (%s: %s), want %s\n%s", got.State, got.Code, got.Reason, want, h.story(thread))
	return got
}

// story is the record of a thread, for failures.
func (h *home) story(thread string) string {
	r := h.command("show", thread)
	return r.out + r.err
}

// trace is the lines of a file that the scenario's commands append to.
func (h *home) trace() []string {
	h.t.Helper()
	data, err := os.ReadFile(filepath.Join(h.folder, "trace"))
	if err != nil && !os.IsNotExist(err) {
		h.t.Fatal(err)
	}
	return strings.Fields(string(data))
}
