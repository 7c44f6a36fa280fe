package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"plexus/internal/config"
	"plexus/internal/engine"
	"plexus/internal/gate"
	"plexus/internal/link"
	"plexus/internal/loop"
	"plexus/internal/plx"
	"plexus/internal/proc"
	"plexus/internal/store"
	"plexus/internal/tool"
	"plexus/internal/workspace"
)

const daemonToken = "the-daemons-own-token"

// site is a server on real parts and a real socket.
type site struct {
	t     *testing.T
	port  int
	dir   string
	store *store.Store
	srv   *Server
}

func newSite(t *testing.T) *site {
	t.Helper()
	home := t.TempDir()
	t.Setenv("PLEXUS_HOME", home)
	paths := config.At(home)
	if err := paths.Create(); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	st, err := store.Open(t.Context(), store.Options{Path: paths.DB, Assets: paths.Assets, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := ln.Addr().(*net.TCPAddr).Port
	runner := proc.New(proc.Options{Shell: "/bin/sh"})
	g := gate.New(st, log)
	eng, err := engine.New(engine.Config{Store: st, Gate: g, Spool: paths.Spool, Log: log, Tools: append(workspace.Tools(workspace.Options{}), runner.Tools()...)})
	if err != nil {
		t.Fatal(err)
	}
	lp := loop.New(loop.Config{Store: st, Engine: eng, Log: log, Models: map[string]loop.Model{"scripted": loop.Scripted{}},
		DefaultModel: func(context.Context) string { return "scripted" },
		Limits: func(context.Context) loop.Limits {
			return loop.Limits{Budget: plx.DefaultBudget, Rounds: 10, Watchdog: time.Minute}
		}})
	tokens, err := NewTokens(daemonToken, filepath.Join(paths.Run, "session.key"))
	if err != nil {
		t.Fatal(err)
	}
	srv := New(Config{Store: st, Engine: eng, Gate: g, Loop: lp, Link: link.NewHub(link.Options{Store: noBrowsers{}, Log: log}),
		Settings: config.NewSettings(st), Secrets: config.OpenSecrets(t.Context(), paths), Tokens: tokens, Home: home, Port: port, Version: "test",
		Models:   func(context.Context) []ModelInfo { return []ModelInfo{{Name: "api", Label: "API"}} },
		Doctor:   func(context.Context) []Check { return nil },
		Shutdown: func() {}, Release: func(context.Context, store.Chat) error { return nil }, Log: log})
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, ln, time.Second) }()
	t.Cleanup(func() {
		end, stop := context.WithTimeout(context.Background(), 10*time.Second)
		defer stop()
		if err := lp.Close(end); err != nil {
			t.Error(err)
		}
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := runner.Close(end); err != nil {
			t.Error(err)
		}
		_ = st.Close()
	})
	return &site{t: t, port: port, dir: t.TempDir(), store: st, srv: srv}
}

type noBrowsers struct{}

func (noBrowsers) Browser(context.Context, string) (link.Browser, bool, error) {
	return link.Browser{}, false, nil
}
func (noBrowsers) SaveBrowser(context.Context, link.Browser) error          { return nil }
func (noBrowsers) TouchBrowser(context.Context, link.Browser) (bool, error) { return false, nil }

// request is one raw request; Host "" is ours.
type request struct {
	method, path, host, body string
	header                   map[string]string
}

func (s *site) do(r request) (int, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), r.method, "http://127.0.0.1:"+strconv.Itoa(s.port)+r.path, strings.NewReader(r.body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Host = r.host
	for k, v := range r.header {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

// call is a good request with the daemon's token.
func (s *site) call(method, path string, in, out any) int {
	s.t.Helper()
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			s.t.Fatal(err)
		}
	}
	status, text := s.do(request{method: method, path: path, body: body.String(), header: map[string]string{"Authorization": "Bearer " + daemonToken}})
	if out != nil && status == http.StatusOK {
		if err := json.Unmarshal([]byte(text), out); err != nil {
			s.t.Fatalf("%s %s: %v in %s", method, path, err, text)
		}
	}
	return status
}

