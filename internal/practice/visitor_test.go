package practice

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"plexus/internal/scenario"
)

func builtin(t *testing.T, name string) *scenario.Scenario {
	t.Helper()
	src, ok := scenario.Builtin(name)
	if !ok {
		t.Fatalf("no built-in scenario %q", name)
	}
	return parse(t, string(src))
}

func parse(t *testing.T, src string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// visitor is a page without a browser: it knows the way to the site, trusts its certificate, and has a session.
type visitor struct {
	t      *testing.T
	site   *Site
	client *http.Client
	token  string
}

func visit(t *testing.T, cfg Config) *visitor {
	t.Helper()
	site, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := site.Close(); err != nil {
			t.Error(err)
		}
	})
	trust := x509.NewCertPool()
	trust.AddCert(site.cert.leaf)
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: trust},
		ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, site.Addr())
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	v := &visitor{t: t, site: site, client: &http.Client{Transport: transport, Timeout: 20 * time.Second}}
	var session struct {
		AccessToken string `json:"accessToken"`
	}
	v.json("GET", "/api/auth/session", nil, &session)
	v.token = session.AccessToken
	return v
}

func (v *visitor) request(method, path string, body any, header http.Header) *http.Response {
	v.t.Helper()
	var r io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		r = strings.NewReader(b)
	default:
		r = strings.NewReader(encode(b))
	}
	req, err := http.NewRequestWithContext(v.t.Context(), method, "https://"+Host+path, r)
	if err != nil {
		v.t.Fatal(err)
	}
	maps.Copy(req.Header, header)
	if v.token != "" {
		req.Header.Set("Authorization", "Bearer "+v.token)
	}
	res, err := v.client.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { res.Body.Close() })
	return res
}

// json asks for something that has to succeed.
func (v *visitor) json(method, path string, body, into any) {
	v.t.Helper()
	res := v.request(method, path, body, nil)
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		v.t.Fatalf("%s %s: %s %s %v", method, path, res.Status, raw, err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		v.t.Fatalf("%s %s: %v in %s", method, path, err, raw)
	}
}

// fails asks for something that has to fail with a status and a code.
func (v *visitor) fails(status int, code, method, path string, body any) {
	v.t.Helper()
	wantFailure(v.t, v.request(method, path, body, nil), status, code)
}

func wantFailure(t *testing.T, res *http.Response, status int, code string) {
	t.Helper()
	raw, _ := io.ReadAll(res.Body)
	var failure struct {
		Detail struct{ Code, Message string }
	}
	if err := json.Unmarshal(raw, &failure); err != nil || res.StatusCode != status || failure.Detail.Code != code || failure.Detail.Message == "" {
		t.Errorf("%s: got %s %s, want %d %s", res.Request.URL.Path, res.Status, raw, status, code)
	}
}

// papers are the headers that a send needs.
func (v *visitor) papers() http.Header {
	v.t.Helper()
	var got struct {
		Token   string `json:"token"`
		Conduit string `json:"conduit_token"`
	}
	v.json("POST", "/backend-api/sentinel/chat-requirements/finalize", map[string]any{}, &got)
	v.json("POST", "/backend-api/f/conversation/prepare", map[string]any{}, &got)
	return http.Header{
		"Openai-Sentinel-Chat-Requirements-Token": {got.Token},
		"Openai-Sentinel-Proof-Token":             {"gAAAAABproof"},
		"X-Conduit-Token":                         {got.Conduit},
	}
}

func sendOf(id, conversation, project, text string) map[string]any {
	body := map[string]any{
		"action":            "next",
		"messages":          []any{map[string]any{"id": id, "author": map[string]any{"role": "user"}, "content": textContent(text)}},
		"conversation_mode": map[string]any{"kind": "primary_assistant"},
	}
	if conversation != "" {
		body["conversation_id"] = conversation
	}
	if project != "" {
		body["conversation_mode"] = map[string]any{"kind": "gizmo_interaction", "gizmo_id": project}
	}
	return body
}

func (v *visitor) send(conversation, text string) *http.Response {
	v.t.Helper()
	return v.request("POST", "/backend-api/f/conversation", sendOf(newUUID(), conversation, "", text), v.papers())
}

