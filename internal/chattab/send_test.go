package chattab

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"plexus/internal/link"
	"plexus/internal/loop"
	"plexus/internal/store"
)

func TestFirstMessageOfAThread(t *testing.T) {
	w := newWorld(t)
	w.b.connect()
	var r recorder
	reply, err := w.model.Send(t.Context(), request(), &r)
	if err != nil {
		t.Fatal(err)
	}
	if want := (loop.Reply{Text: "Hello", Model: "gpt-9"}); reply != want || r.text.String() != "Hello" {
		t.Errorf("reply %+v, streamed %q, want %+v", reply, r.text.String(), want)
	}
	steps := []string{"bound " + projectURL, "attempting", "dispatched", "accepted " + messageID, "bound " + chatAddress}
	got := slices.DeleteFunc(r.steps, func(s string) bool { return s == "bound https://chatgpt.com/c/"+conversation })
	if diff := cmp.Diff(steps, got); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	want := store.Chat{ID: r.chat.ID, Thread: "thread-1", Site: "chatgpt", Provider: conversation, URL: chatAddress, Project: "g-p-77", Browser: "browser-1", Current: true}
	if r.chat != want || r.chat.ID == "" {
		t.Errorf("bound to %+v", r.chat)
	}
	commands := []string{"end_turn", "open_tab", "ensure_project", "open_tab", "send_message", "proceed", "end_turn"}
	if diff := cmp.Diff(commands, w.b.did()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if name := w.b.log[2].Name; name != "plx-demo" {
		t.Errorf("project %q", name)
	}
	if w.settings["site.chatgpt.project.folder-1"] != "g-p-77" {
		t.Errorf("project not remembered: %v", w.settings)
	}
}

func TestLaterMessageGoesToTheSameChat(t *testing.T) {
	w := newWorld(t)
	w.b.connect()
	var r recorder
	if _, err := w.model.Send(t.Context(), later(store.DeliveryNone), &r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"end_turn", "open_tab", "send_message", "proceed", "end_turn"}, w.b.did()); diff != "" {
		t.Error(diff)
	}
	if got := w.b.log[1].URL; got != chatAddress {
		t.Errorf("opened %s", got)
	}
	if diff := cmp.Diff([]string{"attempting", "dispatched", "accepted " + messageID}, r.steps); diff != "" {
		t.Error(diff)
	}
}

func TestKnownProjectIsAskedFor(t *testing.T) {
	w := newWorld(t)
	w.settings["site.chatgpt.project.folder-1"] = "g-p-old"
	w.b.connect()
	if _, err := w.model.Send(t.Context(), request(), &recorder{}); err != nil {
		t.Fatal(err)
	}
	if got := w.b.log[2].Project; got != "g-p-old" {
		t.Errorf("asked for project %q", got)
	}
}

