package engine

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"plexus/internal/gate"
	"plexus/internal/store"
	"plexus/internal/tool"
)

const risky = `{"text":"git push --force"}`

func TestAllowed(t *testing.T) {
	r := newRig(t)
	c := r.call("act", risky)
	out := r.start(t.Context(), c)
	a := r.pending(c.ID)
	if a.Command != "git push --force" || a.Tool != "act" || a.Thread != r.thread.ID || len(a.Reasons) != 1 || !strings.Contains(a.Reasons[0], "forced push") || a.Boundary == "" || r.runs.Load() != 0 {
		t.Errorf("asked %+v after %d runs", a, r.runs.Load())
	}
	r.answer(a.ID, gate.Answer{Allow: true, By: "cli"})
	got := <-out
	if got.err != nil || got.res.Status != tool.StatusOK || r.runs.Load() != 1 {
		t.Errorf("%+v after %d runs", got, r.runs.Load())
	}
	if rec := r.recorded(c.ID, got.res); rec.Decision != DecisionAllowed {
		t.Errorf("decision %s", rec.Decision)
	}
}

func TestAlwaysAllowed(t *testing.T) {
	r := newRig(t)
	c := r.call("act", risky)
	out := r.start(t.Context(), c)
	r.answer(r.pending(c.ID).ID, gate.Answer{Allow: true, Always: true, By: "ui"})
	if got := <-out; got.err != nil || got.res.Status != tool.StatusOK {
		t.Fatalf("%+v", got)
	}
	again := r.call("act", risky)
	res := r.do(t.Context(), again) // would wait for ever if it asked
	if rec := r.recorded(again.ID, res); rec.Decision != DecisionAlways {
		t.Errorf("decision %s", rec.Decision)
	}
}

func TestDenied(t *testing.T) {
	r := newRig(t)
	for reason, want := range map[string]string{"": "was not run. Do not try", "use the staging branch": "Reason: use the staging branch. Do not try", "No. ": "Reason: No. Do not try"} {
		c := r.call("act", risky)
		out := r.start(t.Context(), c)
		r.answer(r.pending(c.ID).ID, gate.Answer{Reason: reason, By: "ui"})
		got := <-out
		if got.err != nil || got.res.Status != tool.StatusDenied || got.res.Outcome != tool.OutcomeRejected || !strings.Contains(got.res.Text, want) {
			t.Errorf("%q: %+v", reason, got)
		}
		if rec := r.recorded(c.ID, got.res); rec.Decision != DecisionDenied {
			t.Errorf("decision %s", rec.Decision)
		}
	}
	if n := r.runs.Load(); n != 0 {
		t.Errorf("%d runs", n)
	}
}

func TestPreview(t *testing.T) {
	panics := plain("shows", func(context.Context, tool.Env, in) (tool.Result, error) { return tool.Result{}, nil })
	panics.Preview = func(context.Context, tool.Env, json.RawMessage) (string, error) { panic("p") }
	r := newRig(t, panics)
	for _, tt := range []struct{ tool, input, want string }{
		{"put", `{"text":"a.go"}`, "+ a.go in project"}, {"put", `{"text":"a.go","n":9}`, "No preview: no such folder"}, {"shows", `{"text":"x"}`, "No preview: shows broke down"}, {"act", `{"text":"x"}`, ""},
	} {
		c := r.call(tt.tool, tt.input)
		c.Level = string(gate.Manual)
		out := r.start(t.Context(), c)
		a := r.pending(c.ID)
		if !strings.HasPrefix(a.Diff, tt.want) || tt.want == "" && a.Diff != "" {
			t.Errorf("%s: diff %q, want %q", tt.tool, a.Diff, tt.want)
		}
		r.answer(a.ID, gate.Answer{By: "ui"})
		<-out
	}
}

