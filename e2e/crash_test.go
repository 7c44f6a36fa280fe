package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plexus/internal/store"
)

// The daemon is killed in each state of a turn. The next one takes the turn up, or ends it with a plain reason; nothing
// is run twice, and the thread goes on.

func TestKilledWhileStreaming(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	model := h.scenario("steps:\n  - reply: '{plx:done}half an answer{/plx:done}'\n    fault: freeze\n")
	th := h.thread(model, "go")
	for range 2 { // what the first crash cut short must not pass for a whole reply at the second
		h.eventually("half of the reply has come", func() bool { return strings.Contains(h.live(th.ID), "half") })
		h.kill()
		h.start()
	}
	h.kill()
	h.write(strings.TrimPrefix(model, "scripted:"), "steps:\n  - reply: '{plx:done}whole{/plx:done}'\n")
	h.start()
	h.inState(th.ID, store.TurnAnswered)
	if out := h.plexus("show", th.ID); !strings.Contains(out, "whole") || strings.Contains(out, "half an") {
		t.Errorf("the thread reads:\n%s", out)
	}
}

func TestKilledWhileActing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	th := h.thread(h.scenario(`
steps:
  - reply: |
      {plx:run}echo first >> trace{/plx:run}
      {plx:run}echo second >> trace; sleep 20; echo late >> trace{/plx:run}
      {plx:run}echo third >> trace{/plx:run}
  - expect: ['n="1" tool="run" status="ok"', 'n="2" tool="run" status="interrupted"', 'n="3" tool="run" status="dropped"']
    reply: '{plx:done}went on{/plx:done}'
`), "go")
	h.eventually("the second command runs", func() bool { return len(h.trace()) == 2 })
	before := h.processes()
	if len(before) == 0 {
		t.Fatal("no process of the command is found")
	}
	h.kill()
	h.start()
	if left := h.processes(); len(left) > 0 {
		t.Errorf("processes of the killed daemon's command still run: %v", left)
	}
	h.inState(th.ID, store.TurnAnswered)
	if got := h.trace(); !slices.Equal(got, []string{"first", "second"}) {
		t.Errorf("trace %q: each command at most once, none after the crash", got)
	}
}

func TestKilledWhileWaiting(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	th := h.thread(h.scenario(`
steps:
  - reply: '{plx:run approval="required"}echo asked >> trace{/plx:run}'
  - expect: 'exit="0"'
    reply: '{plx:done}ok{/plx:done}'
`), "go")
	h.inState(th.ID, store.TurnWaiting)
	h.kill()
	h.start()
	var open []store.Approval
	h.get("/api/approvals", &open)
	if len(open) != 1 {
		t.Fatalf("open questions after the crash: %+v", open)
	}
	h.plexus("approve", open[0].ID)
	h.inState(th.ID, store.TurnAnswered)
	if got := h.trace(); !slices.Equal(got, []string{"asked"}) {
		t.Errorf("trace %q, want the approved command once", got)
	}
	if r := h.command("deny", open[0].ID); r.code == 0 || !strings.Contains(r.err, "answered") {
		t.Errorf("a late answer: exit %d, %s%s", r.code, r.out, r.err)
	}
}

// A prefix spares the next command that begins with it, and no other.
func TestPrefixRule(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	th := h.thread(h.scenario(`
steps:
  - reply: '{plx:run approval="required"}echo first{/plx:run}'
  - reply: '{plx:run approval="required"}echo second{/plx:run}'
  - reply: '{plx:run approval="required"}printf third{/plx:run}'
  - reply: '{plx:done}ok{/plx:done}'
`), "go")
	h.inState(th.ID, store.TurnWaiting)
	var open []store.Approval
	h.get("/api/approvals", &open)
	for _, bad := range []string{"printf", "ech", "sh", "echo first; echo"} {
		if r := h.command("approve", open[0].ID, "--prefix", bad); r.code != 1 || !strings.Contains(r.err, "The question stays open") {
			t.Errorf("prefix %q: exit %d, %s%s", bad, r.code, r.out, r.err)
		}
	}
	h.plexus("approve", open[0].ID, "--prefix", "echo")
	h.eventually("the third asks", func() bool {
		h.get("/api/approvals", &open)
		return len(open) == 1 && open[0].Command == "printf third"
	})
	h.plexus("deny", open[0].ID)
	h.inState(th.ID, store.TurnAnswered)
}

