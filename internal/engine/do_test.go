package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"plexus/internal/gate"
	"plexus/internal/store"
	"plexus/internal/tool"
)

func TestDoRecords(t *testing.T) {
	r := newRig(t)
	for _, tt := range []struct {
		name     string
		tool     string
		text     string
		decision string
		level    gate.Level
	}{
		{"a read", "look", "x", DecisionReadOnly, ""},
		{"a command that reads", "act", "ls", DecisionReadOnly, ""},
		{"a command", "act", "make", DecisionFree, ""},
		{"a write", "put", "a.go", DecisionFree, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := r.call(tt.tool, `{"text":"`+tt.text+`"}`)
			res := r.do(t.Context(), c)
			if res.Status != tool.StatusOK || res.Outcome != tool.OutcomeOK {
				t.Errorf("%+v", res)
			}
			a := r.recorded(c.ID, res)
			if a.Decision != tt.decision || a.Thread != r.thread.ID || a.Door != "chat" || a.Actor != "m" || a.N != 1 || string(a.Input) != string(c.Input) || !strings.Contains(a.Title, tt.text) {
				t.Errorf("recorded %+v, want decision %s", a, tt.decision)
			}
		})
	}
	var states []string
	events, err := r.store.Events(t.Context(), r.thread.ID, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Kind == store.EventAction {
			states = append(states, strings.Split(strings.Split(string(e.Body), `"state":"`)[1], `"`)[0])
		}
	}
	if got := strings.Join(states[:3], " "); got != "intended running done" {
		t.Errorf("states %s: intent comes before the effect and outcome after", got)
	}
}

func TestCallWithoutThreadIsRecorded(t *testing.T) {
	r := newRig(t)
	c := tool.Call{Folder: tool.Folder{Path: r.folder.Path}, Tool: "look", Input: []byte(`{"text":"x"}`), Actor: tool.Actor{Door: tool.DoorCLI}}
	c.ID = "a_cli"
	a := r.recorded(c.ID, r.do(t.Context(), c))
	if a.Thread != "" || a.Folder != r.folder.ID || a.Door != "cli" {
		t.Errorf("recorded %+v", a)
	}
}

func TestRefusals(t *testing.T) {
	r := newRig(t)
	ok := `{"text":"x"}`
	for name, tt := range map[string]struct {
		change func(*tool.Call)
		code   string
		says   []string
	}{
		"unknown tool":         {func(c *tool.Call) { c.Tool = "fly\nme" }, CodeUnknownTool, []string{`"fly me"`, "act", "look", "put"}},
		"no tool":              {func(c *tool.Call) { c.Tool = "" }, CodeUnknownTool, nil},
		"no input":             {func(c *tool.Call) { c.Input = nil }, CodeBadInput, nil},
		"not JSON":             {func(c *tool.Call) { c.Input = []byte(`{"text":`) }, CodeBadInput, []string{"not valid JSON"}},
		"not UTF-8":            {func(c *tool.Call) { c.Input = []byte("{\"text\":\"\xff\"}") }, CodeBadInput, nil},
		"no object":            {func(c *tool.Call) { c.Input = []byte(`7`) }, CodeBadInput, nil},
		"each argument":        {func(c *tool.Call) { c.Input = []byte(`{"n":"x","other":1}`) }, CodeBadInput, []string{"text", "n", "other"}},
		"out of range":         {func(c *tool.Call) { c.Input = []byte(`{"text":"x","n":10}`) }, CodeBadInput, []string{"n", "9"}},
		"too much input":       {func(c *tool.Call) { c.Input = []byte(`{"text":"` + strings.Repeat("x", maxInput) + `"}`) }, CodeBadInput, []string{"at most"}},
		"folder not approved":  {func(c *tool.Call) { c.Folder = tool.Folder{ID: "f_none", Path: r.folder.Path} }, CodeUnknownFolder, []string{"approve"}},
		"no folder":            {func(c *tool.Call) { c.Folder = tool.Folder{} }, CodeUnknownFolder, nil},
		"a path of its own":    {func(c *tool.Call) { c.Folder = tool.Folder{Path: t.TempDir()} }, CodeUnknownFolder, nil},
		"unknown level":        {func(c *tool.Call) { c.Level = "none" }, CodeBadLevel, []string{`"none"`}},
		"unknown level by cli": {func(c *tool.Call) { c.Level, c.Actor.Door = "none", tool.DoorCLI }, CodeBadLevel, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := r.call("act", ok)
			tt.change(&c)
			if _, err := r.engine.Judge(t.Context(), c); !hasCode(err, tt.code) {
				t.Errorf("Judge: %v, want %s", err, tt.code)
			}
			res := r.do(t.Context(), c)
			if res.Status != tool.StatusError || res.Outcome != tool.OutcomeRejected || res.Code != tt.code {
				t.Errorf("%+v, want %s", res, tt.code)
			}
			for _, part := range tt.says {
				if !strings.Contains(strings.ToLower(res.Text), strings.ToLower(part)) {
					t.Errorf("%q does not name %s", res.Text, part)
				}
			}
			r.recorded(c.ID, res)
		})
	}
	if n := r.runs.Load(); n != 0 {
		t.Errorf("%d calls were run", n)
	}
}

