package server

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"plexus/internal/config"
	"plexus/internal/store"
)

// browserState is a paired browser and whether it is here now.
type browserState struct {
	ID        string    `json:"id"`
	Label     string    `json:"label"`
	Version   string    `json:"version"`
	Connected bool      `json:"connected"`
	LastSeen  time.Time `json:"lastSeen"`
}

// State is everything that the UI's frame shows.
type State struct {
	Version      string         `json:"version"`
	Folders      []store.Folder `json:"folders"`
	Browsers     []browserState `json:"browsers"`
	Pairings     []pairingState `json:"pairings"`
	Models       []ModelInfo    `json:"models"`
	Approvals    int            `json:"approvals"` // open questions
	DefaultModel string         `json:"defaultModel"`
	Consent      bool           `json:"consent"` // to drive the real chat site
	LastEvent    int64          `json:"lastEvent"`
}

type pairingState struct {
	Code  string    `json:"code"`
	Label string    `json:"label"`
	Since time.Time `json:"since"`
}

func (s *Server) state(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	st := State{Version: s.cfg.Version, Models: nonNil(s.cfg.Models(ctx)), DefaultModel: s.defaultModel(r),
		Consent: s.cfg.Settings.Bool(ctx, config.KeyConsentChatGPT), Pairings: []pairingState{}}
	var err error
	if st.LastEvent, err = s.cfg.Store.LastEventID(ctx); err != nil {
		return err
	}
	if st.Folders, err = s.cfg.Store.Folders(ctx); err != nil {
		return err
	}
	st.Folders = nonNil(st.Folders)
	if st.Browsers, err = s.browsers(r); err != nil {
		return err
	}
	for _, p := range s.cfg.Link.Pairings() {
		st.Pairings = append(st.Pairings, pairingState{Code: p.Code, Label: p.Label, Since: p.Since})
	}
	open, err := s.cfg.Store.Approvals(ctx, "pending")
	if err != nil {
		return err
	}
	st.Approvals = len(open)
	return ok(w, st)
}

func (s *Server) browsers(r *http.Request) ([]browserState, error) {
	known, err := s.cfg.Store.Browsers(r.Context())
	if err != nil {
		return nil, err
	}
	here := map[string]bool{}
	for _, p := range s.cfg.Link.Peers() {
		here[p.Browser] = true
	}
	all := []browserState{}
	for _, b := range known {
		all = append(all, browserState{ID: b.ID, Label: b.Label, Version: b.Version, Connected: here[b.ID], LastSeen: b.LastSeen})
	}
	return all, nil
}

// answerPairing is a person's word on a browser that shows this code.
func (s *Server) answerPairing(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Approve bool `json:"approve"`
	}
	if err := decode(r, &in); err != nil {
		return err
	}
	answer := s.cfg.Link.Deny
	if in.Approve {
		answer = s.cfg.Link.Approve
	}
	if err := answer(r.Context(), r.PathValue("code")); err != nil {
		return err
	}
	return ok(w, struct{}{})
}

func (s *Server) removeBrowser(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if err := s.cfg.Store.RemoveBrowser(r.Context(), id); err != nil {
		return err
	}
	s.cfg.Link.Drop(id)
	return ok(w, struct{}{})
}

// consent keeps the person's word that a real chat site may be driven.
func (s *Server) consent(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Site   string `json:"site"`
		Agreed bool   `json:"agreed"`
	}
	if err := decode(r, &in); err != nil {
		return err
	}
	if in.Site != "chatgpt" {
		return bad("bad-site", fmt.Sprintf("%q is not a site that Plexus drives.", in.Site), "Use chatgpt.")
	}
	v, err := s.cfg.Settings.Set(r.Context(), config.KeyConsentChatGPT, strconv.FormatBool(in.Agreed))
	if err != nil {
		return err
	}
	return ok(w, v)
}
