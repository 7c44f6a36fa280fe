// Package extension_test runs the built extension in a real Chromium on the
// practice site. The tests play the daemon, through the hub that the daemon has.
package extension_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plexus/internal/chatstream"
	"plexus/internal/chromium"
	"plexus/internal/link"
	"plexus/internal/practice"
	"plexus/internal/scenario"
	"plexus/web"
)

// approved keeps browsers for one test.
type approved struct {
	mu   sync.Mutex
	rows map[string]link.Browser
}

func (a *approved) Browser(_ context.Context, id string) (link.Browser, bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b, ok := a.rows[id]
	return b, ok, nil
}

func (a *approved) SaveBrowser(_ context.Context, b link.Browser) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rows[b.ID] = b
	return nil
}

func (a *approved) TouchBrowser(_ context.Context, b link.Browser) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, ok := a.rows[b.ID]
	return ok, nil
}

// rig is a browser with the extension, the practice site, and a hub.
type rig struct {
	t     testing.TB
	ctx   context.Context
	site  *practice.Site
	store *approved
	port  int
	hub   *link.Hub
	stop  func() // of the hub
	peer  *link.Peer
	tools *devtools
	wire  atomic.Int64 // bytes that the hub's connections read
}

// counted is a listener whose connections count what they read.
type counted struct {
	net.Listener
	read *atomic.Int64
}

func (l counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return countedConn{c, l.read}, err
}

type countedConn struct {
	net.Conn
	read *atomic.Int64
}

func (c countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err
}

func logger(t testing.TB) *slog.Logger {
	if !testing.Verbose() {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, nil))
}

// start runs everything and pairs.
func start(t testing.TB, cfg practice.Config) *rig {
	t.Helper()
	r := boot(t, cfg)
	r.pair()
	return r
}

