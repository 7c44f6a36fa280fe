package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"plexus/internal/tool"
)

// Dir is an approved folder, opened. It is safe for concurrent use.
type Dir struct {
	folder tool.Folder
	root   *os.Root
	info   fs.FileInfo // of the folder itself
}

// Open opens the folder. A folder that is gone, is no folder any more or
// cannot be entered is an *tool.Error. The caller closes the Dir.
func Open(folder tool.Folder) (*Dir, error) {
	// Asked first, since opening what has become a FIFO would wait for a writer.
	info, err := os.Stat(folder.Path)
	if err == nil && !info.IsDir() {
		err = fs.ErrNotExist
	}
	var root *os.Root
	if err == nil {
		root, err = os.OpenRoot(folder.Path)
	}
	switch {
	case err == nil:
		return &Dir{folder: folder, root: root, info: info}, nil
	case errors.Is(err, fs.ErrPermission):
		return nil, tool.Errorf("not-permitted", "The folder %s cannot be entered: permission denied.", nameOf(folder))
	default:
		return nil, gone(folder)
	}
}

// Close releases the folder.
func (d *Dir) Close() error { return d.root.Close() }

func gone(folder tool.Folder) *tool.Error {
	return tool.Errorf("folder-gone", "The folder %s is gone: it was moved, deleted or unmounted. Nothing was done. Put it back, or approve its new place.", nameOf(folder))
}

func nameOf(folder tool.Folder) string {
	if folder.Name != "" {
		return "/" + folder.Name
	}
	return folder.Path
}

// place is what a path of the caller's came to.
type place struct {
	spelled string      // by the caller; "." when it was empty
	rel     string      // relative to the folder, slashes, symbolic links of the last name expanded; "." is the folder
	info    fs.FileInfo // nil when nothing is there
}

// find looks a path up. Only regular files, folders and missing ones come
// back without an error. The answer is good for messages and for choosing what
// to do next; what is then opened through d.root is checked again by the
// kernel.
func (d *Dir) find(spelled string) (place, error) {
	p := place{spelled: spelled}
	if spelled == "" {
		p.spelled = "."
	}
	if strings.ContainsRune(spelled, 0) {
		return p, tool.Errorf("bad-input", "The path %q contains a NUL character.", spelled)
	}
	if spelled == "~" || strings.HasPrefix(spelled, "~/") {
		return p, tool.Errorf("outside-folder", "%s is not expanded to a home folder here. Use a path in the folder %s.", spelled, nameOf(d.folder))
	}
	rel, ok := d.folder.Rel(spelled)
	if !ok {
		if rel, ok = d.native(filepath.ToSlash(spelled)); !ok {
			return p, d.explain(p.spelled, errOutside)
		}
	}
	info, err := d.root.Lstat(rel)
	if err != nil || info.Mode()&fs.ModeSymlink != 0 {
		if rel, err = d.expand(rel); err != nil {
			return p, d.explain(p.spelled, err)
		}
		info, err = d.root.Lstat(rel)
	}
	p.rel = path.Clean(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, d.explain(p.spelled, err)
	}
	p.info = info
	if !info.IsDir() && strings.HasSuffix(filepath.ToSlash(spelled), "/") {
		return p, d.explain(p.spelled, syscall.ENOTDIR)
	}
	return p, d.ordinary(p.spelled, info)
}

// existing is find for a path at which something must be.
func (d *Dir) existing(spelled string) (place, error) {
	p, err := d.find(spelled)
	if err == nil && p.info == nil {
		err = d.explain(p.spelled, fs.ErrNotExist)
	}
	return p, err
}

// ordinary refuses what is neither a regular file nor a folder.
func (d *Dir) ordinary(spelled string, info fs.FileInfo) error {
	kind := ""
	switch mode := info.Mode(); {
	case mode.IsRegular(), mode.IsDir():
		return nil
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	default:
		kind = "a special file"
	}
	return tool.Errorf("special-file", "%s is %s and was not opened. Only regular files and folders can be used.", spelled, kind)
}

