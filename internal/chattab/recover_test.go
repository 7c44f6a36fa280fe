package chattab

import (
	"errors"
	"strings"
	"testing"

	"plexus/internal/link"
	"plexus/internal/loop"
	"plexus/internal/store"
)

// TestRecover is about a message that an earlier process began to send.
func TestRecover(t *testing.T) {
	user := func(text string) link.PageMessage { return link.PageMessage{Role: "user", Text: text} }
	before := []link.PageMessage{user("The first task"), {Role: "assistant", Text: "Done."}}
	ours := append(append([]link.PageMessage{}, before...), link.PageMessage{ID: messageID, Role: "user", Text: "Fix the failing test"})
	recovered := func(b *browser, m message) {
		b.respond(m, link.RecoverResult{Found: true})
		b.write(link.Recovered{Type: "recovered", ID: m.ID, Turn: m.Turn, Text: "as shown"})
	}
	// held is a turn that the browser has kept: the message was posted and these bytes streamed.
	held := func(b *browser, stage, text string) {
		b.sending = message{ID: "message-1.abc", Turn: "turn-1", Thread: "thread-1"}
		b.stage(stage)
		if text != "" {
			b.stream(text)
		}
	}
	tests := []struct {
		name   string
		state  store.Delivery
		set    func(b *browser)
		req    func(r *loop.Send)
		want   string
		page   bool
		code   string
		clicks int
		looks  int // at least
	}{
		{name: "never tried", state: store.DeliveryNone, want: "Hello", clicks: 1},
		{name: "failed before", state: store.DeliveryFailed, want: "Hello", clicks: 1},
		{name: "attempting: certainly not clicked", state: store.DeliveryAttempting, want: "Hello", clicks: 1},
		{name: "accepted, and the browser holds the frames", state: store.DeliveryAccepted, want: "one two",
			set: func(b *browser) { held(b, "posted", wire("one two")) }},
		{name: "accepted, and the stream goes on", state: store.DeliveryAccepted, want: "one two three", set: func(b *browser) {
			all := wire("one two three")
			held(b, "posted", all[:len(all)/2])
			b.frames = b.frames[:len(b.frames)-1] // without its end
			b.lastN--
			b.on("resume_frames", then(resume, func(b *browser, m message) { b.data(all[len(all)/2:]) }))
		}},
		{name: "accepted, and the worker forgot", state: store.DeliveryAccepted, want: "as shown", page: true, set: func(b *browser) {
			b.on("recover_turn", recovered)
		}},
		{name: "accepted, and the first frames are gone", state: store.DeliveryAccepted, want: "as shown", page: true, set: func(b *browser) {
			held(b, "posted", wire("one two"))
			b.frames = b.frames[3:]
			b.on("recover_turn", recovered)
		}},
		{name: "accepted, and the frames answer another message", state: store.DeliveryAccepted, want: "as shown", page: true, set: func(b *browser) {
			held(b, "posted", strings.ReplaceAll(wire("one two"), `data: {"type":"message_stream_complete"`, `data: {"type":"input_message","input_message":{"id":"other","author":{"role":"user"}}}`+"\n\n"+`data: {"type":"message_stream_complete"`))
			b.on("recover_turn", recovered)
		}},
		{name: "dispatched, and the browser saw the post", state: store.DeliveryDispatched, want: "one two", set: func(b *browser) { held(b, "posted", wire("one two")) }},
		{name: "dispatched, and the post comes now", state: store.DeliveryDispatched, want: "one two", set: func(b *browser) {
			held(b, "dispatched", wire("one two"))
			b.w.model.timing.settle = short.submit
		}},
		{name: "dispatched, and the page shows it", state: store.DeliveryDispatched, want: "as shown", page: true, set: func(b *browser) {
			b.page.Messages = ours
			b.on("recover_turn", recovered)
		}},
		{name: "dispatched, and the page shows that it is not there", state: store.DeliveryDispatched, want: "Hello", clicks: 1, looks: sureLooks, set: func(b *browser) {
			b.page.Messages = before
		}},
		{name: "dispatched, and the page shows it late", state: store.DeliveryDispatched, want: "as shown", page: true, set: func(b *browser) {
			b.on("look_page", show(before), show(ours))
			b.on("recover_turn", recovered)
		}},
		{name: "dispatched as the first of its chat, which is empty", state: store.DeliveryDispatched, want: "Hello", clicks: 1, looks: sureLooks,
			req: func(r *loop.Send) { r.History = loop.Past() }},
		{name: "dispatched as the first of its chat, which the page does not show", state: store.DeliveryDispatched, code: loop.FaultUnknownOutcome,
			req: func(r *loop.Send) { r.History = loop.Past() },
			set: func(b *browser) { b.page.URL, b.page.ConversationID = projectURL, "" }},
		{name: "dispatched, and the page is still loading", state: store.DeliveryDispatched, code: loop.FaultUnknownOutcome, set: func(b *browser) {
			b.page.Composer = "hydrating"
		}},
		{name: "dispatched, and the page shows neither it nor the one before", state: store.DeliveryUnknown, code: loop.FaultUnknownOutcome, set: func(b *browser) {
			b.page.Messages = []link.PageMessage{user("Something else")}
		}},
		{name: "dispatched, with the same text as the one before", state: store.DeliveryUnknown, want: "Hello", clicks: 1,
			req: func(r *loop.Send) { r.Text = "The first task" },
			set: func(b *browser) { b.page.Messages = before }},
		{name: "dispatched, with the same text as the one before, and there", state: store.DeliveryUnknown, want: "as shown", page: true,
			req: func(r *loop.Send) { r.Text = "The first task" },
			set: func(b *browser) {
				b.page.Messages = append(append([]link.PageMessage{}, before...), user("The first task"))
				b.on("recover_turn", recovered)
			}},
		{name: "dispatched in a new chat that nobody knows", state: store.DeliveryDispatched, code: loop.FaultUnknownOutcome,
			req: func(r *loop.Send) { r.Chat, r.History = store.Chat{Browser: "browser-1", URL: projectURL}, loop.Past() }},
		{name: "dispatched, and the page is gone", state: store.DeliveryDispatched, code: loop.FaultUnknownOutcome, set: func(b *browser) {
			b.on("open_tab", refuse("no-tab"))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			if tt.set != nil {
				tt.set(w.b)
			}
			w.b.connect()
			req := later(tt.state)
			if tt.state == store.DeliveryAccepted {
				req.Receipt = messageID
			}
			if tt.req != nil {
				tt.req(&req)
			}
			var r recorder
			r.onStatus = func(text string) {
				if strings.HasPrefix(text, "Looking") && w.b.fact != nil && w.b.fact.Stage == "dispatched" {
					w.b.mu.Lock()
					defer w.b.mu.Unlock()
					w.b.stage("posted")
					w.b.write(link.TurnStatus{Type: "turn_status", Turns: []link.TurnFact{*w.b.fact}})
				}
			}
			got, err := w.model.Recover(t.Context(), req, &r)
			var f *loop.Fault
			errors.As(err, &f)
			switch {
			case tt.code == "" && err != nil:
				t.Fatalf("%v; commands %v", err, w.b.did())
			case tt.code != "" && (f == nil || f.Code != tt.code):
				t.Fatalf("got %v, want %s; commands %v", err, tt.code, w.b.did())
			case got.Text != tt.want || got.Recovered != tt.page:
				t.Errorf("got %+v, want %q, from the page %v", got, tt.want, tt.page)
			}
			if w.b.clicks != tt.clicks {
				t.Errorf("%d clicks, want %d", w.b.clicks, tt.clicks)
			}
			if got := w.b.count("look_page"); got < tt.looks {
				t.Errorf("looked %d times, want %d at least", got, tt.looks)
			}
		})
	}
}

