//go:build linux

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plexus/internal/client"
	"plexus/internal/config"
)

// serveVia starts the daemon through a shell script that ends in exec "$@", and returns where its log goes.
func (h *home) serveVia(script string, env ...string) (log string) {
	h.t.Helper()
	log = filepath.Join(h.t.TempDir(), "log")
	f, err := os.Create(log)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	cmd := exec.Command("sh", "-c", script, "sh", binary, "serve", "--port", "0")
	cmd.Env = append(h.env(), env...)
	cmd.Stdout, cmd.Stderr = f, f
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.daemon = cmd
	h.t.Cleanup(func() {
		if h.daemon == cmd {
			h.end()
		}
	})
	h.eventually("the daemon answers", func() bool { return h.answers(cmd.Process.Pid) })
	return log
}

// Under the laxest umask, after everything that writes a file: folders are 0700 and files 0600.
func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	h := &home{t: t, dir: filepath.Join(t.TempDir(), "home"), folder: t.TempDir()}
	h.serveVia(`umask 0; exec "$@"`)
	umask := func(args ...string) {
		cmd := exec.Command("sh", append([]string{"-c", `umask 0; exec "$@"`, "sh", binary}, args...)...)
		cmd.Env, cmd.Dir, cmd.Stdin = h.env(), h.folder, strings.NewReader("sk-hidden")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("plexus %v: %v\n%s", args, err, out)
		}
	}
	umask("folders", "add", h.folder)
	umask("secret", "set", "model.api.key")
	umask("extension")
	umask("open", "--print")
	umask("run", "--model", h.scenario(`
steps:
  - reply: |
      {plx:run}seq 1 100000{/plx:run}
      {plx:write path="made/file"}{{repeat 30000 "0123456789\n"}}{/plx:write}
      {plx:read path="made/file"}{/plx:read}
  - reply: '{plx:done}{{repeat 30000 "0123456789 "}}{/plx:done}'
`), strings.Repeat("a long task ", 5000))
	seen := map[string]bool{}
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(h.dir, path)
		seen[strings.Split(name, string(filepath.Separator))[0]] = true
		if name == "extension" {
			return fs.SkipDir // for the browser to read; nothing in it is secret
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = fs.ModeDir | 0o700
		}
		if info.Mode() != want {
			t.Errorf("%s is %v, want %v", name, info.Mode(), want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plexus.db", "plexus.db-wal", "spool", "assets", "run", "extension"} {
		if !seen[name] {
			t.Errorf("%s is not there: nothing was tested of it", name)
		}
	}
	err = filepath.WalkDir(filepath.Join(h.dir, "extension"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := d.Info(); err != nil || info.Mode().Perm()&0o022 != 0 {
			t.Errorf("%s can be changed by others: %v, %v", path, info.Mode(), err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// commandLines are the arguments and environments of all processes but this one, by pid.
func commandLines() map[string]string {
	lines := map[string]string{}
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		if data, err := os.ReadFile(path); err == nil && path != fmt.Sprintf("/proc/%d/cmdline", os.Getpid()) {
			lines[path] = strings.ReplaceAll(string(data), "\x00", " ")
		}
	}
	return lines
}

// No token and no key is ever an argument of a process, in the environment of a command, or in a log at its most talkative.
func TestTokensStayHidden(t *testing.T) {
	t.Parallel()
	h := &home{t: t, dir: t.TempDir(), folder: t.TempDir()}
	log := h.serveVia(`exec "$@"`, "PLEXUS_DEBUG=1")
	const apiKey = "sk-0123456789-hidden"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, `{"error":{"message":"not `+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+`"}}`, http.StatusUnauthorized)
	}))
	defer server.Close()
	secrets := map[string]string{"the daemon's token": h.state.Token, "the API key": apiKey}
	var printed bytes.Buffer
	say := func(r result) { printed.WriteString(r.out + r.err) }
	h.plexus("folders", "add", h.folder)
	say(h.commandWith(strings.NewReader(apiKey), "secret", "set", "model.api.key"))
	h.plexus("config", "set", "model.api.model", "tiny")
	h.plexus("config", "set", "model.api.url", server.URL+"/v1")
	say(h.command("run", "--model", "api", "hello"))
	say(h.command("run", "--model", "api", "--json", "hello"))
	say(h.command("doctor", "--json"))
	say(h.command("config"))
	say(h.command("secret"))

	key := keyOf(t, h.link())
	_, session := h.exchange(key)
	secrets["a one-time key"], secrets["a session's token"] = key, session
	s := h.dialLink(h.origin())
	s.send(helloFrom("browser-1", false))
	h.plexus("extension", "pair", s.read().Code)
	secrets["a browser's token"] = s.read().Token
	h.greet("browser-1", secrets["a browser's token"])
	h.greet("browser-1", "wrong")
	h.status(http.MethodGet, "/api/nothing?token="+session, session)
	h.status(http.MethodGet, "/api/threads/t_x/stream", "wrong"+session)

	th := h.thread(h.scenario("steps:\n  - reply: '{plx:run}env > environment; echo begun >> trace; sleep 600{/plx:run}'\n"), "go")
	h.eventually("the command runs", func() bool { return len(h.trace()) == 1 })
	run := exec.Command(binary, "show", th.ID, "--json")
	run.Env = h.env()
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	lines := commandLines()
	_ = run.Wait()
	say(h.command("show", th.ID))
	h.plexus("stop", th.ID)
	environment, err := os.ReadFile(filepath.Join(h.folder, "environment"))
	if err != nil {
		t.Fatal(err)
	}
	h.end()
	logged, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(logged, []byte("level=")) {
		t.Errorf("nothing was logged, so nothing was tested:\n%s", logged)
	}
	for what, secret := range secrets {
		if len(secret) < 16 {
			t.Fatalf("%s is %q", what, secret)
		}
		for where, text := range map[string]string{"the log": string(logged), "what commands print": printed.String(), "the environment of a command": string(environment)} {
			if strings.Contains(text, secret) {
				t.Errorf("%s is in %s", what, where)
			}
		}
		for path, line := range lines {
			if strings.Contains(line, secret) {
				t.Errorf("%s is an argument of %s: %s", what, path, line)
			}
		}
		left, err := filesWith(h.dir, secret)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range left {
			if what != "the API key" || name != filepath.Join("run", "secrets.json") {
				t.Errorf("%s is kept in %s", what, name)
			}
		}
	}
}

// filesWith are the files of a folder that hold a text.
func filesWith(dir, text string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if bytes.Contains(data, []byte(text)) {
			name, _ := filepath.Rel(dir, path)
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// answers reports whether the daemon with this pid answers.
func (h *home) answers(pid int) bool {
	var err error
	h.client, h.state, err = client.Find(h.t.Context(), config.At(h.dir))
	return err == nil && h.state.PID == pid
}
