package chattab

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"plexus/internal/link"
	"plexus/internal/loop"
	"plexus/internal/store"
)

// world is a Model on a real link, and the browser at its other end, which these tests play.
type world struct {
	t     testing.TB
	hub   *link.Hub
	model *Model
	url   string
	agree bool

	mu       sync.Mutex
	settings map[string]string
	b        *browser
}

// short are waits that a test can afford.
var short = timing{
	browser: 3 * time.Second, command: 3 * time.Second, open: 3 * time.Second, project: 3 * time.Second, submit: 3 * time.Second,
	settle: 300 * time.Millisecond, retry: time.Millisecond, draft: 100 * time.Millisecond, look: 5 * time.Millisecond, proof: 30 * time.Millisecond,
	gap: 300 * time.Millisecond, closed: 30 * time.Millisecond, trouble: 100 * time.Millisecond, page: 800 * time.Millisecond,
	watch: 20 * time.Millisecond, silence: 3 * time.Second, alive: time.Hour,
}

const token = "a-token-that-was-given-when-a-person-approved"

type approved struct{}

func (approved) Browser(_ context.Context, id string) (link.Browser, bool, error) {
	sum := sha256.Sum256([]byte(token))
	return link.Browser{ID: id, Label: "Test browser", Token: sum[:]}, true, nil
}
func (approved) SaveBrowser(context.Context, link.Browser) error          { return nil }
func (approved) TouchBrowser(context.Context, link.Browser) (bool, error) { return true, nil }

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, agree: true, settings: map[string]string{}}
	w.hub = link.NewHub(link.Options{Store: approved{}, Version: "1.0"})
	server := httptest.NewServer(http.HandlerFunc(w.hub.ServeHTTP))
	t.Cleanup(func() { w.hub.Close(); server.Close() })
	w.url = "ws" + strings.TrimPrefix(server.URL, "http") + link.Path
	w.model = New(Config{Hub: w.hub, Memory: w, Consent: func(context.Context) bool { return w.agree }})
	w.model.timing = short
	w.b = newBrowser(t, w)
	return w
}

func (w *world) Setting(_ context.Context, key string) (string, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v, ok := w.settings[key]
	return v, ok, nil
}

func (w *world) SetSetting(_ context.Context, key, value string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settings[key] = value
	return nil
}

// message is any command.
type message struct {
	Type, ID, Turn, Thread, URL, Name, Project, Text, MessageID string
	Tab                                                         int
	From, N                                                     int64
	Go                                                          bool
}

// browser plays the extension and the page: it answers commands, and remembers across connections what a worker does.
type browser struct {
	t testing.TB
	w *world

	mu       sync.Mutex
	conn     *websocket.Conn
	log      []message            // commands in the order they came
	handlers map[string][]handler // by type: the first is used up by one command, the last stays
	sending  message
	frames   []link.StreamUpdate // that can be sent again
	drop     map[int64]bool      // frames that get lost on their way, once
	lastN    int64
	fact     *link.TurnFact
	page     link.PageFacts
	clicks   int
}

type handler func(b *browser, m message)

const (
	conversation = "6a1f-conv"
	chatAddress  = "https://chatgpt.com/g/g-p-77/c/" + conversation
	projectURL   = "https://chatgpt.com/g/g-p-77/project"
	messageID    = "user-message-1"
)

func newBrowser(t testing.TB, w *world) *browser {
	b := &browser{t: t, w: w, handlers: map[string][]handler{}, drop: map[int64]bool{}}
	b.page = link.PageFacts{URL: chatAddress, ConversationID: conversation, Composer: "ready"}
	null := func(b *browser, m message) { b.respond(m, nil) }
	b.on("end_turn", func(b *browser, m message) { b.frames, b.lastN, b.fact = nil, 0, nil; b.respond(m, nil) })
	b.on("stop_turn", null)
	b.on("open_tab", func(b *browser, m message) { b.respond(m, link.TabResult{Tab: 5, URL: m.URL}) })
	b.on("ensure_project", func(b *browser, m message) {
		b.respond(m, link.ProjectResult{Project: "g-p-77", URL: projectURL, Created: true})
	})
	b.on("send_message", dispatch)
	b.on("proceed", post("Hello"))
	b.on("look_page", func(b *browser, m message) { b.respond(m, b.page) })
	b.on("resume_frames", resume)
	b.on("recover_turn", func(b *browser, m message) { b.respond(m, link.RecoverResult{Found: true}) })
	b.on("close_tab", null)
	b.on("ack_frames", func(*browser, message) {})
	return b
}

