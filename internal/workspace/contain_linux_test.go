package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

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

// TestSwappedFolder exchanges a folder and a link that leads out, over and
// over, while every tool works on it.
func TestSwappedFolder(t *testing.T) {
	b := newBench(t)
	var stop atomic.Bool
	var swaps atomic.Int64
	var group sync.WaitGroup
	dirs := []string{"swap", "deep/swap2"}
	for _, dir := range dirs {
		b.file(dir+"/secret", "inside\n")
		b.link(b.outside, dir+".link")
		native := filepath.Join(b.folder.Path, dir)
		group.Go(func() {
			for !stop.Load() {
				if err := unix.Renameat2(unix.AT_FDCWD, native, unix.AT_FDCWD, native+".link", unix.RENAME_EXCHANGE); err != nil {
					t.Error(err)
					return
				}
				swaps.Add(1)
			}
		})
	}
	until := time.Now().Add(2 * time.Second)
	reads, inside := 0, 0
	for i := 0; time.Now().Before(until); i++ {
		dir := dirs[i%2]
		for range 20 {
			result, err := b.call("read", args{"path": dir + "/secret"})
			if strings.Contains(result.Text, "SECRET") {
				t.Fatal("read left the folder")
			}
			if reads++; err == nil {
				inside++
			}
		}
		for _, path := range []string{dir, "."} {
			if result, _ := b.call("search", args{"query": "SECRET", "path": path}); strings.Contains(result.Text, ":SECRET") {
				t.Fatal("search left the folder")
			}
		}
		if result, _ := b.call("list", args{"path": ".", "depth": 3}); strings.Contains(result.Text, "/secret  6\n") {
			t.Fatal("list left the folder")
		}
		for range 5 {
			_, _ = b.call("write", args{"path": dir + "/written/x", "content": "x"})
			_, _ = b.call("write", args{"path": dir + "/written.txt", "content": fmt.Sprint(i)})
			_, _ = b.call("write", args{"path": dir + "/secret", "content": "inside\n" + fmt.Sprint(i)})
		}
	}
	stop.Store(true)
	group.Wait()
	if inside == 0 || inside == reads || swaps.Load() < 100 {
		t.Errorf("%d of %d reads were inside, %d swaps: the folder was not swapped under them", inside, reads, swaps.Load())
	}
	if entries, err := os.ReadDir(b.outside); err != nil || len(entries) != 1 {
		t.Errorf("outside has %v, %v, want only the secret", entries, err)
	}
	if got, err := os.ReadFile(filepath.Join(b.outside, "secret")); err != nil || string(got) != "SECRET" {
		t.Errorf("the secret is %q, %v", got, err)
	}
}

// TestSwappedBetweenFindAndUse swaps a folder for a link just after a path was
// found to be good.
func TestSwappedBetweenFindAndUse(t *testing.T) {
	b := newBench(t)
	b.file("dir/secret", "inside\n")
	b.link(b.outside, "dir.link")
	d, err := Open(b.folder)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	old, err := d.existing("dir/secret")
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := d.find("dir/made/new")
	if err != nil {
		t.Fatal(err)
	}
	native := filepath.Join(b.folder.Path, "dir")
	if err := unix.Renameat2(unix.AT_FDCWD, native, unix.AT_FDCWD, native+".link", unix.RENAME_EXCHANGE); err != nil {
		t.Fatal(err)
	}
	if f, _, err := d.open(old); err == nil {
		f.Close()
		t.Error("open left the folder")
	}
	if root, err := d.sub("dir"); err == nil {
		root.Close()
		t.Error("sub left the folder")
	}
	for _, mode := range []string{"create", "overwrite", "append"} {
		for _, p := range []place{old, fresh} {
			if err := d.replace(t.Context(), p, writeInput{Content: "x", Mode: mode}); err == nil {
				t.Errorf("%s %s left the folder", mode, p.spelled)
			}
		}
	}
	if entries, err := os.ReadDir(b.outside); err != nil || len(entries) != 1 {
		t.Errorf("outside has %v, %v, want only the secret", entries, err)
	}
	if got, err := os.ReadFile(filepath.Join(b.outside, "secret")); err != nil || string(got) != "SECRET" {
		t.Errorf("the secret is %q, %v", got, err)
	}
}