// say sends a message and reads the whole answer, wherever it comes.
func (v *visitor) say(conversation, text string) *reading {
	v.t.Helper()
	res := v.send(conversation, text)
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		raw, _ := io.ReadAll(res.Body)
		v.t.Fatalf("send: %s %s", res.Status, raw)
	}
	r := &reading{}
	if err := r.body(res.Body); err != nil {
		v.t.Fatalf("read answer: %v", err)
	}
	if r.handoff != "" {
		r.ticket = r.text
		v.follow(r)
	}
	return r
}

func (v *visitor) follow(r *reading) {
	v.t.Helper()
	switch r.handoff {
	case "resume_sse_endpoint":
		header := http.Header{"X-Conduit-Token": {r.token}}
		res := v.request("POST", "/backend-api/f/conversation/resume", map[string]any{"conversation_id": r.conversation, "offset": 0}, header)
		if err := r.body(res.Body); err != nil {
			v.t.Fatalf("resume: %v", err)
		}
	case "subscribe_ws_topic":
		conn := v.socket()
		conn.command("subscribe", r.topic, "0")
		for !conn.done[r.topic] {
			conn.next()
		}
		for _, item := range conn.items[r.topic] {
			r.events(item)
		}
	}
}

// reading is the small decoder of these tests: what an answer said, by the rules of the wire.
type reading struct {
	rest         string
	said         strings.Builder
	conversation string
	token        string
	handoff      string // the first option of a hand-off
	topic        string
	text         string
	ticket       string // the text that was there when the answer was handed off
	thoughts     string
	recap        string
	title        string
	failure      string
	status       string
	types        []string // of the events that are known by a type
	items        int      // events apart from [DONE]
	dones        int

	kind, path, op string
}

func (r *reading) body(body io.Reader) error {
	raw, err := io.ReadAll(body)
	r.events(string(raw))
	if err == nil && r.rest != "" {
		return fmt.Errorf("the stream ends within an event: %q", r.rest)
	}
	return err
}

func (r *reading) events(s string) {
	defer func() { r.text = r.said.String() }()
	s = r.rest + s
	for {
		event, rest, ok := strings.Cut(s, "\n\n")
		if !ok {
			r.rest = s
			return
		}
		s = rest
		name, payload := "", ""
		for line := range strings.Lines(event) {
			line = strings.TrimSuffix(line, "\n")
			if after, ok := strings.CutPrefix(line, "event: "); ok {
				name = after
			}
			if after, ok := strings.CutPrefix(line, "data: "); ok {
				payload = after
			}
		}
		r.event(name, payload)
	}
}

func (r *reading) event(name, payload string) {
	if payload == "[DONE]" {
		r.dones++
		return
	}
	r.items++
	switch name {
	case "delta_encoding":
	case "delta":
		var op map[string]any
		mustDecode(payload, &op)
		r.delta(op)
	default:
		var told struct {
			Type           string
			ConversationID string `json:"conversation_id"`
			Token          string
			Title          string
			Error          string
			Options        []struct {
				Type    string
				TopicID string `json:"topic_id"`
			}
		}
		mustDecode(payload, &told)
		r.types = append(r.types, told.Type)
		r.conversation = told.ConversationID
		switch told.Type {
		case "resume_conversation_token":
			r.token = told.Token
		case "stream_handoff":
			r.handoff, r.topic = told.Options[0].Type, told.Options[0].TopicID
		case "title_generation":
			r.title = told.Title
		case "error":
			r.failure = told.Error
		}
	}
}

func (r *reading) delta(op map[string]any) {
	if p, ok := op["p"].(string); ok {
		r.path = p
	}
	if o, ok := op["o"].(string); ok {
		r.op = o
	}
	if batch, ok := op["v"].([]any); ok && len(batch) > 0 {
		if first, ok := batch[0].(map[string]any); ok && first["p"] != nil {
			for _, inner := range batch {
				in := inner.(map[string]any)
				r.change(in["p"].(string), in["o"].(string), in["v"])
			}
			return
		}
	}
	r.change(r.path, r.op, op["v"])
}

func (r *reading) change(path, op string, v any) {
	switch path {
	case "":
		m := v.(map[string]any)["message"].(map[string]any)
		content := m["content"].(map[string]any)
		r.kind = m["author"].(map[string]any)["role"].(string) + " " + content["content_type"].(string)
		if recap, ok := content["content"].(string); ok {
			r.recap = recap
		}
	case "/message/content/parts/0":
		if r.kind == "assistant text" && op == "append" {
			r.said.WriteString(v.(string))
		}
	case "/message/content/thoughts/0/content":
		r.thoughts += v.(string)
	case "/message/status":
		if r.kind == "assistant text" {
			r.status = v.(string)
		}
	}
}

