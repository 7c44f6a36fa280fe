package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestNoPathLeavesTheFolder gives every way out to every tool.
func TestNoPathLeavesTheFolder(t *testing.T) {
	b := newBench(t)
	b.file("sub/a.txt", "inside")
	b.link("../outside/secret", "link-out")
	b.link(filepath.Join(b.outside, "secret"), "link-out-absolute")
	b.link("../outside", "dir-out")
	b.link(b.outside, "dir-out-absolute")
	b.link("../outside/new", "dangling-out")
	b.link(filepath.Join(b.outside, "new"), "dangling-out-absolute")
	b.link("dir-out", "link-to-link-out")
	b.link("../..", "sub/up")
	outs := []string{
		"../outside/secret", "../../etc/passwd", "/etc/passwd", "/", "..", "../project/sub/a.txt", "sub/../../outside/secret",
		b.outside + "/secret", b.folder.Path + "/../outside/secret", "/project/../outside/secret", "/project2/a",
		b.folder.Path + "2/a", "link-out", "link-out-absolute", "dir-out/secret", "dir-out-absolute/secret", "/project/link-out",
		b.folder.Path + "/link-out", "link-to-link-out/secret", "sub/up/outside/secret", "dangling-out", "dangling-out-absolute",
		"dir-out/new", "dir-out/../new", "~/x", "~",
	}
	for _, out := range outs {
		for name, in := range map[string]args{
			"read": {"path": out}, "list": {"path": out}, "search": {"path": out, "query": "SECRET"},
			"write": {"path": out, "content": "overwritten"},
		} {
			text := b.fails("outside-folder", name, in)
			b.has(text, out)
			if strings.Contains(strings.ReplaceAll(text, out, ""), filepath.Dir(b.outside)) {
				t.Errorf("%s %s: the message names another path: %s", name, out, text)
			}
		}
		b.fails("outside-folder", "write", args{"path": out, "content": "x", "mode": "create"})
		b.fails("outside-folder", "write", args{"path": out, "content": "x", "mode": "append"})
	}
	entries, err := os.ReadDir(b.outside)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside has %v, %v, want only the secret", entries, err)
	}
	if got, _ := os.ReadFile(filepath.Join(b.outside, "secret")); string(got) != "SECRET" {
		t.Errorf("the secret is %q", got)
	}
	if text := b.ok("search", args{"query": "SECRET"}); strings.Contains(text, "secret:") {
		t.Errorf("search followed a link:\n%s", text)
	}
}

// TestEverySpellingInside gives the ways that stay inside.
func TestEverySpellingInside(t *testing.T) {
	b := newBench(t)
	b.file("sub/a.txt", "inside\n")
	b.file("..foo", "inside\n")
	b.file("sub/...", "inside\n")
	b.file("ü n\tx", "inside\n")
	b.link("sub/a.txt", "link")
	b.link(filepath.Join(b.folder.Path, "sub/a.txt"), "link-absolute")
	b.link(filepath.Join(b.folder.Path, "sub"), "dir-absolute")
	b.link("dir-absolute", "link-to-absolute")
	b.link("../sub/../sub", "sub/roundabout")
	elsewhere := filepath.Join(b.outside, "alias") // another path to the folder
	if err := os.Symlink(b.folder.Path, elsewhere); err != nil {
		t.Fatal(err)
	}
	b.link(filepath.Join(elsewhere, "sub"), "dir-by-alias")
	for _, in := range []string{
		"sub/a.txt", "./sub/a.txt", "sub//a.txt", "sub/./a.txt", "sub/../sub/a.txt", "/project/sub/a.txt", b.folder.Path + "/sub/a.txt",
		"/project/sub/../sub/a.txt", "..foo", "/project/..foo", "sub/...", "ü n\tx", "link", "link-absolute", "dir-absolute/a.txt",
		"link-to-absolute/a.txt", "sub/roundabout/a.txt", elsewhere + "/sub/a.txt", "dir-by-alias/a.txt", "/project/dir-absolute/a.txt",
	} {
		b.has(b.ok("read", args{"path": in}), "inside\n")
		b.has(b.ok("search", args{"path": in, "query": "inside"}), "1 match")
	}
	for _, in := range []string{"", ".", "/project", "/project/", b.folder.Path, b.folder.Path + "/", elsewhere} {
		b.has(b.ok("list", args{"path": in}), "sub/", "..foo")
	}
}

func TestPathsThatAreNone(t *testing.T) {
	b := newBench(t)
	b.file("a.txt", "x")
	b.link("loop-b", "loop-a")
	b.link("loop-a", "loop-b")
	b.fails("bad-input", "read", args{"path": "a\x00b"})
	b.fails("bad-input", "read", args{"path": strings.Repeat("n", 300)})
	b.fails("bad-input", "read", args{"path": strings.Repeat("n/", 3000)})
	b.fails("not-found", "read", args{"path": "none"})
	b.fails("not-found", "read", args{"path": "none/a"})
	b.fails("not-folder", "read", args{"path": "a.txt/b"})
	b.fails("not-folder", "read", args{"path": "a.txt/"})
	b.fails("bad-link", "read", args{"path": "loop-a"})
	b.fails("not-folder", "write", args{"path": "a.txt/b/c", "content": "x"})
	b.fails("bad-input", "write", args{"path": "", "content": "x"})
	b.fails("is-folder", "write", args{"path": "new/", "content": "x"})
	b.fails("is-folder", "write", args{"path": ".", "content": "x"})
	b.fails("bad-link", "write", args{"path": "loop-a", "content": "x"})
}

