package proc

import (
	"context"
	"errors"
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

// BenchmarkMembers is one look at the process table.
func BenchmarkMembers(b *testing.B) {
	for b.Loop() {
		if found := members(0, "none", nil); len(found) > 0 {
			b.Fatal(found)
		}
	}
}
