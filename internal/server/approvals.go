package server

import (
	"fmt"
	"net/http"

	"plexus/internal/gate"
)

// maxReason bounds a person's reason for a denial, which goes to the model.
const maxReason = 2000

func (s *Server) approvals(w http.ResponseWriter, r *http.Request) error {
	state := r.URL.Query().Get("state")
	if state == "" {
		state = "pending"
	}
	all, err := s.cfg.Store.Approvals(r.Context(), state)
	if err != nil {
		return err
	}
	return ok(w, nonNil(all))
}

func (s *Server) approval(w http.ResponseWriter, r *http.Request) error {
	a, err := s.cfg.Store.Approval(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return ok(w, a)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
		Prefix   string `json:"prefix"` // with always: allow what begins with these words, not this command alone
	}
	if err := decode(r, &in); err != nil {
		return err
	}
	if len(in.Reason) > maxReason {
		return bad("long-reason", fmt.Sprintf("A reason has at most %d bytes.", maxReason), "")
	}
	a := gate.Answer{Reason: in.Reason, By: actorOf(r.Context())}
	switch in.Decision {
	case "allow":
		a.Allow = true
	case "always":
		a.Allow, a.Always, a.Prefix = true, true, in.Prefix
	case "deny":
	default:
		return bad("bad-decision", fmt.Sprintf("%q is not a decision.", in.Decision), "Use allow, always or deny.")
	}
	done, err := s.cfg.Gate.Answer(r.Context(), r.PathValue("id"), a)
	if err != nil {
		return err
	}
	return ok(w, done)
}

func (s *Server) rules(w http.ResponseWriter, r *http.Request) error {
	folder, err := s.cfg.Store.Folder(r.Context(), r.URL.Query().Get("folder"))
	if err != nil {
		return err
	}
	all, err := s.cfg.Store.Rules(r.Context(), folder.ID)
	if err != nil {
		return err
	}
	return ok(w, nonNil(all))
}

func (s *Server) removeRule(w http.ResponseWriter, r *http.Request) error {
	if err := s.cfg.Store.RemoveRule(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	return ok(w, struct{}{})
}
