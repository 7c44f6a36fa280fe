package practice

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"
)

// maxBody bounds what a request may carry; it lies well above any message limit.
const maxBody = 32 << 20

// handler is the whole site behind the check of host names: a page elsewhere that has its name point here gets nothing.
func (s *Site) handler() http.Handler {
	mux := http.NewServeMux()
	for _, path := range []string{"/{$}", "/c/{id}", "/g/{project}/project", "/g/{project}/c/{id}"} {
		mux.HandleFunc("GET "+path, s.servePage)
	}
	mux.Handle("GET /cdn/assets/", http.StripPrefix("/cdn/assets/", http.FileServerFS(s.files)))
	mux.HandleFunc("GET /api/auth/session", s.session)

	backend := http.NewServeMux()
	backend.HandleFunc("GET /backend-api/me", s.me)
	backend.HandleFunc("GET /backend-api/models", s.models)
	backend.HandleFunc("POST /backend-api/sentinel/chat-requirements/prepare", s.sentinelPrepare)
	backend.HandleFunc("POST /backend-api/sentinel/chat-requirements/finalize", s.sentinelFinalize)
	backend.HandleFunc("POST /backend-api/f/conversation/prepare", s.prepare)
	backend.HandleFunc("POST /backend-api/f/conversation", s.send)
	backend.HandleFunc("POST /backend-api/f/conversation/resume", s.resume)
	backend.HandleFunc("POST /backend-api/stop_conversation", s.stopConversation)
	backend.HandleFunc("GET /backend-api/conversation/{id}", s.conversation)
	backend.HandleFunc("GET /backend-api/conversation/{id}/stream_status", s.streamStatus)
	backend.HandleFunc("GET /backend-api/conversations", s.conversations)
	backend.HandleFunc("GET /backend-api/gizmos/snorlax/sidebar", s.listProjects)
	backend.HandleFunc("POST /backend-api/gizmos/snorlax/upsert", s.createProject)
	backend.HandleFunc("GET /backend-api/gizmos/{project}/conversations", s.conversations)
	backend.HandleFunc("GET /backend-api/celsius/ws/user", s.socketURL)
	backend.HandleFunc("/", s.unknown)
	mux.Handle("/backend-api/", s.needSession(backend))

	mux.HandleFunc("GET /practice/log", s.showLog)
	mux.HandleFunc("POST /practice/fault", s.postFault)
	mux.HandleFunc("GET /practice/page-faults", s.pageFaults)
	mux.HandleFunc("/", s.unknown)

	socket := http.NewServeMux()
	socket.HandleFunc("GET /p6/ws/user/{user}", s.serveSocket)

	_, port, _ := net.SplitHostPort(s.Addr())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.enter() {
			http.Error(w, "closed", http.StatusServiceUnavailable)
			return
		}
		defer s.serving.Done()
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		switch r.Host {
		case SocketHost:
			socket.ServeHTTP(w, r)
		case Host, "127.0.0.1:" + port, "localhost:" + port:
			mux.ServeHTTP(w, r)
		default:
			http.Error(w, "not a name of this site", http.StatusMisdirectedRequest)
		}
	})
}

func (s *Site) unknown(w http.ResponseWriter, r *http.Request) {
	s.journal.add(Entry{Kind: KindUnknown, Path: r.Method + " " + r.URL.Path})
	fail(w, http.StatusNotFound, "not_found", "Not Found")
}