// on sets what is done at a command: the handlers one after the other, the last for good.
func (b *browser) on(kind string, hs ...handler) { b.handlers[kind] = hs }

// connect opens a connection and answers commands until it ends.
func (b *browser) connect() {
	b.t.Helper()
	ctx := b.t.Context()
	conn, _, err := websocket.Dial(ctx, b.w.url, &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"chrome-extension://" + link.ExtensionID}}})
	if err != nil {
		b.t.Fatalf("connect: %v", err)
	}
	conn.SetReadLimit(32 << 20)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.conn = conn
	hello := link.Hello{Type: "hello", Protocol: link.Protocol, Version: "1.0", Browser: "browser-1", Label: "Test browser", Nonce: nonce, Paired: true}
	if b.fact != nil {
		f := *b.fact
		f.LastN = b.lastN
		hello.Turns = append(hello.Turns, f)
	}
	b.write(hello)
	b.prove(conn)
	_, welcome, err := conn.Read(ctx)
	if err != nil || !strings.Contains(string(welcome), `"welcome"`) {
		b.t.Fatalf("greeting: %s %v", welcome, err)
	}
	go b.serve(conn)
}

// nonce is the browser's part of a greeting.
const nonce = "a-nonce-of-a-test"

// prove answers the daemon's challenge as the extension does.
func (b *browser) prove(conn *websocket.Conn) {
	b.t.Helper()
	_, data, err := conn.Read(b.t.Context())
	if err != nil {
		b.t.Fatalf("greeting: %v", err)
	}
	var c link.Challenge
	if err := json.Unmarshal(data, &c); err != nil || c.Nonce == "" {
		b.t.Fatalf("greeting: %s %v", data, err)
	}
	port, err := url.Parse(b.w.url)
	if err != nil {
		b.t.Fatal(err)
	}
	key := sha256.Sum256([]byte(token))
	mac := hmac.New(sha256.New, key[:])
	fmt.Fprintf(mac, "browser %s %s %s", port.Port(), nonce, c.Nonce)
	b.write(link.Proof{Type: "proof", Proof: hex.EncodeToString(mac.Sum(nil))})
}

func (b *browser) serve(conn *websocket.Conn) {
	for {
		_, data, err := conn.Read(b.t.Context())
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(data, &m) != nil {
			b.t.Errorf("not a message: %s", data)
			return
		}
		b.mu.Lock()
		if b.conn != conn {
			b.mu.Unlock()
			return
		}
		switch hs := b.handlers[m.Type]; {
		case m.Type == "ping":
		case len(hs) == 0:
			b.t.Errorf("nothing is done at %s", m.Type)
		default:
			b.log = append(b.log, m)
			if len(hs) > 1 {
				b.handlers[m.Type] = hs[1:]
			}
			hs[0](b, m)
		}
		b.mu.Unlock()
	}
}

// vanish ends the connection without a word.
func (b *browser) vanish() {
	conn := b.conn
	b.conn = nil
	go conn.CloseNow()
}

// comeBack connects again once the hub has seen the old connection end.
func (b *browser) comeBack() {
	go func() {
		for {
			changed := b.w.hub.Changed()
			if len(b.w.hub.Peers()) == 0 {
				break
			}
			select {
			case <-changed:
			case <-b.t.Context().Done():
				return
			}
		}
		b.connect()
	}()
}

func (b *browser) write(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		b.t.Errorf("encode: %v", err)
		return
	}
	if b.conn != nil {
		b.conn.Write(b.t.Context(), websocket.MessageText, data) // one that ended says so to the reader
	}
}

