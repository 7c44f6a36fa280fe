// Package practice is a chat site of our own to drive: it speaks as the ChatGPT web app does, under the same host name and
// over TLS, so that the extension that drives the real site runs on it without a change. A scenario is the mind behind it.
// The site keeps a log of what reached it, which is how a test proves that nothing was sent twice and nothing was lost.
//
// A browser reaches it by flags that map chatgpt.com to the site's port and accept its throw-away certificate; see
// Site.ChromiumFlags. Nothing listens beyond the loopback.
package practice

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"plexus/internal/scenario"
	"plexus/web"
)

// The names under which the site answers.
const (
	Host       = "chatgpt.com"
	SocketHost = "ws.chatgpt.com"
)

// Defaults of Config.
const (
	DefaultMessageLimit = 100_000
	DefaultPasteLimit   = 10_000
	DefaultHydration    = 300 * time.Millisecond
	DefaultRedirect     = 500 * time.Millisecond
)

// Config says how the site behaves. The zero Config is a usable site.
type Config struct {
	// Addr is where to listen; only the loopback is allowed. "127.0.0.1:0" when empty.
	Addr string
	// Scenario is the mind; each conversation starts it anew. The built-in demo when nil.
	Scenario *scenario.Scenario
	// Log gets what a developer may want to know; the default discards.
	Log *slog.Logger
	// MessageLimit is the most UTF-16 units a message may have; a longer one is refused with 413. 0 is DefaultMessageLimit.
	MessageLimit int
	// PasteLimit is the most UTF-16 units a paste may have before it becomes an attachment. 0 is DefaultPasteLimit.
	PasteLimit int
	// Pace is the pause between two pieces of an answer. 0 streams as fast as it can.
	Pace time.Duration
	// Seed decides where frames are cut into pieces on the wire; the same seed cuts alike.
	Seed uint64
	// Plan is the plan that the account is said to have; "plus" when empty.
	Plan string
	// SignedOut makes the site treat everyone as signed out.
	SignedOut bool
	// Page says how the client side looks and acts.
	Page PageConfig
}

// PageConfig is handed to the client side as it is.
type PageConfig struct {
	// Hydration is how long a page shows its plain textarea before the editor. 0 is DefaultHydration, negative is none.
	Hydration time.Duration
	// Redirect is how long a chat of a project stays at its short address before it moves to the one of the project, which drops
	// what was typed meanwhile. 0 is DefaultRedirect, negative is at once.
	Redirect time.Duration
	// Stop is the kind of stop button: "testid" (the default) or "aria", which has an aria-label and no test id.
	Stop string
	// Picker is the kind of model picker: "header" (the default) or "none", as on plans that have none.
	Picker string
}

// Site is a running practice site.
type Site struct {
	cfg     Config
	log     *slog.Logger
	files   fs.FS
	page    *shell
	cert    certificate
	ln      net.Listener
	server  *http.Server
	serving sync.WaitGroup // the HTTP server, its requests and all turns
	closing sync.Mutex
	closed  bool
	ctx     context.Context
	stop    context.CancelFunc

	journal journal
	faults  faults
	chats   chats
	access  access
	sockets sockets
}

// Start opens the site. It ends when ctx ends or by Close.
func Start(ctx context.Context, cfg Config) (*Site, error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("start practice site: %w", err)
	}
	page, err := newShell(web.Practice(), cfg)
	if err != nil {
		return nil, fmt.Errorf("start practice site: %w", err)
	}
	cert, err := newCertificate(Host, SocketHost)
	if err != nil {
		return nil, fmt.Errorf("start practice site: make a certificate: %w", err)
	}
	ln, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("start practice site: %w", err)
	}
	if a, ok := ln.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		ln.Close()
		return nil, fmt.Errorf("start practice site: %s is not on the loopback", cfg.Addr)
	}
	s := &Site{cfg: cfg, log: cfg.Log, files: web.Practice(), page: page, cert: cert, ln: ln}
	s.ctx, s.stop = context.WithCancel(ctx)
	s.journal.init()
	s.faults.init()
	s.chats.init(cfg.Scenario, cfg.Seed)
	s.access.init()
	s.sockets.init()
	s.server = &http.Server{
		Handler:           s.handler(),
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{cert.pair}},
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return s.ctx },
	}
	s.serving.Go(func() {
		if err := s.server.ServeTLS(ln, "", ""); err != nil && !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("practice site stopped", slog.Any("error", err))
		}
	})
	context.AfterFunc(s.ctx, func() { s.server.Close() })
	return s, nil
}

func (c *Config) complete() error {
	if c.MessageLimit < 0 || c.PasteLimit < 0 || c.Pace < 0 {
		return errors.New("a limit or a pace is negative")
	}
	if c.Addr == "" {
		c.Addr = "127.0.0.1:0"
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Plan == "" {
		c.Plan = "plus"
	}
	if c.MessageLimit == 0 {
		c.MessageLimit = DefaultMessageLimit
	}
	if c.PasteLimit == 0 {
		c.PasteLimit = DefaultPasteLimit
	}
	c.Page.Hydration = delay(c.Page.Hydration, DefaultHydration)
	c.Page.Redirect = delay(c.Page.Redirect, DefaultRedirect)
	if err := oneOf("stop button", &c.Page.Stop, "testid", "aria"); err != nil {
		return err
	}
	if err := oneOf("model picker", &c.Page.Picker, "header", "none"); err != nil {
		return err
	}
	if c.Scenario == nil {
		src, _ := scenario.Builtin("demo")
		s, err := scenario.Parse(src)
		if err != nil {
			return fmt.Errorf("built-in demo: %w", err)
		}
		c.Scenario = s
	}
	return nil
}

// delay reads a setting in which 0 is the default and negative is none.
func delay(set, usual time.Duration) time.Duration {
	if set == 0 {
		return usual
	}
	return max(set, 0)
}

// oneOf sets an empty value to the first of the choices and refuses one that is not among them.
func oneOf(what string, value *string, choices ...string) error {
	if *value == "" {
		*value = choices[0]
	}
	for _, c := range choices {
		if *value == c {
			return nil
		}
	}
	return fmt.Errorf("%s %q is not one of %q", what, *value, choices)
}

// Addr is the address that the site listens on.
func (s *Site) Addr() string { return s.ln.Addr().String() }

// SPKI is the base64 SHA-256 of the certificate's public key, as Chromium's flag wants it.
func (s *Site) SPKI() string { return s.cert.spki }

// ChromiumFlags are the flags with which Chromium finds the site under its host names and trusts it. They work only
// together with a --user-data-dir.
func (s *Site) ChromiumFlags() []string {
	addr := s.Addr()
	return []string{
		fmt.Sprintf("--host-resolver-rules=MAP %s:443 %s,MAP %s:443 %s", Host, addr, SocketHost, addr),
		"--ignore-certificate-errors-spki-list=" + s.SPKI(),
	}
}

// Close ends all streams and connections and waits until nothing of the site runs.
func (s *Site) Close() error {
	s.closing.Lock()
	s.closed = true
	s.closing.Unlock()
	s.stop()
	err := s.server.Close()
	s.serving.Wait()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close practice site: %w", err)
	}
	return nil
}

// enter counts a request among what Close waits for; a closed site takes none.
func (s *Site) enter() bool {
	s.closing.Lock()
	defer s.closing.Unlock()
	if s.closed {
		return false
	}
	s.serving.Add(1)
	return true
}
