package engine

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"plexus/internal/gate"
	"plexus/internal/store"
	"plexus/internal/tool"
)

// rig is an engine on a real store and gate, with tools made for the test.
type rig struct {
	t      *testing.T
	dir    string
	tools  []tool.Tool
	store  *store.Store
	gate   *gate.Gate
	engine *Engine
	folder store.Folder
	thread store.Thread
	turn   store.Turn
	runs   atomic.Int32 // of act and put
}

type in struct {
	Text string `json:"text" bounds:"min=1,max=1000000"`
	N    int    `json:"n,omitempty" bounds:"min=1,max=9"`
}

func subject(i in) tool.Subject { return tool.Subject{Title: "act " + i.Text, Command: i.Text} }

// newRig has the tools act (runs a command), put (writes), look (reads) and the given ones.
func newRig(t *testing.T, extra ...tool.Tool) *rig {
	r := &rig{t: t, dir: t.TempDir()}
	count := func(_ context.Context, _ tool.Env, i in) (tool.Result, error) {
		r.runs.Add(1)
		return tool.Result{Text: "did " + i.Text}, nil
	}
	r.tools = append([]tool.Tool{
		tool.New(tool.Info{Name: "act", Class: tool.ClassExec}, tool.Handlers[in]{Subject: subject, Run: count}),
		tool.New(tool.Info{Name: "put", Class: tool.ClassWrite}, tool.Handlers[in]{
			Subject: func(i in) tool.Subject { return tool.Subject{Title: "write " + i.Text, Paths: []string{i.Text}} }, Run: count,
			Preview: func(_ context.Context, env tool.Env, i in) (string, error) {
				if i.N == 9 {
					return "", errors.New("no such folder")
				}
				return "+ " + i.Text + " in " + env.Call.Folder.Name, nil
			}}),
		tool.New(tool.Info{Name: "look", Class: tool.ClassRead}, tool.Handlers[in]{Subject: subject, Run: func(_ context.Context, _ tool.Env, i in) (tool.Result, error) {
			return tool.Result{Status: tool.StatusOK, Outcome: tool.OutcomeOK, Text: "saw " + i.Text}, nil
		}}),
	}, extra...)
	r.open()
	project := filepath.Join(r.dir, "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	var err error
	if r.folder, err = r.store.AddFolder(t.Context(), store.Folder{Name: "project", Path: project, Level: string(gate.AutoReview)}); err != nil {
		t.Fatal(err)
	}
	if r.thread, err = r.store.CreateThread(t.Context(), store.Thread{Folder: r.folder.ID}); err != nil {
		t.Fatal(err)
	}
	if r.turn, err = r.store.EnqueueTurn(t.Context(), r.thread.ID, "task"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.store.Close() })
	return r
}

func (r *rig) open() {
	log := slog.New(slog.DiscardHandler)
	var err error
	if r.store, err = store.Open(context.Background(), store.Options{Path: filepath.Join(r.dir, "plexus.db"), Log: log}); err != nil {
		r.t.Fatal(err)
	}
	r.gate = gate.New(r.store, log)
	if r.engine, err = New(Config{Store: r.store, Gate: r.gate, Tools: r.tools, Spool: filepath.Join(r.dir, "spool"), Log: log}); err != nil {
		r.t.Fatal(err)
	}
}

// restart opens everything again, as a new process would.
func (r *rig) restart() {
	r.store.Close()
	r.open()
}

func (r *rig) call(name, input string) tool.Call {
	return tool.Call{ID: store.NewID("a"), Thread: r.thread.ID, Turn: r.turn.ID, Round: 1, N: 1, Folder: tool.Folder{ID: r.folder.ID}, Tool: name,
		Input: json.RawMessage(input), Actor: tool.Actor{Door: tool.DoorChat, Name: "m"}}
}

func (r *rig) do(ctx context.Context, c tool.Call) tool.Result {
	r.t.Helper()
	res, err := r.engine.Do(ctx, c)
	if err != nil {
		r.t.Fatalf("%s %s: %v", c.Tool, c.Input, err)
	}
	return res
}

// recorded returns the record of a call and checks that it has the result.
func (r *rig) recorded(id string, want tool.Result) store.Action {
	r.t.Helper()
	a, err := r.store.Action(r.t.Context(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	var got tool.Result
	if err := json.Unmarshal(a.Result, &got); err != nil {
		r.t.Fatalf("result %s: %v", a.Result, err)
	}
	if a.State != store.ActionDone || a.Ended == nil || a.Outcome != string(want.Outcome) || got.Status != want.Status || got.Text != want.Text || got.Code != want.Code {
		r.t.Errorf("recorded %s %s %+v, want done with %+v", a.State, a.Outcome, got, want)
	}
	return a
}

// pending waits until a call asks, and returns the question.
func (r *rig) pending(call string) store.Approval {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer cancel()
	for u, err := range r.store.Follow(ctx, store.FollowFrom{}) {
		if err != nil {
			r.t.Fatal(err)
		}
		if u.Event == nil || u.Event.Kind != store.EventApproval {
			continue
		}
		var a store.Approval
		if err := json.Unmarshal(u.Event.Body, &a); err != nil {
			r.t.Fatal(err)
		}
		if a.Action == call {
			return a
		}
	}
	r.t.Fatalf("call %s never asked", call)
	return store.Approval{}
}

// came is what Do or Resume returned.
type came struct {
	res tool.Result
	err error
}

func (r *rig) start(ctx context.Context, c tool.Call) <-chan came {
	out := make(chan came, 1)
	go func() {
		res, err := r.engine.Do(ctx, c)
		out <- came{res, err}
	}()
	return out
}

func (r *rig) answer(id string, a gate.Answer) {
	r.t.Helper()
	if _, err := r.gate.Answer(r.t.Context(), id, a); err != nil {
		r.t.Fatal(err)
	}
}

// plain is a tool of class exec made of one function.
func plain(name string, run func(context.Context, tool.Env, in) (tool.Result, error)) tool.Tool {
	return tool.New(tool.Info{Name: name, Class: tool.ClassExec}, tool.Handlers[in]{Subject: subject, Run: run})
}