func TestWithoutAProjectTheChatGoesOn(t *testing.T) {
	w := newWorld(t)
	w.b.on("ensure_project", refuse("no-project"))
	w.b.connect()
	var r recorder
	if _, err := w.model.Send(t.Context(), request(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.notices) != 1 || r.notices[0].Code != "no-project" {
		t.Errorf("notices %v", r.notices)
	}
}

// TestSending is about what goes wrong between the command and the site's taking of the message.
func TestSending(t *testing.T) {
	chats := []link.PageMessage{{ID: "user-message-0", Role: "user", Text: "The first task"}, {ID: "reply-0", Role: "assistant", Text: "Done."}}
	arrived := append(slices.Clip(chats), link.PageMessage{ID: "m", Role: "user", Text: "Fix the failing test"}, link.PageMessage{Role: "assistant", Text: "From the page"})
	tests := []struct {
		name   string
		set    func(b *browser)
		looks  int    // at least
		code   string // of the fault; "" for a reply
		unsent bool
		words  string // that the fault repeats
		clicks int
		sends  int
		text   string
	}{
		{name: "swallowed click: the text stays and nothing was posted", clicks: 2, sends: 2, text: "Hello", set: func(b *browser) {
			b.page.Draft = "Fix the\n\nfailing test"
			b.on("proceed", clickFails("no-post"), post("Hello"))
		}},
		{name: "swallowed click, again and again", code: loop.FaultNotAccepted, unsent: true, clicks: 4, sends: 4, set: func(b *browser) {
			b.page.Draft = "Fix the failing test"
			b.on("proceed", clickFails("no-post"))
		}},
		{name: "no post, and the text is gone", code: loop.FaultNotAccepted, clicks: 1, sends: 1, set: func(b *browser) {
			b.on("proceed", clickFails("no-post"))
		}},
		{name: "no post seen, but the message is in the chat", clicks: 1, sends: 1, text: "From the page", set: func(b *browser) {
			b.on("proceed", then(func(b *browser, m message) {
				b.page.Messages = append(b.page.Messages, link.PageMessage{ID: "m", Role: "user", Text: "Fix the failing test"},
					link.PageMessage{Role: "assistant", Text: "From the page"})
			}, clickFails("no-post")))
		}},
		{name: "the page was not ready twice", clicks: 1, sends: 3, text: "Hello", set: func(b *browser) {
			b.on("send_message", refuse("composer-not-ready"), refuse("insert-failed"), dispatch)
		}},
		{name: "no message box at all", code: loop.FaultNoComposer, unsent: true, sends: 4, set: func(b *browser) {
			b.on("send_message", refuse("no-composer"))
		}},
		{name: "another command has the tab for a moment", clicks: 1, sends: 2, text: "Hello", set: func(b *browser) {
			b.on("send_message", refuse("tab-busy"), dispatch)
		}},
		{name: "the tab cannot be opened at first", clicks: 1, sends: 1, text: "Hello", set: func(b *browser) {
			ok := b.handlers["open_tab"][0]
			b.on("open_tab", refuse("no-tab"), ok)
		}},
		{name: "the person's own text is cleared after a while", clicks: 1, sends: 3, text: "Hello", set: func(b *browser) {
			b.on("send_message", refuse("user-draft"), refuse("user-draft"), dispatch)
		}},
		{name: "the person's own text stays", code: loop.FaultUserDraft, unsent: true, sends: -1, set: func(b *browser) {
			b.on("send_message", refuse("user-draft"))
		}},
		{name: "too long, said by the page after the click", code: loop.FaultTooLong, unsent: true, clicks: 1, sends: 1, set: func(b *browser) {
			b.on("proceed", clickFails("too-long"))
		}},
		{name: "too long, said by the server", code: loop.FaultTooLong, unsent: true, clicks: 1, sends: 1, set: func(b *browser) {
			b.on("proceed", then(posted, func(b *browser, m message) { b.openStream(413) }))
		}},
		{name: "too long, said by the server's code", code: loop.FaultTooLong, unsent: true, clicks: 1, sends: 1, set: func(b *browser) {
			b.on("proceed", then(posted, func(b *browser, m message) {
				b.openStream(400)
				b.data(`{"detail":{"code":"message_length_exceeds_limit","message":"Shorter, please."}}`)
				b.frame(link.StreamUpdate{Event: "close"})
			}))
		}},
		{name: "risk control", code: loop.FaultVerification, unsent: true, words: "Unusual activity", clicks: 1, sends: 1, set: func(b *browser) {
			b.on("proceed", then(posted, func(b *browser, m message) {
				b.openStream(403)
				b.data(`{"detail":"Unusual activity has been seen."}`)
				b.frame(link.StreamUpdate{Event: "close"})
			}))
		}},
		{name: "server error with a page of HTML", code: loop.FaultSiteError, words: "HTTP status 502", clicks: 1, sends: 1, set: func(b *browser) {
			b.w.model.timing.trouble = 20 * time.Millisecond
			b.on("proceed", then(posted, func(b *browser, m message) {
				b.openStream(502)
				b.data("<html>Bad gateway</html>")
				b.frame(link.StreamUpdate{Event: "close"})
			}))
		}},
		{name: "network failure of the request", code: loop.FaultNetwork, clicks: 1, sends: 1, set: func(b *browser) {
			b.w.model.timing.trouble = 20 * time.Millisecond
			b.on("proceed", then(posted, func(b *browser, m message) {
				b.openStream(0)
				b.frame(link.StreamUpdate{Event: "error", Data: "network"})
			}))
		}},
		{name: "the page is lost after the click, and look after look the message is not there", clicks: 2, sends: 2, text: "Hello", looks: 1 + sureLooks, set: func(b *browser) {
			b.on("look_page", refuse("page-lost"), show(chats))
			b.on("proceed", clickFails("page-lost"), post("Hello"))
		}},
		{name: "the page is lost after the click, and shows the message late", clicks: 1, sends: 1, text: "From the page", set: func(b *browser) {
			b.on("look_page", refuse("page-lost"), show(chats), show(arrived))
			b.on("proceed", clickFails("page-lost"))
		}},
		{name: "the page is lost after the click, and its transcript grows", clicks: 1, sends: 1, text: "From the page", set: func(b *browser) {
			b.on("look_page", show(chats[:1]), show(chats), show(arrived))
			b.on("proceed", clickFails("page-lost"))
		}},
		{name: "the page is lost after the click, and is not ready between two looks", clicks: 1, sends: 1, text: "From the page", set: func(b *browser) {
			b.on("look_page", show(chats), func(b *browser, m message) {
				facts := b.page
				facts.Composer = "hydrating"
				b.respond(m, facts)
			}, show(chats), show(arrived))
			b.on("proceed", clickFails("page-lost"))
		}},
		{name: "rate limit, said by the server", code: loop.FaultRateLimited, unsent: true, clicks: 1, sends: 1, set: func(b *browser) {
			b.on("proceed", then(posted, func(b *browser, m message) { b.openStream(429) }))
		}},
		{name: "signed out", code: loop.FaultSignedOut, unsent: true, sends: 1, set: func(b *browser) {
			b.on("send_message", refuse("signed-out"))
		}},
		{name: "verification when the tab opens", code: loop.FaultVerification, unsent: true, set: func(b *browser) {
			b.on("open_tab", refuse("verification"))
		}},
		{name: "site error after the click", code: loop.FaultSiteError, clicks: 1, sends: 1, set: func(b *browser) {
			b.on("proceed", clickFails("site-error"))
		}},
		{name: "dropped without a word", code: loop.FaultRefused, clicks: 1, sends: 1, set: func(b *browser) {
			b.on("proceed", then(posted, func(b *browser, m message) { b.stream("data: [DONE]\n\n") }))
		}},
		{name: "no answer before the click", code: loop.FaultInternal, unsent: true, sends: 4, set: func(b *browser) {
			b.w.model.timing.submit = 20 * time.Millisecond
			b.on("send_message", func(b *browser, m message) {})
		}},
		{name: "no answer after the click, and the page proves nothing", code: loop.FaultUnknownOutcome, clicks: 1, sends: 1, set: func(b *browser) {
			b.w.model.timing.submit = 100 * time.Millisecond
			b.page.Messages = nil
			b.on("proceed", func(b *browser, m message) { b.clicks++; b.fact = nil })
		}},
		{name: "a defect of the extension", code: loop.FaultInternal, unsent: true, sends: 1, set: func(b *browser) {
			b.on("send_message", refuse("internal"))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.b.page.Messages = chats
			tt.set(w.b)
			w.b.connect()
			var r recorder
			reply, err := w.model.Send(t.Context(), later(store.DeliveryNone), &r)
			var f *loop.Fault
			errors.As(err, &f)
			switch {
			case tt.code == "" && err != nil:
				t.Fatal(err)
			case tt.code != "" && (f == nil || f.Code != tt.code || f.Unsent != tt.unsent):
				t.Fatalf("got %+v (%v), want %s, unsent %v", f, err, tt.code, tt.unsent)
			case f != nil && (f.Text == "" || f.Todo == "" || !strings.Contains(f.Text, tt.words)):
				t.Errorf("words: %+v", f)
			}
			if reply.Text != tt.text {
				t.Errorf("reply %q, want %q", reply.Text, tt.text)
			}
			if w.b.clicks != tt.clicks {
				t.Errorf("%d clicks, want %d", w.b.clicks, tt.clicks)
			}
			if got := w.b.count("send_message"); got != tt.sends && tt.sends >= 0 {
				t.Errorf("%d commands to send, want %d", got, tt.sends)
			}
			if got := w.b.count("look_page"); got < tt.looks {
				t.Errorf("looked %d times, want %d at least", got, tt.looks)
			}
		})
	}
}

// TestFirstMessageIsSentAgainOnlyOnProof is about a page that was loaded anew after the click, before the site gave the chat
// its address: it is empty, whether the message arrived or not.
func TestFirstMessageIsSentAgainOnlyOnProof(t *testing.T) {
	tests := []struct {
		name   string
		page   link.PageFacts
		why    string          // of the failed click
		past   []loop.Exchange // in a chat that is gone
		code   string
		clicks int
	}{
		{name: "at the project", page: link.PageFacts{URL: projectURL}, why: "page-lost", code: loop.FaultUnknownOutcome, clicks: 1},
		{name: "at the start page", page: link.PageFacts{URL: "https://chatgpt.com/"}, why: "page-lost", code: loop.FaultUnknownOutcome, clicks: 1},
		{name: "no post was seen", page: link.PageFacts{URL: projectURL}, why: "no-post", code: loop.FaultNotAccepted, clicks: 1},
		{name: "with the text in the box", page: link.PageFacts{URL: projectURL, Draft: "Fix the\n\nfailing test"}, why: "page-lost", clicks: 2},
		{name: "with the text in the box, and no post was seen", page: link.PageFacts{URL: projectURL, Draft: "Fix the failing test"}, why: "no-post", clicks: 2},
		{name: "with the text in the box, in a thread whose chat is gone", page: link.PageFacts{URL: projectURL, Draft: "Fix the failing test"}, why: "no-post",
			past: []loop.Exchange{{Role: "user", Text: "The first task"}, {Role: "assistant", Text: "Done."}}, clicks: 2},
		{name: "with a person's text that begins alike", page: link.PageFacts{URL: projectURL, Draft: "Fix"}, why: "page-lost", code: loop.FaultUnknownOutcome, clicks: 1},
		{name: "in another chat", page: link.PageFacts{URL: chatAddress, ConversationID: conversation}, why: "page-lost", code: loop.FaultUnknownOutcome, clicks: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.b.page = tt.page
			w.b.page.Composer = "ready"
			w.b.on("proceed", clickFails(tt.why), post("Hello"))
			w.b.connect()
			req := request()
			req.History = loop.Past(tt.past...)
			reply, err := w.model.Send(t.Context(), req, &recorder{})
			var f *loop.Fault
			errors.As(err, &f)
			if tt.code == "" && (err != nil || reply.Text != "Hello") || tt.code != "" && (f == nil || f.Code != tt.code || f.Unsent) {
				t.Errorf("reply %q, %v, want code %q", reply.Text, err, tt.code)
			}
			if w.b.clicks != tt.clicks {
				t.Errorf("%d clicks, want %d", w.b.clicks, tt.clicks)
			}
		})
	}
}

