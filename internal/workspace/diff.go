package workspace

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"plexus/internal/tool"
)

// content is what a file holds before or after a write, as far as a diff
// needs it.
type content struct {
	exists bool
	text   []byte
	huge   bool // too large to be compared; text is empty
}

func (c content) comparable() bool {
	return !c.huge && len(c.text) <= diffSource && utf8.Valid(c.text) && bytes.IndexByte(c.text, 0) < 0
}

// change describes the way from one content of a file to another. The diff is
// left out, and Cut set, when it is too large or the file is not text.
func change(rel string, before, after content) tool.Change {
	c := tool.Change{Path: rel, Op: "modify"}
	switch {
	case !before.exists:
		c.Op = "create"
	case !after.exists:
		c.Op = "delete"
	}
	if !before.comparable() || !after.comparable() {
		c.Cut = true
		c.Added, c.Removed = countLines(after.text), countLines(before.text)
		return c
	}
	diff, added, removed := unified(rel, before, after)
	c.Added, c.Removed = added, removed
	if c.Diff = diff; len(diff) > diffBytes {
		c.Diff, c.Cut = "", true
	}
	return c
}

// unified returns a unified diff and the lines it adds and removes.
func unified(rel string, before, after content) (diff string, added, removed int) {
	from, to := "a/"+rel, "b/"+rel
	if !before.exists {
		from = "/dev/null"
	}
	if !after.exists {
		to = "/dev/null"
	}
	text := string(before.text)
	u, err := udiff.ToUnifiedDiff(from, to, text, udiff.Lines(text, string(after.text)), udiff.DefaultContextLines)
	if err != nil {
		return "", countLines(after.text), countLines(before.text) // the library made edits that it cannot apply
	}
	for _, hunk := range u.Hunks {
		for _, line := range hunk.Lines {
			switch line.Kind {
			case udiff.Insert:
				added++
			case udiff.Delete:
				removed++
			}
		}
	}
	return u.String(), added, removed
}

func countLines(b []byte) int {
	n := bytes.Count(b, []byte("\n"))
	if len(b) > 0 && !strings.HasSuffix(string(b[len(b)-1:]), "\n") {
		n++
	}
	return n
}