func TestKilledWhileReturning(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	model := h.scenario("steps:\n  - reply: '{plx:run}echo ran >> trace{/plx:run}'\n  - reply: 'x'\n    fault: freeze\n")
	th := h.thread(model, "go")
	h.eventually("the results are on their way", func() bool {
		return len(h.trace()) == 1 && h.turns(th.ID)[0].Round == 1 && h.turns(th.ID)[0].State == store.TurnStreaming
	})
	h.kill()
	h.write(strings.TrimPrefix(model, "scripted:"), "steps:\n  - reply: '{plx:run}echo ran >> trace{/plx:run}'\n  - expect: 'exit=\"0\"'\n    reply: '{plx:done}ok{/plx:done}'\n")
	h.start()
	h.inState(th.ID, store.TurnAnswered)
	if got := h.trace(); !slices.Equal(got, []string{"ran"}) {
		t.Errorf("trace %q, want the command once", got)
	}
}

func TestKilledWhileSending(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.plexus("consent", "--agree")
	th := h.thread("chat", "go") // no browser is there: the message stays on this side
	h.inState(th.ID, store.TurnSending)
	h.kill()
	h.start()
	h.eventually("the turn is taken up", func() bool {
		turn := h.turns(th.ID)[0]
		return turn.State == store.TurnSending && turn.Since.After(turn.Created)
	})
	h.plexus("stop", th.ID)
	if turn := h.turns(th.ID)[0]; turn.State != store.TurnStopped || turn.Reason == "" {
		t.Errorf("after the stop the turn is %s: %s", turn.State, turn.Reason)
	}
	var page struct{ Events []store.Event }
	h.get("/api/threads/"+th.ID+"/events", &page)
	for _, e := range page.Events {
		var m store.Message
		if e.Kind != store.EventMessage {
			continue
		}
		if err := json.Unmarshal(e.Body, &m); err != nil {
			t.Fatal(err)
		}
		if m.Delivery != store.DeliveryNone && m.Delivery != store.DeliveryFailed {
			t.Errorf("without a browser the message counts as %q", m.Delivery)
		}
	}
}

func TestKilledWithQueue(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	model := h.scenario("steps:\n  - reply: x\n    fault: freeze\n")
	th := h.thread(model, "one")
	h.inState(th.ID, store.TurnStreaming)
	for _, text := range []string{"two", "three"} {
		if err := h.client.Post(t.Context(), "/api/threads/"+th.ID+"/turns", map[string]string{"text": text}, nil); err != nil {
			t.Fatal(err)
		}
	}
	h.kill()
	h.write(strings.TrimPrefix(model, "scripted:"), "steps:\n  - name: any\n    reply: '{plx:done}{{.Round}}{/plx:done}'\n    goto: any\n")
	h.start()
	h.eventually("all three are answered", func() bool {
		turns := h.turns(th.ID)
		return len(turns) == 3 && !slices.ContainsFunc(turns, func(t store.Turn) bool { return t.State != store.TurnAnswered })
	})
}

// Who follows a thread goes on over a restart, without gap or repeat.
func TestFollowOverRestart(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	model := h.scenario("steps:\n  - reply: 'x'\n    fault: freeze\n")
	th := h.thread(model, "go")
	follower := h.client
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	var seqs []int64
	for u, err := range follower.Follow(ctx, th.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if u.Event == nil {
			continue
		}
		seqs = append(seqs, u.Event.Seq)
		if u.Event.Kind == store.EventAnswer {
			break
		}
		if u.Event.Kind == store.EventTurn && strings.Contains(string(u.Event.Body), `"state":"streaming"`) && h.turns(th.ID)[0].State == store.TurnStreaming {
			h.kill()
			h.write(strings.TrimPrefix(model, "scripted:"), "steps:\n  - reply: '{plx:done}whole{/plx:done}'\n")
			h.start() // with another token, at another port
		}
	}
	for i, seq := range seqs {
		if seq != int64(i+1) {
			t.Fatalf("events %v: want each once, in order", seqs)
		}
	}
}

// processes are those that commands of this home started, by the mark in their environment.
func (h *home) processes() []string {
	h.t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		h.t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(h.dir))
	var found []string
	for _, path := range all {
		env, err := os.ReadFile(path)
		if err == nil && bytes.Contains(env, fmt.Appendf(nil, "PLEXUS_CALL=%x.", sum[:8])) {
			found = append(found, path)
		}
	}
	return found
}

// live is what has come of the reply that streams.
func (h *home) live(thread string) string {
	h.t.Helper()
	var now struct{ Live []store.Live }
	h.get("/api/threads/"+thread+"/live", &now)
	text := ""
	for _, l := range now.Live {
		text += l.Text
	}
	return text
}