// boot runs everything.
func boot(t testing.TB, cfg practice.Config) *rig {
	t.Helper()
	if test, ok := t.(*testing.T); ok {
		test.Parallel()
	}
	if _, err := chromium.Find(); errors.Is(err, chromium.ErrMissing) {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	t.Cleanup(cancel)
	if cfg.Scenario == nil {
		cfg.Scenario = builtin(t, "modes")
	}
	cfg.Log = logger(t)
	site, err := practice.Start(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { site.Close() })
	r := &rig{t: t, ctx: ctx, site: site, store: &approved{rows: map[string]link.Browser{}}}
	r.listen()
	dir := r.install()
	profile := filepath.Join(t.TempDir(), "profile")
	browser, err := chromium.Start(ctx, chromium.Options{
		Profile: profile, Extensions: []string{dir}, Flags: append(site.ChromiumFlags(), "--remote-debugging-port=0"), Headless: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(browser.Close)
	r.asked()
	r.tools = attach(t, ctx, profile)
	return r
}

func builtin(t testing.TB, name string) *scenario.Scenario {
	t.Helper()
	src, ok := scenario.Builtin(name)
	if !ok {
		t.Fatalf("no built-in scenario %s", name)
	}
	s, err := scenario.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// listen starts a hub, on the port of the one before if there was one.
func (r *rig) listen() { r.serve(r.store) }

// serve is listen with browsers of its own.
func (r *rig) serve(store link.Browsers) {
	r.t.Helper()
	ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", r.port))
	if err != nil {
		r.t.Fatal(err)
	}
	r.port = ln.Addr().(*net.TCPAddr).Port
	r.hub = link.NewHub(link.Options{Store: store, Version: "test", Log: logger(r.t)})
	mux := http.NewServeMux()
	mux.Handle(link.Path, r.hub)
	srv := &http.Server{Handler: mux}
	served := make(chan struct{})
	go func() {
		defer close(served)
		srv.Serve(counted{ln, &r.wire})
	}()
	hub := r.hub
	r.stop = sync.OnceFunc(func() {
		hub.Close()
		srv.Close()
		<-served
	})
	r.t.Cleanup(r.stop)
}

// install writes the extension with our port.
func (r *rig) install() string {
	r.t.Helper()
	dir := filepath.Join(r.t.TempDir(), "extension")
	if err := os.CopyFS(dir, web.Extension()); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "endpoint.json"), fmt.Appendf(nil, `{"ports":[%d]}`, r.port), 0o644); err != nil {
		r.t.Fatal(err)
	}
	return dir
}

// asked waits until the browser asks to pair, and returns the code.
func (r *rig) asked() string {
	r.t.Helper()
	for {
		changed := r.hub.Changed()
		if open := r.hub.Pairings(); len(open) > 0 {
			return open[0].Code
		}
		select {
		case <-changed:
		case <-r.ctx.Done():
			r.t.Fatal("the extension did not ask to pair")
		}
	}
}

func (r *rig) pair() {
	r.t.Helper()
	if err := r.hub.Approve(r.ctx, r.asked()); err != nil {
		r.t.Fatal(err)
	}
	r.connected()
}

func (r *rig) connected() {
	r.t.Helper()
	peer, err := r.hub.Wait(r.ctx, "")
	if err != nil {
		r.t.Fatal(err)
	}
	r.peer = peer
}

func (r *rig) command(cmd, result any) {
	r.t.Helper()
	if err := r.peer.Command(r.ctx, cmd, result); err != nil {
		r.t.Fatalf("%T: %v", cmd, err)
	}
}

// refused gives a command that must fail, and returns the code.
func (r *rig) refused(cmd any) *link.ResponseError {
	r.t.Helper()
	err := r.peer.Command(r.ctx, cmd, nil)
	refused, ok := errors.AsType[*link.ResponseError](err)
	if !ok {
		r.t.Fatalf("%T: got %v, want a refusal", cmd, err)
	}
	return refused
}

const home = "https://" + practice.Host + "/"

func (r *rig) open(thread, url string) link.TabResult {
	r.t.Helper()
	var tab link.TabResult
	ctx, cancel := context.WithTimeout(r.ctx, 20*time.Second)
	defer cancel()
	if err := r.peer.Command(ctx, link.OpenTab{Thread: thread, URL: url}, &tab); err != nil {
		for _, target := range r.tools.targets() {
			if target.Type == "page" && strings.HasPrefix(target.URL, home) {
				var page string
				r.tools.eval(r.tools.session(target), "document.visibilityState + document.readyState + document.documentElement.outerHTML", &page)
				r.t.Logf("%s: %.3000s", target.URL, page)
			}
		}
		r.t.Fatalf("open %s: %v", url, err)
	}
	return tab
}

// heard is what came of one message.
type heard struct {
	stages  []string
	text    string
	notices []*link.SiteNotice
	tabs    []*link.TabStatus
	result  link.SendResult
	err     error
	lastN   int64
	bytes   int
	trace   []string // of the last turn's updates, for a failure
}

// say sends a message and follows its turn until the decoder sees its end, or the send fails.
func (r *rig) say(turn, thread string, tab int, text string) heard {
	r.t.Helper()
	events, cancel := r.peer.Subscribe(turn)
	defer cancel()
	var h heard
	id := "m-" + turn + "-" + fmt.Sprint(time.Now().UnixNano())
	done := make(chan error, 1)
	go func() {
		done <- r.peer.Command(r.ctx, link.SendMessage{ID: id, Turn: turn, Thread: thread, Tab: tab, Text: text}, &h.result)
	}()
	dec := chatstream.New()
	var answer strings.Builder
	sent := false
	for {
		select {
		case ev, ok := <-events:
			if !ok {
				r.t.Fatal("the connection ended")
			}
			r.take(ev, &h, id, turn, dec, &answer)
		case h.err = <-done:
			if h.err != nil {
				return h
			}
			sent = true
		case <-r.ctx.Done():
			r.t.Fatalf("no end of turn %s: stages %v, notices %s, tabs %s, updates:\n%s", turn, h.stages, encode(h.notices), encode(h.tabs), strings.Join(h.trace, "\n"))
		}
		if sent && dec.Ended() {
			h.text = answer.String()
			return h
		}
	}
}

func (r *rig) take(ev any, h *heard, id, turn string, dec *chatstream.Decoder, answer *strings.Builder) {
	r.t.Helper()
	switch ev := ev.(type) {
	case *link.SubmitProgress:
		h.stages = append(h.stages, ev.Stage)
		if ev.Stage == "dispatched" {
			if err := r.peer.Send(r.ctx, link.Proceed{ID: id, Turn: turn, Go: true}); err != nil {
				r.t.Fatal(err)
			}
		}
	case *link.StreamUpdate:
		if ev.N != h.lastN+1 && h.lastN != 0 {
			r.t.Fatalf("update %d after %d", ev.N, h.lastN)
		}
		h.lastN = ev.N
		h.trace = append(h.trace, fmt.Sprintf("%d %s %s %s %d %.2000q", ev.N, ev.Stream, ev.Event, ev.URL, ev.Status, ev.Data))
		h.bytes += len(ev.Data)
		var updates []chatstream.Update
		switch ev.Event {
		case "open":
			dec.Open(ev.Stream, chatstream.Source(ev.Source), ev.URL)
		case "data":
			updates = dec.Data(ev.Stream, []byte(ev.Data))
		case "close", "error":
			updates = dec.Close(ev.Stream, ev.Event == "close")
		}
		for _, u := range updates {
			if u.Kind == chatstream.KindText {
				answer.WriteString(u.Text)
			}
		}
	case *link.SiteNotice:
		h.notices = append(h.notices, ev)
	case *link.TabStatus:
		h.tabs = append(h.tabs, ev)
	}
}

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
