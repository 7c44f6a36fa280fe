package chatapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plexus/internal/loop"
	"plexus/internal/store"
)

const testKey = "sk-very-secret-0123456789"

// heard is an Observer that keeps what it hears.
type heard struct {
	deliveries []store.Delivery
	text       strings.Builder
	reasoning  strings.Builder
	notices    []string
	statuses   []string
	onText     func()
	refuse     store.Delivery // this step is refused
}

var errRefused = errors.New("the store is full")

func (h *heard) Delivery(d store.Delivery, _ string) error {
	if d == h.refuse {
		return errRefused
	}
	h.deliveries = append(h.deliveries, d)
	return nil
}
func (h *heard) Bound(store.Chat) error { return nil }
func (h *heard) Text(s string) {
	h.text.WriteString(s)
	if h.onText != nil {
		h.onText()
	}
}
func (h *heard) Reasoning(s string)    { h.reasoning.WriteString(s) }
func (h *heard) Status(s string)       { h.statuses = append(h.statuses, s) }
func (h *heard) Notice(n store.Notice) { h.notices = append(h.notices, n.Code) }

// rig is a Model on a server, with its log.
type rig struct {
	model *Model
	log   *bytes.Buffer
}

func newRig(base string, idle time.Duration) rig {
	var log bytes.Buffer
	m := New(Config{
		Endpoint: func(context.Context) (Endpoint, error) {
			return Endpoint{URL: base, Model: "test-model", Key: testKey, Idle: idle}, nil
		},
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	m.pause = time.Millisecond
	return rig{m, &log}
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func sse(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		fmt.Fprintf(w, "data: %s\n\n", e)
		w.(http.Flusher).Flush()
	}
}

func delta(text string) string {
	data, _ := json.Marshal(text)
	return `{"id":"c1","model":"served-model","choices":[{"index":0,"delta":{"content":` + string(data) + `}}]}`
}

const (
	stop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	done = "[DONE]"
)

var hello = loop.Send{Text: "hello & <go>", History: loop.Past(loop.Exchange{Role: "user", Text: "before"}, loop.Exchange{Role: "assistant", Text: "yes"})}

func TestSendStreams(t *testing.T) {
	var body, auth, path string
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		body, auth, path = string(data), r.Header.Get("Authorization"), r.URL.Path
		fmt.Fprint(w, ": keep-alive\n\n")
		sse(w, `{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":"hm "}}]}`,
			`{"choices":[{"index":0,"delta":{"reasoning":"so"}}]}`,
			`{"choices":[{"index":1,"delta":{"content":"another choice"}}]}`,
			delta("Hel"), delta("lo, wörld \u2028🙂"), stop, `{"choices":[],"usage":{"total_tokens":3}}`, done)
	})
	on := &heard{}
	got, err := newRig(base, 0).model.Send(t.Context(), hello, on)
	if err != nil {
		t.Fatal(err)
	}
	if want := (loop.Reply{Text: "Hello, wörld \u2028🙂", Model: "served-model"}); got != want {
		t.Errorf("reply %+v, want %+v", got, want)
	}
	if on.text.String() != got.Text || on.reasoning.String() != "hm so" {
		t.Errorf("heard %q and %q", on.text.String(), on.reasoning.String())
	}
	if want := []store.Delivery{store.DeliveryDispatched, store.DeliveryAccepted}; !slices.Equal(on.deliveries, want) {
		t.Errorf("deliveries %v, want %v", on.deliveries, want)
	}
	if auth != "Bearer "+testKey || path != "/v1/chat/completions" {
		t.Errorf("asked %s with %q", path, auth)
	}
	wantBody := `{"model":"test-model","messages":[{"role":"user","content":"before"},{"role":"assistant","content":"yes"},{"role":"user","content":"hello & <go>"}],"stream":true}` + "\n"
	if d := cmp.Diff(wantBody, body); d != "" {
		t.Error(d)
	}
}

