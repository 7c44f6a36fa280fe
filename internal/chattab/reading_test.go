package chattab

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plexus/internal/link"
	"plexus/internal/loop"
	"plexus/internal/store"
)

// cutAt splits a stream after the word.
func cutAt(reply, word string) (head, tail string) {
	all := wire(reply)
	i := strings.Index(all, word) + len(word)
	i += strings.Index(all[i:], "\n\n") + 2
	return all[:i], all[i:]
}

// TestReading is about what may happen after the message was taken.
func TestReading(t *testing.T) {
	const reply = "one two three four five"
	head, tail := cutAt(reply, "two")
	first := func(b *browser, m message) { posted(b, m); b.openStream(200); b.data(head) }
	rest := func(b *browser) { b.data(tail); b.frame(link.StreamUpdate{Event: "close"}) }
	recovered := func(b *browser, m message) {
		b.respond(m, link.RecoverResult{Found: true})
		b.write(link.Recovered{Type: "recovered", ID: m.ID, Turn: m.Turn, Text: "{plx:done}as shown{/plx:done}"})
	}
	fromPage := loop.Reply{Text: "{plx:done}as shown{/plx:done}", Model: "gpt-9", Recovered: true}
	whole := loop.Reply{Text: reply, Model: "gpt-9"}
	tab := func(b *browser, state, url string) {
		b.write(link.TabStatus{Type: "tab_status", Tab: 5, Thread: "thread-1", State: state, URL: url})
	}
	notice := func(b *browser, code, until string) {
		b.write(link.SiteNotice{Type: "notice", Turn: "turn-1", Tab: 5, Code: code, Text: "as the site words it", Until: until})
	}

	tests := []struct {
		name  string
		set   func(b *browser)
		want  loop.Reply
		code  string
		check func(t *testing.T, b *browser, f *loop.Fault)
	}{
		{name: "frames lost on the way are asked for again", want: whole, set: func(b *browser) {
			b.drop[3], b.drop[4], b.drop[8] = true, true, true
		}, check: func(t *testing.T, b *browser, _ *loop.Fault) {
			if b.count("resume_frames") == 0 || b.count("recover_turn") != 0 {
				t.Errorf("commands %v", b.did())
			}
		}},
		{name: "repeated frames count once", want: whole, set: func(b *browser) {
			b.on("proceed", then(first, func(b *browser, m message) {
				for _, f := range b.frames {
					b.write(f)
				}
				rest(b)
				for _, f := range b.frames {
					b.write(f)
				}
			}))
		}},
		{name: "frames out of order", want: whole, set: func(b *browser) {
			b.on("proceed", func(b *browser, m message) {
				posted(b, m)
				conn := b.conn
				b.conn = nil // hold the frames back
				b.openStream(200)
				b.data(head)
				rest(b)
				b.conn = conn
				for i := len(b.frames) - 1; i >= 0; i-- {
					b.write(b.frames[i])
				}
			})
		}},
		{name: "a gap that cannot be filled is read from the page, never spliced", want: fromPage, set: func(b *browser) {
			b.drop[10] = true
			b.on("resume_frames", func(b *browser, m message) { b.respond(m, link.FramesResult{First: m.From + 1, Last: b.lastN}) })
			b.on("recover_turn", recovered)
		}},
		{name: "a gap that nothing fills", code: loop.FaultLinkLost, set: func(b *browser) {
			b.drop[6] = true
			b.on("resume_frames", func(b *browser, m message) { b.respond(m, link.FramesResult{}) })
		}},
		{name: "the link drops in mid-stream and the browser has the rest", want: whole, set: func(b *browser) {
			b.on("proceed", then(first, func(b *browser, m message) { b.vanish(); rest(b); b.comeBack() }))
		}},
		{name: "the link drops in mid-stream and the worker forgot", want: fromPage, set: func(b *browser) {
			b.on("proceed", then(first, func(b *browser, m message) { b.vanish(); b.fact, b.frames = nil, nil; b.comeBack() }))
			b.on("recover_turn", recovered)
		}, check: func(t *testing.T, b *browser, _ *loop.Fault) {
			if b.count("send_message") != 1 {
				t.Errorf("commands %v", b.did())
			}
		}},
		{name: "the browser goes away for good", code: loop.FaultLinkLost, set: func(b *browser) {
			b.w.model.timing.browser = 50 * time.Millisecond
			b.on("proceed", then(first, func(b *browser, m message) { b.vanish() }))
		}},
		{name: "the tab is closed", want: fromPage, set: func(b *browser) {
			b.on("proceed", then(first, func(b *browser, m message) { tab(b, "closed", "") }))
			b.on("recover_turn", recovered)
		}, check: func(t *testing.T, b *browser, _ *loop.Fault) {
			for _, m := range b.log {
				if m.Type == "recover_turn" && m.MessageID != messageID {
					t.Errorf("looked for message %q", m.MessageID)
				}
			}
			if n := b.count("open_tab"); n != 2 {
				t.Errorf("opened %d times", n)
			}
		}},
		{name: "the tab is reloaded and the page streams on", want: whole, set: func(b *browser) {
			b.on("proceed", then(first, func(b *browser, m message) { tab(b, "reloaded", chatAddress) }))
			b.on("recover_turn", func(b *browser, m message) { b.respond(m, link.RecoverResult{Found: true}); rest(b) })
		}},
		{name: "the page that had the turn is lost", want: fromPage, set: func(b *browser) {
			b.on("proceed", then(first, func(b *browser, m message) {
				b.stage("lost")
				b.write(link.TurnStatus{Type: "turn_status", Turns: []link.TurnFact{*b.fact}})
			}))
			b.on("recover_turn", recovered)
		}},
		{name: "the tab goes to another chat", want: fromPage, set: func(b *browser) {
			b.on("proceed", then(first, func(b *browser, m message) { tab(b, "navigated", "https://chatgpt.com/c/another") }))
			b.on("recover_turn", recovered)
		}},
		{name: "addresses of the same chat are no news", want: whole, set: func(b *browser) {
			b.on("proceed", then(first, func(b *browser, m message) {
				tab(b, "navigated", "https://chatgpt.com/c/WEB:1234")
				tab(b, "navigated", "https://chatgpt.com/c/"+conversation)
				tab(b, "navigated", chatAddress)
				rest(b)
			}))
		}, check: func(t *testing.T, b *browser, _ *loop.Fault) {
			if b.count("recover_turn") != 0 {
				t.Errorf("commands %v", b.did())
			}
		}},
		{name: "the page has the message only after a while", want: fromPage, set: func(b *browser) {
			notYet := func(b *browser, m message) { b.respond(m, link.RecoverResult{}) }
			b.on("proceed", then(first, func(b *browser, m message) { tab(b, "crashed", "") }))
			b.on("recover_turn", notYet, notYet, recovered)
		}},
		{name: "a reply without tags is read by looking", want: loop.Reply{Text: "Plain words.", Model: "gpt-9", Recovered: true}, set: func(b *browser) {
			b.on("proceed", then(first, func(b *browser, m message) {
				b.page.Messages = append(b.page.Messages, link.PageMessage{Role: "assistant", Text: "Plain words."})
				tab(b, "closed", "")
			}))
		}},
		{name: "a reply that still grows in the page is waited for", code: loop.FaultTabLost, set: func(b *browser) {
			b.on("proceed", then(first, func(b *browser, m message) {
				b.page.Messages = append(b.page.Messages, link.PageMessage{Role: "assistant", Text: "Plain w"})
				b.page.Generating = true
				tab(b, "closed", "")
			}))
		}},
		{name: "a tab that will not stay", code: loop.FaultTabLost, set: func(b *browser) {
			b.on("proceed", then(first, func(b *browser, m message) { tab(b, "closed", "") }))
			b.on("recover_turn", func(b *browser, m message) {
				b.respond(m, link.RecoverResult{Found: true})
				tab(b, "closed", "")
			})
		}, check: func(t *testing.T, b *browser, _ *loop.Fault) {
			if n := b.count("open_tab"); n != 1+maxReopen {
				t.Errorf("opened %d times", n)
			}
		}},

		{name: "the page is lost while it is asked, and opened again", want: fromPage, set: func(b *browser) {
			b.on("proceed", then(first, func(b *browser, m message) { tab(b, "closed", "") }))
			b.on("recover_turn", refuse("page-lost"), recovered)
		}, check: func(t *testing.T, b *browser, _ *loop.Fault) {
			if n := b.count("open_tab"); n != 3 {
				t.Errorf("opened %d times", n)
			}
		}},
		{name: "a reply found for an earlier message of the turn comes late", want: whole, set: func(b *browser) {
			b.on("proceed", then(first, func(b *browser, m message) {
				for _, id := range []string{"message-0.abc", "message-11.abc", "message-1"} {
					b.write(link.Recovered{Type: "recovered", ID: id, Turn: m.Turn, Text: "{plx:done}of another round{/plx:done}"})
				}
				rest(b)
			}))
		}},
		{name: "the chat is gone when its tab is opened again", code: loop.FaultChatGone, set: func(b *browser) {
			ok := b.handlers["open_tab"][0]
			b.on("proceed", then(first, func(b *browser, m message) { tab(b, "closed", "") }))
			b.on("open_tab", ok, refuse("chat-gone"))
		}},
		{name: "the extension fails to read the page", code: loop.FaultTabLost, set: func(b *browser) {
			b.on("proceed", then(first, func(b *browser, m message) { tab(b, "closed", "") }))
			b.on("recover_turn", refuse("internal"))
		}},
		{name: "the link drops while the page is read", want: fromPage, set: func(b *browser) {
			b.on("proceed", then(first, func(b *browser, m message) { tab(b, "closed", "") }))
			b.on("recover_turn", func(b *browser, m message) { b.fact = nil; b.vanish(); b.comeBack() }, recovered)
		}},
		{name: "a message of the site was left out, and the page has the reply", want: fromPage, set: func(b *browser) {
			b.on("proceed", then(first, func(b *browser, m message) {
				b.write(nextFrame(b, "s2", link.StreamUpdate{Event: "open", Source: "websocket"}))
				b.write(nextFrame(b, "s2", link.StreamUpdate{Event: "error", Data: "too-large"}))
				rest(b)
			}))
			b.on("recover_turn", recovered)
		}},
		{name: "a stream that brought nothing", code: loop.FaultSiteError, set: func(b *browser) {
			b.w.model.timing.trouble = 20 * time.Millisecond
			b.on("proceed", then(posted, func(b *browser, m message) { b.stream(strings.SplitAfter(part("x"), "\n\n")[1]) }))
			b.w.model.timing.silence = 50 * time.Millisecond
		}},

		{name: "an error that the page gets over", want: whole, set: func(b *browser) {
			b.on("proceed", then(first, func(b *browser, m message) { notice(b, "site-error", ""); rest(b) }))
		}},
		{name: "an error while the server goes on", want: whole, set: func(b *browser) {
			b.w.model.timing.trouble = 20 * time.Millisecond
			busy := func(b *browser, m message) { b.page.Generating = true; b.respond(m, b.page) }
			b.on("proceed", then(first, func(b *browser, m message) { notice(b, "thinking-failed", "") }))
			b.on("look_page", then(busy, func(b *browser, m message) { rest(b) }), busy)
		}},
		{name: "an error for good", code: loop.FaultSiteError, set: func(b *browser) {
			b.w.model.timing.trouble = 20 * time.Millisecond
			b.on("proceed", then(first, func(b *browser, m message) { notice(b, "site-error", "") }))
		}},
		{name: "an error in the stream", code: loop.FaultSiteError, set: func(b *browser) {
			b.w.model.timing.trouble = 20 * time.Millisecond
			b.on("proceed", then(posted, func(b *browser, m message) {
				b.stream("data: {\"type\":\"error\",\"error\":\"Something went wrong\"}\n\ndata: [DONE]\n\n")
			}))
		}, check: func(t *testing.T, b *browser, f *loop.Fault) {
			if !strings.Contains(f.Text, "Something went wrong") {
				t.Errorf("the site's words are missing: %s", f.Text)
			}
		}},
		{name: "a rate limit with its time", code: loop.FaultRateLimited, set: func(b *browser) {
			b.on("proceed", then(first, func(b *browser, m message) { notice(b, "rate-limited", "2031-05-06T07:08:09Z") }))
		}, check: func(t *testing.T, b *browser, f *loop.Fault) {
			if !f.Until.Equal(time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)) || f.Unsent {
				t.Errorf("%+v", f)
			}
		}},
		{name: "signed out in mid-turn", code: loop.FaultSignedOut, set: func(b *browser) {
			b.on("proceed", then(first, func(b *browser, m message) { notice(b, "signed-out", "") }))
		}},
		{name: "moderation", code: loop.FaultModeration, set: func(b *browser) {
			b.on("proceed", then(posted, func(b *browser, m message) {
				b.openStream(200)
				b.data("data: {\"type\":\"moderation\",\"moderation_response\":{\"blocked\":true},\"conversation_id\":\"" + conversation + "\"}\n\n")
			}))
		}},

		{name: "the stream is cut and the page has the reply", want: fromPage, set: func(b *browser) {
			b.on("proceed", then(first, func(b *browser, m message) { b.frame(link.StreamUpdate{Event: "error"}) }))
			b.on("recover_turn", recovered)
		}},
		{name: "finished, but the end mark is missing", want: whole, set: func(b *browser) {
			b.on("proceed", then(posted, func(b *browser, m message) { b.stream(strings.ReplaceAll(wire(reply), "data: [DONE]\n\n", "")) }))
		}},
		{name: "the end mark comes before the reply is finished", want: loop.Reply{Text: "one two ", Model: "gpt-9"}, set: func(b *browser) {
			b.w.model.timing.trouble = 20 * time.Millisecond
			b.on("proceed", then(first, func(b *browser, m message) { b.data("data: [DONE]\n\n"); b.page.Composer = "ready" }))
		}},
		{name: "an error in mid-reply, and the page shows what came before it", code: loop.FaultSiteError, set: func(b *browser) {
			b.w.model.timing.trouble, b.w.model.timing.watch = 20*time.Millisecond, time.Millisecond
			b.on("proceed", then(first, func(b *browser, m message) {
				b.page.Messages = []link.PageMessage{{ID: messageID, Role: "user", Text: m.Text}, {Role: "assistant", Text: "{plx:done}one two"}}
				b.page.Notice = &link.SiteNotice{Type: "notice", Code: "site-error", Text: "Something went wrong"}
				notice(b, "site-error", "")
			}))
			b.on("recover_turn", func(b *browser, m message) { b.respond(m, link.RecoverResult{Found: true}) })
		}},
		{name: "silence", code: loop.FaultSilent, set: func(b *browser) {
			b.w.model.timing.silence, b.w.model.timing.trouble = 50*time.Millisecond, 20*time.Millisecond
			b.on("proceed", first)
		}},
		{name: "silence while the page still waits", want: whole, set: func(b *browser) {
			b.w.model.timing.silence = 30 * time.Millisecond
			busy := func(b *browser, m message) { b.page.Generating = true; b.respond(m, b.page) }
			b.on("proceed", first)
			b.on("look_page", busy, busy, then(busy, func(b *browser, m message) { rest(b) }), busy)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.b.on("proceed", post(reply))
			tt.set(w.b)
			w.b.connect()
			var r recorder
			got, err := w.model.Send(t.Context(), later(store.DeliveryNone), &r)
			var f *loop.Fault
			errors.As(err, &f)
			switch {
			case tt.code == "" && err != nil:
				t.Fatalf("%v; commands %v", err, w.b.did())
			case tt.code == "" && got != tt.want:
				t.Errorf("got %+v, want %+v", got, tt.want)
			case tt.code != "" && (f == nil || f.Code != tt.code || f.Todo == ""):
				t.Fatalf("got %+v (%v), want %s", f, err, tt.code)
			}
			if w.b.clicks != 1 {
				t.Errorf("%d clicks", w.b.clicks)
			}
			if tt.check != nil {
				tt.check(t, w.b, f)
			}
		})
	}
}

