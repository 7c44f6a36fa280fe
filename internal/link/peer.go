package link

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// ErrClosed says that the connection ended before what was asked for came
// about. What the browser did meanwhile is unknown.
var ErrClosed = errors.New("the connection to the browser ended")

// maxStrays bounds the messages of one connection that nobody can use: of unknown
// types, responses that nobody waits for. A peer that sends more is no peer of ours.
const maxStrays = 1000

func (e *ResponseError) Error() string { return e.Text }

// PeerInfo describes a connected and paired browser.
type PeerInfo struct {
	Browser      string     `json:"id"`
	Label        string     `json:"label"`
	Version      string     `json:"version"` // of the extension
	Since        time.Time  `json:"since"`   // of this connection
	Capabilities []string   `json:"capabilities"`
	Turns        []TurnFact `json:"turns"` // that the browser held when it connected
}

// Peer is one connection of one browser. A reconnect is a new Peer. All
// methods may be called at the same time from many goroutines.
type Peer struct {
	hub    *Hub
	conn   *websocket.Conn
	info   PeerInfo
	log    *slog.Logger
	ctx    context.Context // ends with the connection
	cancel context.CancelFunc
	done   chan struct{} // closed when nothing more will be read
	gone   bool          // removed from the hub; guarded by the hub's lock

	paired  atomic.Bool
	heard   atomic.Int64 // when the last message came, since info.Since
	holding atomic.Bool  // the connection is not read because a subscription is full

	mu      sync.Mutex
	pending map[string]chan *Response
	subs    map[string][]*subscription // by turn
	turns   map[string]string          // newest turn by thread
	strays  int
	reason  string // why we ended it, "" when the other side did
}

// Info describes the peer. Slices in it must not be changed.
func (p *Peer) Info() PeerInfo { return p.info }

// Done is closed when the connection has ended.
func (p *Peer) Done() <-chan struct{} { return p.done }

// Send writes a message that has no response (Proceed, AckFrames). It returns when the
// message was handed to the system, not when it was read.
func (p *Peer) Send(ctx context.Context, msg any) error {
	out, err := encode(msg, rand.Text)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("send %s: %w", out.kind, context.Cause(ctx))
	}
	return p.write(out)
}

// Command writes cmd (a struct of ToWorker with an ID; an empty one is filled in),
// waits for its response and decodes it into result, a pointer to a struct of this
// package, or nil. Errors: *ResponseError from the browser; ErrClosed when the
// connection ended first; ctx's cause. Without a deadline in ctx it waits two minutes.
func (p *Peer) Command(ctx context.Context, cmd, result any) error {
	out, err := encode(cmd, rand.Text)
	if err != nil {
		return err
	}
	if out.id == "" {
		return fmt.Errorf("%s has no response; use Send", out.kind)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.hub.timing.command, fmt.Errorf("%s: no response from the browser within %s", out.kind, p.hub.timing.command))
	defer cancel()
	answer, err := p.expect(out.id)
	if err != nil {
		return fmt.Errorf("%s: %w", out.kind, err)
	}
	defer p.forget(out.id)
	if err := p.write(out); err != nil {
		return err
	}
	select {
	case r := <-answer:
		return take(out.kind, r, result)
	case <-p.done:
		select {
		case r := <-answer:
			return take(out.kind, r, result)
		default:
			return fmt.Errorf("%s: %w", out.kind, ErrClosed)
		}
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", out.kind, context.Cause(ctx))
	}
}

func take(kind string, r *Response, result any) error {
	if r.Error != nil {
		return r.Error
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(r.Result, result); err != nil {
		return fmt.Errorf("read the response to %s: %w", kind, err)
	}
	if reflect.Indirect(reflect.ValueOf(result)).Kind() != reflect.Struct {
		return nil
	}
	if err := check(result); err != nil {
		return fmt.Errorf("read the response to %s: %w", kind, err)
	}
	return nil
}

func (p *Peer) expect(id string) (<-chan *Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, dup := p.pending[id]; dup {
		return nil, fmt.Errorf("a command with the id %q is under way", id)
	}
	c := make(chan *Response, 1)
	p.pending[id] = c
	return c, nil
}

func (p *Peer) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pending, id)
}