// TestLinkLostWhileSending is about a link that ends between the command and its response.
func TestLinkLostWhileSending(t *testing.T) {
	gone := func(b *browser, m message) { b.vanish(); b.comeBack() }
	tests := []struct {
		name   string
		set    func(b *browser)
		want   string
		code   string
		clicks int
		looks  int // at least
	}{
		{name: "before the click", want: "Hello", clicks: 1, set: func(b *browser) {
			b.on("send_message", func(b *browser, m message) { b.sending = m; b.progress("inserted"); gone(b, m) }, dispatch)
		}},
		{name: "while the tab opens", want: "Hello", clicks: 1, set: func(b *browser) {
			ok := b.handlers["open_tab"][0]
			b.on("open_tab", gone, ok)
		}},
		{name: "after the click, and the browser saw the post", want: "Hello", clicks: 1, set: func(b *browser) {
			b.on("proceed", func(b *browser, m message) {
				conn := b.conn
				b.conn = nil
				post("Hello")(b, m)
				b.conn = conn
				gone(b, m)
			})
		}},
		{name: "after the click, and look after look the message is not there", want: "Hello", clicks: 2, looks: sureLooks, set: func(b *browser) {
			b.page.Messages = []link.PageMessage{{Role: "user", Text: "The first task"}}
			b.on("proceed", func(b *browser, m message) { b.clicks++; b.fact = nil; gone(b, m) }, post("Hello"))
		}},
		{name: "after the click, and nothing can be proved", code: loop.FaultUnknownOutcome, clicks: 1, set: func(b *browser) {
			b.page.Composer = "missing"
			b.on("proceed", func(b *browser, m message) { b.clicks++; b.fact = nil; gone(b, m) })
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.set(w.b)
			w.b.connect()
			var r recorder
			got, err := w.model.Send(t.Context(), later(store.DeliveryNone), &r)
			var f *loop.Fault
			errors.As(err, &f)
			if tt.code == "" && err != nil || tt.code != "" && (f == nil || f.Code != tt.code || f.Unsent) {
				t.Fatalf("%v; commands %v", err, w.b.did())
			}
			if got.Text != tt.want || w.b.clicks != tt.clicks || w.b.count("look_page") < tt.looks {
				t.Errorf("reply %q, %d clicks, %d looks", got.Text, w.b.clicks, w.b.count("look_page"))
			}
		})
	}
}

