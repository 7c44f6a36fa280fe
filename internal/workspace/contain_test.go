package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
