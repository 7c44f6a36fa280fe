package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFullDisk writes into a tiny file system of its own, where a process may
// mount one, and otherwise under a limit on the size of files.
func TestFullDisk(t *testing.T) {
	b := newBench(t)
	tiny := filepath.Join(b.folder.Path, "tiny")
	if err := os.Mkdir(tiny, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", tiny, "tmpfs", 0, "size=256k"); err != nil {
		t.Logf("cannot mount a file system (%v): with a limit instead", err)
		limited(t)
		return
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(tiny, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	checkFull(b, "tiny/f")
}

// limitedEnv tells the test's own binary that it is the process with a limit.
const limitedEnv = "WORKSPACE_TEST_LIMITED"

func limited(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestUnderFileLimit$", "-test.v")
	cmd.Env = append(os.Environ(), limitedEnv+"=1")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestUnderFileLimit") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// TestUnderFileLimit runs in a process that may not write large files, so that
// a write fails in its middle.
func TestUnderFileLimit(t *testing.T) {
	if os.Getenv(limitedEnv) == "" {
		limited(t)
		return
	}
	limit := syscall.Rlimit{Cur: 200 << 10, Max: 200 << 10}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	checkFull(b, "f")
}

// checkFull checks that a write for which there is no room leaves the old file.
func checkFull(b *bench, name string) {
	b.t.Helper()
	b.ok("write", args{"path": name, "content": "old\n"})
	large := strings.Repeat("x", 1<<20)
	for _, mode := range []string{"overwrite", "append"} {
		b.has(b.fails("disk-full", "write", args{"path": name, "content": large, "mode": mode}), name, "left as it was")
		if got := b.content(name); got != "old\n" {
			b.t.Errorf("%s: the file holds %d bytes", mode, len(got))
		}
	}
	b.fails("disk-full", "write", args{"path": name + "2", "content": large})
	if got := b.content(name + "2"); got != "<none>" {
		b.t.Errorf("a file of %d bytes was made", len(got))
	}
	if left := b.leftovers(); len(left) > 0 {
		b.t.Errorf("left: %v", left)
	}
	b.ok("write", args{"path": name, "content": "small"}) // and it goes on
}
