package loop

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"plexus/internal/gate"
	"plexus/internal/plx"
	"plexus/internal/store"
)

const twoRounds = `
steps:
  - expect: '\{plx:task\}'
    reply: |
      {plx:note}Looking.{/plx:note}
      {plx:run}echo one; echo ran >> trace{/plx:run}
      {plx:write path="made.txt"}
      made
      {/plx:write}
  - expect: ['\$ echo one', '\[exit 0\]', 'tool="write"']
    reply: '{plx:done}All done.{/plx:done}'
  - expect: '^again$'
    reply: '{plx:done}Again done.{/plx:done}'
`

// Whoever opens a thread in mid-turn reads what streams while the turn moves on.
func TestLiveWhileTheTurnMoves(t *testing.T) {
	r := newRig(t)
	th := r.thread("steps:\n  - name: more\n    expect: '[a-z]'\n    reply: '{plx:note}on{/plx:note}{plx:read path=\"f\"}{/plx:read}'\n    goto: more\n")
	r.limits.Rounds = 30
	ended := make(chan struct{})
	var watchers sync.WaitGroup
	for range 2 {
		watchers.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				for _, l := range r.loop.Live(th.ID) {
					if l.Thread != th.ID || l.Turn == "" || l.Of == "" {
						t.Errorf("live is %+v", l)
					}
				}
			}
		})
	}
	r.inState(r.submit(th, "go"), store.TurnFailed)
	close(ended)
	watchers.Wait()
}

func TestTurnToAnswer(t *testing.T) {
	r := newRig(t)
	th := r.thread(twoRounds)
	r.inState(r.submit(th, "do it"), store.TurnAnswered)
	if got := r.answer(th.ID); got != "All done." {
		t.Errorf("answer %q", got)
	}
	if data, err := os.ReadFile(filepath.Join(r.dir, "made.txt")); err != nil || string(data) != "made\n" {
		t.Errorf("made.txt is %q, %v", data, err)
	}
	// The second turn of a thread is the user's text alone.
	r.inState(r.submit(th, "again"), store.TurnAnswered)
	users := r.sent(th.ID, store.MessageUser)
	if len(users) != 2 || !strings.HasPrefix(users[0].Wire, "{plx:task}\ndo it\n{/plx:task}") || users[1].Wire != "" {
		t.Errorf("user messages: %+v", users)
	}
	for _, m := range append(users, r.sent(th.ID, store.MessageResults)...) {
		if m.Delivery != store.DeliveryAccepted {
			t.Errorf("the %s message counts as %q", m.Kind, m.Delivery)
		}
	}
}

// Notes and the answer are told once, whatever happens between two writes.
func TestToldOnce(t *testing.T) {
	r := newRig(t)
	th := r.thread(twoRounds)
	r.inState(r.submit(th, "do it"), store.TurnAnswered)
	if got := strings.Count(r.story(th.ID), "\nnote "); got != 1 {
		t.Errorf("%d notes", got)
	}
	if got := strings.Count(r.story(th.ID), "\nanswer "); got != 1 {
		t.Errorf("%d answers", got)
	}
}

func TestQueueDrainsInOrder(t *testing.T) {
	r := newRig(t)
	th := r.thread("steps:\n  - name: any\n    reply: '{plx:done}{{.Round}}{/plx:done}'\n    goto: any\n")
	var last store.Turn
	for _, text := range []string{"a", "b", "c"} {
		last = r.submit(th, text)
	}
	r.inState(last, store.TurnAnswered)
	turns, err := r.store.Turns(t.Context(), th.ID)
	if err != nil {
		t.Fatal(err)
	}
	var tasks []string
	for _, turn := range turns {
		tasks = append(tasks, turn.Task+":"+string(turn.State))
	}
	if got := strings.Join(tasks, " "); got != "a:answered b:answered c:answered" {
		t.Errorf("turns: %s", got)
	}
	if got := r.answer(th.ID); got != "3" {
		t.Errorf("the last answer is %q, want that of the third message", got)
	}
}

