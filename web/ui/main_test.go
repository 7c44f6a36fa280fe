package ui_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plexus/internal/client"
	"plexus/internal/config"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "plexus-ui-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "plexus")
	cmd := exec.Command("go", "build", "-o", binary, "plexus/cmd/plexus")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build plexus: %v\n%s", err, out)
		return 1
	}
	ctx, stop, err := startBrowser(filepath.Join(dir, "profile"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stop()
	browser = ctx
	return m.Run()
}

// daemon is a Plexus with a home and an approved folder of its own.
type daemon struct {
	t      testing.TB
	home   string
	folder string
	port   string
	cmd    *exec.Cmd
}

func newDaemon(t testing.TB) *daemon {
	t.Helper()
	d := &daemon{t: t, home: t.TempDir(), folder: t.TempDir(), port: freePort(t)}
	d.start()
	t.Cleanup(d.kill)
	d.plexus("folders", "add", d.folder)
	return d
}

func freePort(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func (d *daemon) start() {
	d.t.Helper()
	d.cmd = exec.Command(binary, "serve", "--port", d.port)
	d.cmd.Env = d.env()
	d.cmd.Stderr = os.Stderr
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	// The line is printed when the port is taken; the state file follows when all is ready.
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		d.t.Fatalf("plexus serve ended early: %v", err)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		_, state, err := client.Find(d.t.Context(), config.At(d.home))
		if err == nil && state.PID == d.cmd.Process.Pid {
			return
		}
		if time.Now().After(end) {
			d.t.Fatalf("the daemon does not answer: %v", err)
		}
	}
}

// kill ends the daemon without a word, as a crash would.
func (d *daemon) kill() {
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()
}

func (d *daemon) env() []string {
	return append(os.Environ(), "PLEXUS_HOME="+d.home, "NO_COLOR=1", "SHELL=/bin/sh")
}

// plexus runs the CLI and returns what it printed.
func (d *daemon) plexus(args ...string) string {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = d.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("plexus %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// link returns an address that opens the UI once.
func (d *daemon) link() string {
	lines := strings.Split(d.plexus("open", "--print"), "\n")
	return lines[len(lines)-1]
}

// scenario writes a script for the scripted model and returns its model name.
func (d *daemon) scenario(text string) string {
	d.t.Helper()
	file := filepath.Join(d.t.TempDir(), "scenario.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return "scripted:" + file
}
