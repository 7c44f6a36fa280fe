// Package server is the HTTP API of a running daemon, its event streams and the
// files of the web UI, all behind one guard. It decides nothing: each handler
// checks its input, calls the part that owns the fact, and encodes what comes
// back. The CLI and the UI speak this API and nothing else.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"plexus/internal/config"
	"plexus/internal/engine"
	"plexus/internal/gate"
	"plexus/internal/link"
	"plexus/internal/loop"
	"plexus/internal/store"
)

// Config is what a Server needs. All fields are required.
type Config struct {
	Store    *store.Store
	Engine   *engine.Engine
	Gate     *gate.Gate
	Loop     *loop.Loop
	Link     *link.Hub
	Settings *config.Settings
	Secrets  *config.Secrets
	Tokens   *Tokens
	Home     string // of Plexus itself: not a folder to work in
	Port     int    // of the listener: part of the Host allow-list
	Version  string
	Models   func(context.Context) []ModelInfo
	Doctor   func(context.Context) []Check
	Shutdown func()                                  // asks the daemon to end
	Release  func(context.Context, store.Chat) error // closes the tab of a chat that is put away; bounded
	Log      *slog.Logger
}

// ModelInfo is a model that a thread can use.
type ModelInfo struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Ready bool   `json:"ready"`
	Why   string `json:"why,omitempty"` // what is missing, in words
}

// Check is one hop that doctor looked at.
type Check struct {
	Name  string `json:"name"`
	State string `json:"state"` // pass, fail, skipped, not-run
	Text  string `json:"text"`
	Todo  string `json:"todo,omitempty"`
}

// Server answers requests. Safe for concurrent use.
type Server struct {
	cfg  Config
	keys oneTimeKeys
}

// New returns a server; Handler is what a listener serves.
func New(cfg Config) *Server { return &Server{cfg: cfg} }

// Bounds of a request.
const (
	maxBody       = 64 << 10
	maxTextBody   = 6*loop.MaxTask + maxBody // a task, each byte of which JSON may write as six
	headerTimeout = 10 * time.Second
	bodyTimeout   = 30 * time.Second
)

// route is one line of the API: who may call it and how much it may send.
type route struct {
	pattern string
	handle  func(http.ResponseWriter, *http.Request) error
	who     role
	body    int64
}

func (s *Server) routes() []route {
	return []route{
		{"POST /api/session", s.openSession, anyone, maxBody},
		{"POST /api/keys", s.newKey, onlyCLI, maxBody},
		{"POST /api/shutdown", s.shutdown, onlyCLI, maxBody},

		{"GET /api/version", s.version, person, maxBody},
		{"GET /api/state", s.state, person, maxBody},
		{"GET /api/doctor", s.doctor, person, maxBody},
		{"GET /api/stream", s.streamAll, person, maxBody},

		{"GET /api/folders", s.folders, person, maxBody},
		{"POST /api/folders", s.addFolder, person, maxBody},
		{"PATCH /api/folders/{id}", s.setFolder, person, maxBody},
		{"DELETE /api/folders/{id}", s.removeFolder, person, maxBody},
		{"GET /api/dirs", s.dirs, person, maxBody},

		{"GET /api/threads", s.threads, person, maxBody},
		{"POST /api/threads", s.newThread, person, maxTextBody},
		{"GET /api/threads/{id}", s.thread, person, maxBody},
		{"PATCH /api/threads/{id}", s.setThread, person, maxBody},
		{"DELETE /api/threads/{id}", s.deleteThread, person, maxBody},
		{"GET /api/threads/{id}/events", s.events, person, maxBody},
		{"GET /api/threads/{id}/stream", s.streamThread, person, maxBody},
		{"GET /api/threads/{id}/live", s.live, person, maxBody},
		{"GET /api/threads/{id}/turns", s.turns, person, maxBody},
		{"POST /api/threads/{id}/turns", s.newTurn, person, maxTextBody},
		{"POST /api/threads/{id}/queue", s.reorder, person, maxBody},
		{"POST /api/threads/{id}/stop", s.stop, person, maxBody},
		{"PATCH /api/turns/{id}", s.editTurn, person, maxTextBody},
		{"DELETE /api/turns/{id}", s.removeTurn, person, maxBody},
		{"GET /api/messages/{id}", s.message, person, maxBody},
		{"GET /api/search", s.search, person, maxBody},

		{"GET /api/approvals", s.approvals, person, maxBody},
		{"GET /api/approvals/{id}", s.approval, person, maxBody},
		{"POST /api/approvals/{id}", s.answer, person, maxBody},
		{"GET /api/rules", s.rules, person, maxBody},
		{"DELETE /api/rules/{id}", s.removeRule, person, maxBody},

		{"GET /api/tools", s.tools, person, maxBody},
		{"POST /api/tools/{name}", s.runTool, person, 16 << 20},
		{"GET /api/actions/{id}", s.action, person, maxBody},
		{"GET /api/actions/{id}/output", s.output, person, maxBody},
		{"POST /api/parse", s.parse, person, 16 << 20},

		{"GET /api/settings", s.settings, person, maxBody},
		{"PUT /api/settings/{key}", s.setSetting, person, maxBody},
		{"DELETE /api/settings/{key}", s.resetSetting, person, maxBody},
		{"GET /api/secrets", s.secrets, person, maxBody},
		{"PUT /api/secrets/{name}", s.setSecret, person, maxBody},
		{"DELETE /api/secrets/{name}", s.deleteSecret, person, maxBody},

		{"POST /api/pairings/{code}", s.answerPairing, person, maxBody},
		{"DELETE /api/browsers/{id}", s.removeBrowser, person, maxBody},
		{"POST /api/consent", s.consent, person, maxBody},
	}
}

// Handler returns everything that the listener serves. The order is the guard: Host, headers, cross-origin, bearer,
// body, then the route. The link has a guard of its own beyond the Host check.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.routes() {
		mux.Handle(r.pattern, s.authorized(r))
	}
	mux.Handle("/api/", s.authorized(route{handle: noSuchRoute, who: person, body: maxBody}))
	mux.Handle("/", s.files())

	outer := http.NewServeMux()
	outer.Handle(link.Path, s.cfg.Link)
	outer.Handle("/", sameOrigin(mux))
	return s.allowedHost(secured(outer))
}

// Serve answers on ln until ctx ends, then drains for at most grace.
func (s *Server) Serve(ctx context.Context, ln net.Listener, grace time.Duration) error {
	srv := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return ctx }, // ends the streams too
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ln) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve on %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := srv.Shutdown(drain)
	if err != nil {
		err = srv.Close()
	}
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		return fmt.Errorf("serve on %s: %w", ln.Addr(), served)
	}
	return err
}