func mustDecode(s string, into any) {
	if err := json.Unmarshal([]byte(s), into); err != nil {
		panic(fmt.Sprintf("%v in %q", err, s))
	}
}

// wire is a page's WebSocket.
type wire struct {
	v       *visitor
	conn    *websocket.Conn
	lastID  int
	replies []string
	items   map[string][]string
	caught  int // items that came as catch-ups
	done    map[string]bool
	ended   []string // conversations whose turns were announced as complete
}

func (v *visitor) dial(url string, header http.Header) (*websocket.Conn, error) {
	conn, res, err := websocket.Dial(v.t.Context(), url, &websocket.DialOptions{HTTPClient: v.client, HTTPHeader: header})
	if err != nil && res != nil {
		return nil, fmt.Errorf("%s: %w", res.Status, err)
	}
	return conn, err
}

func (v *visitor) socket() *wire {
	v.t.Helper()
	var where struct {
		URL string `json:"websocket_url"`
	}
	v.json("GET", "/backend-api/celsius/ws/user", nil, &where)
	conn, err := v.dial(where.URL, http.Header{"Origin": {"https://" + Host}})
	if err != nil {
		v.t.Fatal(err)
	}
	conn.SetReadLimit(64 << 20)
	v.t.Cleanup(func() { conn.CloseNow() })
	return &wire{v: v, conn: conn, items: map[string][]string{}, done: map[string]bool{}}
}

func (w *wire) command(kind, topic string, offset any) {
	w.v.t.Helper()
	w.lastID++
	c := map[string]any{"id": w.lastID, "command": map[string]any{"type": kind, "topic_id": topic, "offset": offset}}
	if err := w.conn.Write(w.v.t.Context(), websocket.MessageText, []byte(encode([]any{c}))); err != nil {
		w.v.t.Fatal(err)
	}
}

// next takes in one frame.
func (w *wire) next() {
	w.v.t.Helper()
	if err := w.read(); err != nil {
		w.v.t.Fatal(err)
	}
}

type socketFrame struct {
	ID      int
	Type    string
	TopicID string `json:"topic_id"`
	Reply   struct {
		OK       bool
		Catchups []socketFrame
	}
	Payload struct {
		Type    string
		Payload struct {
			Type           string
			EncodedItem    string `json:"encoded_item"`
			ConversationID string `json:"conversation_id"`
		}
	}
}

func (w *wire) read() error {
	ctx, cancel := context.WithTimeout(w.v.t.Context(), 20*time.Second)
	defer cancel()
	_, raw, err := w.conn.Read(ctx)
	if err != nil {
		return err
	}
	var frames []socketFrame
	if err := json.Unmarshal(raw, &frames); err != nil {
		return fmt.Errorf("%w in %s", err, raw)
	}
	for _, f := range frames {
		if f.Type == "reply" {
			w.replies = append(w.replies, fmt.Sprint(f.ID, f.Reply.OK))
		}
		w.caught += len(f.Reply.Catchups)
		for _, m := range append(slices.Clone(f.Reply.Catchups), f) {
			w.take(m)
		}
	}
	return nil
}

func (w *wire) take(m socketFrame) {
	inner := m.Payload.Payload
	switch {
	case m.Payload.Type == "conversation-turn-complete":
		w.ended = append(w.ended, inner.ConversationID)
	case inner.Type == "stream-item":
		w.items[m.TopicID] = append(w.items[m.TopicID], inner.EncodedItem)
	case inner.Type == "done":
		w.done[m.TopicID] = true
	}
}

// kinds is the log as a line of kinds, without those that do not matter to a test.
func (v *visitor) kinds(leave ...Kind) string {
	var out []string
	for _, e := range v.site.Log() {
		if !slices.Contains(leave, e.Kind) {
			out = append(out, string(e.Kind))
		}
	}
	return strings.Join(out, " ")
}

// wait waits for a kind of entry.
func (v *visitor) wait(kind Kind) Entry {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.t.Context(), 20*time.Second)
	defer cancel()
	e, err := v.site.Wait(ctx, func(e Entry) bool { return e.Kind == kind })
	if err != nil {
		v.t.Fatalf("wait for %s: %v; the log has %s", kind, err, v.kinds())
	}
	return e
}
