package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"plexus/internal/link"
)

// crossing is a message that passed the relay.
type crossing struct {
	at     time.Time
	down   bool // from the daemon to the extension
	kind   string
	detail string
}

// relay stands between the extension and the daemon and notes when which message passes. What is sent on is what came.
type relay struct {
	srv    *httptest.Server
	target string
	ctx    context.Context
	cancel context.CancelFunc

	mu  sync.Mutex
	log []crossing
}

// newRelay takes connections for the daemon at this port.
func newRelay(ctx context.Context, port int) *relay {
	r := &relay{target: fmt.Sprintf("ws://127.0.0.1:%d%s", port, link.Path)}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.srv = httptest.NewServer(http.HandlerFunc(r.serve))
	return r
}

func (r *relay) close() {
	r.cancel()
	r.srv.CloseClientConnections()
	r.srv.Close()
}

func (r *relay) serve(w http.ResponseWriter, req *http.Request) {
	up, err := dialLink(r.ctx, r.target)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = up.CloseNow() }()
	down, err := websocket.Accept(w, req, &websocket.AcceptOptions{InsecureSkipVerify: true, CompressionMode: websocket.CompressionContextTakeover})
	if err != nil {
		return
	}
	defer func() { _ = down.CloseNow() }()
	down.SetReadLimit(link.MaxMessage)
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		r.pass(ctx, up, down, true)
	}()
	r.pass(ctx, down, up, false)
	cancel()
	<-done
}

// pass sends on until one of the ends is gone.
func (r *relay) pass(ctx context.Context, from, to *websocket.Conn, down bool) {
	for {
		kind, data, err := from.Read(ctx)
		if err != nil {
			return
		}
		at := time.Now()
		if err := to.Write(ctx, kind, data); err != nil {
			return
		}
		r.note(at, down, data)
	}
}

func (r *relay) note(at time.Time, down bool, data []byte) {
	var m struct{ Type, Event, Stage, State string }
	if err := json.Unmarshal(data, &m); err != nil {
		return
	}
	c := crossing{at: at, down: down, kind: m.Type, detail: strings.TrimSpace(m.Event + m.Stage + m.State)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, c)
}

// between returns what passed in a span of time, in order, without what keeps the connection alive.
func (r *relay) between(from, to time.Time) []crossing {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []crossing
	for _, c := range r.log {
		if !c.at.Before(from) && c.at.Before(to) && c.kind != "ping" && c.kind != "pong" {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b crossing) int { return a.at.Compare(b.at) })
	return out
}

// daemonsPart adds up how long the daemon took for each of its moves: from whatever passed before it to the move.
func daemonsPart(passed []crossing) time.Duration {
	var total time.Duration
	for i, c := range passed {
		if c.down && i > 0 {
			total += c.at.Sub(passed[i-1].at)
		}
	}
	return total
}