func TestIsDraft(t *testing.T) {
	long := "Hello " + strings.Repeat("word 😀 ", 200) // maxDraft is within a sign
	cut := func(n int) string { return string(utf16.Decode(utf16.Encode([]rune(long))[:n])) }
	for _, tt := range []struct {
		draft, text string
		want        bool
	}{
		{"Fix the\n\ntest", "Fix the test", true},
		{"Fix the", "Fix the test", false},
		{"Fix the test, please", "Fix the test", false},
		{"", "Fix the test", false},
		{" ", " ", false},
		{cut(maxDraft), long, true},
		{cut(maxDraft - 2), long, false},
		{cut(maxDraft), "word", false},
		{"x" + cut(maxDraft-1), long, false},
	} {
		if got := isDraft(tt.draft, tt.text); got != tt.want {
			t.Errorf("isDraft(%q, %q) is %v", tt.draft, tt.text, got)
		}
	}
}

func TestNothingIsClickedThatCannotBeWrittenDown(t *testing.T) {
	for _, state := range []store.Delivery{store.DeliveryAttempting, store.DeliveryDispatched} {
		w := newWorld(t)
		w.b.connect()
		r := recorder{refuse: state}
		if _, err := w.model.Send(t.Context(), later(store.DeliveryNone), &r); !errors.Is(err, errDisk) {
			t.Errorf("%s: %v", state, err)
		}
		if w.b.clicks != 0 {
			t.Errorf("%s: clicked", state)
		}
	}
}

