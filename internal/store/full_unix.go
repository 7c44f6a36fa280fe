//go:build unix

package store

import (
	"errors"
	"syscall"
)

// isDiskFull reports whether a file operation failed for want of room.
func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
