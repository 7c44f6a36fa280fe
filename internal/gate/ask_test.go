package gate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"plexus/internal/store"
)

// desk is a gate on a real store that can be opened again.
type desk struct {
	t      *testing.T
	path   string
	store  *store.Store
	gate   *Gate
	folder store.Folder
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, path: filepath.Join(t.TempDir(), "plexus.db")}
	d.open()
	f, err := d.store.AddFolder(t.Context(), store.Folder{Name: "proj", Path: t.TempDir(), Level: string(AutoReview)})
	if err != nil {
		t.Fatal(err)
	}
	d.folder = f
	t.Cleanup(func() { d.store.Close() })
	return d
}

func (d *desk) open() {
	s, err := store.Open(d.t.Context(), store.Options{Path: d.path, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		d.t.Fatal(err)
	}
	d.store, d.gate = s, New(s, slog.New(slog.DiscardHandler))
}

func (d *desk) restart() {
	if err := d.store.Close(); err != nil {
		d.t.Fatal(err)
	}
	d.open()
}

// ask records an action and a question about it.
func (d *desk) ask(command string) store.Approval { return d.askIn("", command) }

func (d *desk) askIn(dir, command string) store.Approval {
	d.t.Helper()
	act, err := d.store.AddAction(d.t.Context(), store.Action{Folder: d.folder.ID, Tool: "run", Title: command, Input: json.RawMessage(`{}`), Door: "chat"})
	if err != nil {
		d.t.Fatal(err)
	}
	a, err := d.store.AddApproval(d.t.Context(), store.Approval{Action: act.ID, Folder: d.folder.ID, Tool: "run", Title: cmp.Or(command, "write a.go"), Command: command, Dir: dir, Reasons: []string{"why"}})
	if err != nil {
		d.t.Fatal(err)
	}
	return a
}

func TestAskIsAnswered(t *testing.T) {
	d := newDesk(t)
	act, err := d.store.AddAction(t.Context(), store.Action{Folder: d.folder.ID, Tool: "run", Input: json.RawMessage(`{}`), Door: "chat"})
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan store.Approval, 1)
	go func() {
		a, err := d.gate.Ask(t.Context(), store.Approval{ID: "p1", Action: act.ID, Folder: d.folder.ID, Tool: "run", Command: "make"})
		if err != nil {
			t.Error(err)
		}
		got <- a
	}()
	for u, err := range d.store.Follow(t.Context(), store.FollowFrom{}) { // until it is asked
		if err != nil {
			t.Fatal(err)
		}
		if u.Event != nil && u.Event.Kind == store.EventApproval {
			break
		}
	}
	if _, err := d.gate.Answer(t.Context(), "p1", Answer{Reason: " too early ", By: "ui"}); err != nil {
		t.Fatal(err)
	}
	if a := <-got; a.State != store.ApprovalDenied || a.Reason != "too early" || a.By != "ui" {
		t.Errorf("answered with %+v", a)
	}
}

func TestFirstAnswerWins(t *testing.T) {
	d := newDesk(t)
	a := d.ask("make")
	var wg sync.WaitGroup
	errs := make([]error, 8)
	got := make([]store.Approval, len(errs))
	for i := range errs {
		wg.Go(func() {
			got[i], errs[i] = d.gate.Answer(t.Context(), a.ID, Answer{Allow: i%2 == 0, By: string(rune('a' + i))})
		})
	}
	waited, err := d.gate.Wait(t.Context(), a.ID)
	if err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	wins := 0
	for i := range errs {
		switch {
		case errs[i] == nil:
			wins++
		case !errors.Is(errs[i], ErrAnswered):
			t.Errorf("answer %d: %v", i, errs[i])
		}
		if got[i].By != waited.By || got[i].State != waited.State {
			t.Errorf("answer %d was told %s by %s, and %s by %s won", i, got[i].State, got[i].By, waited.State, waited.By)
		}
	}
	if wins != 1 {
		t.Errorf("%d answers won", wins)
	}
}

