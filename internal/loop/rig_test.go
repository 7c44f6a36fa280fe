package loop

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plexus/internal/engine"
	"plexus/internal/gate"
	"plexus/internal/plx"
	"plexus/internal/proc"
	"plexus/internal/store"
	"plexus/internal/workspace"
)

// rig is a loop on real parts in temporary folders, with the scripted model.
type rig struct {
	t      *testing.T
	home   string
	dir    string // the approved folder
	store  *store.Store
	gate   *gate.Gate
	loop   *Loop
	folder store.Folder
	models map[string]Model
	limits Limits
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, home: t.TempDir(), dir: t.TempDir(), models: map[string]Model{"scripted": Scripted{}},
		limits: Limits{Budget: plx.DefaultBudget, Rounds: 20, Watchdog: time.Minute}}
	r.open()
	f, err := r.store.AddFolder(t.Context(), store.Folder{Path: r.dir, Level: string(gate.AutoReview)})
	if err != nil {
		t.Fatal(err)
	}
	r.folder = f
	return r
}

// open builds the parts on what is in home; reopen after close is a restart.
func (r *rig) open() {
	r.t.Helper()
	var err error
	r.store, err = store.Open(r.t.Context(), store.Options{Path: filepath.Join(r.home, "plexus.db"), Assets: filepath.Join(r.home, "assets"), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		r.t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	runner := proc.New(proc.Options{Shell: "/bin/sh"})
	r.gate = gate.New(r.store, log)
	spool := filepath.Join(r.home, "spool")
	if err := os.MkdirAll(spool, 0o700); err != nil {
		r.t.Fatal(err)
	}
	eng, err := engine.New(engine.Config{Store: r.store, Gate: r.gate, Spool: spool, Log: log,
		Tools: append(workspace.Tools(workspace.Options{}), runner.Tools()...)})
	if err != nil {
		r.t.Fatal(err)
	}
	r.loop = New(Config{Store: r.store, Engine: eng, Models: r.models, Log: log,
		DefaultModel: func(context.Context) string { return "scripted" },
		Limits:       func(context.Context) Limits { return r.limits }})
	lp, st := r.loop, r.store
	r.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := lp.Close(ctx); err != nil {
			r.t.Error(err)
		}
		if err := runner.Close(ctx); err != nil {
			r.t.Error(err)
		}
		_ = st.Close()
	})
}

// restart ends the loop as a shutdown does and opens it again.
func (r *rig) restart() {
	r.t.Helper()
	if err := r.loop.Close(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	if err := r.store.Close(); err != nil {
		r.t.Fatal(err)
	}
	r.open()
	if err := r.loop.Start(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// thread makes a thread that is answered by a scenario.
func (r *rig) thread(scenario string) store.Thread {
	r.t.Helper()
	file := filepath.Join(r.t.TempDir(), "scenario.yaml")
	if err := os.WriteFile(file, []byte(scenario), 0o600); err != nil {
		r.t.Fatal(err)
	}
	th, err := r.store.CreateThread(r.t.Context(), store.Thread{Folder: r.folder.ID, Model: "scripted:" + file})
	if err != nil {
		r.t.Fatal(err)
	}
	return th
}

func (r *rig) submit(th store.Thread, text string) store.Turn {
	r.t.Helper()
	turn, err := r.loop.Submit(r.t.Context(), th.ID, text)
	if err != nil {
		r.t.Fatal(err)
	}
	return turn
}

// until follows the thread until seen says so.
func (r *rig) until(thread string, seen func(store.Update) bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 30*time.Second)
	defer cancel()
	for u, err := range r.store.Follow(ctx, store.FollowFrom{Thread: thread}) {
		if err != nil {
			r.t.Fatal(err)
		}
		if seen(u) {
			return
		}
	}
	r.t.Fatalf("thread %s never came to what was waited for: %s", thread, r.story(thread))
}

// inState waits until the turn is in a state.
func (r *rig) inState(turn store.Turn, state store.TurnState) store.Turn {
	r.t.Helper()
	var got store.Turn
	r.until(turn.Thread, func(u store.Update) bool {
		if u.Event == nil || u.Event.Kind != store.EventTurn || u.Event.Turn != turn.ID {
			return false
		}
		if err := json.Unmarshal(u.Event.Body, &got); err != nil {
			r.t.Fatal(err)
		}
		return got.State == state || got.State.Final()
	})
	if got.State != state {
		r.t.Fatalf("the turn is %s (%s: %s), want %s\n%s", got.State, got.Code, got.Reason, state, r.story(turn.Thread))
	}
	return got
}

// eventually polls what has no event to wait for.
func (r *rig) eventually(what string, ok func() bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			r.t.Fatalf("never: %s", what)
		}
	}
}

// question waits for an open approval of the thread.
func (r *rig) question(thread string) store.Approval {
	r.t.Helper()
	var a store.Approval
	r.until(thread, func(u store.Update) bool {
		if u.Event == nil || u.Event.Kind != store.EventApproval {
			return false
		}
		if err := json.Unmarshal(u.Event.Body, &a); err != nil {
			r.t.Fatal(err)
		}
		return a.State == "pending"
	})
	return a
}

// story is what was recorded, for failures.
func (r *rig) story(thread string) string {
	events, err := r.store.Events(context.Background(), thread, 0, 1000)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, e := range events {
		b.WriteString(string(e.Kind) + " " + string(e.Body) + "\n")
	}
	return b.String()
}

func (r *rig) answer(thread string) string {
	r.t.Helper()
	events, err := r.store.Events(r.t.Context(), thread, 0, 1000)
	if err != nil {
		r.t.Fatal(err)
	}
	text := ""
	for _, e := range events {
		if e.Kind == store.EventAnswer {
			var a store.Answer
			if err := json.Unmarshal(e.Body, &a); err != nil {
				r.t.Fatal(err)
			}
			text = a.Text
		}
	}
	return text
}

// sent is the thread's outgoing messages of a kind, as the model got them.
func (r *rig) sent(thread string, kind store.MessageKind) []store.Message {
	r.t.Helper()
	all, err := r.store.Messages(r.t.Context(), thread)
	if err != nil {
		r.t.Fatal(err)
	}
	var out []store.Message
	for _, m := range all {
		if m.Kind == kind {
			out = append(out, m)
		}
	}
	return out
}