func TestSubmitRefuses(t *testing.T) {
	r := newRig(t)
	th := r.thread("steps:\n  - reply: x\n")
	for text, want := range map[string]error{"": ErrEmptyTask, " \n\t ": ErrEmptyTask, strings.Repeat("x", MaxTask+1): ErrLongTask} {
		if _, err := r.loop.Submit(t.Context(), th.ID, text); !errors.Is(err, want) {
			t.Errorf("Submit of %d bytes gave %v, want %v", len(text), err, want)
		}
	}
	if _, err := r.loop.Submit(t.Context(), "t_nothing", "x"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown thread gave %v", err)
	}
}

func TestTaskOfOneMegabyte(t *testing.T) {
	r := newRig(t)
	th := r.thread("steps:\n  - expect: x{1000}\n    reply: '{plx:done}read{/plx:done}'\n")
	turn := r.submit(th, strings.Repeat("x", MaxTask))
	r.inState(turn, store.TurnAnswered)
}

func TestCorrectionTwiceThenShown(t *testing.T) {
	r := newRig(t)
	th := r.thread("steps:\n  - name: any\n    reply: '{plx:run}never closed'\n    goto: any\n")
	r.inState(r.submit(th, "go"), store.TurnAnswered)
	if got := len(r.sent(th.ID, store.MessageCorrection)); got != 2 {
		t.Errorf("%d corrections, want 2", got)
	}
	if got := r.answer(th.ID); !strings.Contains(got, "never closed") {
		t.Errorf("the answer is %q, want the reply as it came", got)
	}
	if !strings.Contains(r.story(th.ID), "unreadable-reply") {
		t.Error("nothing tells that the reply could not be read")
	}
	// The two are for the whole thread.
	r.inState(r.submit(th, "more"), store.TurnAnswered)
	if got := len(r.sent(th.ID, store.MessageCorrection)); got != 2 {
		t.Errorf("%d corrections after another turn, want 2 still", got)
	}
}

func TestEmptyReplyFails(t *testing.T) {
	r := newRig(t)
	th := r.thread("steps:\n  - name: any\n    reply: ''\n    goto: any\n")
	turn := r.inState(r.submit(th, "go"), store.TurnFailed)
	if turn.Code != codeEmpty {
		t.Errorf("code %q", turn.Code)
	}
}

func TestRoundsAreBounded(t *testing.T) {
	r := newRig(t)
	r.limits.Rounds = 3
	th := r.thread("steps:\n  - name: any\n    reply: '{plx:run}true{/plx:run}'\n    goto: any\n")
	turn := r.inState(r.submit(th, "go"), store.TurnFailed)
	if turn.Code != codeRounds || turn.Round != 3 {
		t.Errorf("ended as %s after %d rounds", turn.Code, turn.Round)
	}
}

func TestGatedBatchShrinksToOne(t *testing.T) {
	r := newRig(t)
	th := r.thread(`
steps:
  - reply: |
      {plx:run}echo first >> trace{/plx:run}
      {plx:run approval="required"}echo asked >> trace{/plx:run}
      {plx:run}echo third >> trace{/plx:run}
  - expect: 'tool="run"'
    unless: 'n="2" tool="run"'
    reply: '{plx:done}ok{/plx:done}'
`)
	turn := r.submit(th, "go")
	asked := r.question(th.ID)
	if asked.Command != "echo asked >> trace" || len(asked.Reasons) == 0 {
		t.Fatalf("the question is %+v", asked)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "trace")); err == nil {
		t.Error("something ran before the answer")
	}
	if _, err := r.gate.Answer(t.Context(), asked.ID, gate.Answer{Allow: true, By: "cli"}); err != nil {
		t.Fatal(err)
	}
	r.inState(turn, store.TurnAnswered)
	if data, err := os.ReadFile(filepath.Join(r.dir, "trace")); err != nil || string(data) != "asked\n" {
		t.Errorf("trace is %q, %v; want only the approved action", data, err)
	}
}

func TestDenialIsAResult(t *testing.T) {
	r := newRig(t)
	th := r.thread(`
steps:
  - reply: '{plx:run approval="required"}rm -rf data{/plx:run}'
  - expect: ['status="denied"', 'keep the data', '(?i)not try it again']
    reply: '{plx:done}understood{/plx:done}'
`)
	turn := r.submit(th, "go")
	asked := r.question(th.ID)
	if _, err := r.gate.Answer(t.Context(), asked.ID, gate.Answer{Reason: "keep the data", By: "ui"}); err != nil {
		t.Fatal(err)
	}
	r.inState(turn, store.TurnAnswered)
}

