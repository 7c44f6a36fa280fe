package workspace

import (
	"context"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync/atomic"

	"github.com/dustin/go-humanize"
)

// skippedFolders are not searched unless named: what is in them was made by a
// program.
var skippedFolders = map[string]string{
	".git": "version control", ".hg": "version control", ".svn": "version control", ".jj": "version control",
	"node_modules": "dependencies", ".venv": "dependencies", "venv": "dependencies", "bower_components": "dependencies",
	"target": "build folder", "dist": "build folder", "build": "build folder", "out": "build folder",
	".next": "build folder", ".nuxt": "build folder", ".gradle": "build folder", "__pycache__": "build folder",
	".tox": "build folder", ".mypy_cache": "build folder", ".pytest_cache": "build folder", ".terraform": "build folder",
}

// skips counts what a search left out, by reason.
type skips struct {
	ignored, binary, large, links, special, unreadable, unlisted int
	folders                                                      []string // named, up to a few
	moreFolders                                                  int
	largest                                                      string // one example of large
}

func (s *skips) folder(rel, why string) {
	if len(s.folders) < 5 {
		s.folders = append(s.folders, rel+"/ ("+why+")")
		return
	}
	s.moreFolders++
}

func (s *skips) add(o skips) {
	s.binary += o.binary
	s.large += o.large
	s.unreadable += o.unreadable
	s.special += o.special
	if s.largest == "" {
		s.largest = o.largest
	}
}

func (s *skips) String() string {
	parts := append([]string(nil), s.folders...)
	count := func(n int, what string) {
		if n > 0 {
			parts = append(parts, humanize.Comma(int64(n))+" "+what)
		}
	}
	count(s.moreFolders, "more such folders")
	count(s.ignored, "git-ignored")
	count(s.binary, "binary")
	large := "over 1 MB"
	if s.largest != "" {
		large += " (" + s.largest + ")"
	}
	count(s.large, large)
	count(s.links, "symbolic links")
	count(s.special, "special files")
	count(s.unreadable, "unreadable")
	count(s.unlisted, "folders with more entries than are looked at")
	if len(parts) == 0 {
		return ""
	}
	return "Skipped: " + strings.Join(parts, ", ") + "."
}

// batch is some files of one folder, for one worker.
type batch struct {
	dir   *sharedRoot
	rel   string // of the folder
	names []string
	done  chan found // receives exactly one value
}

// found is what came out of a batch.
type found struct {
	hits  []hit
	files int
	skips skips
}

// sharedRoot is an opened folder that is closed when its last user is done.
type sharedRoot struct {
	*os.Root
	users atomic.Int32
}

func (s *sharedRoot) release() {
	if s.users.Add(-1) == 0 {
		s.Root.Close()
	}
}

const batchFiles = 32

// walker goes through the tree in the order of paths, files of a folder before
// its folders, and hands out batches.
type walker struct {
	d     *Dir
	start string // where the search starts
	glob  *glob
	names bool // folders are of interest too: names are searched
	emit  func(b *batch) bool
	skips skips
}

// folder walks one folder; false means that nobody wants more.
func (w *walker) folder(ctx context.Context, rel string, above *ignores) bool {
	if ctx.Err() != nil {
		return false
	}
	root, err := w.d.sub(rel)
	if err != nil {
		w.skips.unreadable++
		return true
	}
	dir := &sharedRoot{Root: root}
	dir.users.Store(1)
	entries, more, err := readDir(root)
	if err != nil {
		w.skips.unreadable++
	}
	if more {
		w.skips.unlisted++
	}
	rules := above
	if hasIgnore(entries) {
		rules = readIgnore(above, root, rel, ".gitignore")
	}
	files, folders := w.sort(rel, entries, rules)
	wanted := w.hand(dir, rel, files)
	dir.release()
	for _, name := range folders {
		if !wanted {
			return false
		}
		wanted = w.folder(ctx, path.Join(rel, name), rules)
	}
	return wanted
}

func hasIgnore(entries []fs.DirEntry) bool {
	for _, entry := range entries {
		if entry.Name() == ".gitignore" {
			return true
		}
	}
	return false
}

// sort decides what of a folder is searched.
func (w *walker) sort(rel string, entries []fs.DirEntry, rules *ignores) (files, folders []string) {
	for _, entry := range entries {
		name := entry.Name()
		at := path.Join(rel, name)
		mode := entry.Type()
		switch {
		case mode.IsDir() && skippedFolders[name] != "":
			w.skips.folder(at, skippedFolders[name])
		case mode.IsDir() && rules.ignored(at, true):
			w.skips.folder(at, "git-ignored")
		case mode.IsDir():
			folders = append(folders, name)
			if w.names && w.glob.matches(at, w.start) {
				files = append(files, name+"/")
			}
		case !w.glob.matches(at, w.start):
		case mode&fs.ModeSymlink != 0:
			w.skips.links++
		case !mode.IsRegular():
			w.skips.special++
		case rules.ignored(at, false):
			w.skips.ignored++
		default:
			files = append(files, name)
		}
	}
	return files, folders
}

// hand cuts the files into batches.
func (w *walker) hand(dir *sharedRoot, rel string, files []string) bool {
	for len(files) > 0 {
		n := min(batchFiles, len(files))
		dir.users.Add(1)
		if !w.emit(&batch{dir: dir, rel: rel, names: files[:n], done: make(chan found, 1)}) {
			dir.release()
			return false
		}
		files = files[n:]
	}
	return true
}