func (s *Site) needSession(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.cfg.SignedOut || !s.access.signedIn(r) {
			fail(w, http.StatusUnauthorized, "unauthorized", "Could not parse your authentication token. Please try signing in again.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Site) session(w http.ResponseWriter, _ *http.Request) {
	if s.cfg.SignedOut {
		reply(w, map[string]any{})
		return
	}
	reply(w, map[string]any{
		"user":        map[string]any{"id": userID, "name": "Practice", "email": "practice@localhost"},
		"accessToken": s.access.session,
		"account":     map[string]any{"id": "practice-account", "planType": s.cfg.Plan},
		"expires":     time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339),
	})
}

const userID = "user-practice"

func (s *Site) me(w http.ResponseWriter, _ *http.Request) {
	reply(w, map[string]any{"id": userID, "name": "Practice", "email": "practice@localhost"})
}

func (s *Site) models(w http.ResponseWriter, _ *http.Request) {
	reply(w, map[string]any{"models": []any{
		map[string]any{"slug": model, "title": "Practice"}, map[string]any{"slug": model + "-thinking", "title": "Practice Thinking"},
		map[string]any{"slug": "gpt-elsewhere", "title": "Not on your plan"},
	}})
}

func (s *Site) sentinelPrepare(w http.ResponseWriter, _ *http.Request) {
	reply(w, map[string]any{
		"persona": "chatgpt-practice", "prepare_token": s.access.issue(s.access.conduit, "prepare-"),
		"proofofwork": map[string]any{"required": true, "seed": "0.5", "difficulty": "ff"}, "turnstile": map[string]any{"required": false},
	})
}

func (s *Site) sentinelFinalize(w http.ResponseWriter, _ *http.Request) {
	reply(w, map[string]any{"persona": "chatgpt-practice", "token": s.access.issue(s.access.papers, "requirements-"), "expire_after": 540})
}

// prepare is asked while a message is still being written. It is not a send.
func (s *Site) prepare(w http.ResponseWriter, _ *http.Request) {
	reply(w, map[string]any{"status": "ok", "conduit_token": s.access.issue(s.access.conduit, "conduit-")})
}

// sendBody is what the site reads of a send.
type sendBody struct {
	Action   string `json:"action"`
	Messages []struct {
		ID      string `json:"id"`
		Author  author `json:"author"`
		Content struct {
			ContentType string   `json:"content_type"`
			Parts       []string `json:"parts"`
		} `json:"content"`
		Metadata struct {
			Attachments []struct {
				Name string `json:"name"`
			} `json:"attachments"`
		} `json:"metadata"`
	} `json:"messages"`
	ConversationID   string `json:"conversation_id"`
	ConversationMode struct {
		Kind    string `json:"kind"`
		GizmoID string `json:"gizmo_id"`
	} `json:"conversation_mode"`
}

func (b sendBody) check() error {
	if b.Action != "next" || len(b.Messages) != 1 {
		return errors.New("want one message and the action next")
	}
	m := b.Messages[0]
	if m.ID == "" || m.Author.Role != "user" || m.Content.ContentType != "text" || len(m.Content.Parts) != 1 {
		return errors.New("want one text of the user with an id")
	}
	return nil
}

// send takes a message and streams the answer, or as much of it as the mode sends this way.
func (s *Site) send(w http.ResponseWriter, r *http.Request) {
	if !s.access.admit(r) {
		s.journal.add(Entry{Kind: KindRefused, Path: r.URL.Path})
		streamHead(w)
		fmt.Fprint(w, "data: [DONE]\n\n")
		return
	}
	var body sendBody
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		fail(w, http.StatusUnprocessableEntity, "bad_request", err.Error())
		return
	}
	if err := body.check(); err != nil {
		fail(w, http.StatusUnprocessableEntity, "bad_request", err.Error())
		return
	}
	text := body.Messages[0].Content.Parts[0]
	entry := Entry{Conversation: body.ConversationID, Project: projectRef(body.ConversationMode.GizmoID), MessageID: body.Messages[0].ID, Text: text}
	for _, a := range body.Messages[0].Metadata.Attachments {
		entry.Attachments = append(entry.Attachments, a.Name)
	}
	fault, set := s.faults.take(atSend)
	switch {
	case set:
		s.refuse(w, fault.Name, entry)
		return
	case units(text) > s.cfg.MessageLimit:
		s.refuse(w, FaultTooLong, entry)
		return
	}
	conv, err := s.chats.open(body.ConversationID, body.ConversationMode.GizmoID)
	if err != nil {
		fail(w, http.StatusNotFound, "conversation_not_found", err.Error())
		return
	}
	asked := newMessage(entry.MessageID, "user", textContent(text))
	h, err := conv.hear(asked, text)
	if err != nil {
		fail(w, http.StatusConflict, "conversation_busy", "Only one message at a time. Please allow any other responses to complete.")
		return
	}
	entry.Conversation, entry.Project = conv.id, conv.projectID()
	if h.turn == nil {
		s.refuse(w, h.reply.Fault, entry)
		return
	}
	s.begin(h, asked, entry)
	s.stream(w, r, h.turn)
}

// begin logs a message that was taken and starts its answer. For a mind without one, the page shows an error card and the log
// has the reason.
func (s *Site) begin(h heard, asked message, entry Entry) {
	entry.Kind, entry.Turn, entry.Mode = KindMessage, h.turn.id, h.turn.mode
	s.journal.add(entry)
	fault, _ := s.faults.take(atStream)
	switch {
	case h.lost != nil:
		s.log.Warn("the scenario has no answer", slog.Any("error", h.lost))
		e := h.turn.entry(KindMindError, "")
		e.Text = h.lost.Error()
		s.journal.add(e)
		fault = Fault{Name: FaultError}
	case h.reply.Fault != "":
		fault = Fault{Name: h.reply.Fault}
	}
	s.answer(h, asked, fault)
}