func (b *browser) respond(m message, result any) {
	data, err := json.Marshal(result)
	if err != nil {
		b.t.Errorf("encode: %v", err)
	}
	b.write(link.Response{Type: "response", ID: m.ID, Result: data})
}

func (b *browser) refuse(m message, code string, clicked bool) {
	b.write(link.Response{Type: "response", ID: m.ID, Error: &link.ResponseError{Code: code, Text: "the page says " + code, Clicked: clicked}})
}

func (b *browser) progress(stage string) {
	p := link.SubmitProgress{Type: "submit_progress", ID: b.sending.ID, Turn: b.sending.Turn, Stage: stage}
	if stage == "posted" {
		p.MessageID, p.ConversationID = messageID, conversation
	}
	b.stage(stage)
	b.write(p)
}

// stage is what the worker keeps of the turn.
func (b *browser) stage(stage string) {
	switch stage {
	case "inserted":
		stage = "armed"
	case "clicked":
		stage = "dispatched"
	}
	b.fact = &link.TurnFact{Turn: b.sending.Turn, Thread: b.sending.Thread, Tab: 5, Send: b.sending.ID, Stage: stage}
	if stage == "posted" {
		b.fact.MessageID = messageID
	}
}

// dispatch inserts the text and waits for leave to click.
func dispatch(b *browser, m message) {
	b.sending = m
	b.progress("inserted")
	b.progress("dispatched")
}

// post clicks, is seen to post, and streams a whole reply.
func post(reply string) handler {
	return func(b *browser, m message) {
		posted(b, m)
		b.stream(wire(reply))
	}
}

// posted clicks and is seen to post.
func posted(b *browser, m message) {
	if !m.Go {
		b.refuse(b.sending, "no-go", false)
		return
	}
	b.clicks++
	b.progress("clicked")
	b.progress("posted")
	b.page.Messages = append(b.page.Messages, link.PageMessage{ID: messageID, Role: "user", Text: b.sending.Text})
	b.respond(b.sending, link.SendResult{MessageID: messageID, ConversationID: conversation, URL: chatAddress})
}

// clickFails clicks and then reports an error.
func clickFails(code string) handler {
	return func(b *browser, m message) {
		b.clicks++
		b.progress("clicked")
		b.refuse(b.sending, code, true)
	}
}

// show is a look at the page, which has these messages from then on.
func show(messages []link.PageMessage) handler {
	return func(b *browser, m message) {
		b.page.Messages = slices.Clip(messages)
		b.respond(m, b.page)
	}
}

func refuse(code string) handler {
	return func(b *browser, m message) { b.refuse(m, code, false) }
}

// then does several things at one command.
func then(hs ...handler) handler {
	return func(b *browser, m message) {
		for _, h := range hs {
			h(b, m)
		}
	}
}

// frame sends the next frame, unless it is to be lost.
func (b *browser) frame(u link.StreamUpdate) {
	b.lastN++
	u.Type, u.Turn, u.N, u.Stream = "stream_update", b.sending.Turn, b.lastN, "s1"
	b.frames = append(b.frames, u)
	if b.drop[u.N] {
		delete(b.drop, u.N)
		return
	}
	b.write(u)
}

// stream sends an event stream in frames of a few bytes, from opening to close.
func (b *browser) stream(text string) {
	b.openStream(200)
	b.data(text)
	b.frame(link.StreamUpdate{Event: "close"})
}

func (b *browser) openStream(status int) {
	b.frame(link.StreamUpdate{Event: "open", Source: "fetch", URL: "https://chatgpt.com/backend-api/f/conversation", Status: status})
}

func (b *browser) data(text string) {
	for len(text) > 0 {
		n := min(60, len(text))
		b.frame(link.StreamUpdate{Event: "data", Data: text[:n]})
		text = text[n:]
	}
}

// resume sends the frames again that are still held.
func resume(b *browser, m message) {
	res := link.FramesResult{}
	for _, f := range b.frames {
		if res.First == 0 {
			res.First = f.N
		}
		res.Last = f.N
		if f.N >= m.From {
			b.write(f)
		}
	}
	b.respond(m, res)
}

