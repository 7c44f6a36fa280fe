package link

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// Bounds of connections, the first two of those that have not proved who they are.
const (
	maxGreeting   = 8        // connections that are greeted or wait for approval at one time
	maxHello      = 64 << 10 // bytes of a message from one of them
	maxQueued     = 8 << 20  // bytes of the wire that wait for the reader of one subscription
	compressAbove = 1 << 10  // bytes of a message to the extension that is worth compressing
)

// Options are what a Hub needs.
type Options struct {
	Store       Browsers
	Version     string // of Plexus, told to the extension
	ExtensionID string // "" is ExtensionID
	Log         *slog.Logger
}

// timing holds every wait of the package; tests shorten it.
type timing struct {
	hello   time.Duration // from the upgrade to the hello
	ping    time.Duration // between pings
	dead    time.Duration // of silence until a connection is given up
	write   time.Duration // of one message
	part    time.Duration // that the other side may take to agree to a close
	hold    time.Duration // that a full subscription may hold the connection
	command time.Duration // until a response, when the caller sets no deadline
	pairing time.Duration // that a code is good for
	window  time.Duration // in which maxOpenings pairings may be opened
}

var defaultTiming = timing{
	hello:   5 * time.Second,
	ping:    10 * time.Second,
	dead:    25 * time.Second,
	write:   10 * time.Second,
	part:    time.Second,
	hold:    20 * time.Second,
	command: 2 * time.Minute,
	pairing: 5 * time.Minute,
	window:  time.Minute,
}

// Hub takes the connections of extensions, asks a person about new ones, and
// knows which browsers are there.
type Hub struct {
	store   Browsers
	version string
	origin  string
	log     *slog.Logger
	timing  timing
	// maxQueued is the constant but in tests.
	maxQueued int
	ctx       context.Context
	cancel    context.CancelFunc
	conns     sync.WaitGroup

	mu       sync.Mutex
	greeting int
	peers    map[string]*Peer    // by browser
	pairings map[string]*pairing // by code
	openings []time.Time         // of the pairings of the last window
	changed  chan struct{}       // closed and replaced at each change of peers or pairings
}

// NewHub returns a Hub without connections. Close ends it.
func NewHub(opt Options) *Hub {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Hub{
		store:     opt.Store,
		version:   opt.Version,
		origin:    "chrome-extension://" + cmp.Or(opt.ExtensionID, ExtensionID),
		log:       opt.Log,
		timing:    defaultTiming,
		maxQueued: maxQueued,
		ctx:       ctx,
		cancel:    cancel,
		peers:     map[string]*Peer{},
		pairings:  map[string]*pairing{},
		changed:   make(chan struct{}),
	}
}

// Close ends all connections and waits until they have ended. Connections that come later are refused.
func (h *Hub) Close() {
	h.mu.Lock()
	h.cancel() // under the lock: no connection is counted after this
	peers := make([]*Peer, 0, len(h.peers))
	for _, p := range h.peers {
		peers = append(peers, p)
	}
	h.mu.Unlock()
	for _, p := range peers {
		p.end("Plexus ends")
	}
	h.conns.Wait()
}

// ServeHTTP upgrades a request of our extension to a WebSocket and serves it
// until it ends. Any other origin is refused before the upgrade.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if o := r.Header.Values("Origin"); len(o) != 1 || o[0] != h.origin {
		http.Error(w, "only the Plexus extension may connect here", http.StatusForbidden)
		return
	}
	if !h.enter() {
		http.Error(w, "too many connections that are not paired; try again in a minute", http.StatusServiceUnavailable)
		return
	}
	defer h.conns.Done()
	greeted := sync.OnceFunc(h.leave)
	defer greeted()
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		InsecureSkipVerify:   true, // of the origin, which is checked above and more strictly
		CompressionMode:      websocket.CompressionContextTakeover,
		CompressionThreshold: compressAbove,
	})
	if err != nil {
		h.log.Info("link upgrade failed", slog.String("error", err.Error()))
		return
	}
	defer conn.CloseNow()
	h.serve(conn, portOf(r), greeted)
}