func TestQuestionSurvivesRestart(t *testing.T) {
	d := newDesk(t)
	a := d.ask("make")
	ctx, cancel := context.WithCancelCause(t.Context())
	end := errors.New("the daemon ends")
	cancel(end)
	if _, err := d.gate.Wait(ctx, a.ID); !errors.Is(err, end) {
		t.Fatalf("waiting ended with %v", err)
	}
	d.restart()
	open, err := d.store.Approvals(t.Context(), store.ApprovalPending)
	if err != nil || len(open) != 1 || open[0].ID != a.ID {
		t.Fatalf("open questions %+v, %v", open, err)
	}
	done := make(chan store.Approval, 1)
	go func() {
		got, err := d.gate.Wait(t.Context(), a.ID)
		if err != nil {
			t.Error(err)
		}
		done <- got
	}()
	if _, err := d.gate.Answer(t.Context(), a.ID, Answer{Allow: true, By: "cli"}); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.State != store.ApprovalAllowed {
		t.Errorf("%+v", got)
	}
	d.restart() // answered, and the process died before it acted on it
	if got, err := d.gate.Wait(t.Context(), a.ID); err != nil || got.State != store.ApprovalAllowed {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAnswerToWhatIsGone(t *testing.T) {
	d := newDesk(t)
	withdrawn, over := d.ask("a"), d.ask("b")
	if a, err := d.gate.Withdraw(t.Context(), withdrawn.ID); err != nil || a.State != store.ApprovalGone {
		t.Fatalf("%+v, %v", a, err)
	}
	if _, err := d.store.MoveAction(t.Context(), over.Action, store.ActionMove{To: store.ActionDone}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{withdrawn.ID, over.ID, over.ID} {
		if a, err := d.gate.Answer(t.Context(), id, Answer{Allow: true, By: "ui"}); !errors.Is(err, ErrGone) || a.State != store.ApprovalGone {
			t.Errorf("%s: %+v, %v", id, a, err)
		}
	}
	if _, err := d.gate.Answer(t.Context(), "p_none", Answer{Allow: true}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown question: %v", err)
	}
	if a, err := d.gate.Wait(t.Context(), over.ID); err != nil || a.State != store.ApprovalGone {
		t.Errorf("waiting for what is gone: %+v, %v", a, err)
	}
}

func TestWithdrawLosesToAnAnswer(t *testing.T) {
	d := newDesk(t)
	a := d.ask("a")
	if _, err := d.gate.Answer(t.Context(), a.ID, Answer{Allow: true, By: "ui"}); err != nil {
		t.Fatal(err)
	}
	if got, err := d.gate.Withdraw(t.Context(), a.ID); err != nil || got.State != store.ApprovalAllowed {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAlways(t *testing.T) {
	d := newDesk(t)
	for _, tt := range []struct {
		name, command, prefix, kind, pattern string
		bad                                  bool
	}{
		{name: "exact", command: "make | tee x\n", kind: RuleExact, pattern: "make | tee x"},
		{name: "prefix", command: "go test ./...", prefix: "go test", kind: RulePrefix, pattern: "go test"},
		{name: "a prefix of another command", command: "go test ./...", prefix: "go build", bad: true},
		{name: "a prefix of a pipe", command: "go test | tee x", prefix: "go test", bad: true},
		{name: "a prefix that runs anything", command: "bash x.sh", prefix: "bash", bad: true},
		{name: "write", kind: RuleWrite, pattern: "write a.go"},
		{name: "a prefix of a write", prefix: "x", bad: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := d.ask(tt.command)
			got, err := d.gate.Answer(t.Context(), a.ID, Answer{Allow: true, Always: true, Prefix: tt.prefix, By: "ui"})
			if tt.bad {
				if err == nil || got.State != store.ApprovalPending {
					t.Errorf("%+v, %v: want the question still open", got, err)
				}
				return
			}
			if err != nil || got.Always == "" {
				t.Fatalf("%+v, %v", got, err)
			}
			rules, err := d.store.Rules(t.Context(), d.folder.ID)
			if err != nil {
				t.Fatal(err)
			}
			r := rules[len(rules)-1]
			if r.ID != got.Always || r.Kind != tt.kind || r.Pattern != tt.pattern {
				t.Errorf("rule %+v, want %s %q", r, tt.kind, tt.pattern)
			}
		})
	}
}

// TestAlwaysHoldsWhereItWasAllowed: the same command elsewhere is another rule.
func TestAlwaysHoldsWhereItWasAllowed(t *testing.T) {
	d := newDesk(t)
	ids := map[string]bool{}
	for _, tt := range []struct{ dir, want string }{{"build/", "build"}, {"./build", "build"}, {"", ""}, {".", ""}, {"a/../b", "a/../b"}} {
		got, err := d.gate.Answer(t.Context(), d.askIn(tt.dir, "rm -rf *").ID, Answer{Allow: true, Always: true, By: "ui"})
		if err != nil {
			t.Fatal(err)
		}
		ids[got.Always] = true
		rules, err := d.store.Rules(t.Context(), d.folder.ID)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(rules, func(r store.Rule) bool { return r.ID == got.Always })
		if i < 0 || rules[i].Dir != tt.want {
			t.Errorf("allowed in %q: %+v", tt.dir, rules)
		}
	}
	if len(ids) != 3 {
		t.Errorf("%d rules, want 3", len(ids))
	}
}
