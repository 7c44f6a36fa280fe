package server

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"plexus/internal/store"
)

// role is who may use a route.
type role int

const (
	anyone  role = iota // no token: the route checks something itself
	person              // the UI or the CLI
	onlyCLI             // the daemon's own token, from a 0600 file
)

type actorKey struct{}

// actorOf returns "ui" or "cli" for an authorized request.
func actorOf(ctx context.Context) string {
	who, _ := ctx.Value(actorKey{}).(string)
	return who
}

// allowedHost refuses requests whose Host is not exactly ours: a page whose name was rebound to the loopback address
// sends its own.
func (s *Server) allowedHost(next http.Handler) http.Handler {
	port := ":" + strconv.Itoa(s.cfg.Port)
	allowed := map[string]bool{"localhost" + port: true, "127.0.0.1" + port: true, "[::1]" + port: true}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !allowed[strings.ToLower(r.Host)] {
			s.refuse(w, failure{Status: http.StatusForbidden, Code: "host", Text: "This address is not served here.", Todo: "Open http://localhost" + port + "."})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// contentSecurityPolicy allows our own files and nothing else; there is no inline script or style in the UI.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
	"connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentSecurityPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

// sameOrigin refuses what a page of another origin sends, reads included. A link that a person follows to our start page
// is a navigation, and is let through to the files only.
func sameOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if foreign(r) {
			refuseForeign(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func foreign(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		return true
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	navigation := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	return !navigation || strings.HasPrefix(r.URL.Path, "/api/")
}

func refuseForeign(w http.ResponseWriter) {
	encode(w, http.StatusForbidden, failure{Code: "cross-origin", Text: "Another site's page may not use Plexus."}.body())
}

// authorized checks the bearer, bounds the body in size and time, and turns an error into its answer.
func (s *Server) authorized(r route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.who != anyone {
			who := s.cfg.Tokens.actor(bearer(req))
			if who == "" || (r.who == onlyCLI && who != actorCLI) {
				s.refuse(w, failure{Status: http.StatusUnauthorized, Code: "unauthorized", Text: "This needs a key.", Todo: "Run `plexus open`."})
				return
			}
			req = req.WithContext(context.WithValue(req.Context(), actorKey{}, who))
		}
		req.Body = http.MaxBytesReader(w, req.Body, r.body)
		// A body that trickles in holds nothing for long. Not every ResponseWriter can do it; then the header timeout has to do.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout))
		if err := r.handle(w, req); err != nil {
			s.fail(w, req, err)
		}
	})
}

func bearer(r *http.Request) string {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return ""
	}
	return token
}

func noSuchRoute(http.ResponseWriter, *http.Request) error { return store.ErrNotFound }