// portOf is the port that a request came in at.
func portOf(r *http.Request) int {
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		return a.Port
	}
	return 0
}

// enter counts a connection that is not known yet.
func (h *Hub) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.greeting >= maxGreeting || h.ctx.Err() != nil {
		return false
	}
	h.greeting++
	h.conns.Add(1)
	return true
}

func (h *Hub) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.greeting--
}

// serve greets a connection and reads it until it ends.
func (h *Hub) serve(conn *websocket.Conn, port int, greeted func()) {
	p := &Peer{
		hub:     h,
		conn:    conn,
		info:    PeerInfo{Since: time.Now()},
		log:     h.log,
		done:    make(chan struct{}),
		pending: map[string]chan *Response{},
		subs:    map[string][]*subscription{},
		turns:   map[string]string{},
	}
	p.ctx, p.cancel = context.WithCancel(h.ctx)
	defer p.cancel()
	var tasks sync.WaitGroup
	defer tasks.Wait()
	defer close(p.done)
	defer p.cancel()

	hello, ok := p.hello()
	if !ok {
		return
	}
	p.info.Browser, p.info.Label, p.info.Version = hello.Browser, hello.Label, hello.Version
	p.info.Capabilities, p.info.Turns = hello.Capabilities, hello.Turns
	p.log = h.log.With(slog.String("browser", hello.Browser))
	for _, f := range hello.Turns {
		p.turns[f.Thread] = f.Turn
	}
	known, found, err := h.store.Browser(p.ctx, hello.Browser)
	if err != nil {
		h.log.Error("link cannot look up a browser", slog.String("error", err.Error()))
		p.closeWith(websocket.StatusInternalError, "the store does not answer")
		return
	}
	if found && hello.Paired && p.proved(known, port, hello.Nonce) {
		if err := h.welcome(p, known, ""); err != nil {
			p.log.Error("link cannot welcome a browser", slog.String("error", err.Error()))
			return
		}
		greeted()
	} else if p.ctx.Err() == nil {
		q := h.openPairing(p, greeted)
		if q == nil {
			return
		}
		tasks.Go(func() { h.expire(q) })
	}
	tasks.Go(p.watch)
	p.read()
	h.remove(p)
}

// proved shows the browser that we know its token, and reports whether it shows the same.
func (p *Peer) proved(known Browser, port int, hello string) bool {
	nonce := rand.Text()
	out, err := encode(Challenge{Nonce: nonce, Proof: known.proof(rolePlexus, port, hello, nonce)}, rand.Text)
	if err != nil || p.write(out) != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(p.ctx, p.hub.timing.hello)
	defer cancel()
	_, data, err := p.conn.Read(ctx)
	if err != nil {
		p.end("no proof")
		return false
	}
	msg, err := decode(data)
	answer, ok := msg.(*Proof)
	if err != nil || !ok {
		p.refuse("bad-hello", "the answer to a challenge is a proof")
		return false
	}
	return proves(known, answer.Proof, known.proof(roleBrowser, port, hello, nonce))
}

// hello reads the first message and refuses what we cannot talk to.
func (p *Peer) hello() (*Hello, bool) {
	p.conn.SetReadLimit(maxHello)
	ctx, cancel := context.WithTimeout(p.ctx, p.hub.timing.hello)
	defer cancel()
	_, data, err := p.conn.Read(ctx)
	if err != nil {
		return nil, false
	}
	msg, err := decode(data)
	if err != nil {
		p.refuse("bad-hello", err.Error())
		return nil, false
	}
	hello, ok := msg.(*Hello)
	if !ok {
		p.refuse("bad-hello", "the first message is a hello")
		return nil, false
	}
	if hello.Protocol != Protocol {
		p.refuse("protocol", fmt.Sprintf("The extension %s speaks version %d of the link, Plexus %s speaks version %d. "+
			"Run \"plexus extension\" and reload the extension in the browser.", hello.Version, hello.Protocol, p.hub.version, Protocol))
		return nil, false
	}
	return hello, true
}