func TestStopWhileWaiting(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	c := r.call("act", risky)
	out := r.start(ctx, c)
	a := r.pending(c.ID)
	cancel(ErrStopped)
	got := <-out
	if got.err != nil || got.res.Status != tool.StatusInterrupted || r.runs.Load() != 0 {
		t.Errorf("%+v after %d runs", got, r.runs.Load())
	}
	r.recorded(c.ID, got.res)
	if _, err := r.gate.Answer(t.Context(), a.ID, gate.Answer{Allow: true}); !errors.Is(err, gate.ErrGone) {
		t.Errorf("answered afterwards: %v", err)
	}
}

func TestFolderVanishesWhileWaiting(t *testing.T) {
	for name, vanish := range map[string]func(*rig) error{
		CodeFolderGone:    func(r *rig) error { return os.Remove(r.folder.Path) },
		CodeUnknownFolder: func(r *rig) error { return r.store.RemoveFolder(r.t.Context(), r.folder.ID) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			c := r.call("act", risky)
			out := r.start(t.Context(), c)
			a := r.pending(c.ID)
			if err := vanish(r); err != nil {
				t.Fatal(err)
			}
			r.answer(a.ID, gate.Answer{Allow: true})
			got := <-out
			if got.err != nil || got.res.Code != name || r.runs.Load() != 0 {
				t.Errorf("%+v after %d runs", got, r.runs.Load())
			}
		})
	}
}

// TestCrash ends a process at each step of a call and takes the call up in the next.
func TestCrash(t *testing.T) {
	over := errors.New("the process ends")
	for name, tt := range map[string]struct {
		crash func(r *rig, c tool.Call)                // leaves the call at some step
		then  func(r *rig, c tool.Call, out chan came) // the next process, besides Resume
		want  tool.Status
		runs  int32
	}{
		"intended": {
			crash: func(r *rig, c tool.Call) {
				if _, err := r.engine.intend(r.t.Context(), order{call: c, tool: r.engine.tools["act"]}); err != nil {
					r.t.Fatal(err)
				}
			},
			want: tool.StatusDropped,
		},
		"waiting, then allowed": {
			crash: func(r *rig, c tool.Call) { waitAndEnd(r, c, over) },
			then:  func(r *rig, c tool.Call, _ chan came) { r.answer(approvalOf(c.ID), gate.Answer{Allow: true}) },
			want:  tool.StatusOK, runs: 1,
		},
		"waiting, then denied": {
			crash: func(r *rig, c tool.Call) { waitAndEnd(r, c, over) },
			then:  func(r *rig, c tool.Call, _ chan came) { r.answer(approvalOf(c.ID), gate.Answer{}) },
			want:  tool.StatusDenied,
		},
		"allowed, not yet run": {
			crash: func(r *rig, c tool.Call) {
				waitAndEnd(r, c, over)
				r.answer(approvalOf(c.ID), gate.Answer{Allow: true})
			},
			want: tool.StatusOK, runs: 1,
		},
		"waiting, folder gone": {
			crash: func(r *rig, c tool.Call) {
				waitAndEnd(r, c, over)
				if err := os.Remove(r.folder.Path); err != nil {
					r.t.Fatal(err)
				}
			},
			want: tool.StatusError,
		},
		"running": {
			crash: func(r *rig, c tool.Call) {
				rec, err := r.engine.intend(r.t.Context(), order{call: c, tool: r.engine.tools["act"]})
				if err != nil {
					r.t.Fatal(err)
				}
				if _, err := r.store.MoveAction(r.t.Context(), rec.ID, store.ActionMove{To: store.ActionRunning, Decision: DecisionFree}); err != nil {
					r.t.Fatal(err)
				}
			},
			want: tool.StatusInterrupted,
		},
		"done": {
			crash: func(r *rig, c tool.Call) {
				c.Input = []byte(`{"text":"make"}`)
				r.do(r.t.Context(), c)
			},
			want: tool.StatusOK, runs: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			c := r.call("act", risky)
			tt.crash(r, c)
			r.restart()
			rec, err := r.store.Action(t.Context(), c.ID)
			if err != nil {
				t.Fatal(err)
			}
			out := make(chan came, 1)
			go func() {
				res, err := r.engine.Resume(t.Context(), rec)
				out <- came{res, err}
			}()
			if tt.then != nil {
				tt.then(r, c, out)
			}
			got := <-out
			if got.err != nil || got.res.Status != tt.want || r.runs.Load() != tt.runs {
				t.Fatalf("%+v after %d runs, want %s after %d", got, r.runs.Load(), tt.want, tt.runs)
			}
			rec = r.recorded(c.ID, got.res)
			again, err := r.engine.Resume(t.Context(), rec)
			if err != nil || again.Text != got.res.Text || r.runs.Load() != tt.runs {
				t.Errorf("once more: %+v, %v after %d runs", again, err, r.runs.Load())
			}
			if open, err := r.store.Approvals(t.Context(), store.ApprovalPending); err != nil || len(open) != 0 {
				t.Errorf("open questions %+v, %v", open, err)
			}
		})
	}
}

