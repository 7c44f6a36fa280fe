package link

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// memory keeps approved browsers for one test.
type memory struct {
	mu    sync.Mutex
	rows  map[string]Browser
	err   error
	after func(call string) // when it returns from a call; set before anybody connects
}

func (m *memory) done(call string) {
	if m.after != nil {
		m.after(call)
	}
}

func (m *memory) Browser(_ context.Context, id string) (Browser, bool, error) {
	defer m.done("Browser")
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.rows[id]
	return b, ok, m.err
}

func (m *memory) TouchBrowser(_ context.Context, b Browser) (bool, error) {
	defer m.done("TouchBrowser")
	m.mu.Lock()
	defer m.mu.Unlock()
	row, ok := m.rows[b.ID]
	if m.err != nil || !ok || !bytes.Equal(row.Token, b.Token) {
		return false, m.err
	}
	row.Label, row.Version, row.LastSeen = b.Label, b.Version, b.LastSeen
	m.rows[b.ID] = row
	return true, nil
}

func (m *memory) remove(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.rows, id)
}

func (m *memory) SaveBrowser(_ context.Context, b Browser) error {
	defer m.done("SaveBrowser")
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	m.rows[b.ID] = b
	return nil
}

func (m *memory) all() map[string]Browser {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.rows)
}

// testQueued is small, so that little data fills a queue.
const testQueued = 256 << 10

// bench is a hub on a real loopback socket.
type bench struct {
	t     testing.TB
	hub   *Hub
	store *memory
	url   string
	port  int
	wire  *atomic.Int64 // bytes that the server read
}

// countingListener counts what its connections read.
type countingListener struct {
	net.Listener
	read *atomic.Int64
}

func (l countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return countingConn{c, l.read}, err
}

type countingConn struct {
	net.Conn
	read *atomic.Int64
}

func (c countingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err
}

func newBench(t testing.TB, change func(*timing)) *bench {
	t.Helper()
	store := &memory{rows: map[string]Browser{}}
	hub := NewHub(Options{Store: store, Version: "1.2.3"})
	hub.maxQueued = testQueued
	hub.timing.part = 10 * time.Millisecond
	if change != nil {
		change(&hub.timing)
	}
	b := &bench{t: t, hub: hub, store: store, wire: new(atomic.Int64)}
	mux := http.NewServeMux()
	mux.Handle(Path, hub)
	srv := httptest.NewUnstartedServer(mux)
	srv.Listener = countingListener{srv.Listener, b.wire}
	srv.Start()
	b.url = "ws" + strings.TrimPrefix(srv.URL, "http") + Path
	b.port = srv.Listener.Addr().(*net.TCPAddr).Port
	t.Cleanup(func() {
		hub.Close()
		srv.Close()
	})
	return b
}

func ctxOf(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// end is the extension's end of a connection.
type end struct {
	t    testing.TB
	conn *websocket.Conn
	ctx  context.Context
	port int
	// wrong says that the token of greet is not the one that was given.
	wrong bool
}

func (b *bench) dial() *end {
	b.t.Helper()
	ctx := ctxOf(b.t)
	conn, _, err := websocket.Dial(ctx, b.url, &websocket.DialOptions{
		HTTPHeader:           http.Header{"Origin": {"chrome-extension://" + ExtensionID}},
		CompressionMode:      websocket.CompressionContextTakeover,
		CompressionThreshold: 1,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	conn.SetReadLimit(MaxMessage)
	b.t.Cleanup(func() { conn.CloseNow() })
	return &end{t: b.t, conn: conn, ctx: ctx, port: b.port}
}

func (e *end) send(v any) {
	e.t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		e.t.Fatal(err)
	}
	e.raw(string(data))
}

func (e *end) raw(text string) {
	e.t.Helper()
	if err := e.conn.Write(e.ctx, websocket.MessageText, []byte(text)); err != nil {
		e.t.Fatal(err)
	}
}

// next returns the next message that is no ping.
func (e *end) next() map[string]any {
	e.t.Helper()
	for {
		_, data, err := e.conn.Read(e.ctx)
		if err != nil {
			e.t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(data, &m); err != nil {
			e.t.Fatal(err)
		}
		if m["type"] != "ping" {
			return m
		}
	}
}

func (e *end) want(kind string) map[string]any {
	e.t.Helper()
	m := e.next()
	if m["type"] != kind {
		e.t.Fatalf("got %v, want a %s", m, kind)
	}
	return m
}

// closed reads until the connection ends and returns the reason given.
func (e *end) closed() string {
	e.t.Helper()
	for {
		_, _, err := e.conn.Read(e.ctx)
		if e.ctx.Err() != nil {
			e.t.Fatal("the connection did not end")
		}
		if err != nil {
			return err.Error()
		}
	}
}

const testBrowser = "br_0123456789"

const testNonce = "nonce-of-16-bytes"

func hello() Hello {
	return Hello{Type: "hello", Protocol: Protocol, Version: "0.1.0", Browser: testBrowser, Label: "Chromium 156 on Linux", Nonce: testNonce}
}

// greet says hello and, with a token, proves it. It checks that Plexus proves the token as well, unless it is a wrong one.
func (e *end) greet(token string) {
	e.t.Helper()
	h := hello()
	h.Paired = token != ""
	e.send(h)
	if !h.Paired {
		return
	}
	c := e.want("challenge")
	nonce := c["nonce"].(string)
	b := Browser{Token: hashToken(token)}
	if proves(b, c["proof"].(string), b.proof(rolePlexus, e.port, testNonce, nonce)) != !e.wrong {
		e.t.Error("the proof of Plexus is not what the token says")
	}
	e.send(Proof{Type: "proof", Proof: b.proof(roleBrowser, e.port, testNonce, nonce)})
}

// pair connects and approves a browser; it returns its end, the peer, and the token.
func (b *bench) pair() (*end, *Peer, string) {
	b.t.Helper()
	e := b.dial()
	e.greet("")
	code := e.want("pairing")["code"].(string)
	if err := b.hub.Approve(e.ctx, code); err != nil {
		b.t.Fatal(err)
	}
	token := e.want("welcome")["token"].(string)
	p, err := b.hub.Wait(e.ctx, testBrowser)
	if err != nil {
		b.t.Fatal(err)
	}
	return e, p, token
}

// noPairings waits until no pairing is open.
func (b *bench) noPairings() {
	b.t.Helper()
	ctx := ctxOf(b.t)
	for {
		changed := b.hub.Changed()
		if len(b.hub.Pairings()) == 0 {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			b.t.Fatal("a pairing stays open")
		}
	}
}