// wire is a reply as the site streams it; part leaves out its end.
func wire(reply string) string { return part(reply) + end }

func part(reply string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "event: delta_encoding\ndata: \"v1\"\n\n")
	fmt.Fprintf(&s, `event: delta`+"\n"+`data: {"p":"","o":"add","v":{"message":{"id":"reply-1","author":{"role":"assistant"},"content":{"content_type":"text","parts":[""]},"status":"in_progress","metadata":{"model_slug":"gpt-9"},"recipient":"all","channel":"final"},"conversation_id":%q},"c":0}`+"\n\n", conversation)
	op := `{"p":"/message/content/parts/0","o":"append","v":%s}`
	for _, word := range strings.SplitAfter(reply, " ") {
		v, _ := json.Marshal(word)
		fmt.Fprintf(&s, "event: delta\ndata: "+op+"\n\n", v)
		op = `{"v":%s}`
	}
	return s.String()
}

const end = `event: delta
data: {"p":"","o":"patch","v":[{"p":"/message/status","o":"replace","v":"finished_successfully"},{"p":"/message/end_turn","o":"replace","v":true}]}

data: {"type":"message_stream_complete","conversation_id":"` + conversation + `"}

data: [DONE]

`

// did returns the types of the commands that came, without those named.
func (b *browser) did(without ...string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var kinds []string
	for _, m := range b.log {
		if !slices.Contains(without, m.Type) {
			kinds = append(kinds, m.Type)
		}
	}
	return kinds
}

func (b *browser) count(kind string) (n int) {
	for _, k := range b.did() {
		if k == kind {
			n++
		}
	}
	return n
}

// recorder is an Observer that writes down what it hears.
type recorder struct {
	steps    []string // deliveries and bindings
	text     strings.Builder
	thought  strings.Builder
	notices  []store.Notice
	chat     store.Chat
	refuse   store.Delivery // the state that cannot be written
	onText   func(all string)
	onStatus func(text string)
}

var errDisk = errors.New("the disk is full")

func (r *recorder) Delivery(s store.Delivery, receipt string) error {
	if s == r.refuse {
		return errDisk
	}
	r.steps = append(r.steps, strings.TrimSpace(string(s)+" "+receipt))
	return nil
}

func (r *recorder) Bound(c store.Chat) error {
	r.steps = append(r.steps, "bound "+c.URL)
	r.chat = c
	return nil
}

func (r *recorder) Text(d string) {
	r.text.WriteString(d)
	if r.onText != nil {
		r.onText(r.text.String())
	}
}
func (r *recorder) Reasoning(d string) { r.thought.WriteString(d) }
func (r *recorder) Status(text string) {
	if r.onStatus != nil {
		r.onStatus(text)
	}
}
func (r *recorder) Notice(n store.Notice) { r.notices = append(r.notices, n) }

// deliveries are the steps without the bindings.
func (r *recorder) deliveries() (out []string) {
	for _, s := range r.steps {
		if !strings.HasPrefix(s, "bound") {
			out = append(out, s)
		}
	}
	return out
}

// request is the first message of a new thread.
func request() loop.Send {
	return loop.Send{
		Thread: store.Thread{ID: "thread-1"}, Folder: store.Folder{ID: "folder-1", Name: "demo"},
		Turn: "turn-1", Message: "message-1", Text: "Fix the\nfailing test",
		History: loop.Past(),
	}
}

// later is a message of a thread that has a chat.
func later(state store.Delivery) loop.Send {
	r := request()
	r.Chat = store.Chat{ID: "chat-1", Thread: r.Thread.ID, Site: "chatgpt", Provider: conversation, URL: chatAddress, Project: "g-p-77", Browser: "browser-1", Current: true}
	r.Delivery = state
	r.History = loop.Past(loop.Exchange{Role: "user", Text: "The first task"}, loop.Exchange{Role: "assistant", Text: "Done."})
	return r
}
