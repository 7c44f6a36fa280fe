package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"plexus/internal/loop"
)

// stopBound is how long a stop may take: processes get 2 s to end before they are killed.
const stopBound = 15 * time.Second

func (s *Server) turns(w http.ResponseWriter, r *http.Request) error {
	t, err := s.cfg.Store.Thread(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	all, err := s.cfg.Store.Turns(r.Context(), t.ID)
	if err != nil {
		return err
	}
	return ok(w, nonNil(all))
}

func (s *Server) newTurn(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Text string `json:"text"`
	}
	if err := decode(r, &in); err != nil {
		return err
	}
	t, err := s.cfg.Store.Thread(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	turn, err := s.cfg.Loop.Submit(r.Context(), t.ID, in.Text)
	if err != nil {
		return err
	}
	return ok(w, turn)
}

func (s *Server) editTurn(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Task string `json:"task"`
	}
	if err := decode(r, &in); err != nil {
		return err
	}
	task, err := loop.Task(in.Task)
	if err != nil {
		return err
	}
	turn, err := s.cfg.Store.EditQueued(r.Context(), r.PathValue("id"), task)
	if err != nil {
		return err
	}
	return ok(w, turn)
}

func (s *Server) removeTurn(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.cfg.Store.RemoveQueued(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	return ok(w, struct{}{})
}

func (s *Server) reorder(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Order []string `json:"order"`
	}
	if err := decode(r, &in); err != nil {
		return err
	}
	t, err := s.cfg.Store.Thread(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	queue, err := s.cfg.Store.ReorderQueue(r.Context(), t.ID, in.Order)
	if err != nil {
		return err
	}
	return ok(w, nonNil(queue))
}

func (s *Server) stop(w http.ResponseWriter, r *http.Request) error {
	t, err := s.cfg.Store.Thread(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), stopBound)
	defer cancel()
	if err := s.cfg.Loop.Stop(ctx, t.ID); err != nil {
		return err
	}
	return ok(w, struct{}{})
}

// stopTurn stops what runs in a thread, if anything does.
func (s *Server) stopTurn(r *http.Request, thread string) error {
	ctx, cancel := context.WithTimeout(r.Context(), stopBound)
	defer cancel()
	if err := s.cfg.Loop.Stop(ctx, thread); err != nil && !errors.Is(err, loop.ErrIdle) {
		return err
	}
	return nil
}
