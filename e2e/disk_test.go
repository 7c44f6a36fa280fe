//go:build linux

package e2e

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"plexus/internal/store"
)

// tiny is a home on a file system of its own that is soon full.
func tinyHome(t *testing.T, size string) *home {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may mount a small file system for this test; the packages store, proc and workspace test their part without")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Fatalf("mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return &home{t: t, dir: filepath.Join(dir, "home"), folder: t.TempDir()}
}

// fill leaves about n bytes on the home's disk; the returned function makes room again.
func (h *home) fill(n int) (empty func()) {
	h.t.Helper()
	path := filepath.Join(filepath.Dir(h.dir), "filler")
	f, err := os.Create(path)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	block := make([]byte, 64<<10)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		h.t.Fatal(err)
	}
	size, err := f.Seek(0, 1)
	if err == nil {
		err = f.Truncate(max(0, size-int64(n)))
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			h.t.Fatal(err)
		}
	}
}

// The disk of the store is full when a task comes, in the middle of a turn, and when the daemon starts.
func TestFullDiskOfTheStore(t *testing.T) {
	t.Parallel()
	h := tinyHome(t, "16m")
	h.start()
	h.plexus("folders", "add", h.folder)
	good := h.run("before", "--model", h.scenario(echo))
	if good.Status != "answered" {
		t.Fatalf("%+v", good)
	}

	// Nothing fits any more: the task is refused, and the thread is as it was.
	empty := h.fill(0)
	r := h.commandWith(strings.NewReader(strings.Repeat("y", 200_000)), "run", "--thread", good.Thread)
	if r.code != 1 || !strings.Contains(r.err, "disk is full") || !strings.Contains(r.err, "Make room") {
		t.Errorf("a task on a full disk: exit %d, %s%s", r.code, r.out, r.err)
	}
	if out := h.plexus("show", good.Thread); !strings.Contains(out, "before") {
		t.Errorf("the thread reads:\n%s", out)
	}
	h.end()
	r = h.command("serve", "--port", "0")
	if r.code != 1 || !strings.Contains(strings.ToLower(r.err), "disk is full") && !strings.Contains(r.err, "no space left") {
		t.Errorf("a start on a full disk: exit %d, %s%s", r.code, r.out, r.err)
	}
	empty()
	h.start()
	if end := h.run("after", "--thread", good.Thread); end.Status != "answered" {
		t.Errorf("with room again: %+v", end)
	}
	if n := len(h.turns(good.Thread)); n != 2 {
		t.Errorf("the thread has %d turns, want 2", n)
	}
}

// The disk fills up while a command runs. Its outcome waits for room and is not lost; the turn then goes on, and what was
// done is not done again.
func TestFullDiskInATurn(t *testing.T) {
	t.Parallel()
	h := tinyHome(t, "16m")
	h.start()
	h.plexus("folders", "add", h.folder)
	model := h.scenario(`
steps:
  - reply: '{plx:run}echo once >> trace; while test ! -e full; do sleep 0.05; done; seq 1 100000{/plx:run}'
  - name: any
    reply: '{plx:done}usable{/plx:done}'
    goto: any
`)
	th := h.thread(model, "go")
	h.eventually("the command runs", func() bool { return len(h.trace()) == 1 })
	empty := h.fill(0)
	h.write(filepath.Join(h.folder, "full"), "")
	h.eventually("whoever watches is told", func() bool { return h.says(th.ID, "The disk is full") })
	if turn := h.turns(th.ID)[0]; turn.State.Final() {
		t.Errorf("the turn could be written: %s: the disk was not full", turn.State)
	}
	h.refused("disk-full", post("/api/threads/"+th.ID+"/turns", map[string]string{"text": strings.Repeat("more", 50_000)}))
	empty()
	h.inState(th.ID, store.TurnAnswered)
	if out := h.plexus("show", th.ID); !strings.Contains(out, "exit 0") || !strings.Contains(out, "usable") {
		t.Errorf("the thread reads:\n%s", out)
	}
	if end := h.run("go on", "--thread", th.ID); end.Answer != "usable" {
		t.Errorf("with room again: %+v\n%s", end, h.story(th.ID))
	}
	if got := h.trace(); len(got) != 1 {
		t.Errorf("trace %q, want the command once", got)
	}
}

// says reports whether a text is shown live in a thread now.
func (h *home) says(thread, text string) bool {
	ctx, cancel := context.WithTimeout(h.t.Context(), 2*time.Second)
	defer cancel()
	for u, err := range h.client.Follow(ctx, thread, 0) {
		if err != nil {
			h.t.Fatal(err)
		}
		if u.Live != nil && strings.Contains(u.Live.Text, text) {
			return true
		}
	}
	return false
}

// The disk has no room for an output, but for the record of it: the command is not touched, and its result says so.
func TestFullDiskOfTheSpool(t *testing.T) {
	t.Parallel()
	h := tinyHome(t, "1m") // of which only the spool is
	spool := filepath.Join(filepath.Dir(h.dir), "spool")
	h.dir = t.TempDir()
	if err := errors.Join(os.Mkdir(spool, 0o700), os.Symlink(spool, filepath.Join(h.dir, "spool"))); err != nil {
		t.Fatal(err)
	}
	h.start()
	h.plexus("folders", "add", h.folder)
	end := h.run("go", "--model", h.scenario(`
steps:
  - reply: '{plx:run}seq 1 2000000; echo whole >> trace{/plx:run}'
  - expect: ['exit="0"', 'the full output could not be kept: there is no room left on the disk', '14888896 bytes']
    reply: '{plx:done}told{/plx:done}'
`))
	if end.Answer != "told" || len(h.trace()) != 1 {
		t.Errorf("%+v, trace %q\n%s", end, h.trace(), h.story(end.Thread))
	}
	if left, err := os.ReadDir(spool); err != nil || len(left) > 0 {
		t.Errorf("the output that did not fit keeps its room: %v, %v", left, err)
	}
}