func TestGoodServers(t *testing.T) {
	whole := `{"id":"x","model":"m2","choices":[{"index":0,"message":{"role":"assistant","content":"all at once"},"finish_reason":"stop"}]}`
	for name, tt := range map[string]struct {
		handle http.HandlerFunc
		want   string
		notice string
	}{
		"json instead of a stream": {handle: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			io.WriteString(w, whole)
		}, want: "all at once"},
		"json under no type": {handle: func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "\ufeff\n "+whole) }, want: "all at once"},
		"stream under the wrong type": {handle: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprintf(w, "data:%s\r\n\r\ndata: %s\r\rdata: [DONE]", delta("a"), delta("b"))
		}, want: "ab"},
		"done without a reason": {handle: func(w http.ResponseWriter, _ *http.Request) { sse(w, delta("ok"), done) }, want: "ok"},
		"a reason without done": {handle: func(w http.ResponseWriter, _ *http.Request) { sse(w, delta("ok"), stop) }, want: "ok"},
		"done and then an open connection": {handle: func(w http.ResponseWriter, r *http.Request) {
			sse(w, delta("ok"), stop, done)
			<-r.Context().Done()
		}, want: "ok"},
		"content in pieces": {handle: func(w http.ResponseWriter, _ *http.Request) {
			sse(w, `{"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}`, stop, done)
		}, want: "ab"},
		"an event over several lines": {handle: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: x\nid: 1\ndata: {\"choices\":[{\"delta\":\ndata: {\"content\":\"ab\"}}]}\n\ndata: %s\n\n", stop)
		}, want: "ab"},
		"length": {handle: func(w http.ResponseWriter, _ *http.Request) {
			sse(w, delta("cut"), `{"choices":[{"delta":{},"finish_reason":"length"}]}`, done)
		}, want: "cut", notice: "reply-cut"},
		"a refusal": {handle: func(w http.ResponseWriter, _ *http.Request) {
			sse(w, `{"choices":[{"delta":{"refusal":"No."}}]}`, stop, done)
		}, want: "No."},
		"error: null": {handle: func(w http.ResponseWriter, _ *http.Request) {
			sse(w, `{"error":null,"choices":[{"delta":{"content":"x"}}]}`, stop, done)
		}, want: "x"},
	} {
		t.Run(name, func(t *testing.T) {
			on := &heard{}
			got, err := newRig(serve(t, tt.handle), 0).model.Send(t.Context(), hello, on)
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != tt.want || on.text.String() != tt.want {
				t.Errorf("text %q, heard %q, want %q", got.Text, on.text.String(), tt.want)
			}
			if strings.Join(on.notices, " ") != tt.notice {
				t.Errorf("notices %v, want %q", on.notices, tt.notice)
			}
		})
	}
}

