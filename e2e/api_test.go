//go:build linux

package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"plexus/internal/store"
)

// One thread, and a server that fails in each way before it answers. Every message of the person is kept.
func TestAPIServerFails(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	type request struct {
		Messages []struct{ Role, Content string }
	}
	var last request
	wait := make(chan struct{})

	modes := map[string]http.HandlerFunc{
		"401": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":{"message":"bad key sk-hidden"}}`, http.StatusUnauthorized)
		},
		"429": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":{"message":"slow down"}}`, http.StatusTooManyRequests)
		},
		"500":      func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>oops</html>", 500) },
		"nonsense": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("\x00\xff is this JSON?")) },
		"empty":    func(http.ResponseWriter, *http.Request) {},
		"silent": func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-wait:
			}
		},
		"half": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"{plx:run}echo ran >> trace{/plx:run} and\"}}]}\n\n"))
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-wait:
			}
		},
		"good": func(w http.ResponseWriter, r *http.Request) {
			last = request{}
			if err := json.NewDecoder(r.Body).Decode(&last); err != nil {
				t.Error(err)
			}
			_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"{plx:done}at last{/plx:done}"}}]}`))
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		modes[strings.Split(r.URL.Path, "/")[1]](w, r)
	}))
	defer server.Close()
	defer close(wait)
	if r := h.commandWith(strings.NewReader("sk-hidden"), "secret", "set", "model.api.key"); r.code != 0 {
		t.Fatalf("%s%s", r.out, r.err)
	}
	h.plexus("config", "set", "model.api.model", "tiny")
	h.plexus("config", "set", "model.api.idle", "5s")
	var th store.Thread
	var folders []store.Folder
	h.get("/api/folders", &folders)
	if err := h.client.Post(t.Context(), "/api/threads", map[string]string{"folder": folders[0].ID, "model": "api"}, &th); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ mode, code, says string }{
		{"401", "unauthorized", "plexus secret set"}, {"429", "rate-limited", "slow down"}, {"500", "site-error", "500"}, {"nonsense", "bad-response", "answered"},
		{"empty", "bad-response", "empty"}, {"silent", "silent", "5s"}, {"half", "", ""}, {"refused", "network", "reach"},
	} {
		url := server.URL + "/" + tt.mode + "/v1"
		if tt.mode == "refused" {
			url = "http://127.0.0.1:1/v1"
		}
		h.plexus("config", "set", "model.api.url", url)
		end := h.run("task for "+tt.mode, "--thread", th.ID)
		if end.Status != "failed" || end.Reason == "" || end.Code == "internal" || (tt.code != "" && end.Code != tt.code) || !strings.Contains(end.Reason, tt.says) || strings.Contains(end.Reason, "sk-hidden") {
			t.Errorf("%s: %+v", tt.mode, end)
		}
	}
	h.plexus("config", "set", "model.api.url", server.URL+"/good/v1")
	if end := h.run("task for good", "--thread", th.ID); end.Answer != "at last" {
		t.Errorf("good: %+v", end)
	}
	if got := h.trace(); len(got) > 0 {
		t.Errorf("half a reply was acted on: %q", got)
	}
	story := h.story(th.ID)
	for _, mode := range []string{"401", "429", "500", "nonsense", "empty", "silent", "half", "refused", "good"} {
		if !strings.Contains(story, "task for "+mode) {
			t.Errorf("the message of %s is lost", mode)
		}
	}
	if n := len(last.Messages); n == 0 || !strings.Contains(last.Messages[n-1].Content, "task for good") {
		t.Errorf("the model read %+v", last)
	}
}
