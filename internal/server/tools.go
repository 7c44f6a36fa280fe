package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"plexus/internal/plx"
	"plexus/internal/store"
	"plexus/internal/tool"
)

func (s *Server) tools(w http.ResponseWriter, _ *http.Request) error {
	return ok(w, nonNil(s.cfg.Engine.Tools()))
}

// runTool is `plexus tool`: one call outside of any thread, through the same engine as every other.
func (s *Server) runTool(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Folder string          `json:"folder"`
		Level  string          `json:"level"`
		Input  json.RawMessage `json:"input"`
	}
	if err := decode(r, &in); err != nil {
		return err
	}
	folder, err := s.cfg.Store.Folder(r.Context(), in.Folder)
	if err != nil {
		return err
	}
	if in.Level != "" {
		if _, err := parseLevel(in.Level); err != nil {
			return err
		}
	}
	// The call may outlast the time that reading its body may take.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	res, err := s.cfg.Engine.Do(r.Context(), tool.Call{
		ID:     store.NewID("a"),
		Folder: tool.Folder{ID: folder.ID, Name: folder.Name, Path: folder.Path},
		Tool:   r.PathValue("name"),
		Input:  in.Input,
		Actor:  tool.Actor{Door: tool.Door(actorOf(r.Context()))},
		Level:  in.Level,
	})
	if err != nil {
		return err
	}
	return ok(w, res)
}

func (s *Server) action(w http.ResponseWriter, r *http.Request) error {
	a, err := s.cfg.Store.Action(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return ok(w, a)
}

// output is everything that a call printed so far: the spool file where there is one, else the text of the result.
func (s *Server) output(w http.ResponseWriter, r *http.Request) error {
	a, err := s.cfg.Store.Action(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	res := tool.Result{Spool: s.cfg.Engine.SpoolFile(a.ID)} // of a call that still runs
	if len(a.Result) > 0 {
		res.Spool = ""
		if err := json.Unmarshal(a.Result, &res); err != nil {
			return fmt.Errorf("read the result of action %s: %w", a.ID, err)
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if res.Spool != "" {
		f, err := os.Open(res.Spool) // a path of our own making, from our own record
		if err == nil {
			defer func() { _ = f.Close() }()
			http.ServeContent(w, r, "", time.Time{}, f)
			return nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("open the output of action %s: %w", a.ID, err)
		}
	}
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(res.Text))
	return nil
}

// parse reads a reply as the loop would, for people who tune prompts.
func (s *Server) parse(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Text     string `json:"text"`
		Rendered bool   `json:"rendered"`
	}
	if err := decode(r, &in); err != nil {
		return err
	}
	return ok(w, plx.Parse(in.Text, plx.Options{Rendered: in.Rendered}))
}