func hasCode(err error, code string) bool {
	var fault *tool.Error
	return errors.As(err, &fault) && fault.Code == code
}

func TestFolderGone(t *testing.T) {
	r := newRig(t)
	if err := os.Remove(r.folder.Path); err != nil {
		t.Fatal(err)
	}
	for name, prepare := range map[string]func() error{
		"missing": func() error { return nil },
		"a file":  func() error { return os.WriteFile(r.folder.Path, nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := prepare(); err != nil {
				t.Fatal(err)
			}
			c := r.call("look", `{"text":"x"}`)
			if _, err := r.engine.Judge(t.Context(), c); !hasCode(err, CodeFolderGone) {
				t.Errorf("Judge: %v", err)
			}
			res := r.do(t.Context(), c)
			if res.Code != CodeFolderGone || res.Outcome != tool.OutcomeRejected || !strings.Contains(res.Text, "/project") || strings.Contains(res.Text, r.dir) {
				t.Errorf("%+v", res)
			}
			r.recorded(c.ID, res)
		})
	}
}

func TestLevels(t *testing.T) {
	r := newRig(t)
	for _, tt := range []struct {
		folder, thread, call gate.Level
		door                 tool.Door
		want                 gate.Level
	}{
		{folder: gate.Full, want: gate.Full},
		{folder: "", want: gate.AutoReview},
		{folder: gate.Full, thread: gate.Manual, want: gate.Manual},
		{folder: gate.Manual, thread: gate.Full, want: gate.Manual},
		{folder: gate.AutoReview, call: gate.Full, want: gate.AutoReview},
		{folder: gate.Full, call: gate.Manual, want: gate.Manual},
		{folder: gate.Full, thread: gate.AutoReview, call: gate.Full, door: tool.DoorMCP, want: gate.AutoReview},
		{folder: gate.Manual, call: gate.Full, door: tool.DoorUI, want: gate.Manual},
		{folder: gate.Manual, call: gate.Full, door: tool.DoorCLI, want: gate.Full},
		{folder: gate.Full, thread: gate.Full, call: gate.Manual, door: tool.DoorCLI, want: gate.Manual},
		{folder: gate.Manual, door: tool.DoorCLI, want: gate.Manual},
	} {
		if _, err := r.store.SetFolderLevel(t.Context(), r.folder.ID, string(tt.folder)); err != nil {
			t.Fatal(err)
		}
		level := string(tt.thread)
		if _, err := r.store.UpdateThread(t.Context(), r.thread.ID, store.ThreadPatch{Level: &level}); err != nil {
			t.Fatal(err)
		}
		c := r.call("act", `{"text":"x"}`)
		c.Level = string(tt.call)
		if tt.door != "" {
			c.Actor.Door = tt.door
		}
		o, err := r.engine.prepare(t.Context(), c)
		if err != nil || o.level != tt.want {
			t.Errorf("%+v: %s, %v", tt, o.level, err)
		}
	}
}