// Subscribe returns the events of a turn as pointers to StreamUpdate,
// SubmitProgress, SiteNotice, Recovered, TurnStatus (its own fact only) and TabStatus
// (of the thread that a command or a fact has named with the turn), in the
// order in which they came. Nothing is left out: when the reader is more than 8 MiB
// behind, the connection is not read until it catches up, and ended if it
// does not within 20 s. The channel is closed after the last event of a connection
// that ended, or after cancel, which must be called.
func (p *Peer) Subscribe(turn string) (<-chan any, func()) {
	s := newSubscription(p.hub.maxQueued)
	p.mu.Lock()
	p.subs[turn] = append(p.subs[turn], s)
	p.mu.Unlock()
	go s.pump(p.done)
	var once sync.Once
	return s.out, func() {
		once.Do(func() {
			close(s.stop)
			p.mu.Lock()
			defer p.mu.Unlock()
			p.subs[turn] = slices.DeleteFunc(p.subs[turn], func(o *subscription) bool { return o == s })
			if len(p.subs[turn]) == 0 {
				delete(p.subs, turn)
			}
		})
	}
}

// write hands one message to the connection. The caller's context does not reach it: a
// write that is given up in the middle would end the connection.
func (p *Peer) write(out outbound) error {
	if out.turn != "" && out.from != "" {
		p.learn(out.from, out.turn)
	}
	ctx, cancel := context.WithTimeout(p.ctx, p.hub.timing.write)
	defer cancel()
	if err := p.conn.Write(ctx, websocket.MessageText, out.data); err != nil {
		p.end("the browser does not read")
		return fmt.Errorf("send %s: %w", out.kind, ErrClosed)
	}
	return nil
}

// learn keeps which turn of a thread is the newest, so that news of its tab find it.
func (p *Peer) learn(thread, turn string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turns[thread] = turn
}

// end closes the connection without a word more.
func (p *Peer) end(reason string) {
	p.mu.Lock()
	if p.reason == "" {
		p.reason = reason
	}
	p.mu.Unlock()
	p.cancel()
	p.conn.CloseNow()
}

// refuse tells the other side why and closes the connection.
func (p *Peer) refuse(code, text string) {
	if out, err := encode(Refused{Code: code, Text: text}, rand.Text); err == nil {
		p.write(out) // best effort: the connection is ended in either case
	}
	p.closeWith(websocket.StatusPolicyViolation, code)
}

// closeWith ends the connection in order; the reason reaches the other side.
func (p *Peer) closeWith(status websocket.StatusCode, reason string) {
	p.mu.Lock()
	if p.reason == "" {
		p.reason = reason
	}
	p.mu.Unlock()
	if len(reason) > 120 { // a close frame holds 123 bytes
		reason = reason[:120]
	}
	// Close waits for the other side to agree. One that is gone is not waited for long: the end of p.ctx ends
	// the read that is under way, and with it the connection.
	timer := time.AfterFunc(p.hub.timing.part, p.cancel)
	defer timer.Stop()
	p.conn.Close(status, reason)
	p.cancel()
}

// watch pings the other side and ends the connection when it is silent. It returns when the connection has ended.
func (p *Peer) watch() {
	tick := time.NewTicker(p.hub.timing.ping)
	defer tick.Stop()
	for n := int64(1); ; n++ {
		select {
		case <-p.ctx.Done():
			return
		case <-tick.C:
		}
		silent := time.Since(p.info.Since) - time.Duration(p.heard.Load())
		if silent > p.hub.timing.dead && !p.holding.Load() {
			p.end("silent")
			return
		}
		if out, err := encode(Ping{N: n}, rand.Text); err == nil {
			if p.write(out) != nil {
				return
			}
		}
	}
}