// expand follows the symbolic links in rel, a path relative to the folder,
// one component at a time. os.Root follows relative links by itself but
// refuses absolute ones, also those that lead back inside; and replacing a
// file needs the name behind a link. When the end of the path is missing, the
// deepest part that exists decides, and the rest is returned as it is.
func (d *Dir) expand(rel string) (string, error) {
	var done []string
	todo := strings.Split(rel, "/")
	for hops := 0; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if len(done) == 0 {
				return "", errOutside
			}
			done = done[:len(done)-1] // no links in done: this is the real parent
			continue
		}
		at := path.Join(path.Join(done...), name)
		info, err := d.root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return missing(at, todo)
		case err != nil:
			return "", err
		case info.Mode()&fs.ModeSymlink != 0:
			if hops++; hops > linkHops {
				return "", syscall.ELOOP
			}
			if done, todo, err = d.follow(at, done, todo); err != nil {
				return "", err
			}
		case !info.IsDir() && strings.Trim(path.Join(todo...), "/.") != "":
			return "", syscall.ENOTDIR
		default:
			done = append(done, name)
		}
	}
	if len(done) == 0 {
		return ".", nil
	}
	return path.Join(done...), nil
}

// follow replaces the link at the path at by its target.
func (d *Dir) follow(at string, done, todo []string) (newDone, newTodo []string, err error) {
	target, err := d.root.Readlink(at)
	if err != nil {
		return nil, nil, err
	}
	slashed := filepath.ToSlash(target)
	if filepath.IsAbs(target) || strings.HasPrefix(slashed, "/") {
		inside, ok := d.native(slashed)
		if !ok {
			return nil, nil, errOutside
		}
		slashed, done = inside, nil
	}
	return done, append(strings.Split(slashed, "/"), todo...), nil
}

// missing joins the part of a path that does not exist.
func missing(at string, todo []string) (string, error) {
	for _, name := range todo {
		if name == ".." {
			return "", fs.ErrNotExist
		}
	}
	return path.Join(at, path.Join(todo...)), nil
}

// native turns a native absolute path into one relative to the folder. Beside
// the folder's own spelling it accepts every other path to the same directory
// (through links, in another case on file systems that ignore case). It only
// looks at ancestors, never opens one.
func (d *Dir) native(slashed string) (rel string, ok bool) {
	if rel, ok := (tool.Folder{Path: d.folder.Path}).Rel(slashed); ok {
		return rel, true
	}
	rest := ""
	for above := strings.TrimRight(slashed, "/"); above != ""; {
		if info, err := os.Stat(filepath.FromSlash(above)); err == nil && os.SameFile(info, d.info) {
			if rest == "" {
				return ".", true
			}
			return rest, true
		}
		cut := strings.LastIndexByte(above, '/')
		if cut < 0 {
			break
		}
		rest = strings.TrimPrefix(above[cut:]+"/"+rest, "/")
		above = strings.TrimRight(above[:cut], "/")
	}
	return "", false
}

// open opens a regular file for reading, without waiting and without
// following it anywhere outside.
func (d *Dir) open(p place) (*os.File, fs.FileInfo, error) {
	f, err := d.root.OpenFile(p.rel, openFlags, 0)
	if err != nil {
		return nil, nil, d.explain(p.spelled, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		if err = d.ordinary(p.spelled, info); err == nil {
			err = d.explain(p.spelled, syscall.EISDIR)
		}
	}
	if err != nil {
		f.Close()
		return nil, nil, d.explain(p.spelled, err)
	}
	return f, info, nil
}

// sub opens a folder in the folder. The trailing dot makes the kernel insist
// on a directory, where opening a FIFO would wait.
func (d *Dir) sub(rel string) (*os.Root, error) {
	return d.root.OpenRoot(rel + "/.")
}
