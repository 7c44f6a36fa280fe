package workspace

import (
	"fmt"
	"strings"
	"testing"
)

func TestList(t *testing.T) {
	b := newBench(t)
	b.file("a.txt", "12345")
	b.file("b.log", "")
	b.file("src/x.go", strings.Repeat("x", 1234))
	b.file("src/deep/y.go", "")
	b.file("src/tmp/z", "")
	b.file("node/z", "")
	b.file(".git/HEAD", "")
	b.file(".gitignore", "*.log\n/node/\n")
	b.file("src/.gitignore", "tmp\n!b.log\n")
	b.link("src", "link")
	b.link("none", "dangling")
	b.link("../outside", "out")
	want := strings.TrimPrefix(`
.git/
.gitignore  13
a.txt  5
b.log  0  (git-ignored)
dangling  (link to none, which does not exist)
link  (link to src)
node/  (git-ignored)
out  (link that cannot be followed)
src/
[.: 9 entries]`, "\n")
	if got := b.ok("list", args{}); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	deep := strings.TrimPrefix(`
src/.gitignore  11
src/deep/
src/deep/y.go  0
src/tmp/  (git-ignored)
src/x.go  1,234
[src: 5 entries]`, "\n")
	if got := b.ok("list", args{"path": "src", "depth": 5}); got != deep {
		t.Errorf("got:\n%s\nwant:\n%s", got, deep)
	}
	b.has(b.ok("list", args{"path": "node"}), "node/z  0", "this folder is git-ignored")
	b.has(b.ok("list", args{"path": "a.txt"}), "a.txt  5")
	b.has(b.ok("list", args{"path": "link"}), "src/x.go")
	b.fails("bad-input", "list", args{"depth": 0})
	b.fails("not-found", "list", args{"path": "none"})
}

func TestListEmpty(t *testing.T) {
	b := newBench(t)
	if got := b.ok("list", args{}); got != "[.: empty folder]" {
		t.Errorf("got %q", got)
	}
}

func TestListBounds(t *testing.T) {
	b := newBench(t)
	for i := range 1200 { // sorted before near
		b.file(fmt.Sprintf("deep/%04d", i), "")
	}
	b.file("near/x", "")
	text := b.ok("list", args{"depth": 3})
	b.has(text, "near/\n", "deep/0000", "[.: 1,000 of 1,203 entries; list a folder in it, or less depth]") // the near ones are there
	if n := strings.Count(text, "\n"); n != listShown {
		t.Errorf("%d lines", n)
	}
}

func TestListStrangeNames(t *testing.T) {
	b := newBench(t)
	b.file("new\nline", "")
	b.file("bad\xffname", "")
	b.has(b.ok("list", args{}), "new�line  0\n", "bad�name  0\n")
}