// refuse answers a message that is not taken.
func (s *Site) refuse(w http.ResponseWriter, fault string, entry Entry) {
	entry.Fault = fault
	if fault == FaultRateLimit {
		entry.Kind = KindRateLimit
		s.journal.add(entry)
		w.Header().Set("Retry-After", "180")
		fail(w, http.StatusTooManyRequests, "rate_limit_exceeded", "Too many requests")
		return
	}
	entry.Kind = KindTooLong
	s.journal.add(entry)
	fail(w, http.StatusRequestEntityTooLarge, "message_length_exceeds_limit",
		"The message you submitted was too long, please edit it and resubmit.")
}

func (s *Site) stopConversation(w http.ResponseWriter, r *http.Request) {
	var body struct {
		ConversationID string `json:"conversation_id"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		fail(w, http.StatusUnprocessableEntity, "bad_request", err.Error())
		return
	}
	if conv, ok := s.chats.find(body.ConversationID); ok {
		if t := conv.newest(); t != nil && !t.ended() {
			s.journal.add(t.entry(KindStop, ""))
			t.stop()
		}
	}
	reply(w, map[string]any{"status": "ok"})
}

func (s *Site) conversation(w http.ResponseWriter, r *http.Request) {
	conv, ok := s.chats.find(r.PathValue("id"))
	if !ok {
		fail(w, http.StatusNotFound, "conversation_not_found", "Can't load conversation "+r.PathValue("id"))
		return
	}
	s.journal.add(Entry{Kind: KindConversation, Path: r.URL.Path, Conversation: conv.id, Project: conv.projectID()})
	reply(w, conv.tree())
}

func (s *Site) streamStatus(w http.ResponseWriter, r *http.Request) {
	conv, ok := s.chats.find(r.PathValue("id"))
	if !ok {
		fail(w, http.StatusNotFound, "conversation_not_found", "Can't load conversation "+r.PathValue("id"))
		return
	}
	status := "COMPLETE"
	if t := conv.newest(); t != nil && !t.ended() {
		status = "IS_STREAMING"
	}
	reply(w, map[string]any{"status": status})
}

func (s *Site) conversations(w http.ResponseWriter, r *http.Request) {
	items := []any{}
	for _, c := range s.chats.list(projectRef(r.PathValue("project"))) {
		c.mu.Lock()
		items = append(items, map[string]any{"id": c.id, "title": c.title, "update_time": c.updated.UTC().Format(time.RFC3339Nano), "gizmo_id": c.projectID()})
		c.mu.Unlock()
	}
	reply(w, map[string]any{"items": items, "total": len(items), "limit": len(items), "offset": 0})
}

func (s *Site) listProjects(w http.ResponseWriter, _ *http.Request) {
	items := []any{}
	for _, p := range s.chats.allProjects() {
		items = append(items, map[string]any{"gizmo": map[string]any{"gizmo": p.gizmo()}})
	}
	reply(w, map[string]any{"items": items, "cursor": nil})
}

func (s *Site) createProject(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Display struct {
			Name string `json:"name"`
		} `json:"display"`
		MemoryScope string `json:"memory_scope"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		fail(w, http.StatusUnprocessableEntity, "bad_request", err.Error())
		return
	}
	p, err := s.chats.addProject(body.Display.Name, body.MemoryScope)
	if err != nil {
		fail(w, http.StatusUnprocessableEntity, "bad_request", err.Error())
		return
	}
	s.journal.add(Entry{Kind: KindProject, Project: p.id, Text: p.name, Mode: p.memory})
	reply(w, map[string]any{"resource": map[string]any{"gizmo": p.gizmo()}})
}

func (p *project) gizmo() map[string]any {
	return map[string]any{
		"id": p.id, "short_url": p.slug(), "gizmo_type": "snorlax", "memory_scope": p.memory,
		"display": map[string]any{"name": p.name, "description": ""},
	}
}

func (s *Site) showLog(w http.ResponseWriter, _ *http.Request) { reply(w, s.Log()) }

func (s *Site) postFault(w http.ResponseWriter, r *http.Request) {
	var f Fault
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		fail(w, http.StatusBadRequest, "bad_fault", err.Error())
		return
	}
	if err := s.SetFault(f); err != nil {
		fail(w, http.StatusBadRequest, "bad_fault", err.Error())
		return
	}
	reply(w, map[string]any{"status": "ok"})
}

// pageFaults keeps the request open until there is a fault for a page to play.
func (s *Site) pageFaults(w http.ResponseWriter, r *http.Request) {
	faults := s.faults.forPage(r.Context(), 20*time.Second)
	for _, f := range faults {
		s.journal.add(Entry{Kind: KindFaultArmed, Fault: f.Name})
	}
	if faults == nil {
		faults = []Fault{}
	}
	reply(w, faults)
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	json.NewEncoder(w).Encode(v)
}

// fail answers as the site words its errors.
func fail(w http.ResponseWriter, status int, code, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"detail": map[string]any{"code": code, "message": strings.TrimSpace(text)}})
}