func TestGuard(t *testing.T) {
	s := newSite(t)
	port := ":" + strconv.Itoa(s.port)
	auth := func(extra ...string) map[string]string {
		h := map[string]string{"Authorization": "Bearer " + daemonToken}
		for i := 0; i+1 < len(extra); i += 2 {
			h[extra[i]] = extra[i+1]
		}
		return h
	}
	tests := []struct {
		name string
		request
		want int
	}{
		{"good", request{"GET", "/api/version", "", "", auth()}, 200},
		{"localhost", request{"GET", "/api/version", "localhost" + port, "", auth()}, 200},
		{"capital host", request{"GET", "/api/version", "LOCALHOST" + port, "", auth()}, 200},
		{"ipv6 host", request{"GET", "/api/version", "[::1]" + port, "", auth()}, 200},
		{"own origin", request{"GET", "/api/version", "localhost" + port, "", auth("Origin", "http://localhost"+port)}, 200},
		{"own page's fetch", request{"GET", "/api/version", "localhost" + port, "", auth("Sec-Fetch-Site", "same-origin")}, 200},
		{"files without a key", request{"GET", "/", "", "", nil}, 200},
		{"link from elsewhere to the start page", request{"GET", "/", "", "", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}}, 200},

		{"rebound host", request{"GET", "/api/version", "evil.example" + port, "", auth()}, 403},
		{"rebound host and origin", request{"GET", "/api/version", "evil.example" + port, "", auth("Origin", "http://evil.example"+port)}, 403},
		{"rebound host on files", request{"GET", "/", "evil.example" + port, "", nil}, 403},
		{"rebound host on the link", request{"GET", link.Path, "evil.example" + port, "", nil}, 403},
		{"host with our prefix", request{"GET", "/api/version", "127.0.0.1.evil.example" + port, "", auth()}, 403},
		{"host that ends like ours", request{"GET", "/api/version", "evil-localhost" + port, "", auth()}, 403},
		{"host without port", request{"GET", "/api/version", "localhost", "", auth()}, 403},
		{"host with another port", request{"GET", "/api/version", "localhost:1", "", auth()}, 403},
		{"foreign origin", request{"GET", "/api/version", "", "", auth("Origin", "https://chatgpt.com")}, 403},
		{"null origin", request{"GET", "/api/version", "", "", auth("Origin", "null")}, 403},
		{"another port's origin", request{"POST", "/api/keys", "localhost" + port, "", auth("Origin", "http://localhost:3000")}, 403},
		{"extension's origin", request{"GET", "/api/version", "", "", auth("Origin", "chrome-extension://"+strings.Repeat("a", 32))}, 403},
		{"cross-site fetch", request{"GET", "/api/version", "", "", auth("Sec-Fetch-Site", "cross-site")}, 403},
		{"same-site fetch of another port", request{"GET", "/api/version", "", "", auth("Sec-Fetch-Site", "same-site")}, 403},
		{"cross-site navigation to the API", request{"GET", "/api/version", "", "", auth("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")}, 403},
		{"cross-site frame", request{"GET", "/", "", "", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}}, 403},
		{"cross-site image", request{"GET", "/icon.svg", "", "", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}}, 403},

		{"no key", request{"GET", "/api/version", "", "", nil}, 401},
		{"wrong key", request{"GET", "/api/version", "", "", map[string]string{"Authorization": "Bearer nope"}}, 401},
		{"empty key", request{"GET", "/api/version", "", "", map[string]string{"Authorization": "Bearer "}}, 401},
		{"key of another scheme", request{"GET", "/api/version", "", "", map[string]string{"Authorization": "Basic " + daemonToken}}, 401},
		{"forged session", request{"GET", "/api/version", "", "", map[string]string{"Authorization": "Bearer " + strings.Repeat("A", 75)}}, 401},
		{"unknown route without key", request{"GET", "/api/nothing", "", "", nil}, 401},
		{"unknown route", request{"GET", "/api/nothing", "", "", auth()}, 404},
		{"wrong method", request{"DELETE", "/api/version", "", "", auth()}, 404},
		{"post to files", request{"POST", "/", "", "x", nil}, 405},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, body := s.do(tt.request)
			if status != tt.want {
				t.Errorf("%s %s gave %d, want %d: %s", tt.method, tt.path, status, tt.want, body)
			}
			if status >= 400 && !strings.Contains(body, `"text":`) && !strings.Contains(tt.path, link.Path) {
				t.Errorf("the refusal says nothing: %s", body)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	s := newSite(t)
	resp, err := http.Get("http://127.0.0.1:" + strconv.Itoa(s.port) + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
	} {
		if got := resp.Header.Get(name); !strings.Contains(got, want) {
			t.Errorf("%s is %q", name, got)
		}
	}
	if got := resp.Header.Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("CORS is opened to %q", got)
	}
}