func TestConsentAndBrowser(t *testing.T) {
	w := newWorld(t)
	w.agree = false
	var f *loop.Fault
	if _, err := w.model.Send(t.Context(), request(), &recorder{}); !errors.As(err, &f) || f.Code != loop.FaultConsent || !f.Unsent {
		t.Errorf("without consent: %v", err)
	}
	w.agree = true
	w.model.timing.browser = 10 * time.Millisecond
	if _, err := w.model.Send(t.Context(), request(), &recorder{}); !errors.As(err, &f) || f.Code != loop.FaultNoBrowser || !f.Unsent {
		t.Errorf("without a browser: %v", err)
	}
	if _, err := w.model.Recover(t.Context(), later(store.DeliveryAccepted), &recorder{}); !errors.As(err, &f) || f.Code != loop.FaultNoBrowser || f.Unsent {
		t.Errorf("without a browser, message accepted: %v", err)
	}
}

func TestRelease(t *testing.T) {
	w := newWorld(t)
	chat := later(store.DeliveryNone).Chat
	if err := w.model.Release(t.Context(), chat); err != nil {
		t.Errorf("without a browser: %v", err)
	}
	w.b.connect()
	if _, err := w.hub.Wait(t.Context(), chat.Browser); err != nil {
		t.Fatal(err)
	}
	for _, none := range []store.Chat{{}, {Thread: chat.Thread, Site: "chatgpt"}, {Thread: chat.Thread, Site: "another", Browser: chat.Browser}} {
		if err := w.model.Release(t.Context(), none); err != nil || len(w.b.did()) != 0 {
			t.Errorf("%+v: %v, %v", none, err, w.b.did())
		}
	}
	if err := w.model.Release(t.Context(), chat); err != nil || w.b.log[0].Thread != chat.Thread || w.b.log[0].Tab != 0 {
		t.Errorf("%v, %v", err, w.b.log)
	}
	w.b.on("close_tab", refuse("no-tab"), refuse("internal"), func(*browser, message) {})
	if err := w.model.Release(t.Context(), chat); err != nil {
		t.Errorf("without a tab: %v", err)
	}
	var refused *link.ResponseError
	if err := w.model.Release(t.Context(), chat); !errors.As(err, &refused) || refused.Code != "internal" {
		t.Errorf("refused: %v", err)
	}
	w.model.timing.command = 20 * time.Millisecond
	if err := w.model.Release(t.Context(), chat); !errors.Is(err, errSlow) {
		t.Errorf("without an answer: %v", err)
	}
}