func TestApprovalSurvivesRestart(t *testing.T) {
	r := newRig(t)
	th := r.thread(`
steps:
  - reply: |
      {plx:run}echo other >> trace{/plx:run}
      {plx:run approval="required"}echo asked >> trace{/plx:run}
  - expect: 'exit="0"'
    reply: '{plx:done}ok{/plx:done}'
`)
	turn := r.submit(th, "go")
	r.question(th.ID)
	r.restart()
	open, err := r.store.Approvals(t.Context(), "pending")
	if err != nil || len(open) != 1 {
		t.Fatalf("after the restart: %+v, %v", open, err)
	}
	if _, err := r.gate.Answer(t.Context(), open[0].ID, gate.Answer{Allow: true, By: "cli"}); err != nil {
		t.Fatal(err)
	}
	r.inState(turn, store.TurnAnswered)
	if data, err := os.ReadFile(filepath.Join(r.dir, "trace")); err != nil || string(data) != "asked\n" {
		t.Errorf("trace is %q, %v; want the approved action once", data, err)
	}
}

func TestStop(t *testing.T) {
	tests := map[string]struct {
		scenario string
		state    store.TurnState
	}{
		"streaming": {"steps:\n  - reply: '{plx:done}half of an answer{/plx:done}'\n    fault: freeze\n", store.TurnStreaming},
		"acting":    {"steps:\n  - reply: '{plx:run}sleep 600{/plx:run}'\n", store.TurnActing},
		"waiting":   {"steps:\n  - reply: '{plx:run approval=\"required\"}true{/plx:run}'\n", store.TurnWaiting},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			th := r.thread(tt.scenario)
			turn := r.submit(th, "go")
			r.inState(turn, tt.state)
			if tt.state == store.TurnStreaming {
				r.eventually("text has come", func() bool { return len(r.loop.Live(th.ID)) > 0 })
			}
			if err := r.loop.Stop(t.Context(), th.ID); err != nil {
				t.Fatal(err)
			}
			got, err := r.store.Turn(t.Context(), turn.ID)
			if err != nil || got.State != store.TurnStopped {
				t.Errorf("after Stop the turn is %s (%s), %v", got.State, got.Reason, err)
			}
			for _, m := range r.sent(th.ID, store.MessageReply) {
				if !m.Final || m.Text == "" {
					t.Errorf("what came of the reply is not kept: %+v", m)
				}
			}
			if open, err := r.store.Approvals(t.Context(), "pending"); err != nil || len(open) != 0 {
				t.Errorf("questions stay open: %+v, %v", open, err)
			}
			if err := r.loop.Stop(t.Context(), th.ID); !errors.Is(err, ErrIdle) {
				t.Errorf("a second Stop gave %v", err)
			}
		})
	}
}

func TestFaultHoldsTheQueue(t *testing.T) {
	r := newRig(t)
	th := r.thread(`
steps:
  - reply: '{plx:run approval="required"}true{/plx:run}'
  - reply: half an answer
    fault: rate-limited
  - reply: '{plx:done}went on{/plx:done}'
  - reply: '{plx:done}last{/plx:done}'
`)
	first := r.submit(th, "one")
	asked := r.question(th.ID)
	second := r.submit(th, "two")
	if _, err := r.gate.Answer(t.Context(), asked.ID, gate.Answer{Allow: true, By: "cli"}); err != nil {
		t.Fatal(err)
	}
	if got := r.inState(first, store.TurnFailed); got.Code != FaultRateLimited {
		t.Errorf("code %q", got.Code)
	}
	r.until(th.ID, func(u store.Update) bool {
		return u.Event != nil && u.Event.Kind == store.EventNotice && strings.Contains(string(u.Event.Body), "queue-held")
	})
	if got, err := r.store.Turn(t.Context(), second.ID); err != nil || got.State != store.TurnQueued {
		t.Errorf("after the failure the second turn is %s, %v; want it held", got.State, err)
	}
	third := r.submit(th, "three")
	r.inState(second, store.TurnAnswered)
	r.inState(third, store.TurnAnswered)
}

