//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openFlags open for reading without waiting for the other end of a FIFO and
// without making a terminal ours, should the file have become one.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY

// isFull reports whether a write failed for want of room: the disk, the
// quota, or the largest file that the process may write.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// cannotLink reports whether a file system has no hard links.
func cannotLink(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.EOPNOTSUPP) ||
		errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EMLINK)
}

// keepOwner gives f the owner that a file had, as far as the process may: a
// daemon of root must not take a user's files away.
func keepOwner(f *os.File, had fs.FileInfo) {
	old, ok := had.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	info, err := f.Stat()
	if err != nil {
		return
	}
	if now, ok := info.Sys().(*syscall.Stat_t); ok && (now.Uid != old.Uid || now.Gid != old.Gid) {
		_ = f.Chown(int(old.Uid), int(old.Gid)) // best effort: the content matters more
	}
}