// welcome makes p the connection of its browser. A non-empty token is new. An approval that is taken back meanwhile stays
// taken back, and ends the connection.
func (h *Hub) welcome(p *Peer, b Browser, token string) error {
	b.Label, b.Version, b.LastSeen = p.info.Label, p.info.Version, time.Now()
	if token != "" {
		if err := h.store.SaveBrowser(p.ctx, b); err != nil {
			return fmt.Errorf("save browser %q: %w", b.ID, err)
		}
	}
	p.conn.SetReadLimit(MaxMessage)
	p.paired.Store(true)
	out, err := encode(Welcome{Version: h.version, Token: token}, rand.Text)
	if err != nil {
		return err
	}
	if err := p.write(out); err != nil {
		return err
	}
	h.mu.Lock()
	if p.gone {
		h.mu.Unlock()
		return ErrClosed
	}
	old := h.peers[b.ID]
	h.peers[b.ID] = p
	h.notify()
	h.mu.Unlock()
	if old != nil {
		// The old one may be half dead and slow to part; p's own connection keeps the group alive meanwhile.
		h.conns.Go(func() { old.refuse("replaced", "The same browser connected again.") })
	}
	p.log.Info("browser connected", slog.String("label", b.Label), slog.String("version", b.Version))
	// Only now is p found by a Drop: an approval that was taken back before, since it was read, is looked for here.
	switch known, err := h.store.TouchBrowser(p.ctx, b); {
	case err != nil:
		p.log.Warn("browser's record not brought up to date", slog.String("error", err.Error()))
	case !known:
		p.withdraw()
	}
	return nil // one that was ended is removed by who reads it
}

// remove forgets a connection that ended.
func (h *Hub) remove(p *Peer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.gone = true
	if h.peers[p.info.Browser] == p {
		delete(h.peers, p.info.Browser)
	}
	h.dropPairing(p)
	h.notify()
	p.mu.Lock()
	reason := cmp.Or(p.reason, "closed by the browser")
	p.mu.Unlock()
	p.log.Info("browser disconnected", slog.String("reason", reason))
}

// notify wakes who waits for a change. The caller holds the lock.
func (h *Hub) notify() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// Changed returns a channel that is closed at the next change of Peers or Pairings.
func (h *Hub) Changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changed
}

// Peers describes the connected and paired browsers, the most recent connection first.
func (h *Hub) Peers() []PeerInfo {
	h.mu.Lock()
	defer h.mu.Unlock()
	infos := make([]PeerInfo, 0, len(h.peers))
	for _, p := range h.peers {
		infos = append(infos, p.info)
	}
	slices.SortFunc(infos, func(a, b PeerInfo) int {
		return cmp.Or(b.Since.Compare(a.Since), cmp.Compare(a.Browser, b.Browser))
	})
	return infos
}

// Peer returns the connection of a browser; "" is the most recent one.
func (h *Hub) Peer(browser string) (*Peer, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.peer(browser)
}

func (h *Hub) peer(browser string) (*Peer, bool) {
	if browser != "" {
		p, ok := h.peers[browser]
		return p, ok
	}
	var newest *Peer
	for _, p := range h.peers {
		if newest == nil || p.info.Since.After(newest.info.Since) {
			newest = p
		}
	}
	return newest, newest != nil
}

// Wait returns the connection of a browser ("" is any) as soon as there is one.
func (h *Hub) Wait(ctx context.Context, browser string) (*Peer, error) {
	for {
		h.mu.Lock()
		p, ok := h.peer(browser)
		changed := h.changed
		h.mu.Unlock()
		if ok {
			return p, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for a browser: %w", context.Cause(ctx))
		case <-h.ctx.Done():
			return nil, fmt.Errorf("wait for a browser: %w", ErrClosed)
		}
	}
}

// Drop ends the connection of a browser whose approval was taken back.
func (h *Hub) Drop(browser string) {
	if p, ok := h.Peer(browser); ok && browser != "" {
		p.withdraw()
	}
}

// withdraw ends a connection whose browser is not approved any more.
func (p *Peer) withdraw() { p.refuse("denied", "The approval of this browser was taken back.") }