// Who stops a turn does not start the next one with it.
func TestStopHoldsTheQueue(t *testing.T) {
	r := newRig(t)
	th := r.thread(`
steps:
  - reply: '{plx:run approval="required"}true{/plx:run}'
  - reply: '{plx:done}one{/plx:done}'
  - reply: '{plx:done}two{/plx:done}'
`)
	first := r.submit(th, "first")
	r.question(th.ID)
	second := r.submit(th, "second")
	if err := r.loop.Stop(t.Context(), th.ID); err != nil {
		t.Fatal(err)
	}
	r.inState(first, store.TurnStopped)
	r.until(th.ID, func(u store.Update) bool {
		return u.Event != nil && u.Event.Kind == store.EventNotice && strings.Contains(string(u.Event.Body), "queue-held")
	})
	if got, err := r.store.Turn(t.Context(), second.ID); err != nil || got.State != store.TurnQueued {
		t.Errorf("after the stop the second turn is %s, %v", got.State, err)
	}
	third := r.submit(th, "third")
	r.inState(second, store.TurnAnswered)
	r.inState(third, store.TurnAnswered)
}

// A folder that was replaced by a link is not the one that was approved.
func TestFolderReplacedByLink(t *testing.T) {
	r := newRig(t)
	th := r.thread("steps:\n  - reply: '{plx:done}x{/plx:done}'\n")
	if err := os.RemoveAll(r.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), r.dir); err != nil {
		t.Fatal(err)
	}
	if got := r.inState(r.submit(th, "go"), store.TurnFailed); got.Code != FaultFolderGone || !strings.Contains(got.Reason, "link") {
		t.Errorf("%s: %s", got.Code, got.Reason)
	}
}

func TestSilentModelIsGivenUp(t *testing.T) {
	r := newRig(t)
	r.limits.Watchdog = 50 * time.Millisecond
	th := r.thread("steps:\n  - reply: 'x'\n    fault: freeze\n")
	if got := r.inState(r.submit(th, "go"), store.TurnFailed); got.Code != FaultSilent {
		t.Errorf("code %q: %s", got.Code, got.Reason)
	}
}

func TestVanishedFolder(t *testing.T) {
	r := newRig(t)
	th := r.thread("steps:\n  - reply: '{plx:done}x{/plx:done}'\n")
	if err := os.RemoveAll(r.dir); err != nil {
		t.Fatal(err)
	}
	got := r.inState(r.submit(th, "go"), store.TurnFailed)
	if got.Code != FaultFolderGone || !strings.Contains(got.Reason, r.dir) {
		t.Errorf("%s: %s", got.Code, got.Reason)
	}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.inState(r.submit(th, "go"), store.TurnAnswered)
}

func TestUnknownModel(t *testing.T) {
	r := newRig(t)
	th, err := r.store.CreateThread(t.Context(), store.Thread{Folder: r.folder.ID, Model: "no-such"})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.inState(r.submit(th, "go"), store.TurnFailed); got.Code != FaultNotConfigured {
		t.Errorf("code %q", got.Code)
	}
}

// A turn that ends before its open question is answered takes the question with it.
func TestEndWithdrawsTheQuestion(t *testing.T) {
	r := newRig(t)
	th := r.thread("steps:\n  - reply: '{plx:run approval=\"required\"}true{/plx:run}'\n")
	turn := r.submit(th, "go")
	asked := r.question(th.ID)
	if err := r.loop.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(r.dir); err != nil {
		t.Fatal(err)
	}
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	r.open()
	if err := r.loop.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.inState(turn, store.TurnFailed); got.Code != FaultFolderGone {
		t.Errorf("code %q", got.Code)
	}
	if _, err := r.gate.Answer(t.Context(), asked.ID, gate.Answer{Allow: true, By: "ui"}); !errors.Is(err, gate.ErrGone) {
		t.Errorf("a late answer gave %v", err)
	}
	actions, err := r.store.TurnActions(t.Context(), turn.ID)
	if err != nil || len(actions) != 1 || actions[0].State != store.ActionDone {
		t.Errorf("actions %+v, %v", actions, err)
	}
}

// A turn that is taken back while it is picked is no failure, and the queue goes on.
func TestTakenBackWhilePicked(t *testing.T) {
	r := newRig(t)
	th := r.thread("steps:\n  - name: any\n    reply: '{plx:done}x{/plx:done}'\n    goto: any\n")
	taken, err := r.store.EnqueueTurn(t.Context(), th.ID, "taken")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.store.RemoveQueued(t.Context(), taken.ID); err != nil {
		t.Fatal(err)
	}
	goOn, err := r.loop.run(t.Context(), taken, false) // picked before it was taken
	if err != nil || !goOn {
		t.Errorf("run = %v, %v; want the queue to go on", goOn, err)
	}
	r.inState(r.submit(th, "next"), store.TurnAnswered)
}