func TestOneTimeKey(t *testing.T) {
	s := newSite(t)
	var made struct{ Key, URL string }
	if status := s.call("POST", "/api/keys", nil, &made); status != 200 || !strings.Contains(made.URL, "#key="+made.Key) {
		t.Fatalf("POST /api/keys: %d %+v", status, made)
	}
	body, _ := json.Marshal(map[string]string{"key": made.Key})
	status, text := s.do(request{method: "POST", path: "/api/session", body: string(body)})
	var session struct{ Token string }
	if err := json.Unmarshal([]byte(text), &session); status != 200 || err != nil || session.Token == "" {
		t.Fatalf("the key gave %d %s", status, text)
	}
	if status, _ := s.do(request{method: "POST", path: "/api/session", body: string(body)}); status != 401 {
		t.Errorf("the same key again gave %d", status)
	}
	header := map[string]string{"Authorization": "Bearer " + session.Token}
	if status, text := s.do(request{method: "GET", path: "/api/state", header: header}); status != 200 {
		t.Errorf("the session gave %d %s", status, text)
	}
	for _, path := range []string{"/api/keys", "/api/shutdown"} {
		if status, _ := s.do(request{method: "POST", path: path, header: header}); status != 401 {
			t.Errorf("a page's session could POST %s: %d", path, status)
		}
	}
	for _, key := range []string{"", "nope", made.Key} {
		if s.srv.keys.use(key, time.Now()) {
			t.Errorf("the key %q was taken", key)
		}
	}
	old := s.srv.keys.make(time.Now())
	if s.srv.keys.use(old, time.Now().Add(keyLife+time.Second)) {
		t.Error("a key was taken after its life")
	}
}

func TestSessionTokens(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session.key")
	a, err := NewTokens("one", file)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	token := a.newSession(now)
	b, err := NewTokens("two", file) // the daemon was restarted
	if err != nil {
		t.Fatal(err)
	}
	if b.actor(token) != actorUI {
		t.Error("a session does not survive a restart")
	}
	if b.actor("one") != "" || b.actor("two") != actorCLI {
		t.Error("the daemon's own token is not the newest alone")
	}
	if a.sessionValid(token, now.Add(sessionLife+time.Minute)) {
		t.Error("a session never ends")
	}
	flipped := []byte(token)
	flipped[0] ^= 1
	for _, bad := range []string{string(flipped), token[:len(token)-2], token + "AA", "", "!"} {
		if a.actor(bad) != "" {
			t.Errorf("%q was taken", bad)
		}
	}
	other, err := NewTokens("one", filepath.Join(t.TempDir(), "session.key"))
	if err != nil {
		t.Fatal(err)
	}
	if other.actor(token) != "" {
		t.Error("a session of another home was taken")
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key file has mode %v, %v", info.Mode(), err)
	}
}

func TestBodies(t *testing.T) {
	s := newSite(t)
	auth := map[string]string{"Authorization": "Bearer " + daemonToken}
	tests := []struct {
		name, path, body string
		want             int
		code             string
	}{
		{"empty", "/api/folders", "", 400, "bad-json"},
		{"not JSON", "/api/folders", "path=/x", 400, "bad-json"},
		{"array", "/api/folders", "[]", 400, "bad-json"},
		{"unknown field", "/api/folders", `{"path":"/","root":true}`, 400, "bad-json"},
		{"two values", "/api/folders", `{"path":"/x"} {}`, 400, "bad-json"},
		{"wrong type", "/api/folders", `{"path":7}`, 400, "bad-json"},
		{"too large", "/api/folders", `{"path":"` + strings.Repeat("a", maxBody) + `"}`, 413, "too-large"},
		{"relative path", "/api/folders", `{"path":"src"}`, 400, "bad-path"},
		{"no such path", "/api/folders", `{"path":"/no/such/folder"}`, 400, "bad-path"},
		{"Plexus' own files", "/api/folders", `{"path":` + quote(os.Getenv("PLEXUS_HOME")) + `}`, 400, "bad-path"},
		{"above Plexus' own files", "/api/folders", `{"path":` + quote(filepath.Dir(os.Getenv("PLEXUS_HOME"))) + `}`, 400, "bad-path"},
		{"root", "/api/folders", `{"path":"/"}`, 400, "bad-path"},
		{"bad level", "/api/folders", `{"path":` + quote(s.dir) + `,"level":"yolo"}`, 400, "bad-level"},
		{"thread in an unknown folder", "/api/threads", `{"folder":"f_nope"}`, 404, "not-found"},
		{"unknown decision", "/api/approvals/q_x", `{"decision":"maybe"}`, 400, "bad-decision"},
		{"unknown approval", "/api/approvals/q_x", `{"decision":"allow"}`, 404, "not-found"},
		{"unknown pairing", "/api/pairings/AAA-AAA", `{"approve":true}`, 404, "no-pairing"},
		{"unknown site", "/api/consent", `{"site":"other","agreed":true}`, 400, "bad-site"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, body := s.do(request{method: "POST", path: tt.path, body: tt.body, header: auth})
			if status != tt.want || !strings.Contains(body, `"code":"`+tt.code+`"`) {
				t.Errorf("gave %d %.300s, want %d %s", status, body, tt.want, tt.code)
			}
		})
	}
}

