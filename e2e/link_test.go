//go:build linux

package e2e

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"plexus/internal/client"
	"plexus/internal/link"
)

// stranger is a program that speaks to the link.
type stranger struct {
	t    *testing.T
	conn *websocket.Conn
}

func (h *home) origin() string { return "chrome-extension://" + link.ExtensionID }

func (h *home) linkURL() string { return fmt.Sprintf("ws://127.0.0.1:%d%s", h.state.Port, link.Path) }

// dialLink connects with an Origin that the daemon must take.
func (h *home) dialLink(origin string) *stranger {
	h.t.Helper()
	conn, _, err := websocket.Dial(h.t.Context(), h.linkURL(), &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = conn.CloseNow() })
	return &stranger{h.t, conn}
}

func (s *stranger) send(msg any) {
	s.t.Helper()
	data, err := json.Marshal(msg)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), bound)
	defer cancel()
	if err := s.conn.Write(ctx, websocket.MessageText, data); err != nil {
		s.t.Fatal(err)
	}
}

// told is any message of the daemon.
type told struct{ Type, Code, Text, Token, Nonce, Proof string }

func (s *stranger) read() told {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), bound)
	defer cancel()
	_, data, err := s.conn.Read(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	var msg told
	if err := json.Unmarshal(data, &msg); err != nil {
		s.t.Fatal(err)
	}
	return msg
}

// ended checks that the daemon says nothing more than pings and closes.
func (s *stranger) ended(want websocket.StatusCode) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), bound)
	defer cancel()
	for {
		_, data, err := s.conn.Read(ctx)
		if err != nil {
			if got := websocket.CloseStatus(err); got != want {
				s.t.Errorf("closed with %v (%v), want %v", got, err, want)
			}
			return
		}
		if !bytes.Contains(data, []byte(`"ping"`)) {
			s.t.Errorf("told %s", data)
		}
	}
}

const nonce = "0123456789abcdef"

func helloFrom(browser string, paired bool) link.Hello {
	return link.Hello{Type: "hello", Protocol: link.Protocol, Version: "0.0.1", Browser: browser, Label: "A stranger", Nonce: nonce, Paired: paired,
		Capabilities: []string{}, Turns: []link.TurnFact{}}
}

// prove is what a side that knows the token says; written here once more, since an extension does not share our code.
func (h *home) prove(role, token, challenge string) string {
	key := sha256.Sum256([]byte(token))
	mac := hmac.New(sha256.New, key[:])
	_, _ = fmt.Fprintf(mac, "%s %d %s %s", role, h.state.Port, nonce, challenge)
	return hex.EncodeToString(mac.Sum(nil))
}

// greet says hello as a paired browser with a token, and returns what came of it.
func (h *home) greet(browser, token string) told {
	h.t.Helper()
	s := h.dialLink(h.origin())
	defer func() { _ = s.conn.CloseNow() }()
	s.send(helloFrom(browser, true))
	got := s.read()
	if got.Type != "challenge" {
		return got
	}
	if got.Token != "" || len(got.Nonce) < 16 {
		h.t.Errorf("the challenge is %+v", got)
	}
	s.send(link.Proof{Type: "proof", Proof: h.prove("browser", token, got.Nonce)})
	return s.read()
}

