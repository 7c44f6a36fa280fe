package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plexus/internal/client"
	"plexus/internal/config"
	"plexus/internal/store"
)

func testConfig(t *testing.T) Config {
	t.Helper()
	home := t.TempDir()
	t.Setenv("PLEXUS_HOME", home) // keeps secrets out of the key store
	return Config{Paths: config.At(home), Ports: []int{0}, Version: "test", Log: slog.New(slog.DiscardHandler)}
}

// started runs a daemon and returns it with what ends it.
func started(t *testing.T, cfg Config) (*Daemon, func() error) {
	t.Helper()
	d, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- d.Run(context.WithoutCancel(t.Context())) }()
	return d, func() error {
		d.Stop()
		d.Stop() // asking twice is asking once
		return <-ended
	}
}

func TestOneInstancePerHome(t *testing.T) {
	cfg := testConfig(t)
	d, end := started(t, cfg)
	_, err := New(t.Context(), cfg)
	if !errors.Is(err, ErrRunning) {
		t.Errorf("a second daemon gave %v", err)
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(cfg.Paths.State()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state file stays: %v", err)
	}
	conn, err := net.DialTimeout("tcp", d.ln.Addr().String(), time.Second)
	if err == nil {
		_ = conn.Close()
		t.Error("the port stays open")
	}
	_, end = started(t, cfg) // the home is free again
	if err := end(); err != nil {
		t.Fatal(err)
	}
}

func TestTakenPort(t *testing.T) {
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	port := taken.Addr().(*net.TCPAddr).Port
	cfg := testConfig(t)
	cfg.Ports = []int{port}
	if _, err := New(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "no free port") {
		t.Errorf("a taken port gave %v", err)
	}
	cfg.Ports = []int{port, 0} // the refused start gave the home back
	d, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if d.State().Port == port {
		t.Error("it listens on a port that is taken")
	}
	if err := d.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNewerStoreIsLeftAlone(t *testing.T) {
	cfg := testConfig(t)
	if err := cfg.Paths.Create(); err != nil {
		t.Fatal(err)
	}
	_, end := started(t, cfg)
	if err := end(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(cfg.Paths.DB)
	if err != nil {
		t.Fatal(err)
	}
	newer := append([]byte(nil), before...)
	copy(newer[60:64], []byte{0x7f, 0xff, 0xff, 0xff}) // user_version, the schema's number
	if err := os.WriteFile(cfg.Paths.DB, newer, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(t.Context(), cfg); !errors.Is(err, store.ErrNewer) {
		t.Errorf("a newer database gave %v", err)
	}
	if after, err := os.ReadFile(cfg.Paths.DB); err != nil || string(after) != string(newer) {
		t.Errorf("the newer database was changed (%v)", err)
	}
}

// A call from the command line that a crash cut short is settled at the next start.
func TestLostCallsAreSettled(t *testing.T) {
	cfg := testConfig(t)
	if err := cfg.Paths.Create(); err != nil {
		t.Fatal(err)
	}
	d, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.store.AddFolder(t.Context(), store.Folder{Path: t.TempDir(), Level: "full"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := d.store.AddAction(t.Context(), store.Action{ID: "a_lost", Folder: f.ID, Tool: "run", Title: "sleep", Input: []byte("{}"), Door: "cli"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.store.MoveAction(t.Context(), a.ID, store.ActionMove{From: []store.ActionState{store.ActionIntended}, To: store.ActionRunning}); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	d, err = New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- d.Run(context.WithoutCancel(t.Context())) }()
	c := client.New(d.State())
	if err := c.Get(t.Context(), "/api/version", nil); err != nil { // answered only after what was left is settled
		t.Fatal(err)
	}
	got, err := d.store.Action(t.Context(), a.ID)
	if err != nil || got.State != store.ActionDone || !strings.Contains(string(got.Result), "interrupted") {
		t.Errorf("the lost call is %s %s, %v", got.State, got.Result, err)
	}
	d.Stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A daemon of one command answers and leaves what waits to the next that stays.
func TestIdleTakesNothingUp(t *testing.T) {
	cfg := testConfig(t)
	cfg.Idle = true
	d, end := started(t, cfg)
	f, err := d.store.AddFolder(t.Context(), store.Folder{Path: t.TempDir(), Level: "full"})
	if err != nil {
		t.Fatal(err)
	}
	th, err := d.store.CreateThread(t.Context(), store.Thread{Folder: f.ID, Model: "scripted:nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.store.EnqueueTurn(t.Context(), th.ID, "wait"); err != nil {
		t.Fatal(err)
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	_, end = started(t, cfg)
	if err := end(); err != nil {
		t.Fatal(err)
	}
	cfg.Idle = false
	d, end = started(t, cfg)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var states []store.TurnState
	for u, err := range d.store.Follow(ctx, store.FollowFrom{Thread: th.ID}) {
		if err != nil {
			t.Fatal(err)
		}
		var turn store.Turn
		if u.Event == nil || u.Event.Kind != store.EventTurn || json.Unmarshal(u.Event.Body, &turn) != nil {
			continue
		}
		if states = append(states, turn.State); turn.State.Final() {
			break
		}
	}
	if len(states) < 2 || states[0] != store.TurnQueued || states[1] != store.TurnComposing {
		t.Errorf("states %q: want the turn taken up by the daemon that stays, and only once", states)
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
}

func TestTidySpool(t *testing.T) {
	cfg := testConfig(t)
	d, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close(t.Context()) }()
	f, err := d.store.AddFolder(t.Context(), store.Folder{Path: t.TempDir(), Level: "full"})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for name, age := range map[string]time.Duration{"a_new": 0, "a_old": 31 * day, "a_unknown": 0} {
		path := filepath.Join(cfg.Paths.Spool, name+".txt")
		if err := os.WriteFile(path, []byte("output"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		if name == "a_unknown" {
			continue
		}
		if _, err := d.store.AddAction(t.Context(), store.Action{ID: name, Folder: f.ID, Tool: "run", Title: "x", Input: []byte("{}"), Door: "cli"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.tidyOnce(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(cfg.Paths.Spool, "*"))
	if err != nil || len(left) != 1 || filepath.Base(left[0]) != "a_new.txt" {
		t.Errorf("left: %q, %v", left, err)
	}
}