func TestChatOf(t *testing.T) {
	for address, want := range map[string]struct {
		id      string
		passage bool
	}{
		"https://chatgpt.com/c/abc":              {"abc", false},
		"https://chatgpt.com/c/abc?model=x#y":    {"abc", false},
		"https://chatgpt.com/g/g-p-1-name/c/abc": {"abc", false},
		"https://chatgpt.com/c/WEB:1-2":          {"", true},
		"https://chatgpt.com/":                   {},
		"https://chatgpt.com/share/abc":          {},
		"https://chatgpt.com/share/c/abc/d":      {},
		"https://chatgpt.com/g/g-p-1/project":    {},
		"https://elsewhere.example/c/abc":        {},
		"http://chatgpt.com/c/abc":               {},
		"https://chatgpt.com.evil.example/c/abc": {},
		"https://chatgpt.com/c/%zz":              {},
		"":                                       {},
	} {
		if id, passage := chatGPT.chatOf(address); id != want.id || passage != want.passage {
			t.Errorf("%s: chat %q, passage %v", address, id, passage)
		}
	}
}

func TestAlike(t *testing.T) {
	for _, tt := range []struct {
		shown, sent string
		want        bool
	}{
		{"Fix  the\n\ntest", "Fix the test", true},
		{"Fix the test", "Fix `the` **test**", true},
		{"Fix the tests", "Fix the test", false},
		{"", "Fix the test", false},
		{"", "", true},
		{"!!!", "???", false},
	} {
		if got := alike(tt.shown, tt.sent); got != tt.want {
			t.Errorf("alike(%q, %q) is %v", tt.shown, tt.sent, got)
		}
	}
}
