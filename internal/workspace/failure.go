package workspace

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"plexus/internal/tool"
)

// errOutside is a path that leaves the folder.
var errOutside = errors.New("outside the folder")

// explain turns what the system said about a path into a *tool.Error that
// names the path as the caller spelled it and no other.
func (d *Dir) explain(spelled string, err error) error {
	var known *tool.Error
	if errors.As(err, &known) {
		return known
	}
	switch {
	case errors.Is(err, errOutside), isEscape(err):
		return tool.Errorf("outside-folder", "%s is outside the folder %s. Use a path inside it.", spelled, nameOf(d.folder))
	case errors.Is(err, fs.ErrNotExist):
		if info, statErr := os.Stat(d.folder.Path); statErr != nil || !info.IsDir() {
			return gone(d.folder)
		}
		return tool.Errorf("not-found", "%s does not exist.", spelled)
	case errors.Is(err, fs.ErrPermission):
		return tool.Errorf("not-permitted", "%s cannot be used: permission denied.", spelled)
	case errors.Is(err, syscall.ENOTDIR):
		return tool.Errorf("not-folder", "%s is not a folder, or a part of the path is a file.", spelled)
	case errors.Is(err, syscall.EISDIR):
		return tool.Errorf("is-folder", "%s is a folder, not a file.", spelled)
	case errors.Is(err, syscall.ELOOP):
		return tool.Errorf("bad-link", "%s goes through too many symbolic links.", spelled)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return tool.Errorf("bad-input", "The path is too long: %d bytes.", len(spelled))
	case errors.Is(err, syscall.EROFS):
		return tool.Errorf("not-permitted", "%s is on a file system that cannot be written.", spelled)
	case isFull(err):
		return tool.Errorf("disk-full", "There is no room left on the disk for %s; it was left as it was. Free some space, then try again.", spelled)
	default:
		return tool.Errorf("io-error", "%s: %s.", spelled, cause(err))
	}
}

// isEscape recognises os.Root's refusal, for which there is no exported error.
// It only chooses the words: the refusal has already happened.
func isEscape(err error) bool {
	return strings.HasSuffix(err.Error(), "path escapes from parent")
}

// cause is the innermost text of err: the outer ones name other paths.
func cause(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}