// nextFrame is the next frame, of another stream.
func nextFrame(b *browser, stream string, u link.StreamUpdate) link.StreamUpdate {
	b.lastN++
	u.Type, u.Turn, u.N, u.Stream = "stream_update", b.sending.Turn, b.lastN, stream
	b.frames = append(b.frames, u)
	return u
}

// TestHandOff has the reply come over the site's WebSocket, which was open before the turn, with its reasoning.
func TestHandOff(t *testing.T) {
	w := newWorld(t)
	item := func(n int, event string) string {
		encoded, _ := json.Marshal(event)
		return fmt.Sprintf(`[{"type":"message","topic_id":"topic-1","offset":"%d","payload":{"type":"conversation-turn-stream","payload":{"type":"stream-item","conversation_id":%q,"encoded_item":%s,"stream_item_id":"s%d","parent_stream_item_id":"s%d"}}}]`,
			n, conversation, encoded, n, n-1)
	}
	w.model.timing.alive = 0
	w.b.on("proceed", func(b *browser, m message) {
		posted(b, m)
		b.stream(`data: {"type":"stream_handoff","conversation_id":"` + conversation + `","options":[{"type":"subscribe_ws_topic","topic_id":"topic-1"}]}` + "\n\ndata: [DONE]\n\n")
		b.write(nextFrame(b, "s2", link.StreamUpdate{Event: "open", Source: "websocket", URL: "wss://ws.chatgpt.com/"}))
		events := []string{`data: {"p":"","o":"add","v":{"message":{"id":"t","author":{"role":"assistant"},"content":{"content_type":"thoughts","thoughts":[{"summary":"Plan","content":"Look."}]}}},"c":0}` + "\n\n"}
		events = append(events, strings.SplitAfter(wire("by socket"), "\n\n")...)
		for i, e := range events {
			if e != "" {
				b.write(nextFrame(b, "s2", link.StreamUpdate{Event: "data", Data: item(i+1, e)}))
			}
		}
	})
	w.b.connect()
	var r recorder
	statuses := 0
	r.onStatus = func(string) { statuses++ }
	got, err := w.model.Send(t.Context(), later(store.DeliveryNone), &r)
	if err != nil || got != (loop.Reply{Text: "by socket", Model: "gpt-9"}) || r.thought.String() != "Plan\nLook." {
		t.Errorf("got %+v, thought %q, %v", got, r.thought.String(), err)
	}
	if statuses < 5 {
		t.Errorf("only %d signs of life", statuses)
	}
}

