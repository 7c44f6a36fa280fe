package proc

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plexus/internal/tool"
)

// TestMain lets the test binary be the tracer of another process: a process that is traced cannot be waited for by its
// parent, even after it was killed, until its tracer lets go.
func TestMain(m *testing.M) {
	if pid, err := strconv.Atoi(os.Getenv("TEST_TRACE")); err == nil {
		runtime.LockOSThread()
		if err := unix.PtraceSeize(pid); err != nil {
			os.Stdout.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Stdout.WriteString("traces\n")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the test lets go
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestRunCannotBeEnded: a result says so, and does not need how the process ended.
func TestRunCannotBeEnded(t *testing.T) {
	b := newBench(t, Options{Grace: 10 * time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	said := make(chan string, 1)
	var letGo io.Closer
	go func() {
		defer cancel()
		b.live.wait(t, "pid=")
		tracer := exec.Command(os.Args[0])
		tracer.Env = append(os.Environ(), "TEST_TRACE="+strconv.Itoa(pids(t, b.live.String())[0]))
		in, err := tracer.StdinPipe()
		if err != nil {
			t.Error(err)
		}
		out, err := tracer.StdoutPipe()
		if err != nil {
			t.Error(err)
		}
		if err := tracer.Start(); err != nil {
			t.Error(err)
		}
		letGo = in
		line, _ := bufio.NewReader(out).ReadString('\n')
		said <- line
	}()
	result, err := b.call(ctx, args{"command": "echo pid=$$; exec sleep 1000"})
	if line := <-said; line != "traces\n" {
		t.Skipf("processes cannot be traced here: %s", line)
	}
	if err != nil || result.Status != tool.StatusInterrupted || result.Exit != nil || result.Signal != "" ||
		!strings.HasSuffix(result.Text, "\n[could not be ended: it was killed, but the system holds on to it]\n[stopped]") {
		t.Errorf("%+v, %v", result, err)
	}
	if n := len(b.runner.left); n != 1 {
		t.Errorf("%d jobs are watched on, want 1", n)
	}
	letGo.Close()
}
