package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

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
	if err := d.abandon(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := d.store.Action(t.Context(), a.ID)
	if err != nil || got.State != store.ActionDone || !strings.Contains(string(got.Result), "interrupted") {
		t.Errorf("the lost call is %s %s, %v", got.State, got.Result, err)
	}
	if err := d.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
