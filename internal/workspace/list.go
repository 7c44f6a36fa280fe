package workspace

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"plexus/internal/tool"
)

type listInput struct {
	Path  string `json:"path,omitempty" jsonschema:"folder, relative to the folder" bounds:"max=4096,default=."`
	Depth int    `json:"depth,omitempty" jsonschema:"levels to go down" bounds:"min=1,max=20,default=1"`
}

func listTool() tool.Tool {
	return tool.New(tool.Info{
		Name:    "list",
		Doc:     "List a folder: names, sizes, what git ignores. Ignored folders and .git are named and not opened. At most 1,000 entries, nearest first.",
		Class:   tool.ClassRead,
		Timeout: 30 * time.Second,
	}, tool.Handlers[listInput]{
		Subject: func(in listInput) tool.Subject {
			return tool.Subject{Title: "list " + shown(in.Path), Paths: []string{shown(in.Path)}}
		},
		Run: func(ctx context.Context, env tool.Env, in listInput) (tool.Result, error) {
			d, err := Open(env.Call.Folder)
			if err != nil {
				return tool.Result{}, err
			}
			defer d.Close()
			p, err := d.existing(in.Path)
			if err != nil {
				return tool.Result{}, err
			}
			return d.list(ctx, p, max(in.Depth, 1))
		},
	})
}

func shown(path string) string {
	if path == "" {
		return "."
	}
	return path
}

// listed is one entry of a listing.
type listed struct {
	rel  string
	line string
}

// lister goes through folders level by level, so that when there is too much
// the near entries are the ones that are shown.
type lister struct {
	d       *Dir
	entries []listed
	total   int
	notes   []string
}

// level is a folder still to be listed.
type level struct {
	rel   string
	depth int
	rules *ignores
}

func (d *Dir) list(ctx context.Context, p place, depth int) (tool.Result, error) {
	if !p.info.IsDir() {
		return ok(fmt.Sprintf("%s  %s\n", p.rel, humanize.Comma(p.info.Size()))), nil
	}
	rules, inIgnored := d.ignoresAbove(p.rel)
	l := lister{d: d}
	todo := []level{{p.rel, depth, rules}}
	for i := 0; i < len(todo) && l.total < listShown+listSeen; i++ {
		if ctx.Err() != nil {
			return tool.Result{}, tool.Errorf("too-slow", "Listing %s took too long. Use a smaller depth.", p.spelled)
		}
		below, err := l.folder(todo[i])
		if err != nil && i == 0 {
			return tool.Result{}, d.explain(p.spelled, err)
		}
		if err != nil {
			l.notes = append(l.notes, todo[i].rel+"/ could not be opened")
			continue
		}
		todo = append(todo, below...)
	}
	if inIgnored {
		l.notes = append(l.notes, "this folder is git-ignored")
	}
	return l.result(p), nil
}

// folder lists one folder and returns those in it that are to be listed too.
func (l *lister) folder(at level) ([]level, error) {
	dir, err := l.d.sub(at.rel)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, more, err := readDir(dir)
	if err != nil {
		return nil, err
	}
	if more {
		l.notes = append(l.notes, fmt.Sprintf("only the first %s entries of %s were looked at", humanize.Comma(dirEntries), at.rel))
	}
	rules := readIgnore(at.rules, dir, at.rel, ".gitignore")
	var below []level
	for _, entry := range entries {
		rel := path.Join(at.rel, entry.Name())
		ignored := rules.ignored(rel, entry.IsDir())
		l.total++
		if len(l.entries) < listShown {
			l.entries = append(l.entries, listed{rel, l.line(dir, entry, rel, ignored)})
		}
		if entry.IsDir() && at.depth > 1 && !ignored && entry.Name() != ".git" {
			below = append(below, level{rel, at.depth - 1, rules})
		}
	}
	return below, nil
}

func (l *lister) line(dir *os.Root, entry fs.DirEntry, rel string, ignored bool) string {
	name, _ := printable([]byte(rel))
	name = strings.ReplaceAll(name, "\n", "�")
	switch mode := entry.Type(); {
	case mode.IsDir():
		name += "/"
	case mode&fs.ModeSymlink != 0:
		name += l.target(dir, entry.Name(), rel)
	case !mode.IsRegular():
		name += "  (special file)"
	default:
		if info, err := dir.Lstat(entry.Name()); err == nil {
			name += "  " + humanize.Comma(info.Size())
		}
	}
	if ignored {
		name += "  (git-ignored)"
	}
	return name
}

// target says where a link leads, but not when that is outside.
func (l *lister) target(dir *os.Root, name, rel string) string {
	inside, err := l.d.expand(rel)
	if err != nil {
		return "  (link that cannot be followed)"
	}
	if _, err := l.d.root.Lstat(inside); err != nil {
		return "  (link to " + inside + ", which does not exist)"
	}
	return "  (link to " + inside + ")"
}

func (l *lister) result(p place) tool.Result {
	slices.SortFunc(l.entries, func(a, b listed) int { return strings.Compare(a.rel, b.rel) })
	var b strings.Builder
	for _, entry := range l.entries {
		b.WriteString(entry.line)
		b.WriteByte('\n')
	}
	says := []string{count(int64(l.total), "entry")}
	switch {
	case l.total == 0:
		says = []string{"empty folder"}
	case l.total >= listShown+listSeen:
		says = []string{fmt.Sprintf("%s of more than %s entries; list a folder in it, or less depth", humanize.Comma(listShown), humanize.Comma(int64(l.total)))}
	case l.total > len(l.entries):
		says = []string{fmt.Sprintf("%s of %s entries; list a folder in it, or less depth", humanize.Comma(int64(len(l.entries))), humanize.Comma(int64(l.total)))}
	}
	if len(l.notes) > 5 {
		l.notes = append(l.notes[:5], "and more")
	}
	fmt.Fprintf(&b, "[%s: %s]\n", p.spelled, strings.Join(append(says, l.notes...), "; "))
	return ok(b.String())
}

// readDir returns the entries of an opened folder by name; more when there
// are too many to be taken.
func readDir(dir *os.Root) (entries []fs.DirEntry, more bool, err error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	entries, err = f.ReadDir(dirEntries)
	if err == io.EOF {
		err = nil
	}
	if len(entries) == dirEntries {
		rest, _ := f.ReadDir(1)
		more = len(rest) > 0
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, more, err
}