// TestSpecialFiles would hang if one were opened.
func TestSpecialFiles(t *testing.T) {
	b := newBench(t)
	if err := unix.Mkfifo(filepath.Join(b.folder.Path, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	t.Chdir(b.folder.Path) // the name of a socket is short
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: "socket"}); err != nil {
		t.Fatal(err)
	}
	b.link("fifo", "link-to-fifo")
	names := []string{"fifo", "socket", "link-to-fifo"}
	if unix.Mknod(filepath.Join(b.folder.Path, "device"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))) == nil { // needs root
		names = append(names, "device")
	}
	for _, name := range names {
		b.has(b.fails("special-file", "read", args{"path": name}), name)
		b.fails("special-file", "write", args{"path": name, "content": "x"})
		b.fails("special-file", "write", args{"path": name, "content": "x", "mode": "append"})
		b.fails("special-file", "list", args{"path": name})
		b.fails("special-file", "search", args{"path": name, "query": "x"})
	}
	b.fails("not-folder", "read", args{"path": "fifo/x"})
	b.has(b.ok("list", args{}), "fifo  (special file)", "link-to-fifo  (link to fifo)")
	b.has(b.ok("search", args{"query": "x"}), "special files")
}

// TestOpenRefusesWhatBecameSpecial opens a place that was a file when it was
// found.
func TestOpenRefusesWhatBecameSpecial(t *testing.T) {
	b := newBench(t)
	b.file("a", "x")
	d, err := Open(b.folder)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	p, err := d.existing("a")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(b.folder.Path, "a")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if f, _, err := d.open(p); err == nil {
		f.Close()
		t.Error("a FIFO was opened")
	}
	if err := os.Rename(path, filepath.Join(b.folder.Path, "dir")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.sub("dir"); err == nil { // would wait for a writer
		t.Error("a FIFO was opened as a folder")
	}
}

// TestSwappedFolder swaps a folder for a link that leads out, over and over,
// while every tool works on it.
func TestSwappedFolder(t *testing.T) {
	b := newBench(t)
	b.file("swap/secret", "inside\n")
	b.file("deep/swap2/secret", "inside\n")
	var stop atomic.Bool
	done := make(chan error, 2)
	for _, dir := range []string{"swap", "deep/swap2"} {
		go func() {
			done <- swapUntil(&stop, filepath.Join(b.folder.Path, dir), b.outside)
		}()
	}
	until := time.Now().Add(2 * time.Second)
	reads, inside := 0, 0
	for time.Now().Before(until) {
		for _, dir := range []string{"swap", "deep/swap2"} {
			result, err := b.call("read", args{"path": dir + "/secret"})
			if strings.Contains(result.Text, "SECRET") {
				t.Fatal("read left the folder")
			}
			if reads++; err == nil {
				inside++
			}
			if result, _ := b.call("search", args{"query": "SECRET", "path": dir}); strings.Contains(result.Text, ":SECRET") {
				t.Fatal("search left the folder")
			}
			if result, _ := b.call("search", args{"query": "SECRET"}); strings.Contains(result.Text, ":SECRET") {
				t.Fatal("search of all left the folder")
			}
			if result, _ := b.call("list", args{"path": dir}); strings.Contains(result.Text, "only-outside") {
				t.Fatal("list left the folder")
			}
			_, _ = b.call("write", args{"path": dir + "/written/x", "content": "x"})
			_, _ = b.call("write", args{"path": dir + "/written.txt", "content": "x"})
		}
	}
	stop.Store(true)
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if inside == 0 || inside == reads {
		t.Errorf("%d of %d reads were inside: the folder was not swapped under them", inside, reads)
	}
	err := filepath.WalkDir(b.outside, func(path string, entry fs.DirEntry, err error) error {
		if name := entry.Name(); name != "outside" && name != "secret" {
			t.Errorf("a write left the folder: %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// swapUntil puts a link to target in the place of dir and dir back again.
func swapUntil(stop *atomic.Bool, dir, target string) error {
	aside := dir + ".aside"
	for !stop.Load() {
		if err := os.Rename(dir, aside); err != nil {
			return err
		}
		if err := os.Symlink(target, dir); err != nil && !os.IsExist(err) {
			return err
		}
		for os.RemoveAll(dir); os.Rename(aside, dir) != nil; os.RemoveAll(dir) {
			// A write made the folder anew in between.
			if stop.Load() {
				return nil
			}
		}
	}
	return nil
}
