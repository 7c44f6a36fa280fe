package practice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"

	"plexus/internal/scenario"
)

// stream answers the send itself: with the whole answer, or with a ticket for where it will come.
func (s *Site) stream(w http.ResponseWriter, r *http.Request, t *turn) {
	streamHead(w)
	out := &ragged{w: w, rng: rand.New(rand.NewPCG(s.chats.seed(), 3))}
	resume := map[string]any{"type": "resume_sse_endpoint", "topic_id": t.topic()}
	subscribe := map[string]any{"type": "subscribe_ws_topic", "topic_id": t.topic()}
	var options []any
	switch t.mode {
	case scenario.ModeHandoffSSE:
		options = []any{resume, subscribe}
	case scenario.ModeHandoffWS:
		options = []any{subscribe, resume}
	default:
		s.follow(r.Context(), out, t, 0)
		return
	}
	out.send("event: delta_encoding\ndata: \"v1\"\n\n")
	out.send(data(map[string]any{"type": "resume_conversation_token", "kind": "topic", "token": t.token, "conversation_id": t.conv.id}))
	out.send(data(map[string]any{"type": "stream_handoff", "conversation_id": t.conv.id, "turn_exchange_id": t.id, "options": options}))
	out.send("data: [DONE]\n\n")
	out.end()
}

// follow sends a turn from its item n on to its end.
func (s *Site) follow(ctx context.Context, out *ragged, t *turn, n int) {
	for {
		items, err := t.read(ctx, n)
		switch {
		case errors.Is(err, errCut):
			out.end()
			panic(http.ErrAbortHandler) // breaks the connection, as a failing network would
		case err != nil:
			return
		case items == nil:
			out.send("data: [DONE]\n\n")
			out.end()
			return
		}
		for _, item := range items {
			out.send(item)
		}
		n += len(items)
	}
}

// resume streams a turn again, or for the first time after a hand-off.
func (s *Site) resume(w http.ResponseWriter, r *http.Request) {
	var body struct {
		ConversationID string          `json:"conversation_id"`
		Offset         json.RawMessage `json:"offset"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		fail(w, http.StatusUnprocessableEntity, "bad_request", err.Error())
		return
	}
	conv, ok := s.chats.find(body.ConversationID)
	if !ok || conv.newest() == nil {
		fail(w, http.StatusNotFound, "conversation_not_found", "Nothing to resume")
		return
	}
	t := conv.newest()
	offset, err := readOffset(body.Offset)
	if err != nil {
		fail(w, http.StatusUnprocessableEntity, "bad_request", err.Error())
		return
	}
	if offset > 0 && r.Header.Get("X-Conduit-Token") != t.token {
		fail(w, http.StatusNotFound, "tokenless_resume_unavailable", "Resume stream unavailable")
		return
	}
	s.journal.add(t.entry(KindResume, ""))
	streamHead(w)
	s.follow(r.Context(), &ragged{w: w, rng: rand.New(rand.NewPCG(s.chats.seed(), 4))}, t, offset)
}

// readOffset reads a count of items that comes as a number or as a string.
func readOffset(raw json.RawMessage) (int, error) {
	if len(raw) == 0 {
		return 0, nil
	}
	text := string(raw)
	if text[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return 0, fmt.Errorf("offset: %w", err)
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("offset %q is not a count", text)
	}
	return n, nil
}

func streamHead(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("X-Accel-Buffering", "no")
}

// ragged sends a stream in pieces that end anywhere, also within a character, as networks do. What it holds back goes out with
// the next piece.
type ragged struct {
	w   http.ResponseWriter
	rng *rand.Rand
	buf []byte
}

func (o *ragged) send(item string) {
	o.buf = append(o.buf, item...)
	o.flush(len(o.buf) - o.rng.IntN(min(len(o.buf), 48)+1))
}

func (o *ragged) end() { o.flush(len(o.buf)) }

func (o *ragged) flush(n int) {
	if n == 0 {
		return
	}
	o.w.Write(o.buf[:n])
	o.buf = append(o.buf[:0], o.buf[n:]...)
	http.NewResponseController(o.w).Flush()
}