func TestToolFailures(t *testing.T) {
	boom := func(context.Context, tool.Env, in) (tool.Result, error) { panic("boom") }
	died := func(name string, change func(*tool.Tool)) tool.Tool {
		tl := plain(name, func(context.Context, tool.Env, in) (tool.Result, error) { return tool.Result{}, nil })
		change(&tl)
		return tl
	}
	exit := 3
	r := newRig(t,
		plain("panics", boom),
		plain("panics-nil", func(context.Context, tool.Env, in) (tool.Result, error) {
			var m map[string]int
			m["x"] = 1 //lint:ignore SA5000 the panic is what is tested
			return tool.Result{}, nil
		}),
		died("panics-validate", func(tl *tool.Tool) { tl.Validate = func(json.RawMessage) error { panic("v") } }),
		died("panics-subject", func(tl *tool.Tool) { tl.Subject = func(json.RawMessage) tool.Subject { panic("s") } }),
		died("panics-deadline", func(tl *tool.Tool) { tl.Deadline = func(json.RawMessage) time.Duration { panic("d") } }),
		plain("refuses", func(context.Context, tool.Env, in) (tool.Result, error) {
			return tool.Result{}, fmt.Errorf("open: %w", tool.Errorf("outside-folder", "a is outside."))
		}),
		plain("fails", func(context.Context, tool.Env, in) (tool.Result, error) {
			return tool.Result{}, errors.New("disk on fire")
		}),
		plain("fills", func(context.Context, tool.Env, in) (tool.Result, error) {
			return tool.Result{}, fmt.Errorf("write x: %w", syscall.ENOSPC)
		}),
		plain("exits", func(context.Context, tool.Env, in) (tool.Result, error) {
			return tool.Result{Text: "no", Exit: &exit}, nil
		}),
		plain("invalid", func(context.Context, tool.Env, in) (tool.Result, error) { return tool.Result{Text: "a\xffb"}, nil }),
		plain("own-timeout", func(context.Context, tool.Env, in) (tool.Result, error) {
			return tool.Result{Status: tool.StatusTimeout, Text: "slow"}, nil
		}),
	)
	for name, tt := range map[string]struct {
		status  tool.Status
		outcome tool.Outcome
		code    string
		says    string
	}{
		"panics":          {tool.StatusError, tool.OutcomeFailed, CodeInternal, "boom"},
		"panics-nil":      {tool.StatusError, tool.OutcomeFailed, CodeInternal, "nil map"},
		"panics-validate": {tool.StatusError, tool.OutcomeFailed, CodeInternal, "defect of Plexus"},
		"panics-subject":  {tool.StatusError, tool.OutcomeFailed, CodeInternal, "defect of Plexus"},
		"panics-deadline": {tool.StatusError, tool.OutcomeFailed, CodeInternal, "defect of Plexus"},
		"refuses":         {tool.StatusError, tool.OutcomeRejected, "outside-folder", "a is outside."},
		"fails":           {tool.StatusError, tool.OutcomeFailed, CodeInternal, "disk on fire"},
		"fills":           {tool.StatusError, tool.OutcomeRejected, CodeDiskFull, "disk is full"},
		"exits":           {tool.StatusOK, tool.OutcomeExitNonzero, "", "no"},
		"invalid":         {tool.StatusOK, tool.OutcomeOK, "", "a\uFFFDb"},
		"own-timeout":     {tool.StatusTimeout, tool.OutcomeRejected, "", "slow"},
	} {
		t.Run(name, func(t *testing.T) {
			c := r.call(name, `{"text":"x"}`)
			res := r.do(t.Context(), c)
			if res.Status != tt.status || res.Outcome != tt.outcome || res.Code != tt.code || !strings.Contains(res.Text, tt.says) {
				t.Errorf("%+v, want %+v", res, tt)
			}
			r.recorded(c.ID, res)
		})
	}
	if res := r.do(t.Context(), r.call("look", `{"text":"x"}`)); res.Text != "saw x" {
		t.Errorf("after all of it: %+v", res)
	}
}