func TestABrowserThatComesLate(t *testing.T) {
	w := newWorld(t)
	go w.b.connect()
	if _, err := w.model.Send(t.Context(), request(), &recorder{}); err != nil {
		t.Fatal(err)
	}
}

// TestStop is about a person who ends the turn at several moments.
func TestStop(t *testing.T) {
	errStop := errors.New("stopped by a person")
	tests := []struct {
		name     string
		set      func(b *browser, stop func())
		text     string
		clicks   int
		pressed  int
		delivery []string
	}{
		{name: "before the click", delivery: []string{"attempting"}, set: func(b *browser, stop func()) {
			b.on("send_message", func(b *browser, m message) {
				b.sending = m
				b.progress("inserted")
				stop()
			})
		}},
		{name: "between click and post", clicks: 1, pressed: 1, delivery: []string{"attempting", "dispatched", "accepted " + messageID}, set: func(b *browser, stop func()) {
			b.on("proceed", func(b *browser, m message) { stop(); posted(b, m) })
		}},
		{name: "between click and post, which never comes", clicks: 1, pressed: 1, delivery: []string{"attempting", "dispatched"}, set: func(b *browser, stop func()) {
			b.on("proceed", func(b *browser, m message) { b.clicks++; stop() })
		}},
		{name: "while the reply streams", text: "Half of", clicks: 1, pressed: 1, delivery: []string{"attempting", "dispatched", "accepted " + messageID}, set: func(b *browser, stop func()) {
			b.on("proceed", then(posted, func(b *browser, m message) { b.openStream(200); b.data(part("Half of")) }))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			stop := func() { cancel(errStop) }
			tt.set(w.b, stop)
			w.b.connect()
			r := recorder{onText: func(all string) {
				if all == "Half of" {
					stop()
				}
			}}
			reply, err := w.model.Send(ctx, later(store.DeliveryNone), &r)
			if !errors.Is(err, errStop) || reply.Text != tt.text {
				t.Errorf("reply %q, %v", reply.Text, err)
			}
			if w.b.clicks != tt.clicks || w.b.count("stop_turn") != tt.pressed {
				t.Errorf("%d clicks, stop pressed %d times", w.b.clicks, w.b.count("stop_turn"))
			}
			if diff := cmp.Diff(tt.delivery, r.deliveries()); diff != "" {
				t.Error(diff)
			}
			if did := w.b.did(); did[len(did)-1] != "end_turn" {
				t.Errorf("the turn was not ended: %v", did)
			}
		})
	}
}

