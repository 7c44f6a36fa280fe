package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"plexus/internal/engine"
	"plexus/internal/gate"
	"plexus/internal/proc"
	"plexus/internal/store"
	"plexus/internal/tool"
	"plexus/internal/workspace"
)

const (
	echoCommand = `{"command":"echo hi"}`
	readFile    = `{"path":"src/deep/file.txt"}`
)

// measureTools makes calls at the engine, with all that belongs to one: it is judged, written down before and after, and
// run. Beside them stands what a shell alone takes, and the same reading over HTTP from a daemon.
func measureTools(ctx context.Context, w *world) ([]row, error) {
	b, err := newWorkbench(ctx, filepath.Join(w.dir, "tools"))
	if err != nil {
		return nil, err
	}
	defer b.close(ctx)
	var bare, run []float64
	for range 100 { // in turn, so that both meet the same machine
		one, err := repeat(1, func() error {
			cmd := exec.CommandContext(ctx, "/bin/sh", "-c", "echo hi")
			cmd.Dir = b.folder.Path
			return cmd.Run()
		})
		if err != nil {
			return nil, err
		}
		bare = append(bare, one...)
		if one, err = repeat(1, func() error { return b.call(ctx, "run", echoCommand, "hi\n") }); err != nil {
			return nil, err
		}
		run = append(run, one...)
	}
	read, err := repeat(300, func() error { return b.call(ctx, "read", readFile, strings.Repeat("x", 79)) })
	if err != nil {
		return nil, err
	}
	rows := []row{
		{"tool call, run `echo hi` at the engine", "ms", run, atMost(6)},
		{"  the shell alone", "ms", bare, bound{}},
		{"tool call, read 20 KB at the engine", "ms", read, atMost(0.5)},
	}
	over, err := readOverHTTP(ctx, w, b.folder.Path)
	return append(rows, row{"tool call, read 20 KB over HTTP", "ms", over, atMost(0.5)}), err
}

// workbench is an engine with all tools over a store and a folder of its own.
type workbench struct {
	store  *store.Store
	runner *proc.Runner
	engine *engine.Engine
	folder tool.Folder
}

func newWorkbench(ctx context.Context, dir string) (*workbench, error) {
	project := filepath.Join(dir, "project")
	if err := os.MkdirAll(filepath.Join(project, "src", "deep"), 0o700); err != nil {
		return nil, err
	}
	text := strings.Repeat(strings.Repeat("x", 79)+"\n", 250)
	if err := os.WriteFile(filepath.Join(project, "src", "deep", "file.txt"), []byte(text), 0o600); err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, store.Options{Path: filepath.Join(dir, "plexus.db")})
	if err != nil {
		return nil, err
	}
	b := &workbench{store: s, runner: proc.New(proc.Options{Shell: "/bin/sh"})}
	f, err := s.AddFolder(ctx, store.Folder{Name: "project", Path: project, Level: "auto-review"})
	if err != nil {
		b.close(ctx)
		return nil, err
	}
	b.folder = tool.Folder{ID: f.ID, Name: f.Name, Path: f.Path}
	log := slog.New(slog.DiscardHandler)
	b.engine, err = engine.New(engine.Config{Store: s, Gate: gate.New(s, log), Log: log, Spool: filepath.Join(dir, "spool"),
		Tools: append(workspace.Tools(workspace.Options{}), b.runner.Tools()...)})
	if err != nil {
		b.close(ctx)
		return nil, err
	}
	return b, nil
}

func (b *workbench) close(ctx context.Context) {
	_ = b.runner.Close(context.WithoutCancel(ctx))
	_ = b.store.Close()
}

// call makes one call and looks for want in its result.
func (b *workbench) call(ctx context.Context, name, input, want string) error {
	res, err := b.engine.Do(ctx, tool.Call{Folder: b.folder, Tool: name, Input: json.RawMessage(input), Actor: tool.Actor{Door: tool.DoorCLI}})
	if err != nil {
		return err
	}
	return expect(res, name, want)
}

func expect(res tool.Result, name, want string) error {
	if res.Status != tool.StatusOK || !strings.Contains(res.Text, want) {
		return fmt.Errorf("%s came to %s: %.200s", name, res.Status, res.Text)
	}
	return nil
}

// readOverHTTP makes the same call through the API of a daemon.
func readOverHTTP(ctx context.Context, w *world, project string) ([]float64, error) {
	d, err := w.startDaemon(ctx, filepath.Join(w.dir, "tools-home"))
	if err != nil {
		return nil, err
	}
	defer d.end(ctx)
	folder, err := d.approve(ctx, project)
	if err != nil {
		return nil, err
	}
	body := map[string]any{"folder": folder, "input": json.RawMessage(readFile)}
	return repeat(300, func() error {
		var res tool.Result
		if err := d.client.Post(ctx, "/api/tools/read", body, &res); err != nil {
			return err
		}
		return expect(res, "read", strings.Repeat("x", 79))
	})
}
