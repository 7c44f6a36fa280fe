//go:build unix

package proc

import (
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// signalOf returns the name of the signal that ended a process, without SIG,
// or "".
func signalOf(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	return strings.TrimPrefix(unix.SignalName(status.Signal()), "SIG")
}
