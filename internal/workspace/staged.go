package workspace

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// errNotFolder is a part of a path that should be a folder and is not.
var errNotFolder error = syscall.ENOTDIR

// staged is a new content for the file base in parent, in a temporary file
// beside it until put renames it.
type staged struct {
	parent *os.Root
	base   string
	name   string // of the temporary file; "" when there is none
	file   *os.File
}

// create makes the temporary file. It has the mode and owner of the file that
// it will replace; a new one has what the user's umask makes of 0666.
func (s *staged) create(old fs.FileInfo) error {
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = 0o600 // until it has its owner
	}
	name := ".plexus-" + rand.Text()[:12] + ".tmp"
	f, err := s.parent.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	s.name, s.file = name, f
	if old == nil {
		return nil
	}
	keepOwner(f, old)
	return f.Chmod(old.Mode().Perm())
}

// flush puts the content on the disk.
func (s *staged) flush() error {
	err := s.file.Sync()
	if closeErr := s.file.Close(); err == nil {
		err = closeErr
	}
	s.file = nil
	return err
}

// put gives the temporary file the name it is for. With exclusive it fails
// with fs.ErrExist when that name was taken meanwhile.
func (s *staged) put(exclusive bool) error {
	if info, err := s.parent.Lstat(s.base); err == nil && info.IsDir() {
		return syscall.EISDIR
	}
	if exclusive {
		return s.link()
	}
	if err := s.parent.Rename(s.name, s.base); err != nil {
		return err
	}
	s.name = ""
	s.syncParent()
	return nil
}

// link is a rename that replaces nothing.
func (s *staged) link() error {
	err := s.parent.Link(s.name, s.base)
	if err != nil && cannotLink(err) {
		if _, statErr := s.parent.Lstat(s.base); !errors.Is(statErr, fs.ErrNotExist) {
			return fs.ErrExist
		}
		return s.put(false)
	}
	if err == nil {
		s.syncParent()
	}
	return err // discard removes the temporary name
}

// syncParent makes the rename last through a power failure, where a folder
// can be flushed.
func (s *staged) syncParent() {
	if dir, err := s.parent.Open("."); err == nil {
		_ = dir.Sync() // not possible everywhere, and the rename has happened
		dir.Close()
	}
}

// discard removes what is left of the temporary file.
func (s *staged) discard() {
	if s.file != nil {
		s.file.Close()
	}
	if s.name != "" {
		_ = s.parent.Remove(s.name) // nothing more can be done about it
	}
}