// Programs that are not our extension, and one that says it is.
func TestStrangersOnTheLink(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	before := h.shot()
	for _, headers := range []http.Header{
		{}, {"Origin": {""}}, {"Origin": {"null"}}, {"Origin": {"chrome-extension://" + strings.Repeat("a", 32)}}, {"Origin": {h.origin() + "/"}},
		{"Origin": {strings.ToUpper(h.origin())}}, {"Origin": {h.origin() + ".evil.example"}}, {"Origin": {"https://chatgpt.com"}}, {"Origin": {h.state.URL()}},
		{"Origin": {h.origin(), h.origin()}}, {"Origin": {h.origin(), "https://chatgpt.com"}}, {"Authorization": {"Bearer " + h.state.Token}},
	} {
		conn, resp, err := websocket.Dial(t.Context(), h.linkURL(), &websocket.DialOptions{HTTPHeader: headers})
		if err == nil {
			_ = conn.CloseNow()
			t.Errorf("%v was let in", headers)
			continue
		}
		if resp == nil || resp.StatusCode != http.StatusForbidden {
			t.Errorf("%v: %v", headers, err)
		}
	}
	if _, resp, err := websocket.Dial(t.Context(), h.linkURL(), &websocket.DialOptions{Host: "evil.example", HTTPHeader: http.Header{"Origin": {h.origin()}}}); err == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("a rebound host: %v", err)
	}
	if after := h.shot(); after != before {
		t.Errorf("something changed:\n%+v\n%+v", before, after)
	}

	// The right origin alone opens nothing but a question to a person.
	for name, early := range map[string]any{
		"a response":    link.Response{Type: "response", ID: "1"},
		"a frame":       link.StreamUpdate{Type: "stream_update", Turn: "t", N: 1, Stream: "s", Event: "data", Data: "x"},
		"a progress":    link.SubmitProgress{Type: "submit_progress", ID: "1", Turn: "t", Stage: "posted", MessageID: "m"},
		"a notice":      link.SiteNotice{Type: "notice", Code: "signed-out", Text: "x"},
		"another hello": helloFrom("somebody-else", false),
	} {
		s := h.dialLink(h.origin())
		s.send(helloFrom("stranger-1", true))
		if got := s.read(); got.Type != "pairing" || got.Code == "" || got.Token != "" {
			t.Fatalf("%s: a hello got %+v", name, got)
		}
		if codes := h.pairings(); len(codes) != 1 {
			t.Errorf("%s: waiting are %v", name, codes)
		}
		s.send(early)
		s.ended(websocket.StatusPolicyViolation)
		h.eventually("the question is gone with its connection", func() bool { return len(h.pairings()) == 0 })
	}
	if r := h.command("doctor"); !strings.Contains(r.out, "No browser") {
		t.Errorf("doctor says %s%s", r.out, r.err)
	}
	if after := h.shot(); after != before {
		t.Errorf("something changed:\n%+v\n%+v", before, after)
	}
}

// A person who says yes once gives one browser one token; nobody else's, and no longer than the word holds.
func TestPairingByCode(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.dialLink(h.origin())
	s.send(helloFrom("browser-1", false))
	code := s.read().Code
	if r := h.command("extension", "pair", "AAA-AAA"); r.code != 1 || !strings.Contains(r.err, "No browser is waiting") {
		t.Errorf("a wrong code: exit %d, %s%s", r.code, r.out, r.err)
	}
	h.plexus("extension", "pair", code)
	got := s.read()
	if got.Type != "welcome" || len(got.Token) < 40 {
		t.Fatalf("after the approval came %+v", got)
	}
	if r := h.command("extension", "pair", code); r.code != 1 {
		t.Error("a code was taken twice")
	}
	for name, other := range map[string][2]string{"another browser with the token": {"browser-2", got.Token}, "the browser with another token": {"browser-1", strings.Repeat("x", 43)},
		"the browser without a token": {"browser-1", ""}} {
		if got := h.greet(other[0], other[1]); got.Type != "pairing" || got.Token != "" {
			t.Errorf("%s got %+v", name, got)
		}
		h.eventually("the question is gone with its connection", func() bool { return len(h.pairings()) == 0 })
	}
	if got := h.greet("browser-1", got.Token); got.Type != "welcome" || got.Token != "" {
		t.Errorf("the same browser again got %+v", got)
	}
	if err := h.client.Do(t.Context(), client.Request{Method: http.MethodDelete, Path: "/api/browsers/browser-1"}); err != nil {
		t.Fatal(err)
	}
	if got := h.greet("browser-1", got.Token); got.Type != "pairing" {
		t.Errorf("after the approval was taken back came %+v", got)
	}
}