// TestFramesInAnyOrder loses, repeats and shuffles frames: as long as the browser has them, the reply is whole.
func TestFramesInAnyOrder(t *testing.T) {
	const reply = "one two three four five six seven eight"
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		w.b.on("proceed", func(b *browser, m message) {
			posted(b, m)
			conn := b.conn
			b.conn = nil
			b.stream(wire(reply))
			b.conn = conn
			order := rapid.Permutation(b.frames).Draw(rt, "order")
			keep := rapid.SliceOfN(rapid.IntRange(0, 2), len(order), len(order)).Draw(rt, "times each is sent")
			for i, f := range order {
				for range keep[i] {
					b.write(f)
				}
			}
			b.frame(link.StreamUpdate{Event: "open", Source: "fetch"}) // the last one is seen, so that a loss shows
		})
		w.b.connect()
		var r recorder
		got, err := w.model.Send(t.Context(), later(store.DeliveryNone), &r)
		if err != nil || got.Text != reply || r.text.String() != reply {
			rt.Fatalf("got %+v, streamed %q, %v", got, r.text.String(), err)
		}
		w.hub.Close()
	})
}

// BenchmarkRound is a round's own cost: a message and its short reply, over a real link on the loopback.
func BenchmarkRound(b *testing.B) {
	w := newWorld(b)
	w.b.connect()
	for b.Loop() {
		if _, err := w.model.Send(b.Context(), later(store.DeliveryNone), &recorder{}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestLongReply is acknowledged as it comes, so that the browser need not keep all of it.
func TestLongReply(t *testing.T) {
	w := newWorld(t)
	w.model.timing.silence = time.Minute // a slow machine is not a silent model
	text := strings.Repeat("word ", 300_000)
	w.b.on("proceed", func(b *browser, m message) {
		posted(b, m)
		b.openStream(200)
		for rest := wire(text); rest != ""; {
			n := min(100_000, len(rest))
			b.frame(link.StreamUpdate{Event: "data", Data: rest[:n]})
			rest = rest[n:]
		}
	})
	w.b.connect()
	got, err := w.model.Send(t.Context(), later(store.DeliveryNone), &recorder{})
	if err != nil || got.Text != text {
		t.Errorf("%d bytes, %v", len(got.Text), err)
	}
	if w.b.count("ack_frames") == 0 {
		t.Error("nothing was acknowledged")
	}
}

func TestFramesBehindAGapAreBounded(t *testing.T) {
	size := func(s *session) (n int) {
		for _, u := range s.reading.ahead {
			n += len(u.Data)
		}
		return n
	}
	take := func(s *session, n int64, bytes int) {
		s.frame(t.Context(), &link.StreamUpdate{N: n, Stream: "s1", Event: "data", Data: strings.Repeat(" ", bytes)})
	}
	for _, tt := range []struct {
		name  string
		bytes int
		held  int
	}{
		{"small ones", 1, maxAhead},
		{"large ones", 1 << 20, maxAheadBytes >> 20},
		{"one above the bound", maxAheadBytes + 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			s := &session{m: w.model, req: request(), on: &recorder{}, gone: true, told: time.Now(), reading: newReading("")}
			for n := range int64(min(maxAhead+10, 64<<20/tt.bytes)) {
				take(s, n+3, tt.bytes)
				take(s, n+3, tt.bytes) // again
			}
			if len(s.reading.ahead) != tt.held || size(s) > max(maxAheadBytes, tt.bytes) {
				t.Errorf("%d frames of %d bytes are held, want %d", len(s.reading.ahead), size(s), tt.held)
			}
			// What fills the gap makes room.
			take(s, 1, 1)
			take(s, 2, 1)
			if want := int64(3 + tt.held); s.reading.next != want || len(s.reading.ahead) != 0 {
				t.Errorf("frame %d is due, %d are held, want %d and none", s.reading.next, len(s.reading.ahead), want)
			}
			take(s, s.reading.next+1, maxAheadBytes)
			if size(s) != maxAheadBytes {
				t.Errorf("%d bytes are held after the gap, want %d", size(s), maxAheadBytes)
			}
		})
	}
}