func quote(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

func TestFoldersAndThreads(t *testing.T) {
	s := newSite(t)
	var f store.Folder
	if status := s.call("POST", "/api/folders", map[string]string{"path": s.dir, "level": "auto-review"}, &f); status != 200 {
		t.Fatal(status)
	}
	if status := s.call("POST", "/api/threads", map[string]string{"folder": f.ID, "level": "full"}, nil); status != 400 {
		t.Errorf("a thread looser than its folder gave %d", status)
	}
	if status := s.call("POST", "/api/threads", map[string]string{"folder": f.ID, "model": "nope"}, nil); status != 400 {
		t.Errorf("an unknown model gave %d", status)
	}
	if status := s.call("POST", "/api/threads", map[string]string{"folder": f.ID, "text": strings.Repeat("x", loop.MaxTask+1)}, nil); status != 413 {
		t.Errorf("a huge task gave %d", status)
	}
	var all []store.Thread
	if s.call("GET", "/api/threads", nil, &all); len(all) != 0 {
		t.Errorf("refused threads were made: %+v", all)
	}
	var th store.Thread
	if status := s.call("POST", "/api/threads", map[string]string{"folder": f.ID, "level": "manual", "model": "api"}, &th); status != 200 || th.Level != "manual" {
		t.Fatalf("%d %+v", status, th)
	}
	if status := s.call("POST", "/api/threads/"+th.ID+"/stop", nil, nil); status != 409 {
		t.Errorf("stopping an idle thread gave %d", status)
	}
	if status := s.call("DELETE", "/api/threads/"+th.ID, nil, nil); status != 200 {
		t.Errorf("delete gave %d", status)
	}
	if s.call("GET", "/api/threads", nil, &all); len(all) != 0 {
		t.Errorf("a deleted thread is listed: %+v", all)
	}
	if status := s.call("PATCH", "/api/threads/"+th.ID, map[string]bool{"deleted": false}, &th); status != 200 || th.Deleted {
		t.Errorf("taking it back gave %d %+v", status, th)
	}
}

func TestRunTool(t *testing.T) {
	s := newSite(t)
	var f store.Folder
	s.call("POST", "/api/folders", map[string]string{"path": s.dir, "level": "auto-review"}, &f)
	run := func(name string, input any) (tool.Result, int) {
		var res tool.Result
		status := s.call("POST", "/api/tools/"+name, map[string]any{"folder": f.ID, "input": input}, &res)
		return res, status
	}
	res, status := run("run", map[string]any{"command": "echo hello"})
	if status != 200 || res.Status != tool.StatusOK || !strings.Contains(res.Text, "hello\n[exit 0]") {
		t.Errorf("run: %d %+v", status, res)
	}
	if res, _ = run("read", map[string]any{"path": "../outside"}); res.Status != tool.StatusError {
		t.Errorf("a path outside gave %+v", res)
	}
	if res, _ = run("read", map[string]any{"pth": "x"}); res.Status != tool.StatusError || !strings.Contains(res.Text, "pth") {
		t.Errorf("an unknown argument gave %+v", res)
	}
	if res, _ = run("no-such", map[string]any{}); res.Status != tool.StatusError {
		t.Errorf("an unknown tool gave %+v", res)
	}
}

// A folder that was replaced by a link is refused by every tool.
func TestFolderReplacedByLink(t *testing.T) {
	s := newSite(t)
	var f store.Folder
	s.call("POST", "/api/folders", map[string]string{"path": s.dir, "level": "full"}, &f)
	if err := os.Remove(s.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc", s.dir); err != nil {
		t.Fatal(err)
	}
	for name, input := range map[string]any{"list": map[string]any{"path": "."}, "read": map[string]any{"path": "hostname"}, "run": map[string]any{"command": "ls"}, "write": map[string]any{"path": "x", "content": ""}} {
		var res tool.Result
		if s.call("POST", "/api/tools/"+name, map[string]any{"folder": f.ID, "input": input}, &res); res.Status != tool.StatusError || !strings.Contains(res.Text, "link") {
			t.Errorf("%s gave %+v", name, res)
		}
	}
}

// A stream that is taken up again from a number gives each event once.
func TestStreamResumes(t *testing.T) {
	s := newSite(t)
	var f store.Folder
	s.call("POST", "/api/folders", map[string]string{"path": s.dir}, &f)
	var th store.Thread
	s.call("POST", "/api/threads", map[string]string{"folder": f.ID, "model": "api"}, &th)
	for range 5 {
		if _, err := s.store.Append(t.Context(), th.ID, "", store.EventNotice, store.Notice{Code: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	first := s.events("/api/threads/"+th.ID+"/stream?after=0", 3)
	rest := s.events("/api/threads/"+th.ID+"/stream?after="+strconv.FormatInt(first[2].Seq, 10), 2)
	for i, e := range append(first, rest...) {
		if e.Seq != int64(i+1) {
			t.Errorf("event %d has number %d", i, e.Seq)
		}
	}
	for _, bad := range []string{"?after=-1", "?after=x", "?after=1.5"} {
		if status := s.call("GET", "/api/threads/"+th.ID+"/stream"+bad, nil, nil); status != 400 {
			t.Errorf("%s gave %d", bad, status)
		}
	}
}

// events reads n events of a stream and goes away.
func (s *site) events(path string, n int) []store.Event {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", "http://127.0.0.1:"+strconv.Itoa(s.port)+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+daemonToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var got []store.Event
	buf := make([]byte, 0, 1<<16)
	for len(got) < n {
		chunk := make([]byte, 4096)
		m, err := resp.Body.Read(chunk)
		if err != nil {
			s.t.Fatal(err)
		}
		buf = append(buf, chunk[:m]...)
		got = got[:0]
		for _, line := range strings.Split(string(buf), "\n") {
			data, ok := strings.CutPrefix(line, "data: ")
			var e store.Event
			if ok && json.Unmarshal([]byte(data), &e) == nil && e.Seq > 0 {
				got = append(got, e)
			}
		}
	}
	return got[:n]
}

func TestSecretsStayHidden(t *testing.T) {
	s := newSite(t)
	if status := s.call("PUT", "/api/secrets/"+config.SecretAPIKey, map[string]string{"value": "sk-hidden"}, nil); status != 200 {
		t.Fatal(status)
	}
	header := map[string]string{"Authorization": "Bearer " + daemonToken}
	for _, path := range []string{"/api/secrets", "/api/settings", "/api/state", "/api/doctor"} {
		if _, text := s.do(request{method: "GET", path: path, header: header}); strings.Contains(text, "hidden") {
			t.Errorf("%s shows the secret: %s", path, text)
		}
	}
	if status := s.call("PUT", "/api/secrets/other", map[string]string{"value": "x"}, nil); status != 404 {
		t.Errorf("an unknown secret gave %d", status)
	}
}

func TestParsePage(t *testing.T) {
	s := newSite(t)
	var r plx.Reply
	if status := s.call("POST", "/api/parse", map[string]any{"text": "{plx:done}hi{/plx:done}", "rendered": false}, &r); status != 200 || r.Answer != "hi" {
		t.Errorf("%d %+v", status, r)
	}
}

// A request that the daemon's end cuts short is never told as done.
func TestEndIsNotSuccess(t *testing.T) {
	s := newSite(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	s.srv.fail(w, httptest.NewRequestWithContext(ctx, "POST", "/api/threads/x/stop", nil), context.Canceled)
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "ending") {
		t.Errorf("told as %d %q", w.Code, w.Body)
	}
}

// What changes a thread does not guess which is meant.
func TestChangesNeedTheWholeID(t *testing.T) {
	s := newSite(t)
	var f store.Folder
	s.call("POST", "/api/folders", map[string]string{"path": s.dir}, &f)
	var th store.Thread
	s.call("POST", "/api/threads", map[string]string{"folder": f.ID, "model": "api"}, &th)
	short := th.ID[:6]
	if status := s.call("GET", "/api/threads/"+short, nil, nil); status != 200 {
		t.Errorf("looking by the first letters gave %d", status)
	}
	if status := s.call("DELETE", "/api/threads/"+short, nil, nil); status != 404 {
		t.Errorf("deleting by the first letters gave %d", status)
	}
	if status := s.call("PATCH", "/api/threads/"+short, map[string]string{"title": "x"}, nil); status != 404 {
		t.Errorf("renaming by the first letters gave %d", status)
	}
}