func TestShutdownLeavesTheTurnRunning(t *testing.T) {
	w := newWorld(t)
	head, tail := cutAt("Half of the reply", "of")
	w.b.on("proceed", then(posted, func(b *browser, m message) { b.openStream(200); b.data(head) }))
	w.b.connect()
	ctx, cancel := context.WithCancelCause(t.Context())
	r := recorder{onText: func(all string) {
		if all == "Half of " {
			cancel(loop.ErrClosed)
		}
	}}
	if _, err := w.model.Send(ctx, later(store.DeliveryNone), &r); !errors.Is(err, loop.ErrClosed) {
		t.Fatal(err)
	}
	if w.b.count("stop_turn") != 0 || w.b.count("end_turn") != 1 {
		t.Errorf("commands %v", w.b.did())
	}

	// The next process finds the browser still holding the turn.
	w.b.mu.Lock()
	w.b.data(tail)
	w.b.mu.Unlock()
	next := newWorldFor(t, w)
	var again recorder
	req := later(store.DeliveryAccepted)
	req.Receipt = messageID
	reply, err := next.Recover(t.Context(), req, &again)
	if err != nil || reply.Text != "Half of the reply" || reply.Recovered || w.b.clicks != 1 {
		t.Errorf("reply %+v, %v, %d clicks", reply, err, w.b.clicks)
	}
}

// newWorldFor is the Model of the next process, with the browser connected anew.
func newWorldFor(t *testing.T, w *world) *Model {
	t.Helper()
	w.b.mu.Lock()
	w.b.vanish()
	w.b.mu.Unlock()
	w.b.comeBack()
	m := New(Config{Hub: w.hub, Memory: w, Consent: func(context.Context) bool { return true }})
	m.timing = short
	return m
}
