//go:build linux

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"plexus/internal/store"
)

// Two terminals in one thread: the second waits in the queue. An interrupt there takes its own message back and leaves
// the turn of the first alone; and each shows its own turn only.
func TestInterruptOfAQueuedRun(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	th := h.thread(h.scenario(`
steps:
  - reply: '{plx:run}until test -e go; do sleep 0.02; done; echo ran >> trace{/plx:run}'
  - reply: '{plx:done}answer of the first{/plx:done}'
  - reply: '{plx:done}answer of the third{/plx:done}'
`), "first")
	h.inState(th.ID, store.TurnActing)
	second := h.begin("run", "--thread", th.ID, "second")
	h.eventually("the second waits", func() bool { return len(h.turns(th.ID)) == 2 })
	third := h.begin("run", "--thread", th.ID, "third")
	h.eventually("the third waits", func() bool { return len(h.turns(th.ID)) == 3 })
	if err := second.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = second.Wait()
	if code := second.ProcessState.ExitCode(); code != 5 {
		t.Errorf("the interrupted run ended with %d, want 5 (stopped)\n%s", code, second.Stdout)
	}
	if turn := h.turns(th.ID)[0]; turn.State != store.TurnActing {
		t.Errorf("the first turn is %s: it was not the one to stop", turn.State)
	}
	h.write(h.folder+"/go", "")
	if err := third.Wait(); err != nil {
		t.Errorf("the third: %v\n%s", err, third.Stdout)
	}
	out := third.Stdout.(*bytes.Buffer).String()
	if !strings.Contains(out, "answer of the third") || strings.Contains(out, "answer of the first") {
		t.Errorf("the third shows\n%s", out)
	}
	if got := h.trace(); len(got) != 1 {
		t.Errorf("trace %q", got)
	}
}

// What a running command printed is there for who comes late.
func TestLateFollowerSeesOutput(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	th := h.thread(h.scenario(`
steps:
  - reply: '{plx:run}echo begun; until test -e go; do sleep 0.02; done{/plx:run}'
  - reply: '{plx:done}ok{/plx:done}'
`), "go")
	h.eventually("the output is shown", func() bool { return strings.Contains(h.live(th.ID), "begun") })
	if !h.says(th.ID, "begun") {
		t.Error("a new follower is not told what was printed")
	}
	h.write(h.folder+"/go", "")
	h.inState(th.ID, store.TurnAnswered)
}

func TestRunRefusesWhatAThreadHasAlready(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	th := h.thread(h.scenario("steps:\n  - name: any\n    reply: '{plx:done}x{/plx:done}'\n    goto: any\n"), "go")
	h.inState(th.ID, store.TurnAnswered)
	for _, flag := range [][]string{{"--level", "manual"}, {"--model", "api"}, {"-C", "/"}} {
		r := h.command(append([]string{"run", "--thread", th.ID, "more"}, flag...)...)
		if r.code != 2 || !strings.Contains(r.err, "does not go with") {
			t.Errorf("%q: exit %d, %s%s", flag, r.code, r.out, r.err)
		}
	}
	if n := len(h.turns(th.ID)); n != 1 {
		t.Errorf("%d turns: a refused command sent its message", n)
	}
}

// begin starts a command and leaves it running.
func (h *home) begin(args ...string) *exec.Cmd {
	h.t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env, cmd.Dir = h.env(), h.folder
	out := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}