// A first message of which nobody knows whether it arrived is followed by one with the prompt.
func TestPromptAfterUnknownDelivery(t *testing.T) {
	r := newRig(t)
	th := r.thread("steps:\n  - expect: '\\{plx:task\\}\\nagain'\n    reply: '{plx:done}x{/plx:done}'\n")
	turn, err := r.store.EnqueueTurn(t.Context(), th.ID, "first")
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.store.AddMessage(t.Context(), store.Message{Thread: th.ID, Turn: turn.ID, Kind: store.MessageUser, Text: "first", Wire: "prompt first", Final: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []store.Delivery{store.DeliveryAttempting, store.DeliveryDispatched, store.DeliveryUnknown} {
		if _, err := r.store.SetDelivery(t.Context(), m.ID, d, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.store.EndTurn(t.Context(), turn.ID, store.TurnEnd{To: store.TurnFailed, Code: FaultUnknownOutcome}); err != nil {
		t.Fatal(err)
	}
	r.inState(r.submit(th, "again"), store.TurnAnswered)
}

// What a failure holds stays held over a restart.
func TestHeldOverRestart(t *testing.T) {
	r := newRig(t)
	th := r.thread("steps:\n  - name: any\n    reply: '{plx:done}x{/plx:done}'\n    goto: any\n")
	failed, err := r.store.EnqueueTurn(t.Context(), th.ID, "failed")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.store.EndTurn(t.Context(), failed.ID, store.TurnEnd{To: store.TurnFailed, Code: FaultNoBrowser}); err != nil {
		t.Fatal(err)
	}
	waiting, err := r.store.EnqueueTurn(t.Context(), th.ID, "waiting")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.loop.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.loop.Stop(t.Context(), th.ID); !errors.Is(err, ErrIdle) {
		t.Errorf("after the start something runs: %v", err)
	}
	if got, err := r.store.Turn(t.Context(), waiting.ID); err != nil || got.State != store.TurnQueued {
		t.Errorf("the held turn is %s, %v", got.State, err)
	}
	r.inState(r.submit(th, "go on"), store.TurnAnswered)
}

func TestInvalidUTF8Task(t *testing.T) {
	r := newRig(t)
	th := r.thread("steps:\n  - expect: 'a\uFFFDb'\n    reply: '{plx:done}x{/plx:done}'\n")
	r.inState(r.submit(th, "a\xffb"), store.TurnAnswered)
}

func TestInputOfActions(t *testing.T) {
	tests := []struct {
		action plx.Action
		want   string
	}{
		{plx.Action{Tool: "run", Attrs: map[string]string{"timeout": "5", "cwd": "a", "why": "x"}, Body: "\nls -la\n"}, `{"command":"ls -la","cwd":"a","timeout":5}`},
		{plx.Action{Tool: "run", Attrs: map[string]string{"timeout": "soon"}, Body: "ls"}, `{"command":"ls","timeout":"soon"}`},
		{plx.Action{Tool: "write", Attrs: map[string]string{"path": "a"}, Body: ""}, `{"content":"","path":"a"}`},
		{plx.Action{Tool: "write", Attrs: map[string]string{"path": "a", "mode": "append"}, Body: " x \n"}, `{"content":" x \n","mode":"append","path":"a"}`},
		{plx.Action{Tool: "search", Attrs: map[string]string{"query": "q", "case": "yes"}}, `{"case":true,"query":"q"}`},
		{plx.Action{Tool: "search", Body: "from the body"}, `{"query":"from the body"}`},
		{plx.Action{Tool: "read", Attrs: map[string]string{"path": "p", "start": "3", "end": " 9 "}}, `{"end":9,"path":"p","start":3}`},
		{plx.Action{Tool: "list"}, `{}`},
	}
	for _, tt := range tests {
		if got := string(input(tt.action)); got != tt.want {
			t.Errorf("input(%+v) = %s, want %s", tt.action, got, tt.want)
		}
	}
}
