package proc

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"plexus/internal/tool"
)

// escapes are ways out of a process group, each printing the pid of what got out.
var escapes = map[string]string{
	"setsid":              `setsid bash -c 'echo pid=$$; exec sleep 1000' & echo ready; sleep 1000`,
	"daemon":              `setsid bash -c '(bash -c "echo pid=\$\$; exec sleep 1000" &) ' ; echo ready; sleep 1000`,
	"process group":       `set -m; bash -c 'echo pid=$$; exec sleep 1000' & echo ready; sleep 1000`,
	"hidden environment":  `env -i bash -c 'echo pid=$$; exec sleep 1000' & echo ready; sleep 1000`,
	"hidden, own session": `env -i setsid bash -c 'trap "" TERM; echo pid=$$; sleep 1000; sleep 1000' & echo ready; sleep 1000`,
}

func TestStopFindsWhatLeftTheGroup(t *testing.T) {
	for name, command := range escapes {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Options{Grace: 100 * time.Millisecond, Shell: "bash"})
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				b.live.wait(t, "ready")
				b.live.wait(t, "pid=")
				cancel(errors.New("stop"))
			}()
			result, err := b.call(ctx, args{"command": command})
			if err != nil || result.Status != tool.StatusInterrupted {
				t.Fatalf("%+v, %v", result, err)
			}
			for _, pid := range pids(t, b.live.String()) {
				if alive(pid) {
					t.Errorf("process %d is alive", pid)
				}
			}
		})
	}
}

// TestCloseFindsWhatNobodyNoticed: a daemon that holds nothing and left its
// group is not in the result, but ends with the Runner.
func TestCloseFindsWhatNobodyNoticed(t *testing.T) {
	b := newBench(t, Options{Shell: "bash"})
	result := b.run(`(setsid sleep 1000 >/dev/null 2>&1 & echo pid=$!) ; echo over`)
	pid := pids(t, result.Text)[0]
	if !alive(pid) {
		t.Skip("the daemon did not outlive its command")
	}
	b.close()
	if alive(pid) {
		t.Errorf("process %d is alive", pid)
	}
}

// TestForkStorm starts processes faster than one look finds them.
func TestForkStorm(t *testing.T) {
	b := newBench(t, Options{Grace: 50 * time.Millisecond, Shell: "bash"})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		b.live.wait(t, "storm")
		cancel()
	}()
	result, err := b.call(ctx, args{"command": `trap '' TERM; f() { while :; do (trap '' TERM; sleep 0.01); done; }; f & f & f & f & echo storm; wait`})
	if err != nil || result.Status != tool.StatusInterrupted {
		t.Fatalf("%+v, %v", result, err)
	}
	if left := members(0, b.runner.token, nil); len(left) > 0 {
		t.Errorf("alive: %v", left)
	}
}

// TestLeftTreeIsReleased: what a command left is forgotten when it has ended, by the next command or by itself.
func TestLeftTreeIsReleased(t *testing.T) {
	for name, command := range map[string]string{
		"holds the output": `sleep 1000 & echo pid=$!`,
		"holds nothing":    `sleep 1000 >/dev/null 2>&1 & echo pid=$!`,
	} {
		for _, every := range []time.Duration{time.Hour, time.Millisecond} {
			t.Run(name+", "+every.String(), func(t *testing.T) {
				b := newBench(t, Options{Shell: "bash"})
				b.runner.sweepEvery = every
				left := func() []*job {
					b.runner.mu.Lock()
					defer b.runner.mu.Unlock()
					return slices.Collect(maps.Keys(b.runner.left))
				}
				pid := pids(t, b.run(command).Text)[0]
				jobs := left()
				if len(jobs) != 1 {
					t.Fatalf("%d jobs are left, want 1", len(jobs))
				}
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				for alive(pid) {
					runtime.Gosched()
				}
				<-jobs[0].read
				if every == time.Hour {
					b.run("true")
				}
				for every < time.Hour && len(left()) > 0 { // it is swept, or the test does not end
					runtime.Gosched()
				}
				if len(left()) != 0 {
					t.Error("what has ended is left after the next command")
				}
			})
		}
	}
}

// TestNumbersOfOthersAreNotTrusted: the number of a session that has ended is a stranger's now.
func TestNumbersOfOthersAreNotTrusted(t *testing.T) {
	stranger := exec.Command("sleep", "1000")
	stranger.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = stranger.Process.Kill()
		_ = stranger.Wait()
	}()
	pid := stranger.Process.Pid
	b := newBench(t, Options{Grace: 10 * time.Millisecond})
	for _, known := range []map[int]uint64{{}, {pid: 1}, {1 << 30: 7}} {
		exited, read := make(chan struct{}), make(chan struct{})
		close(exited)
		close(read)
		pipe, _, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		old := exec.Command("true")
		if err := old.Run(); err != nil {
			t.Fatal(err)
		}
		j := &job{r: b.runner, cmd: old, tree: &tree{leader: pid, mark: "none", known: known}, pipe: pipe, output: newOutput("", spool{}, nil), exited: exited, read: read}
		b.runner.leave(j)
		b.runner.endLeft()
		if !alive(pid) {
			t.Fatal("a stranger was ended")
		}
	}
}

// TestLeftSessionIsStillOurs: as long as one that is known lives, others of its session are found.
func TestLeftSessionIsStillOurs(t *testing.T) {
	b := newBench(t, Options{Shell: "bash", Grace: 10 * time.Millisecond})
	fifo := filepath.Join(b.folder.Path, "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(`(read < go; (env -i sleep 1000 & echo pid=$! > go); exec sleep 1000) >/dev/null 2>&1 &`)
	if err := os.WriteFile(fifo, []byte("go\n"), 0); err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(fifo) // by now it runs, without a mark and without a parent of ours
	if err != nil {
		t.Fatal(err)
	}
	b.runner.endLeft()
	if pid := pids(t, string(said))[0]; alive(pid) {
		t.Errorf("process %d is alive", pid)
	}
}

// BenchmarkMembers is one look at the process table.
func BenchmarkMembers(b *testing.B) {
	for b.Loop() {
		if found := members(0, "none", nil); len(found) > 0 {
			b.Fatal(found)
		}
	}
}
