// Package chromium finds a Chromium on this machine and runs it with a profile
// of its own and the extension loaded: for the demo, the practice site and the tests. The
// user's own browser is never started or touched.
package chromium

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// ErrMissing is returned when there is no Chromium that could be used.
var ErrMissing = errors.New("no Chromium was found")

// Find returns the path of a Chromium: the one named by PLEXUS_CHROMIUM, or the first of the usual names. Branded
// Google Chrome does not count: since version 137 it ignores --load-extension.
func Find() (string, error) {
	if path := os.Getenv("PLEXUS_CHROMIUM"); path != "" {
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("PLEXUS_CHROMIUM: %w", err)
		}
		return path, nil
	}
	for _, name := range names() {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrMissing
}

func names() []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"chromium", "/Applications/Chromium.app/Contents/MacOS/Chromium"}
	case "windows":
		return []string{"chromium.exe", os.ExpandEnv(`${LOCALAPPDATA}\Chromium\Application\chrome.exe`)}
	}
	return []string{"chromium", "chromium-browser", "/snap/bin/chromium"}
}

// Visible reports whether a window could be shown.
func Visible() bool {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return true
	}
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// Options say how a browser is started.
type Options struct {
	Profile    string   // empty folder of its own; made when missing
	Extensions []string // folders of unpacked extensions
	Flags      []string
	Headless   bool
	URL        string    // first page; "" for a blank one
	Stderr     io.Writer // nil drops what it prints
}

// Browser is a running Chromium.
type Browser struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended

	mu  sync.Mutex
	err error
}

// quiet keeps a test browser from the network and from questions.
var quiet = []string{
	"--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
	"--disable-sync", "--disable-default-apps", "--disable-search-engine-choice-screen", "--disable-quic",
	"--metrics-recording-only", "--password-store=basic", "--use-mock-keychain", "--disable-features=DialMediaRouteProvider,Translate",
	"--disable-breakpad", "--noerrdialogs",
}

// Start runs the browser until ctx ends, Close is called, or it ends by itself.
func Start(ctx context.Context, o Options) (*Browser, error) {
	path, err := Find()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Profile, 0o700); err != nil {
		return nil, fmt.Errorf("make the browser's profile: %w", err)
	}
	cmd := exec.CommandContext(ctx, path, args(o)...)
	cmd.Stderr = o.Stderr
	cmd.WaitDelay = 2 * time.Second
	group(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	b := &Browser{cmd: cmd, done: make(chan struct{})}
	go func() { // ends with the process, which ctx and Close end
		err := cmd.Wait()
		b.mu.Lock()
		b.err = err
		b.mu.Unlock()
		close(b.done)
	}()
	return b, nil
}

func args(o Options) []string {
	list := append([]string{"--user-data-dir=" + o.Profile}, quiet...)
	if o.Headless {
		list = append(list, "--headless=new", "--disable-gpu", "--window-size=1280,900")
	}
	if os.Geteuid() == 0 {
		list = append(list, "--no-sandbox") // Chromium refuses its sandbox to root
	}
	if len(o.Extensions) > 0 {
		all := strings.Join(o.Extensions, ",")
		list = append(list, "--load-extension="+all, "--disable-extensions-except="+all)
	}
	list = append(list, o.Flags...)
	if o.URL == "" {
		o.URL = "about:blank"
	}
	return append(list, o.URL)
}

// Done is closed when the browser has ended.
func (b *Browser) Done() <-chan struct{} { return b.done }

// Err says how it ended, once it has.
func (b *Browser) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// closeBound is how long a browser may take to end when asked to.
const closeBound = 5 * time.Second

// Close ends the browser and everything that it started.
func (b *Browser) Close() {
	terminate(b.cmd)
	select {
	case <-b.done:
	case <-time.After(closeBound):
	}
	kill(b.cmd)
	<-b.done
}
