//go:build unix

package proc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"plexus/internal/plx"
	"plexus/internal/tool"
)

// bench is a folder and a Runner with its run tool.
type bench struct {
	t      testing.TB
	runner *Runner
	tool   tool.Tool
	folder tool.Folder
	spool  string
	live   *liveText
}

// liveText collects what a watcher sees.
type liveText struct {
	mu   sync.Mutex
	text strings.Builder
	grew chan struct{} // has a value after each piece
}

func (l *liveText) add(p []byte) {
	l.mu.Lock()
	l.text.Write(p)
	l.mu.Unlock()
	select {
	case l.grew <- struct{}{}:
	default:
	}
}

func (l *liveText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// wait waits until the text contains a part.
func (l *liveText) wait(t testing.TB, part string) {
	t.Helper()
	for !strings.Contains(l.String(), part) {
		select {
		case <-l.grew:
		case <-t.Context().Done():
			t.Fatal("the test ended")
		}
	}
}

func newBench(t testing.TB, o Options) *bench {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, runner: New(o), folder: tool.Folder{Name: "project", Path: filepath.Join(base, "project")},
		spool: filepath.Join(base, "call.txt"), live: &liveText{grew: make(chan struct{}, 1)}}
	if err := os.MkdirAll(filepath.Join(b.folder.Path, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.tool = b.runner.Tools()[0]
	t.Cleanup(func() { b.close() })
	return b
}

func (b *bench) close() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := b.runner.Close(ctx); err != nil {
		b.t.Error(err)
	}
}

type args = map[string]any

// call validates and runs as the engine does.
func (b *bench) call(ctx context.Context, in args) (tool.Result, error) {
	b.t.Helper()
	input, err := json.Marshal(in)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.tool.Validate(input); err != nil {
		return tool.Result{}, err
	}
	env := tool.Env{Call: tool.Call{ID: "call_" + strconv.Itoa(len(in)), Folder: b.folder}, Spool: b.spool, Output: b.live.add}
	return b.tool.Run(ctx, env, input)
}

// run runs a command that must come to a result.
func (b *bench) run(command string) tool.Result {
	b.t.Helper()
	result, err := b.call(context.Background(), args{"command": command})
	if err != nil {
		b.t.Fatalf("%s: %v", command, err)
	}
	return result
}

func (b *bench) fails(code string, in args) string {
	b.t.Helper()
	result, err := b.call(context.Background(), in)
	var refused *tool.Error
	if !errors.As(err, &refused) || refused.Code != code {
		b.t.Fatalf("%v: got %q, %v, want %s", in, result.Text, err, code)
	}
	return refused.Text
}

// body is the output in a result without its first and last line.
func body(r tool.Result) string {
	_, rest, _ := strings.Cut(r.Text, "\n")
	return rest[:strings.LastIndexByte("\n"+rest, '\n')]
}

// alive reports whether a process runs; one that waits to be reaped does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// pids are the numbers after "pid=" in an output.
func pids(t testing.TB, text string) []int {
	t.Helper()
	var list []int
	for _, m := range regexp.MustCompile(`pid=(\d+)`).FindAllStringSubmatch(text, -1) {
		pid, _ := strconv.Atoi(m[1])
		list = append(list, pid)
	}
	if len(list) == 0 {
		t.Fatalf("no pid in %q", text)
	}
	return list
}

func TestRunResults(t *testing.T) {
	b := newBench(t, Options{})
	exit := func(n int) *int { return &n }
	tests := []struct {
		command, text string
		exit          *int
		signal        string
		outcome       tool.Outcome
	}{
		{"echo hi", "$ echo hi\nhi\n[exit 0]", exit(0), "", tool.OutcomeOK},
		{"true", "$ true\n[exit 0]", exit(0), "", tool.OutcomeOK},
		{"exit 3", "$ exit 3\n[exit 3]", exit(3), "", tool.OutcomeExitNonzero},
		{"printf x", "$ printf x\nx\n[exit 0]", exit(0), "", tool.OutcomeOK},
		{"kill -KILL $$", "$ kill -KILL $$\n[signal KILL]", nil, "KILL", tool.OutcomeExitNonzero},
		{"kill -SEGV $$", "$ kill -SEGV $$\n[signal SEGV]", nil, "SEGV", tool.OutcomeExitNonzero},
		{"echo a; echo b >&2; echo c; echo d >&2", "$ echo a; echo b >&2; echo c; echo d >&2\na\nb\nc\nd\n[exit 0]", exit(0), "", tool.OutcomeOK},
		{"echo one\necho two\n", "$ echo one\necho two\none\ntwo\n[exit 0]", exit(0), "", tool.OutcomeOK},
		{`printf '\033[31mred\033[0m\n1%%\r2%%\r100%%\n'`, "$ printf '\\033[31mred\\033[0m\\n1%%\\r2%%\\r100%%\\n'\nred\n100%\n[exit 0]", exit(0), "", tool.OutcomeOK},
		{`printf 'a\0b\377c\n'`, "$ printf 'a\\0b\\377c\\n'\na\uFFFDb\uFFFDc\n[2 bytes that are not text are shown as \uFFFD]\n[exit 0]", exit(0), "", tool.OutcomeOK},
	}
	for _, test := range tests {
		got := b.run(test.command)
		if got.Text != test.text || got.Signal != test.signal || got.Outcome != test.outcome || got.Status != tool.StatusOK {
			t.Errorf("%q: %+v\nwant %q", test.command, got, test.text)
		}
		if (got.Exit == nil) != (test.exit == nil) || got.Exit != nil && *got.Exit != *test.exit {
			t.Errorf("%q: exit %v", test.command, got.Exit)
		}
		if got.Spool != "" || got.Lines != 0 || got.Bytes != 0 {
			t.Errorf("%q: a whole output says %q, %d, %d", test.command, got.Spool, got.Lines, got.Bytes)
		}
	}
	if got := b.run("no-such-command-here"); *got.Exit != 127 || !strings.Contains(got.Text, "not found") {
		t.Errorf("%+v", got)
	}
}

func TestRunInput(t *testing.T) {
	b := newBench(t, Options{MaxTimeout: 200 * time.Second})
	b.fails("bad-input", args{"command": ""})
	b.fails("bad-input", args{"command": " \n\t"})
	b.fails("bad-input", args{"command": "a\x00b"})
	b.fails("bad-input", args{"command": "x", "timeout": 0})
	b.fails("bad-input", args{"command": "x", "cwd": "a\x00"})
	b.fails("bad-input", args{})
	if text := b.fails("bad-input", args{"command": "x", "timeout": 201}); !strings.Contains(text, "at most 200") {
		t.Error(text)
	}
	b.fails("too-large", args{"command": strings.Repeat("x", commandBytes+1)})
	long := b.run("echo " + strings.Repeat("é", 40_000) + " | wc -c")
	if !strings.Contains(long.Text, "… (80,012 bytes)\n80001\n") && !strings.Contains(long.Text, "80001") || len(long.Text) > 3000 {
		t.Errorf("%d bytes: %.100q", len(long.Text), long.Text)
	}
	if got := b.tool.Deadline(json.RawMessage(`{"command":"x","timeout":7}`)); got < 7*time.Second || got > 20*time.Second {
		t.Errorf("Deadline = %v", got)
	}
	subject := b.tool.Subject(json.RawMessage(`{"command":"make\nmake test","cwd":"sub"}`))
	if subject.Title != "make …" || subject.Command != "make\nmake test" || subject.Dir != "sub" {
		t.Errorf("%+v", subject)
	}
}

func TestRunCwd(t *testing.T) {
	b := newBench(t, Options{})
	outside := filepath.Join(filepath.Dir(b.folder.Path), "outside")
	if err := os.Mkdir(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	for target, name := range map[string]string{outside: "out", "sub": "in", filepath.Join(b.folder.Path, "sub"): "in-absolute"} {
		if err := os.Symlink(target, filepath.Join(b.folder.Path, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(b.folder.Path, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for cwd, want := range map[string]string{
		"": "", ".": "", "sub": "/sub", "/project": "", "/project/sub": "/sub", b.folder.Path: "", b.folder.Path + "/sub": "/sub",
		"sub/..": "", "sub/../sub": "/sub", "in": "/sub", "in-absolute": "/sub", "in/..": "",
	} {
		result, err := b.call(t.Context(), args{"command": "pwd; pwd -P; echo $PWD", "cwd": cwd})
		path := b.folder.Path + want
		if err != nil || body(result) != path+"\n"+path+"\n"+path+"\n" {
			t.Errorf("cwd %q: %q, %v", cwd, result.Text, err)
		}
	}
	for _, cwd := range []string{"..", "out", "out/..", "/", "/etc", outside, "../outside", "/project/..", b.folder.Path + "/..", "sub/../../outside"} {
		if text := b.fails("outside-folder", args{"command": "touch ran", "cwd": cwd}); !strings.Contains(text, cwd) {
			t.Errorf("%q is not in %q", cwd, text)
		}
	}
	b.fails("not-found", args{"command": "pwd", "cwd": "none"})
	b.fails("not-folder", args{"command": "pwd", "cwd": "file"})
	if _, err := os.Stat(filepath.Join(outside, "ran")); err == nil {
		t.Error("a command ran outside")
	}
	if err := os.RemoveAll(b.folder.Path); err != nil {
		t.Fatal(err)
	}
	if text := b.fails("folder-gone", args{"command": "pwd"}); strings.Contains(text, b.folder.Path) {
		t.Errorf("the message names a path that nobody spelled: %s", text)
	}
}

func TestRunEnvironment(t *testing.T) {
	b := newBench(t, Options{Env: append(os.Environ(), "CI=true", "PLEXUS_TOKEN=secret", "PLEXUS_HOME=/x", "PAGER=less", "EDITOR=vi",
		"SSH_ASKPASS=/x", "GIT_ASKPASS=/x", "TERM=xterm", "COLORTERM=truecolor", "FORCE_COLOR=1", "MINE=kept", "GIT_PAGER=less")})
	got := "\n" + body(b.run("env")) + "\n"
	for _, want := range []string{"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "GH_PAGER=cat", "GIT_TERMINAL_PROMPT=0",
		"GIT_EDITOR=true", "EDITOR=true", "DEBIAN_FRONTEND=noninteractive", "SSH_ASKPASS_REQUIRE=never", "MINE=kept"} {
		if strings.Count(got, "\n"+want+"\n") != 1 {
			t.Errorf("%s is not there once", want)
		}
	}
	for _, not := range []string{"CI=", "PLEXUS_TOKEN=", "PLEXUS_HOME=", "secret", "SSH_ASKPASS=", "GIT_ASKPASS=", "COLORTERM=", "FORCE_COLOR=", "less"} {
		if strings.Contains(got, "\n"+not) {
			t.Errorf("%s is there", not)
		}
	}
}

func TestRunHasNoInputAndNoTerminal(t *testing.T) {
	b := newBench(t, Options{})
	for command, want := range map[string]string{
		"cat; wc -c":                                              "0",
		"read x || echo no input":                                 "no input",
		"(: < /dev/tty) 2>/dev/null || echo none":                 "none", // what a password prompt opens
		"test -t 0 || test -t 1 || test -t 2 || echo no terminal": "no terminal",
	} {
		if got := strings.TrimSpace(body(b.run(command))); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

func TestRunLongOutput(t *testing.T) {
	b := newBench(t, Options{})
	got := b.run("seq 1 100000; echo end >&2; exit 4")
	if got.Lines != 100_001 || got.Bytes != 588_899 || *got.Exit != 4 || got.Spool != b.spool {
		t.Errorf("lines %d, bytes %d, spool %q", got.Lines, got.Bytes, got.Spool)
	}
	for _, part := range []string{"$ seq 1 100000; echo end >&2; exit 4\n1\n2\n", "the whole output has 100,001 lines, 588,899 bytes and is in " + b.spool, "\n100000\nend\n[exit 4]"} {
		if !strings.Contains(got.Text, part) {
			t.Errorf("%q is not in the text", part)
		}
	}
	if len(got.Text) > keptBytes+500 {
		t.Errorf("the text has %d bytes", len(got.Text))
	}
	spooled, err := os.ReadFile(b.spool)
	if err != nil || len(spooled) != 588_899+len("$ seq 1 100000; echo end >&2; exit 4\n") || !strings.HasSuffix(string(spooled), "\n100000\nend\n") {
		t.Errorf("the spool file has %d bytes, %v", len(spooled), err)
	}
	if live := b.live.String(); live+"" != string(spooled[strings.IndexByte(string(spooled), '\n')+1:]) {
		t.Errorf("a watcher saw %d bytes", len(live))
	}
}

// TestRunSpoolHasTheLinesOfTheText: a door that cuts the text further can
// point into the file by line.
func TestRunSpoolHasTheLinesOfTheText(t *testing.T) {
	b := newBench(t, Options{})
	got := b.run("echo x\nseq 1 1000")
	spooled, err := os.ReadFile(b.spool)
	if err != nil || !strings.HasPrefix(got.Text, string(spooled)) || got.Spool != b.spool || got.Lines != 0 {
		t.Errorf("%v: text %.60q, spool %.60q", err, got.Text, spooled)
	}
}

// TestRunLinesAgreeWithTheSpool: what a message leaves out of a text that has a gap already can be seen by line
// number, whatever stands above and below the output.
func TestRunLinesAgreeWithTheSpool(t *testing.T) {
	for name, command := range map[string]string{
		"one line":           "seq 1 100000",
		"several lines":      "x=1\n\n# more\nseq 1 100000\n",
		"a note":             "seq 1 50000; printf '\\377\\n'; seq 1 50000",
		"no end of line":     "echo\nseq 1 100000; printf end",
		"several notes":      "seq 1 50000; printf '\\377\\n'\nseq 1 50000; sleep 1000 &",
		"a long command":     "true " + strings.Repeat("x\ntrue ", 1000) + "\nseq 1 100000",
		"ended by a timeout": "seq 1 100000\nsleep 1000",
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Options{})
			got, err := b.call(t.Context(), args{"command": command, "timeout": 1})
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(b.spool)
			if err != nil {
				t.Fatal(err)
			}
			file := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
			message := plx.Results([]plx.Result{{Tool: "run", Content: got.Text, Lines: got.Lines, Bytes: got.Bytes, Spool: got.Spool}}, nil, plx.DefaultBudget)
			m := regexp.MustCompile(`sed -n '(\d+),(\d+)p' `).FindStringSubmatch(message)
			if m == nil {
				t.Fatalf("no range in %.200q", message)
			}
			from, _ := strconv.Atoi(m[1])
			to, _ := strconv.Atoi(m[2])
			head, tail, _ := strings.Cut(message, "[... cut here")
			_, tail, _ = strings.Cut(tail, "...]\n")
			above, below := strings.Split(strings.TrimSuffix(head, "\n"), "\n"), strings.Split(tail, "\n")
			if last := above[len(above)-1]; last != file[from-2] {
				t.Errorf("line %d follows %q, and the file has %q before it", from, last, file[from-2])
			}
			for i, line := range below[:100] {
				if to+i >= len(file) || line != file[to+i] {
					t.Fatalf("%q is line %d of %d in the file", line, to+i+1, len(file))
				}
			}
		})
	}
}

func TestRunHugeOutputInFlatMemory(t *testing.T) {
	b := newBench(t, Options{SpoolBytes: 1 << 20})
	var seen int64
	env := tool.Env{Call: tool.Call{ID: "x", Folder: b.folder}, Spool: b.spool, Output: func(p []byte) { seen += int64(len(p)) }}
	input, err := json.Marshal(args{"command": fmt.Sprintf("yes 0123456789012345678901234567890123456789 | head -c %d", hugeBytes)})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := b.tool.Run(t.Context(), env, input)
	runtime.ReadMemStats(&after)
	if err != nil || got.Bytes != hugeBytes || got.Lines != (hugeBytes+40)/41+1 || seen != hugeBytes {
		t.Errorf("%v: bytes %d, lines %d, seen %d", err, got.Bytes, got.Lines, seen)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 20<<20 {
		t.Errorf("allocated %d bytes", grown)
	}
	if info, err := os.Stat(b.spool); err != nil || info.Size() > 1<<20+100 {
		t.Errorf("the spool file has %d bytes, %v", info.Size(), err)
	}
	if !strings.Contains(got.Text, "only the first 1,048,576 bytes of the output were kept on disk") {
		t.Error("the text does not say what was kept")
	}
}

func TestRunOneLongLine(t *testing.T) {
	b := newBench(t, Options{})
	got := b.run("head -c 10000000 /dev/zero | tr '\\0' x")
	if got.Bytes != 10_000_000 || got.Lines != 1 || len(got.Text) > keptBytes+500 {
		t.Errorf("bytes %d, lines %d, text of %d", got.Bytes, got.Lines, len(got.Text))
	}
	zeros := b.run("head -c 200000 /dev/zero")
	if zeros.Bytes != 600_000 || !strings.Contains(zeros.Text, "[200,000 bytes that are not text are shown as \uFFFD]") {
		t.Errorf("bytes %d, %q", zeros.Bytes, zeros.Text[len(zeros.Text)-100:])
	}
}

func TestRunSpoolCannotBeWritten(t *testing.T) {
	b := newBench(t, Options{})
	if _, err := os.Stat("/dev/full"); err == nil {
		b.spool = "/dev/full"
		got := b.run("seq 1 100000; exit 3")
		if *got.Exit != 3 || !strings.Contains(got.Text, "\n100000\n[the full output could not be kept: there is no room left on the disk]\n[exit 3]") {
			t.Errorf("%q", got.Text[len(got.Text)-150:])
		}
	}
	b.spool = filepath.Join(b.folder.Path, "none", "x")
	got := b.run("seq 1 1000")
	if *got.Exit != 0 || got.Spool != "" || !strings.Contains(got.Text, "the full output could not be kept: no such file") {
		t.Errorf("%q, spool %q", got.Text[len(got.Text)-150:], got.Spool)
	}
}

func TestRunTimeout(t *testing.T) {
	b := newBench(t, Options{})
	result, err := b.call(t.Context(), args{"command": "echo pid=$$; (echo pid=$BASHPID; sleep 1000) & sleep 1000; echo never", "timeout": 1})
	if err != nil {
		t.Fatal(err)
	}
	if result.Status != tool.StatusTimeout || result.Outcome != tool.OutcomeRejected || result.Exit != nil || !strings.HasSuffix(result.Text, "\n[timeout 1s]") || strings.Contains(body(result), "never") {
		t.Errorf("%+v", result)
	}
	for _, pid := range pids(t, result.Text) {
		if alive(pid) {
			t.Errorf("process %d is alive", pid)
		}
	}
}

// TestRunDeadlineOfTheCaller: the engine's own limit counts as one too.
func TestRunDeadlineOfTheCaller(t *testing.T) {
	b := newBench(t, Options{})
	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, errors.New("its time is over"))
	defer cancel()
	if result, err := b.call(ctx, args{"command": "sleep 1000"}); err != nil || result.Status != tool.StatusTimeout {
		t.Errorf("%+v, %v", result, err)
	}
}

// stubborn is a tree that does not want to end: processes that ignore signals
// and one that was stopped.
const stubborn = `trap '' TERM INT HUP; echo pid=$$; (trap '' TERM; echo pid=$BASHPID; while :; do sleep 1; done) & (echo pid=$BASHPID; kill -STOP $BASHPID) & while :; do sleep 0.1; echo tick; done`

func TestRunStopKillsTheTree(t *testing.T) {
	b := newBench(t, Options{Grace: 100 * time.Millisecond, Shell: "bash"})
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		b.live.wait(t, "tick")
		cancel(errors.New("stopped by the user"))
	}()
	result, err := b.call(ctx, args{"command": stubborn})
	if err != nil || result.Status != tool.StatusInterrupted || result.Outcome != tool.OutcomeRejected || !strings.HasSuffix(result.Text, "[stopped]") {
		t.Errorf("%+v, %v", result, err)
	}
	if !strings.Contains(result.Text, "tick") {
		t.Error("the output before the stop is lost")
	}
	for _, pid := range pids(t, result.Text) {
		if alive(pid) {
			t.Errorf("process %d is alive", pid)
		}
	}
}

func TestRunTermComesFirst(t *testing.T) {
	b := newBench(t, Options{Shell: "bash"})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		b.live.wait(t, "ready")
		cancel()
	}()
	result, err := b.call(ctx, args{"command": `trap 'echo cleaned up; exit 0' TERM; echo ready; while :; do sleep 0.05; done`})
	if err != nil || !strings.Contains(result.Text, "cleaned up") {
		t.Errorf("%+v, %v", result, err)
	}
}

// TestRunBackground: a background child that holds the output does not hold
// the call, lives on, and its output goes to the file.
func TestRunBackground(t *testing.T) {
	b := newBench(t, Options{Shell: "bash"})
	fifo := filepath.Join(b.folder.Path, "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string]string{
		"silent holder":          `(read < go) & echo pid=$!; echo started`,
		"one descriptor is left": `(read < go) 2>/dev/null >&1 & echo pid=$!; echo started`,
		"does not stop writing":  `(while :; do echo noise; sleep 0.02; done) & echo pid=$!; echo started`,
		"holds nothing":          `(read < go) >/dev/null 2>&1 & echo pid=$!; echo started`,
	} {
		result := b.run(command)
		if !strings.Contains(result.Text, "started\n") || *result.Exit != 0 || !strings.Contains(result.Text, "[still running in the background: ") {
			t.Errorf("%s: %q", name, result.Text)
		}
		pid := pids(t, result.Text)[0]
		if !strings.Contains(result.Text, fmt.Sprintf("(pid %d)", pid)) && runtime.GOOS == "linux" {
			t.Errorf("%s: %d is not named in %q", name, pid, result.Text)
		}
		if !alive(pid) {
			t.Errorf("%s: the background process was ended", name)
		}
	}
	b.close()
}

func TestRunBackgroundWritesOn(t *testing.T) {
	b := newBench(t, Options{Shell: "bash"})
	fifo := filepath.Join(b.folder.Path, "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	result := b.run(`(read < go; echo later; echo done > go) & echo first`)
	if result.Spool != b.spool || !strings.Contains(result.Text, "output from now on goes to "+b.spool) || strings.Contains(body(result), "later") {
		t.Errorf("%+v", result)
	}
	if err := os.WriteFile(fifo, []byte("go\n"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(fifo); err != nil { // it has written by now
		t.Fatal(err)
	}
	b.close() // and what it wrote has been read
	if got, err := os.ReadFile(b.spool); err != nil || !strings.HasSuffix(string(got), "first\nlater\n") {
		t.Errorf("the spool file holds %q, %v", got, err)
	}
}

func TestRunTooManyInTheBackground(t *testing.T) {
	b := newBench(t, Options{})
	for range maxLeft {
		b.run("sleep 1000 >/dev/null 2>&1 &")
	}
	if text := b.fails("too-many", args{"command": "echo x"}); !strings.Contains(text, "64") {
		t.Error(text)
	}
	b.runner.endLeft()
	if got := b.run("echo again"); *got.Exit != 0 {
		t.Errorf("%+v", got)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	b := newBench(t, Options{Grace: 100 * time.Millisecond, Shell: "bash"})
	left := pids(t, b.run(`(trap '' TERM; while :; do sleep 0.1; done) >/dev/null 2>&1 & echo pid=$!`).Text)
	done := make(chan tool.Result)
	go func() {
		result, err := b.call(context.Background(), args{"command": `echo pid=$$; echo running; sleep 1000`})
		if err != nil {
			t.Error(err)
		}
		done <- result
	}()
	b.live.wait(t, "running")
	b.close()
	result := <-done
	if result.Status != tool.StatusInterrupted {
		t.Errorf("%+v", result)
	}
	for _, pid := range append(left, pids(t, result.Text)...) {
		if alive(pid) {
			t.Errorf("process %d is alive", pid)
		}
	}
	b.fails("closing", args{"command": "echo x"})
	b.close() // again
}

func TestCloseIsBounded(t *testing.T) {
	b := newBench(t, Options{Grace: 50 * time.Millisecond})
	go func() {
		_, _ = b.call(context.Background(), args{"command": "trap '' TERM; echo running; while :; do sleep 0.1; done"})
	}()
	b.live.wait(t, "running")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.runner.Close(ctx); err == nil {
		t.Error("Close waited longer than it was given")
	}
}

func TestRunWithoutAShell(t *testing.T) {
	b := newBench(t, Options{Shell: "/none/such"})
	b.fails("no-shell", args{"command": "echo x"})
}

func TestRunMany(t *testing.T) {
	b := newBench(t, Options{})
	b.spool = ""
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			result, err := b.call(context.Background(), args{"command": fmt.Sprintf("seq 1 2000; exit %d", i)})
			if err != nil || *result.Exit != i || !strings.Contains(result.Text, "\n2000\n[exit ") {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	group.Wait()
}

func BenchmarkEcho(b *testing.B) {
	bn := newBench(b, Options{})
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		if got := bn.run("echo hi"); *got.Exit != 0 {
			b.Fatal(got.Text)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
}

// BenchmarkEchoBare is the least that a command costs: to compare with.
func BenchmarkEchoBare(b *testing.B) {
	bn := newBench(b, Options{})
	for b.Loop() {
		cmd := exec.Command(bn.runner.shell.path, "-c", "echo hi")
		cmd.Env, cmd.Dir = bn.runner.env, bn.folder.Path
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != "hi\n" {
			b.Fatal(err)
		}
	}
}

func BenchmarkOutput100MB(b *testing.B) {
	bn := newBench(b, Options{})
	b.SetBytes(100_000_000)
	input := json.RawMessage(`{"command":"yes 0123456789012345678901234567890123456789 | head -c 100000000"}`)
	env := tool.Env{Call: tool.Call{ID: "x", Folder: bn.folder}, Spool: bn.spool, Output: func([]byte) {}}
	for b.Loop() {
		if got, err := bn.tool.Run(context.Background(), env, input); err != nil || got.Bytes != 100_000_000 {
			b.Fatal(err)
		}
	}
}