func TestBadServers(t *testing.T) {
	answer := func(status int, kind, body string, headers ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			io.WriteString(w, body)
		}
	}
	stream := func(events ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { sse(w, events...) }
	}
	const js = "application/json"
	for name, tt := range map[string]struct {
		handle http.HandlerFunc
		code   string
		says   string // in the fault's text
		text   string // kept of the reply
		sent   bool   // the server may have taken it
	}{
		"401":                   {handle: answer(401, js, `{"error":{"message":"Incorrect API key provided: `+testKey+`."}}`), code: loop.FaultUnauthorized, says: "provided: [key]"},
		"403 without a body":    {handle: answer(403, "", ""), code: loop.FaultUnauthorized, says: "403 Forbidden"},
		"400 about the key":     {handle: answer(400, js, `[{"error":{"code":400,"message":"API key not valid."}}]`), code: loop.FaultUnauthorized, says: "not valid"},
		"404 of a model":        {handle: answer(404, js, `{"error":{"message":"model \"x\" not found","code":"model_not_found"}}`), code: loop.FaultNotConfigured, says: "not found"},
		"404 page":              {handle: answer(404, "text/html", "<html>nope</html>"), code: loop.FaultNotConfigured, says: "404 Not Found"},
		"405":                   {handle: answer(405, "", ""), code: loop.FaultNotConfigured},
		"redirect":              {handle: answer(302, "", "", "Location", "http://elsewhere.invalid/"), code: loop.FaultNotConfigured, says: "302"},
		"413":                   {handle: answer(413, js, `{"error":"payload too large"}`), code: loop.FaultTooLong, says: "payload too large"},
		"400 context":           {handle: answer(400, js, `{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}`), code: loop.FaultTooLong},
		"400 context in words":  {handle: answer(400, js, `{"detail":"prompt is too long: 9000 tokens"}`), code: loop.FaultTooLong, says: "9000"},
		"400 otherwise":         {handle: answer(400, js, `{"message":"messages: field required"}`), code: loop.FaultProtocol, says: "field required"},
		"422 with a list":       {handle: answer(422, js, `{"detail":[{"loc":["body"]}]}`), code: loop.FaultProtocol},
		"402":                   {handle: answer(402, js, `{"error":{"message":"Insufficient credits"}}`), code: loop.FaultRateLimited, says: "credits"},
		"429":                   {handle: answer(429, js, `{"error":{"message":"slow down"}}`, "Retry-After", "30"), code: loop.FaultRateLimited, says: "slow down"},
		"500":                   {handle: answer(500, "text/html", "<h1>oops</h1>"), code: loop.FaultSiteError, says: "500", sent: true},
		"503 for long":          {handle: answer(503, "", "overloaded", "Retry-After", "3600"), code: loop.FaultSiteError, says: "overloaded", sent: true},
		"501":                   {handle: answer(501, "", ""), code: loop.FaultSiteError, sent: true},
		"204":                   {handle: answer(204, "", ""), code: loop.FaultProtocol},
		"a web page":            {handle: answer(200, "text/html", "<!doctype html><title>router</title>"), code: loop.FaultProtocol, says: "a web page", sent: true},
		"nonsense":              {handle: answer(200, js, "\x00\x01\x02 what"), code: loop.FaultProtocol, sent: true},
		"half an object":        {handle: answer(200, js, `{"choices":[{"mess`), code: loop.FaultProtocol, says: "not JSON", sent: true},
		"another object":        {handle: answer(200, js, `{"hello":1}`), code: loop.FaultProtocol, says: "an empty reply", sent: true},
		"wrong types":           {handle: answer(200, js, `{"choices":"none"}`), code: loop.FaultProtocol, sent: true},
		"nothing":               {handle: answer(200, "", ""), code: loop.FaultProtocol, says: "an empty answer", sent: true},
		"nothing in a stream":   {handle: stream(), code: loop.FaultProtocol, says: "an empty answer", sent: true},
		"only done":             {handle: stream(done), code: loop.FaultProtocol, says: "an empty reply", sent: true},
		"an empty reply":        {handle: stream(delta(" \n"), stop, done), code: loop.FaultProtocol, says: "an empty reply", text: " \n", sent: true},
		"events of nonsense":    {handle: stream(delta("a"), "what?"), code: loop.FaultProtocol, says: "not JSON", text: "a", sent: true},
		"cut stream":            {handle: stream(delta("half a re")), code: loop.FaultNetwork, says: "incomplete", text: "half a re", sent: true},
		"content filter":        {handle: stream(delta("half"), `{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`, done), code: loop.FaultModeration, text: "half", sent: true},
		"finish error":          {handle: stream(delta("half"), `{"choices":[{"delta":{},"finish_reason":"error"}]}`, done), code: loop.FaultSiteError, text: "half", sent: true},
		"thought only":          {handle: stream(`{"choices":[{"delta":{"reasoning":"hm"}}]}`, `{"choices":[{"delta":{},"finish_reason":"length"}]}`, done), code: loop.FaultProtocol, says: "length limit", sent: true},
		"a tool call":           {handle: stream(`{"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}`, `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, done), code: loop.FaultProtocol, says: "tool of its own", sent: true},
		"error in the stream":   {handle: stream(delta("half"), `{"error":{"code":429,"message":"busy `+testKey+`"}}`), code: loop.FaultRateLimited, says: "busy [key]", text: "half", sent: true},
		"error text in 200":     {handle: answer(200, js, `{"error":"model crashed"}`), code: loop.FaultSiteError, says: "model crashed", sent: true},
		"error without words":   {handle: answer(200, js, `{"error":{}}`), code: loop.FaultSiteError, sent: true},
		"one endless event":     {handle: stream(strings.Repeat("x", maxEvent+1)), code: loop.FaultProtocol, says: "more than fits", sent: true},
		"closed at once":        {handle: func(w http.ResponseWriter, _ *http.Request) { hijack(w, "") }, code: loop.FaultNetwork, says: "cannot be reached", sent: true},
		"no HTTP":               {handle: func(w http.ResponseWriter, _ *http.Request) { hijack(w, "220 mail ready\r\n\r\n") }, code: loop.FaultNetwork, sent: true},
		"closed in the headers": {handle: func(w http.ResponseWriter, _ *http.Request) { hijack(w, "HTTP/1.1 200 OK\r\nContent-Ty") }, code: loop.FaultNetwork, sent: true},
		"shorter than said": {handle: func(w http.ResponseWriter, _ *http.Request) {
			hijack(w, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\ndata: "+delta("begun")+"\n\n")
		}, code: loop.FaultNetwork, says: "incomplete", text: "begun", sent: true},
	} {
		t.Run(name, func(t *testing.T) {
			on := &heard{}
			r := newRig(serve(t, tt.handle), 0)
			got, err := r.model.Send(t.Context(), hello, on)
			var f *loop.Fault
			if !errors.As(err, &f) {
				t.Fatalf("error %v (%T), want a fault; text %q", err, err, got.Text)
			}
			if f.Code != tt.code || !strings.Contains(f.Text, tt.says) || f.Todo == "" {
				t.Errorf("fault %s %q (%s), want %s with %q", f.Code, f.Text, f.Todo, tt.code, tt.says)
			}
			if got.Text != tt.text {
				t.Errorf("kept %q, want %q", got.Text, tt.text)
			}
			if f.Unsent == tt.sent {
				t.Errorf("unsent %v, want %v", f.Unsent, !tt.sent)
			}
			if all := f.Text + f.Todo + r.log.String() + strings.Join(on.statuses, " "); strings.Contains(all, testKey) {
				t.Errorf("the key is told: %s", all)
			}
		})
	}
}

// hijack writes raw bytes and closes the connection.
func hijack(w http.ResponseWriter, raw string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	io.WriteString(conn, raw)
	conn.Close()
}

func TestRetryAfterSaysUntil(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		w.WriteHeader(429)
	})
	_, err := newRig(base, 0).model.Send(t.Context(), hello, &heard{})
	var f *loop.Fault
	if !errors.As(err, &f) || time.Until(f.Until) < 50*time.Minute {
		t.Errorf("fault %+v, want one until in an hour", f)
	}
}

func TestBrokenServerIsTriedAgain(t *testing.T) {
	tries := 0
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if tries++; tries < attempts {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(503)
			return
		}
		data, _ := io.ReadAll(r.Body)
		if !bytes.Contains(data, []byte("hello")) {
			t.Errorf("the last try has the body %q", data)
		}
		sse(w, delta("there"), stop, done)
	})
	on := &heard{}
	got, err := newRig(base, 0).model.Send(t.Context(), hello, on)
	if err != nil || got.Text != "there" || tries != attempts || len(on.statuses) != attempts-1 {
		t.Errorf("%q, %v after %d tries, told %q", got.Text, err, tries, on.statuses)
	}
	if want := []store.Delivery{store.DeliveryDispatched, store.DeliveryAccepted}; !slices.Equal(on.deliveries, want) {
		t.Errorf("deliveries %v, want %v", on.deliveries, want)
	}
}

func TestNothingIsTriedAgainOnceBytesCame(t *testing.T) {
	tries := 0
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		tries++
		sse(w, delta("a"), `{"error":{"code":503,"message":"overloaded"}}`)
	})
	if _, err := newRig(base, 0).model.Send(t.Context(), hello, &heard{}); err == nil || tries != 1 {
		t.Errorf("%v after %d tries, want an error after one", err, tries)
	}
}

func TestRefusedConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base := "http://user:" + testKey + "@" + l.Addr().String() + "?key=" + testKey
	l.Close()
	_, err = newRig(base, 0).model.Send(t.Context(), hello, &heard{})
	var f *loop.Fault
	if !errors.As(err, &f) || f.Code != loop.FaultNetwork || !f.Unsent || strings.Contains(f.Text, testKey) {
		t.Errorf("fault %+v, want an unsent network fault without the key", f)
	}
}

func TestSilence(t *testing.T) {
	for name, handle := range map[string]http.HandlerFunc{
		"before the headers": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"after some text": func(w http.ResponseWriter, r *http.Request) {
			sse(w, delta("some"))
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			base := serve(t, func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body) // else the server does not see the client go
				handle(w, r)
			})
			on := &heard{}
			got, err := newRig(base, 300*time.Millisecond).model.Send(t.Context(), hello, on)
			var f *loop.Fault
			if !errors.As(err, &f) || f.Code != loop.FaultSilent || got.Text != on.text.String() {
				t.Errorf("%v with %q, want silent with %q", err, got.Text, on.text.String())
			}
		})
	}
}

func TestEndWithoutFormality(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		sse(w, delta("all"), stop)
		<-r.Context().Done()
	})
	got, err := newRig(base, 200*time.Millisecond).model.Send(t.Context(), hello, &heard{})
	if err != nil || got.Text != "all" {
		t.Errorf("%q, %v, want the whole reply", got.Text, err)
	}
}

func TestStop(t *testing.T) {
	gone := make(chan struct{})
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		sse(w, delta("so far"))
		<-r.Context().Done()
		close(gone)
	})
	why := errors.New("a person stopped it")
	ctx, cancel := context.WithCancelCause(t.Context())
	on := &heard{onText: func() { cancel(why) }}
	got, err := newRig(base, 0).model.Send(ctx, hello, on)
	if !errors.Is(err, why) || got.Text != "so far" {
		t.Errorf("%q, %v, want the text so far and the cause", got.Text, err)
	}
	<-gone // the request is closed at the server, too
}

func TestRefusedStepIsNotTaken(t *testing.T) {
	for _, step := range []store.Delivery{store.DeliveryDispatched, store.DeliveryAccepted} {
		asked := 0
		base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			asked++
			sse(w, delta("x"), stop, done)
		})
		_, err := newRig(base, 0).model.Send(t.Context(), hello, &heard{refuse: step})
		if !errors.Is(err, errRefused) {
			t.Errorf("%s refused: %v, want its error", step, err)
		}
		if sent := step == store.DeliveryAccepted; sent != (asked == 1) {
			t.Errorf("%s refused: the server was asked %d times", step, asked)
		}
	}
}

func TestRecoverSendsAgain(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) { sse(w, delta("again"), stop, done) })
	req := hello
	req.Delivery = store.DeliveryDispatched
	got, err := newRig(base, 0).model.Recover(t.Context(), req, &heard{})
	if err != nil || got.Text != "again" {
		t.Errorf("%q, %v", got.Text, err)
	}
}

func TestNotConfigured(t *testing.T) {
	for name, e := range map[string]Endpoint{
		"no address":        {Model: "m"},
		"no model":          {URL: "http://localhost:1"},
		"not an address":    {URL: "localhost:11434", Model: "m"},
		"another scheme":    {URL: "file:///etc/passwd", Model: "m"},
		"a key with a line": {URL: "http://localhost:1", Model: "m", Key: "a\nb"},
	} {
		t.Run(name, func(t *testing.T) {
			on := &heard{}
			_, err := New(Config{Endpoint: func(context.Context) (Endpoint, error) { return e, nil }}).Send(t.Context(), hello, on)
			var f *loop.Fault
			if !errors.As(err, &f) || f.Code != loop.FaultNotConfigured || !f.Unsent || len(on.deliveries) != 0 {
				t.Errorf("%v, deliveries %v, want not-configured before anything", err, on.deliveries)
			}
		})
	}
	_, err := New(Config{Endpoint: func(context.Context) (Endpoint, error) { return Endpoint{}, errors.New("key store locked") }}).Send(t.Context(), hello, &heard{})
	if err == nil || !strings.Contains(err.Error(), "key store locked") {
		t.Errorf("%v, want what the settings said", err)
	}
}

func TestTarget(t *testing.T) {
	for base, want := range map[string]string{
		"http://localhost:11434":                                  "http://localhost:11434/v1/chat/completions",
		"http://localhost:11434/":                                 "http://localhost:11434/v1/chat/completions",
		" https://api.example.org/v1/ ":                           "https://api.example.org/v1/chat/completions",
		"https://example.org/api/v1":                              "https://example.org/api/v1/chat/completions",
		"https://example.org/v1beta/openai/":                      "https://example.org/v1beta/openai/chat/completions",
		"https://example.org/x/chat/completions?api-version=2024": "https://example.org/x/chat/completions?api-version=2024",
		"https://example.org/api#frag":                            "https://example.org/api/v1/chat/completions",
	} {
		if got, err := target(base); err != nil || got != want {
			t.Errorf("target(%q) = %q, %v, want %q", base, got, err, want)
		}
	}
}

func TestEndpointHidesItsKey(t *testing.T) {
	e := Endpoint{URL: "https://u:" + testKey + "@example.org/v1?k=" + testKey, Model: "m", Key: testKey}
	var b bytes.Buffer
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", slog.Any("endpoint", e))
	fmt.Fprintf(&b, "%v %+v %#v %s", e, e, e, e)
	if strings.Contains(b.String(), testKey) {
		t.Error(b.String())
	}
}
