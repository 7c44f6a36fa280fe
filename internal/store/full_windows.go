package store

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isDiskFull reports whether a file operation failed for want of room.
func isDiskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
