package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
)

// endpoint is an OpenAI-compatible server whose replies are written by play.
type endpoint struct {
	srv *httptest.Server
}

// play writes the reply to the conversation's last message, in as many deltas as it likes.
type play func(ctx context.Context, last string, say func(delta string) error, end func() error)

func newEndpoint(answer play) *endpoint {
	e := &endpoint{}
	e.srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Messages []struct{ Content string }
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Messages) == 0 {
			http.Error(w, `{"error":{"message":"no messages"}}`, http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		rc := http.NewResponseController(w)
		say := func(delta string) error {
			text, err := json.Marshal(delta)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "data: {\"model\":\"bench\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", text); err != nil {
				return err
			}
			return rc.Flush()
		}
		end := func() error {
			_, err := fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
			if err != nil {
				return err
			}
			return rc.Flush()
		}
		answer(r.Context(), body.Messages[len(body.Messages)-1].Content, say, end)
	}))
	return e
}

func (e *endpoint) close() { e.srv.Close() }

// use makes a daemon ask this endpoint.
func (e *endpoint) use(ctx context.Context, d *daemon) error {
	if err := d.set(ctx, "model.api.url", e.srv.URL+"/v1"); err != nil {
		return err
	}
	return d.set(ctx, "model.api.model", "bench")
}

// isTask reports whether a message is the first of a thread, and not one that brings results.
func isTask(message string) bool { return strings.Contains(message, "{plx:task}") }
