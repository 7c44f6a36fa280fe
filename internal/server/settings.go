package server

import (
	"errors"
	"net/http"
	"slices"

	"plexus/internal/config"
)

func (s *Server) settings(w http.ResponseWriter, r *http.Request) error {
	all, err := s.cfg.Settings.All(r.Context())
	if err != nil {
		return err
	}
	return ok(w, all)
}

func (s *Server) setSetting(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Value string `json:"value"`
	}
	if err := decode(r, &in); err != nil {
		return err
	}
	v, err := s.cfg.Settings.Set(r.Context(), r.PathValue("key"), in.Value)
	if err != nil {
		return err
	}
	return ok(w, v)
}

func (s *Server) resetSetting(w http.ResponseWriter, r *http.Request) error {
	v, err := s.cfg.Settings.Reset(r.Context(), r.PathValue("key"))
	if err != nil {
		return err
	}
	return ok(w, v)
}

type secretState struct {
	Name string `json:"name"`
	Set  bool   `json:"set"`
}

// secrets tells which are set, and where they are kept; never a value.
func (s *Server) secrets(w http.ResponseWriter, r *http.Request) error {
	var all []secretState
	for _, name := range config.SecretNames() {
		_, err := s.cfg.Secrets.Get(r.Context(), name)
		if err != nil && !errors.Is(err, config.ErrNoSecret) {
			return err
		}
		all = append(all, secretState{Name: name, Set: err == nil})
	}
	return ok(w, map[string]any{"secrets": nonNil(all), "place": s.cfg.Secrets.Place()})
}

func (s *Server) setSecret(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Value string `json:"value"`
	}
	if err := decode(r, &in); err != nil {
		return err
	}
	name := r.PathValue("name")
	if in.Value == "" && slices.Contains(config.SecretNames(), name) {
		return bad("empty-secret", "The value is empty, so nothing was kept.", "")
	}
	if err := s.cfg.Secrets.Set(r.Context(), name, config.Secret(in.Value)); err != nil {
		return err
	}
	return ok(w, secretState{Name: name, Set: true})
}

func (s *Server) deleteSecret(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	if err := s.cfg.Secrets.Delete(r.Context(), name); err != nil {
		return err
	}
	return ok(w, secretState{Name: name})
}