func TestTimeout(t *testing.T) {
	waits := func(ctx context.Context, _ tool.Env, _ in) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}
	release := make(chan struct{})
	short := tool.New(tool.Info{Name: "short", Class: tool.ClassExec, Timeout: 10 * time.Millisecond}, tool.Handlers[in]{Subject: subject, Run: waits})
	own := tool.New(tool.Info{Name: "own", Class: tool.ClassExec, Timeout: time.Hour}, tool.Handlers[in]{Subject: subject, Run: waits, Deadline: func(in) time.Duration { return 10 * time.Millisecond }})
	deaf := tool.New(tool.Info{Name: "deaf", Class: tool.ClassExec, Timeout: 10 * time.Millisecond}, tool.Handlers[in]{Subject: subject, Run: func(_ context.Context, env tool.Env, _ in) (tool.Result, error) {
		<-release
		env.Output([]byte("late")) // after its call is over: ignored
		return tool.Result{}, nil
	}})
	r := newRig(t, short, own, deaf)
	r.engine.grace = 10 * time.Millisecond
	for name, want := range map[string]tool.Status{"short": tool.StatusTimeout, "own": tool.StatusTimeout, "deaf": tool.StatusError} {
		c := r.call(name, `{"text":"x"}`)
		res := r.do(t.Context(), c)
		if res.Status != want {
			t.Errorf("%s: %+v, want %s", name, res, want)
		}
		r.recorded(c.ID, res)
	}
	close(release)
}

func TestStopWhileRunning(t *testing.T) {
	begun := make(chan struct{}, 1)
	wait := func(ctx context.Context, said tool.Result) (tool.Result, error) {
		begun <- struct{}{}
		<-ctx.Done()
		if said.Status != "" {
			return said, nil
		}
		return said, fmt.Errorf("killed: %w", context.Cause(ctx))
	}
	r := newRig(t,
		plain("errs", func(ctx context.Context, _ tool.Env, _ in) (tool.Result, error) { return wait(ctx, tool.Result{}) }),
		plain("says", func(ctx context.Context, _ tool.Env, _ in) (tool.Result, error) {
			return wait(ctx, tool.Result{Status: tool.StatusTimeout, Text: "half", Signal: "KILL"})
		}),
		plain("wins", func(ctx context.Context, _ tool.Env, _ in) (tool.Result, error) {
			return wait(ctx, tool.Result{Status: tool.StatusOK, Text: "was done before"})
		}))
	over := errors.New("the daemon ends")
	for _, tt := range []struct {
		tool   string
		cause  error
		status tool.Status
	}{
		{"errs", ErrStopped, tool.StatusInterrupted}, {"says", ErrStopped, tool.StatusInterrupted}, {"wins", ErrStopped, tool.StatusOK},
		{"errs", over, tool.StatusInterrupted}, {"says", over, tool.StatusInterrupted},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		c := r.call(tt.tool, `{"text":"x"}`)
		out := r.start(ctx, c)
		<-begun
		cancel(tt.cause)
		got := <-out
		if got.res.Status != tt.status {
			t.Errorf("%s, %v: %+v", tt.tool, tt.cause, got.res)
		}
		if wantErr := tt.cause == over; wantErr != errors.Is(got.err, over) || !wantErr && got.err != nil {
			t.Errorf("%s, %v: error %v", tt.tool, tt.cause, got.err)
		}
		r.recorded(c.ID, got.res)
	}
}

