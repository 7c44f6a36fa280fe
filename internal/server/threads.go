package server

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"

	"plexus/internal/config"
	"plexus/internal/gate"
	"plexus/internal/loop"
	"plexus/internal/store"
)

const (
	maxThreads = 500
	pageSize   = 200
	maxPage    = 1000
	maxTitle   = 200
)

func (s *Server) threads(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	limit, err := number(r, "limit", maxThreads)
	if err != nil {
		return err
	}
	all, err := s.cfg.Store.Threads(r.Context(), store.ThreadFilter{
		Folder:   q.Get("folder"),
		Archived: q.Get("archived") == "true",
		Deleted:  q.Get("deleted") == "true",
		Query:    q.Get("q"),
		Limit:    int(min(limit, maxThreads)),
	})
	if err != nil {
		return err
	}
	return ok(w, nonNil(all))
}

// newThread makes a thread and, with a text, queues its first turn.
func (s *Server) newThread(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Folder string `json:"folder"`
		Text   string `json:"text"`
		Model  string `json:"model"`
		Level  string `json:"level"`
		Title  string `json:"title"`
	}
	if err := decode(r, &in); err != nil {
		return err
	}
	folder, err := s.cfg.Store.Folder(r.Context(), in.Folder)
	if err != nil {
		return err
	}
	if err := s.checkThread(r, folder, threadChoice{in.Model, in.Level, in.Title}); err != nil {
		return err
	}
	if in.Text != "" { // refused before there is a thread
		if _, err := loop.Task(in.Text); err != nil {
			return err
		}
	}
	t, err := s.cfg.Store.CreateThread(r.Context(), store.Thread{Folder: folder.ID, Title: in.Title, Model: in.Model, Level: in.Level})
	if err != nil {
		return err
	}
	if in.Text != "" {
		if _, err := s.cfg.Loop.Submit(r.Context(), t.ID, in.Text); err != nil {
			return err
		}
		if t, err = s.cfg.Store.Thread(r.Context(), t.ID); err != nil {
			return err
		}
	}
	return ok(w, t)
}

type threadChoice struct{ model, level, title string }

// checkThread refuses a level looser than the folder's, and unknown models.
func (s *Server) checkThread(r *http.Request, folder store.Folder, c threadChoice) error {
	if len(c.title) > maxTitle {
		return bad("bad-title", fmt.Sprintf("A title has at most %d bytes.", maxTitle), "")
	}
	if c.level != "" {
		level, err := parseLevel(c.level)
		if err != nil {
			return err
		}
		if gate.Stricter(level, gate.Level(folder.Level)) != level {
			return bad("bad-level", fmt.Sprintf("A thread can only be stricter than its folder, which is at %s.", folder.Level), "Change the folder's level, or choose a stricter one.")
		}
	}
	if c.model == "" || isScripted(c.model) {
		return nil
	}
	models := s.cfg.Models(r.Context())
	if !slices.ContainsFunc(models, func(m ModelInfo) bool { return m.Name == c.model }) {
		return bad("bad-model", fmt.Sprintf("There is no model %q.", c.model), "Use chat, or api.")
	}
	return nil
}

func isScripted(model string) bool {
	return len(model) > len("scripted:") && model[:len("scripted:")] == "scripted:"
}

func (s *Server) thread(w http.ResponseWriter, r *http.Request) error {
	t, err := s.cfg.Store.Thread(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return ok(w, t)
}

func (s *Server) setThread(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Title    *string `json:"title"`
		Model    *string `json:"model"`
		Level    *string `json:"level"`
		Pinned   *bool   `json:"pinned"`
		Archived *bool   `json:"archived"`
		Deleted  *bool   `json:"deleted"`
		ReadSeq  *int64  `json:"readSeq"`
	}
	if err := decode(r, &in); err != nil {
		return err
	}
	t, err := s.exactThread(r)
	if err != nil {
		return err
	}
	if in.Model != nil || in.Level != nil || in.Title != nil {
		folder, err := s.cfg.Store.Folder(r.Context(), t.Folder)
		if err != nil {
			return err
		}
		if err := s.checkThread(r, folder, threadChoice{value(in.Model), value(in.Level), value(in.Title)}); err != nil {
			return err
		}
	}
	t, err = s.cfg.Store.UpdateThread(r.Context(), t.ID, store.ThreadPatch{Title: in.Title, Model: in.Model, Level: in.Level,
		Pinned: in.Pinned, Archived: in.Archived, Deleted: in.Deleted, ReadSeq: in.ReadSeq})
	if err != nil {
		return err
	}
	if in.Archived != nil && *in.Archived && t.State == "idle" {
		s.release(r, t.ID)
	}
	return ok(w, t)
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// exactThread finds a thread by its whole id: what changes one does not guess.
func (s *Server) exactThread(r *http.Request) (store.Thread, error) {
	id := r.PathValue("id")
	t, err := s.cfg.Store.Thread(r.Context(), id)
	if err == nil && t.ID != id {
		return store.Thread{}, store.ErrNotFound
	}
	return t, err
}

// release closes the tab of a thread that was put away. That is a courtesy: a browser that is not there keeps its tab.
func (s *Server) release(r *http.Request, thread string) {
	chat, ok, err := s.cfg.Store.CurrentChat(r.Context(), thread)
	if err == nil && ok {
		err = s.cfg.Release(r.Context(), chat)
	}
	if err != nil {
		s.cfg.Log.Info("tab not closed", slog.String("thread", thread), slog.Any("error", err))
	}
}

// deleteThread stops what runs and puts the thread into the bin, from which it can be taken back.
func (s *Server) deleteThread(w http.ResponseWriter, r *http.Request) error {
	t, err := s.exactThread(r)
	if err != nil {
		return err
	}
	if err := s.stopTurn(r, t.ID); err != nil {
		return err
	}
	s.release(r, t.ID)
	deleted := true
	t, err = s.cfg.Store.UpdateThread(r.Context(), t.ID, store.ThreadPatch{Deleted: &deleted})
	if err != nil {
		return err
	}
	return ok(w, t)
}

// events pages through a thread: after=N upwards, or before=N for the page that ends there (0: the newest).
func (s *Server) events(w http.ResponseWriter, r *http.Request) error {
	t, err := s.cfg.Store.Thread(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	limit, err := number(r, "limit", pageSize)
	if err != nil {
		return err
	}
	limit = min(max(limit, 1), maxPage)
	read := s.cfg.Store.Events
	from, err := number(r, "after", 0)
	if r.URL.Query().Has("before") {
		read = s.cfg.Store.EventsBefore
		from, err = number(r, "before", 0)
	}
	if err != nil {
		return err
	}
	page, err := read(r.Context(), t.ID, from, int(limit))
	if err != nil {
		return err
	}
	return ok(w, map[string]any{"events": nonNil(page)})
}

func (s *Server) message(w http.ResponseWriter, r *http.Request) error {
	m, err := s.cfg.Store.Message(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return ok(w, m)
}

func (s *Server) search(w http.ResponseWriter, r *http.Request) error {
	hits, err := s.cfg.Store.Search(r.Context(), r.URL.Query().Get("q"), 50)
	if err != nil {
		return err
	}
	return ok(w, nonNil(hits))
}

// defaultModel is the model of threads that name none.
func (s *Server) defaultModel(r *http.Request) string {
	return s.cfg.Settings.Text(r.Context(), config.KeyModel)
}
