package workspace

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plexus/internal/tool"
)

// leftovers returns the temporary files that are still in the folder.
func (b *bench) leftovers() []string {
	var left []string
	err := filepath.WalkDir(b.folder.Path, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), ".plexus-") {
			left = append(left, path)
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return left
}

func TestWriteModes(t *testing.T) {
	b := newBench(t)
	b.file("old", "one\ntwo\n")
	tests := []struct {
		in            args
		content, text string
		change        tool.Change
	}{
		{args{"path": "new/deep/f", "content": "a\nb\n"}, "a\nb\n", "Created new/deep/f: 2 lines, 4 bytes.",
			tool.Change{Path: "new/deep/f", Op: "create", Added: 2, Diff: "--- /dev/null\n+++ b/new/deep/f\n@@ -0,0 +1,2 @@\n+a\n+b\n"}},
		{args{"path": "made", "content": "x", "mode": "create"}, "x", "Created made: 1 line, 1 byte.",
			tool.Change{Path: "made", Op: "create", Added: 1, Diff: "--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"}},
		{args{"path": "old", "content": "one\n2\n"}, "one\n2\n", "Wrote old: 1 line added, 1 removed, now 6 bytes.",
			tool.Change{Path: "old", Op: "modify", Added: 1, Removed: 1, Diff: "--- a/old\n+++ b/old\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"}},
		{args{"path": "/project/old", "content": "3\r\n", "mode": "append"}, "one\n2\n3\r\n", "Appended 3 bytes to /project/old.",
			tool.Change{Path: "old", Op: "modify", Added: 1, Diff: "--- a/old\n+++ b/old\n@@ -1,2 +1,3 @@\n one\n 2\n+3\r\n"}},
		{args{"path": "log", "content": "x\n", "mode": "append"}, "x\n", "Created log: 1 line, 2 bytes.",
			tool.Change{Path: "log", Op: "create", Added: 1, Diff: "--- /dev/null\n+++ b/log\n@@ -0,0 +1 @@\n+x\n"}},
		{args{"path": "empty", "content": ""}, "", "Created empty: 0 lines, 0 bytes.", tool.Change{Path: "empty", Op: "create"}},
	}
	for _, test := range tests {
		input, _ := json.Marshal(test.in)
		env := tool.Env{Call: tool.Call{Folder: b.folder}}
		preview, err := b.tools["write"].Preview(t.Context(), env, input)
		if err != nil || preview != test.change.Diff {
			t.Errorf("%v: Preview = %q, %v, want %q", test.in, preview, err, test.change.Diff)
		}
		result, err := b.call("write", test.in)
		if err != nil {
			t.Errorf("%v: %v", test.in, err)
			continue
		}
		if got := b.content(test.change.Path); got != test.content {
			t.Errorf("%v: the file holds %q, want %q", test.in, got, test.content)
		}
		if result.Text != test.text {
			t.Errorf("%v: %q, want %q", test.in, result.Text, test.text)
		}
		if diff := cmp.Diff([]tool.Change{test.change}, result.Changes); diff != "" {
			t.Errorf("%v: changes (-want +got):\n%s", test.in, diff)
		}
	}
	b.fails("exists", "write", args{"path": "old", "content": "x", "mode": "create"})
	same, err := b.call("write", args{"path": "made", "content": "x"})
	if err != nil || len(same.Changes) != 0 || !strings.Contains(same.Text, "nothing was changed") {
		t.Errorf("writing the same: %+v, %v", same, err)
	}
	b.fails("bad-input", "write", args{"path": "x"})
	b.fails("bad-input", "write", args{"path": "x", "content": "", "mode": "replace"})
	if left := b.leftovers(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestWriteKeepsTheMode(t *testing.T) {
	b := newBench(t)
	for _, mode := range []fs.FileMode{0o755, 0o600, 0o666, 0o640} {
		b.file("f", mode.String())
		path := filepath.Join(b.folder.Path, "f")
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		for _, m := range []string{"overwrite", "append"} {
			b.ok("write", args{"path": "f", "content": "new " + m, "mode": m})
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%s: mode %v, %v, want %v", m, info.Mode(), err, mode)
			}
		}
	}
	if err := os.Chmod(filepath.Join(b.folder.Path, "f"), 0o444); err != nil {
		t.Fatal(err)
	}
	before := b.content("f")
	b.has(b.fails("not-permitted", "write", args{"path": "f", "content": "x"}), "write-protected")
	if b.content("f") != before {
		t.Error("a write-protected file was changed")
	}
}

func TestWriteThroughLinks(t *testing.T) {
	b := newBench(t)
	b.file("sub/target", "old")
	b.link("sub/target", "link")
	b.link(filepath.Join(b.folder.Path, "sub"), "dir")
	b.link("sub/later", "dangling")
	b.ok("write", args{"path": "link", "content": "through the link"})
	if got := b.content("sub/target"); got != "through the link" {
		t.Errorf("the target holds %q", got)
	}
	b.ok("write", args{"path": "dir/target", "content": "through the folder"})
	if got := b.content("sub/target"); got != "through the folder" {
		t.Errorf("the target holds %q", got)
	}
	b.ok("write", args{"path": "dir/new/x", "content": "n"})
	if got := b.content("sub/new/x"); got != "n" {
		t.Errorf("the new file holds %q", got)
	}
	b.ok("write", args{"path": "dangling", "content": "made"})
	if got := b.content("sub/later"); got != "made" {
		t.Errorf("the target of the dangling link holds %q", got)
	}
	for _, name := range []string{"link", "dir", "dangling"} {
		if info, err := os.Lstat(filepath.Join(b.folder.Path, name)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v, %v", name, info.Mode(), err)
		}
	}
	b.fails("exists", "write", args{"path": "link", "content": "x", "mode": "create"})
}

func TestWriteBounds(t *testing.T) {
	b := newBench(t)
	b.has(b.fails("too-large", "write", args{"path": "f", "content": strings.Repeat("x", writeBytes+1)}), "10,485,761 bytes", "append")
	if got := b.content("f"); got != "<none>" {
		t.Errorf("the file holds %d bytes", len(got))
	}
	result, err := b.call("write", args{"path": "f", "content": strings.Repeat("0123456789\n", writeBytes/11)})
	if err != nil || !result.Changes[0].Cut || result.Changes[0].Diff != "" || result.Changes[0].Added != writeBytes/11 {
		t.Errorf("%+v, %v", result.Changes, err)
	}
	b.file("many", "")
	result, err = b.call("write", args{"path": "many", "content": strings.Repeat("0123456789\n", 10_000)}) // compared, but the diff is too large
	if err != nil || !result.Changes[0].Cut || result.Changes[0].Added != 10_000 {
		t.Errorf("%+v, %v", result.Changes, err)
	}
	b.ok("write", args{"path": "f", "content": "end\n", "mode": "append"})
	if got := b.content("f"); !strings.HasSuffix(got, "9\nend\n") || len(got) != writeBytes/11*11+4 {
		t.Errorf("after append the file has %d bytes", len(got))
	}
}

func TestWriteBinaryFileHasNoDiff(t *testing.T) {
	b := newBench(t)
	b.file("f", "a\x00b")
	result, err := b.call("write", args{"path": "f", "content": "text\n"})
	if err != nil || !result.Changes[0].Cut || result.Changes[0].Diff != "" {
		t.Errorf("%+v, %v", result.Changes, err)
	}
}

// TestWritersAndReaders writes one file from many sides: a reader sees one of
// the contents, never a part, and of those who create it one wins.
func TestWritersAndReaders(t *testing.T) {
	b := newBench(t)
	b.file("f", strings.Repeat("0", 50_000))
	var group sync.WaitGroup
	created := make(chan int, 8)
	for i := range 8 {
		group.Go(func() {
			if _, err := b.call("write", args{"path": "fresh", "content": fmt.Sprint(i), "mode": "create"}); err == nil {
				created <- i
			}
			for range 10 {
				if _, err := b.call("write", args{"path": "f", "content": strings.Repeat(fmt.Sprint(i), 50_000)}); err != nil {
					t.Error(err)
				}
			}
		})
		group.Go(func() {
			for range 50 {
				if got := b.content("f"); len(got) != 50_000 || strings.Trim(got, got[:1]) != "" {
					t.Errorf("a part: %d bytes", len(got))
				}
			}
		})
	}
	group.Wait()
	close(created)
	var winners []int
	for i := range created {
		winners = append(winners, i)
	}
	if len(winners) != 1 || b.content("fresh") != fmt.Sprint(winners[0]) {
		t.Errorf("%v created the file, which holds %q", winners, b.content("fresh"))
	}
	if left := b.leftovers(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func BenchmarkWrite20KB(b *testing.B) {
	bn := newBench(b)
	content := strings.Repeat(strings.Repeat("x", 79)+"\n", 250)
	for i := 0; b.Loop(); i++ {
		if _, err := bn.call("write", args{"path": "f", "content": fmt.Sprint(i, "\n", content)}); err != nil {
			b.Fatal(err)
		}
	}
}