func TestStoppedBeforeItBegan(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ErrStopped)
	c := r.call("act", `{"text":"make"}`)
	res := r.do(ctx, c)
	if res.Status != tool.StatusInterrupted || r.runs.Load() != 0 {
		t.Errorf("%+v after %d runs", res, r.runs.Load())
	}
	r.recorded(c.ID, res)
}

func TestOneIDOnce(t *testing.T) {
	r := newRig(t)
	c := r.call("act", `{"text":"make"}`)
	r.do(t.Context(), c)
	if _, err := r.engine.Do(t.Context(), c); !errors.Is(err, store.ErrConflict) {
		t.Errorf("again: %v", err)
	}
	for _, id := range []string{"../x", "a/b", "a b", strings.Repeat("x", 65), ".", "-x"} {
		c.ID = id
		if _, err := r.engine.Do(t.Context(), c); err == nil {
			t.Errorf("id %q is taken", id)
		}
	}
	if n := r.runs.Load(); n != 1 {
		t.Errorf("%d runs", n)
	}
}

func TestLongTextIsCut(t *testing.T) {
	long := strings.Repeat("ü line\n", maxText/4)
	r := newRig(t, plain("long", func(context.Context, tool.Env, in) (tool.Result, error) { return tool.Result{Text: long}, nil }))
	c := r.call("long", `{"text":"x"}`)
	res := r.do(t.Context(), c)
	if len(res.Text) > maxText+100 || res.Bytes != int64(len(long)) || res.Lines != maxText/4 || !strings.Contains(res.Text, "left out") {
		t.Errorf("%d bytes of text, %d bytes and %d lines in all", len(res.Text), res.Bytes, res.Lines)
	}
	spooled, err := os.ReadFile(r.engine.SpoolFile(c.ID))
	if err != nil || string(spooled) != long || res.Spool != r.engine.SpoolFile(c.ID) {
		t.Errorf("spool %q has %d bytes, %v", res.Spool, len(spooled), err)
	}
	r.recorded(c.ID, res)
}

// A store that fails after the effect does not swallow the result.
func TestStoreFailsAfterTheEffect(t *testing.T) {
	var r *rig
	r = newRig(t, plain("closes", func(context.Context, tool.Env, in) (tool.Result, error) {
		r.store.Close()
		return tool.Result{Text: "done for real"}, nil
	}))
	c := r.call("closes", `{"text":"x"}`)
	res, err := r.engine.Do(t.Context(), c)
	if err == nil || res.Text != "done for real" || res.Outcome != tool.OutcomeOK {
		t.Fatalf("%+v, %v: want the result and the error", res, err)
	}
	r.open()
	a, err := r.store.Action(t.Context(), c.ID)
	if err != nil || a.State != store.ActionRunning {
		t.Fatalf("%+v, %v", a, err)
	}
	res, err = r.engine.Resume(t.Context(), a)
	if err != nil || res.Status != tool.StatusInterrupted {
		t.Errorf("%+v, %v", res, err)
	}
	r.recorded(c.ID, res)
}

// A store that fails before the effect prevents it.
func TestStoreFailsBeforeTheEffect(t *testing.T) {
	r := newRig(t)
	r.store.Close()
	if _, err := r.engine.Do(t.Context(), r.call("act", `{"text":"make"}`)); err == nil || r.runs.Load() != 0 {
		t.Errorf("%v after %d runs", err, r.runs.Load())
	}
}

func TestNewChecksTools(t *testing.T) {
	r := newRig(t)
	for name, tools := range map[string][]tool.Tool{"twice": {r.tools[0], r.tools[0]}, "empty": {{}}, "no run": {{Info: tool.Info{Name: "x"}}}} {
		if _, err := New(Config{Store: r.store, Gate: r.gate, Tools: tools, Spool: t.TempDir(), Log: r.engine.log}); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	var names []string
	for _, i := range r.engine.Tools() {
		names = append(names, i.Name)
	}
	if got := strings.Join(names, " "); got != "act look put" {
		t.Errorf("tools %s", got)
	}
}
