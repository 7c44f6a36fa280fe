package proc

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// tree is the processes of one command. A command leads a session of its own;
// a process belongs to it by that session or process group, by the mark that
// every process inherits in its environment, or by a parent that belongs; once
// found it is known. So a process that made itself a session (setsid, a daemon)
// is still found; one that did, emptied its environment and lost its parent
// before anybody looked is not.
type tree struct {
	leader int // pid, session and process group; 0 once that number may be another's
	mark   string
	known  map[int]uint64 // start times of the processes found so far, by pid
}

// prepare says how cmd is started; its environment has the mark already.
func prepare(cmd *exec.Cmd, mark string) *tree {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no controlling terminal either
	return &tree{mark: mark, known: map[int]uint64{}}
}

// started tells the tree its first process.
func (t *tree) started(cmd *exec.Cmd) error {
	t.leader = cmd.Process.Pid
	return nil
}

// maybeAlive reports whether anything may still run in the process group, in
// one system call: false is not sure about processes that left it.
func (t *tree) maybeAlive() bool {
	return t.leader != 0 && syscall.Kill(-t.leader, 0) == nil
}

// renew forgets the known processes that have ended, and reports whether any is left. The number of a session or group
// stays taken while a process is in it; when no known one is, it is forgotten as well.
func (t *tree) renew() bool {
	held := false
	for pid, start := range t.known {
		p, ok := readProcess(pid)
		if !ok || p.start != start {
			delete(t.known, pid)
			continue
		}
		held = held || p.session == t.leader || p.group == t.leader
	}
	if !held {
		t.leader = 0
	}
	return len(t.known) > 0
}

// members returns the processes of the tree that are not dead.
func (t *tree) members() []process {
	found := members(t.leader, t.mark, t.known)
	clear(t.known)
	for _, p := range found {
		t.known[p.PID] = p.start
	}
	return found
}

// signal asks every process of the tree to end, or kills it.
func (t *tree) signal(kill bool) { signalAll(t.members(), kill) }

func (t *tree) close() {}

// strays is the tree of all processes with a mark that begins with token,
// whatever command they came from.
func strays(token string) *tree {
	return &tree{mark: token, known: map[int]uint64{}}
}

// process is what the kernel tells of one. A pid and a start time together
// are never another's.
type process struct {
	PID     int
	Name    string
	parent  int
	group   int
	session int
	start   uint64
}

// members scans the process table.
func members(leader int, mark string, known map[int]uint64) []process {
	table, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer table.Close()
	names, _ := table.Readdirnames(-1)
	var others, in []process
	belongs := map[int]bool{}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		p, ok := readProcess(pid)
		start, seen := known[pid]
		switch {
		case !ok:
		case leader != 0 && (p.session == leader || p.group == leader), seen && start == p.start, hasMark(pid, mark):
			belongs[pid] = true
			in = append(in, p)
		default:
			others = append(others, p)
		}
	}
	for grown := len(in) > 0; grown; { // children that hid their environment
		grown = false
		for _, p := range others {
			if belongs[p.parent] && !belongs[p.PID] {
				belongs[p.PID], grown = true, true
				in = append(in, p)
			}
		}
	}
	return in
}

// readProcess reads /proc/PID/stat. Dead processes that were not yet waited
// for are none.
func readProcess(pid int) (process, bool) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return process{}, false
	}
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return process{}, false
	}
	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return process{}, false
	}
	p := process{PID: pid, Name: string(stat[open+1 : end])}
	p.parent, _ = strconv.Atoi(fields[1])
	p.group, _ = strconv.Atoi(fields[2])
	p.session, _ = strconv.Atoi(fields[3])
	p.start, _ = strconv.ParseUint(fields[19], 10, 64)
	return p, true
}

// hasMark reports whether a process inherited a mark that begins so.
func hasMark(pid int, mark string) bool {
	f, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return false // another user's
	}
	defer f.Close()
	env, _ := io.ReadAll(io.LimitReader(f, 4<<20))
	want := []byte(markName + "=" + mark)
	return bytes.HasPrefix(env, want) || bytes.Contains(env, append([]byte{0}, want...))
}

// signalAll signals processes through descriptors, and looks again whether it
// is the same process once it is held: its number cannot become another's then.
func signalAll(list []process, kill bool) {
	signal := unix.SIGTERM
	if kill {
		signal = unix.SIGKILL
	}
	for _, p := range list {
		fd, err := unix.PidfdOpen(p.PID, 0)
		if errors.Is(err, unix.ENOSYS) {
			_ = unix.Kill(p.PID, signal) // a kernel before 5.3
			continue
		}
		if err != nil {
			continue // it has ended
		}
		if now, ok := readProcess(p.PID); ok && now.start == p.start {
			_ = unix.PidfdSendSignal(fd, signal, nil, 0) // an error means that it has ended
		}
		unix.Close(fd)
	}
}