func waitAndEnd(r *rig, c tool.Call, cause error) {
	ctx, cancel := context.WithCancelCause(r.t.Context())
	out := r.start(ctx, c)
	r.pending(c.ID)
	cancel(cause)
	if got := <-out; !errors.Is(got.err, cause) {
		r.t.Fatalf("the end of the process: %+v", got)
	}
}

func TestResumeWhatRuns(t *testing.T) {
	r := newRig(t)
	c := r.call("act", risky)
	out := r.start(t.Context(), c)
	a := r.pending(c.ID)
	rec, err := r.store.Action(t.Context(), c.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.engine.Resume(t.Context(), rec); !errors.Is(err, store.ErrConflict) {
		t.Errorf("resumed while it waits: %v", err)
	}
	r.answer(a.ID, gate.Answer{Allow: true})
	<-out
}

// Whoever made a call without a turn went away while it waited.
func TestCallerLeaves(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	c := r.call("act", risky)
	c.Turn = ""
	out := r.start(ctx, c)
	a := r.pending(c.ID)
	cancel()
	got := <-out
	if !errors.Is(got.err, context.Canceled) || got.res.Status != tool.StatusInterrupted || r.runs.Load() != 0 {
		t.Errorf("%+v after %d runs", got, r.runs.Load())
	}
	r.recorded(c.ID, got.res)
	if _, err := r.gate.Answer(t.Context(), a.ID, gate.Answer{Allow: true}); !errors.Is(err, gate.ErrGone) {
		t.Errorf("answered afterwards: %v", err)
	}
}

func TestAbandon(t *testing.T) {
	r := newRig(t)
	record := func(to store.ActionState) store.Action {
		c := r.call("act", risky)
		rec, err := r.engine.intend(t.Context(), order{call: c, tool: r.engine.tools["act"]})
		if err == nil && to == store.ActionWaiting {
			_, err = r.store.AddApproval(t.Context(), store.Approval{ID: approvalOf(c.ID), Action: c.ID, Folder: r.folder.ID})
		} else if err == nil && to != store.ActionIntended {
			_, err = r.store.MoveAction(t.Context(), rec.ID, store.ActionMove{To: to})
		}
		if err == nil {
			rec, err = r.store.Action(t.Context(), rec.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	for state, want := range map[store.ActionState]tool.Result{
		store.ActionIntended: dropped(), store.ActionWaiting: gone(), store.ActionRunning: interrupted(cutByRestart, CodeRestarted),
	} {
		rec := record(state)
		if err := r.engine.Abandon(t.Context(), rec); err != nil {
			t.Errorf("%s: %v", state, err)
		}
		r.recorded(rec.ID, want)
	}
	if err := r.engine.Abandon(t.Context(), record(store.ActionDone)); err != nil {
		t.Errorf("done: %v", err)
	}
	if open, err := r.store.Approvals(t.Context(), store.ApprovalPending); err != nil || len(open) != 0 || r.runs.Load() != 0 {
		t.Errorf("open questions %+v, %v after %d runs", open, err, r.runs.Load())
	}
}
