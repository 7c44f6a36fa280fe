//go:build unix && !linux

package proc

import (
	"os/exec"
	"strconv"
	"syscall"
)

// tree is the process group of one command. A process that makes itself a
// session leaves it and is not found again.
type tree struct {
	leader int
	ended  bool // the group was seen empty: its number may be another's by now
}

// process is one that still runs.
type process struct {
	PID  int
	Name string
}

func prepare(cmd *exec.Cmd, _ string) *tree {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no controlling terminal either
	return &tree{}
}

func (t *tree) started(cmd *exec.Cmd) error {
	t.leader = cmd.Process.Pid
	return nil
}

func (t *tree) maybeAlive() bool {
	t.ended = t.ended || syscall.Kill(-t.leader, 0) != nil
	return !t.ended
}

// renew reports whether anything known still runs.
func (t *tree) renew() bool { return t.maybeAlive() }

// members can only tell that there are some: they are named by their group.
func (t *tree) members() []process {
	if !t.maybeAlive() {
		return nil
	}
	return []process{{PID: -t.leader, Name: "process group " + strconv.Itoa(t.leader)}}
}

func (t *tree) signal(kill bool) {
	signal := syscall.SIGTERM
	if kill {
		signal = syscall.SIGKILL
	}
	if t.ended {
		return
	}
	_ = syscall.Kill(-t.leader, signal) // an error means that the group is empty
}

func (t *tree) close() {}

// strays is nil: nothing here can be found that left its tree.
func strays(string) *tree { return nil }
