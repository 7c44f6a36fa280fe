package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"plexus/internal/config"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"plexus": main})
}

// The command line, script by script. Each has a home of its own and an OpenAI-compatible server at $API.
func TestScripts(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(answerAPI))
	t.Cleanup(api.Close)
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, ".home")
			project := filepath.Join(env.WorkDir, "project")
			env.Setenv("PLEXUS_HOME", home)
			env.Setenv("NO_COLOR", "1")
			env.Setenv("SHELL", "/bin/sh")
			env.Setenv("API", api.URL)
			return os.MkdirAll(project, 0o755)
		},
	})
}

// answerAPI is the foreign side: a chat completions server with one answer, and one for each way to fail.
func answerAPI(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, "/unauthorized/"):
		http.Error(w, `{"error":{"message":"bad key sk-hidden"}}`, http.StatusUnauthorized)
	case strings.HasPrefix(r.URL.Path, "/limited/"):
		w.Header().Set("Retry-After", "120")
		http.Error(w, `{"error":{"message":"slow down"}}`, http.StatusTooManyRequests)
	case strings.HasPrefix(r.URL.Path, "/broken/"):
		http.Error(w, "<html>oops</html>", http.StatusInternalServerError)
	case strings.HasPrefix(r.URL.Path, "/nonsense/"):
		_, _ = w.Write([]byte("hello, this is no JSON"))
	case r.URL.Path == "/v1/chat/completions":
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: {\"id\":\"c1\",\"model\":\"tiny\",\"choices\":[{\"delta\":{\"content\":\"{plx:done}Hello from the API.\"}}]}\n\n" +
			"data: {\"choices\":[{\"delta\":{\"content\":\"{/plx:done}\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
	default:
		http.NotFound(w, r)
	}
}

func TestNearestFlag(t *testing.T) {
	a := app{}
	cmd := a.runTask()
	for given, want := range map[string]string{"modle": "model", "levl": "level", "treadh": "thread", "dir": "directory", "jsno": "json", "zzzzzz": ""} {
		if got := nearestFlag(cmd, given); got != want {
			t.Errorf("--%s suggests %q, want %q", given, got, want)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":       "plain\ttext\n",
		"\x1b[31mred\x1b[0m":  "[31mred[0m",
		"\x1b]0;title\x07":    "]0;title",
		"back\bspace\rreturn": "backspacereturn",
		"c1\u009bcsi":         "c1csi",
		"\u202eright-to-left": "right-to-left",
		"日本語 é":               "日本語 é",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestExitCodes(t *testing.T) {
	tests := []struct {
		end  ending
		want int
	}{
		{ending{Status: "answered"}, exitOK},
		{ending{Status: "answered", Denied: true}, exitDenied},
		{ending{Status: "failed"}, exitFailed},
		{ending{Status: "failed", Denied: true}, exitFailed},
		{ending{Status: "stopped"}, exitStopped},
	}
	for _, tt := range tests {
		if got := tt.end.code(); got != tt.want {
			t.Errorf("%+v gives %d, want %d", tt.end, got, tt.want)
		}
	}
}

func TestPathsError(t *testing.T) {
	var out strings.Builder
	a := app{in: strings.NewReader(""), out: &out, err: &out, paths: terminal().paths}
	t.Setenv("PLEXUS_HOME", "/dev/null/home")
	if code := run(context.Background(), []string{"folders"}, a); code != exitError || !strings.Contains(out.String(), "/dev/null/home") {
		t.Errorf("exit %d: %s", code, out.String())
	}
}

// A command that Plexus runs cannot answer for the person, nor look: it is refused before it reaches the daemon.
func TestOwnCommandsAreRefused(t *testing.T) {
	home := t.TempDir()
	t.Setenv("PLEXUS_HOME", home)
	t.Setenv(config.CallVariable, config.At(home).Mark()+".a_call")
	for _, args := range [][]string{{"approve", "p_x"}, {"folders", "level", "x", "full"}, {"threads"}, {"serve"}, {"open"}, {"config", "set", "folder.level", "full"}, {"tool", "run", "{}"}} {
		var out strings.Builder
		a := app{in: strings.NewReader(""), out: &out, err: &out, paths: config.DefaultPaths}
		if code := run(t.Context(), args, a); code != exitError || !strings.Contains(out.String(), "may not use Plexus itself") {
			t.Errorf("plexus %s: exit %d, %s", strings.Join(args, " "), code, out.String())
		}
	}
	// The command of a daemon with a home of its own does not reach the user's.
	other := config.At(t.TempDir()).Mark() + ".a_call"
	t.Setenv(config.CallVariable, other)
	t.Setenv("PLEXUS_HOME", "")
	t.Setenv("XDG_DATA_HOME", home)
	var refused strings.Builder
	if code := run(t.Context(), []string{"config", "set", "folder.level", "full"}, app{in: strings.NewReader(""), out: &refused, err: &refused, paths: config.DefaultPaths}); code != exitError {
		t.Errorf("the user's own home was changed: exit %d, %s", code, refused.String())
	}
	t.Setenv("PLEXUS_HOME", home)
	t.Setenv(config.CallVariable, other) // of another home: somebody works on Plexus with Plexus
	var out strings.Builder
	if code := run(t.Context(), []string{"threads"}, app{in: strings.NewReader(""), out: &out, err: &out, paths: config.DefaultPaths}); code != exitOK {
		t.Errorf("exit %d: %s", code, out.String())
	}
}
