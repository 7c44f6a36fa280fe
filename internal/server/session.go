package server

import (
	"fmt"
	"net/http"
	"time"
)

// openSession trades the one-time key of a link for a session token.
func (s *Server) openSession(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Key string `json:"key"`
	}
	if err := decode(r, &in); err != nil {
		return err
	}
	now := time.Now()
	if !s.keys.use(in.Key, now) {
		return failure{http.StatusUnauthorized, "used-key", "This link was used already or is too old.", "Run `plexus open` for a new one."}
	}
	return ok(w, map[string]string{"token": s.cfg.Tokens.newSession(now)})
}

// newKey makes a link that opens the UI once.
func (s *Server) newKey(w http.ResponseWriter, _ *http.Request) error {
	key := s.keys.make(time.Now())
	return ok(w, map[string]string{"key": key, "url": fmt.Sprintf("http://localhost:%d/#key=%s", s.cfg.Port, key)})
}

func (s *Server) version(w http.ResponseWriter, _ *http.Request) error {
	return ok(w, map[string]string{"version": s.cfg.Version})
}

func (s *Server) shutdown(w http.ResponseWriter, _ *http.Request) error {
	s.cfg.Shutdown()
	return ok(w, struct{}{})
}

func (s *Server) doctor(w http.ResponseWriter, r *http.Request) error {
	return ok(w, map[string]any{"checks": s.cfg.Doctor(r.Context())})
}
