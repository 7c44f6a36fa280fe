package workspace

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

const openFlags = os.O_RDONLY

// isFull reports whether a write failed for want of room.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// cannotLink reports whether a file system has no hard links.
func cannotLink(err error) bool {
	return errors.Is(err, windows.ERROR_INVALID_FUNCTION) || errors.Is(err, windows.ERROR_NOT_SUPPORTED) ||
		errors.Is(err, windows.ERROR_ACCESS_DENIED)
}

// keepOwner does nothing: a new file inherits its owner and its list of rights from its folder.
func keepOwner(*os.File, fs.FileInfo) {}
