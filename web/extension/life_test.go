package extension_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plexus/internal/chatstream"
	"plexus/internal/link"
	"plexus/internal/practice"
)

// flight is a turn that was sent and is followed step by step.
type flight struct {
	r      *rig
	turn   string
	events <-chan any
	cancel func()
	dec    *chatstream.Decoder
	text   strings.Builder
	next   int64
	ahead  map[int64]*link.StreamUpdate
}

// takeOff sends a message and returns when the site has it. The reply comes slowly.
func (r *rig) takeOff(turn, thread string, tab int, text string) *flight {
	r.t.Helper()
	if err := r.site.SetFault(practice.Fault{Name: practice.FaultSlow, Delay: 60}); err != nil {
		r.t.Fatal(err)
	}
	f := &flight{r: r, turn: turn, dec: chatstream.New(), next: 1, ahead: map[int64]*link.StreamUpdate{}}
	f.follow()
	done := make(chan error, 1)
	go func() {
		done <- r.peer.Command(r.ctx, link.SendMessage{ID: turn + ".a", Turn: turn, Thread: thread, Tab: tab, Text: text}, nil)
	}()
	for {
		select {
		case ev := <-f.events:
			f.take(ev)
			if p, ok := ev.(*link.SubmitProgress); ok && p.Stage == "dispatched" {
				if err := r.peer.Send(r.ctx, link.Proceed{ID: turn + ".a", Turn: turn, Go: true}); err != nil {
					r.t.Fatal(err)
				}
			}
		case err := <-done:
			if err != nil {
				r.t.Fatal(err)
			}
			return f
		}
	}
}

// follow subscribes at the rig's peer.
func (f *flight) follow() {
	if f.cancel != nil {
		f.cancel()
	}
	f.events, f.cancel = f.r.peer.Subscribe(f.turn)
	f.r.t.Cleanup(f.cancel)
}

func (f *flight) take(ev any) {
	u, ok := ev.(*link.StreamUpdate)
	if !ok {
		return
	}
	// Between a reconnect and the re-send, what is new comes before what was missed.
	if u.N >= f.next {
		f.ahead[u.N] = u
	}
	for u = f.ahead[f.next]; u != nil; u = f.ahead[f.next] {
		delete(f.ahead, f.next)
		f.next++
		f.decode(u)
	}
}

func (f *flight) decode(u *link.StreamUpdate) {
	var updates []chatstream.Update
	switch u.Event {
	case "open":
		f.dec.Open(u.Stream, chatstream.Source(u.Source), u.URL)
	case "data":
		updates = f.dec.Data(u.Stream, []byte(u.Data))
	case "close", "error":
		updates = f.dec.Close(u.Stream, u.Event == "close")
	}
	for _, up := range updates {
		if up.Kind == chatstream.KindText {
			f.text.WriteString(up.Text)
		}
	}
}

// until takes events until is holds for one.
func (f *flight) until(what string, is func(ev any) bool) {
	f.r.t.Helper()
	for {
		select {
		case ev, ok := <-f.events:
			if !ok {
				f.r.t.Fatalf("the connection ended before %s", what)
			}
			f.take(ev)
			if is(ev) {
				return
			}
		case <-f.r.ctx.Done():
			f.r.t.Fatalf("no %s; text so far %q", what, f.text.String())
		}
	}
}

func (f *flight) streaming() {
	f.r.t.Helper()
	f.until("text", func(any) bool { return f.text.Len() > 0 })
}

func (f *flight) landed() {
	f.r.t.Helper()
	f.until("the end", func(any) bool { return f.dec.Ended() })
}

// reconnected waits for the browser's next connection and checks what it says of the turn.
func (f *flight) reconnected() {
	f.r.t.Helper()
	old := f.r.peer
	<-old.Done()
	f.r.connected()
	facts := f.r.peer.Info().Turns
	if len(facts) != 1 || facts[0].Turn != f.turn || facts[0].Send != f.turn+".a" || facts[0].Stage != "posted" || facts[0].MessageID == "" {
		f.r.t.Fatalf("the hello knows %s", encode(facts))
	}
	f.follow()
	var frames link.FramesResult
	f.r.command(link.ResumeFrames{Turn: f.turn, From: f.next}, &frames)
	if frames.First > f.next {
		f.r.t.Fatalf("frames from %d are gone, the browser has %+v", f.next, frames)
	}
}

func (f *flight) check() {
	f.r.t.Helper()
	text := f.text.String()
	if !strings.HasPrefix(text, "{plx:note}Round") || !strings.HasSuffix(text, "{/plx:run}") || strings.Contains(text, "only-thought") {
		f.r.t.Errorf("the reply is %q", text)
	}
	if got := f.r.accepted(); len(got) != 1 {
		f.r.t.Errorf("the site got %q", got)
	}
}

func TestDaemonRestartInMidTurn(t *testing.T) {
	for _, mode := range []string{"plain", "handoff-ws"} {
		t.Run(mode, func(t *testing.T) {
			r := start(t, practice.Config{})
			tab := r.open("th1", home)
			f := r.takeOff("t1", "th1", tab.Tab, "mode "+mode)
			f.streaming()
			r.stop()
			r.listen()
			f.reconnected() // with its token: nobody is asked
			f.landed()
			f.check()
		})
	}
}

func TestWorkerDiesInMidTurn(t *testing.T) {
	r := start(t, practice.Config{})
	tab := r.open("th1", home)
	f := r.takeOff("t1", "th1", tab.Tab, "mode plain")
	f.streaming()
	worker := r.tools.find("service_worker", "chrome-extension://"+link.ExtensionID)
	r.tools.call("", "Target.closeTarget", map[string]any{"targetId": worker.ID}, nil)
	f.reconnected()
	f.landed()
	f.check()
	r.command(link.EndTurn{Turn: "t1"}, nil)
	// The tab is still the thread's.
	if again := r.open("th1", home); again.Tab != tab.Tab || again.Created {
		t.Errorf("open after the worker's death: %+v, first %+v", again, tab)
	}
}

func TestReloadInMidTurnIsRecovered(t *testing.T) {
	r := start(t, practice.Config{})
	tab := r.open("th1", home)
	f := r.takeOff("t1", "th1", tab.Tab, "mode plain")
	f.streaming()
	page := r.tools.session(r.tools.find("page", home))
	r.tools.call(page, "Page.reload", map[string]any{}, nil)
	lost, reloaded := false, false
	f.until("the news of the reload", func(ev any) bool {
		switch ev := ev.(type) {
		case *link.TurnStatus:
			lost = lost || ev.Turns[0].Stage == "lost"
		case *link.TabStatus:
			reloaded = reloaded || ev.State == "reloaded"
		}
		return lost && reloaded
	})
	sent, err := r.site.Wait(r.ctx, func(e practice.Entry) bool { return e.Kind == practice.KindMessage })
	if err != nil {
		t.Fatal(err)
	}
	var found link.RecoverResult
	for deadline := time.Now().Add(15 * time.Second); !found.Found && time.Now().Before(deadline); {
		r.command(link.RecoverTurn{ID: "m1.look", Turn: "t1", Thread: "th1", Tab: tab.Tab, MessageID: sent.MessageID}, &found)
	}
	if !found.Found {
		t.Fatal("the message is not in the transcript")
	}
	text := ""
	f.until("the recovered reply", func(ev any) bool {
		if rec, ok := ev.(*link.Recovered); ok {
			if text = rec.Text; rec.ID != "m1.look" {
				t.Errorf("recovered for %q", rec.ID)
			}
		}
		return text != ""
	})
	if !strings.HasPrefix(text, "{plx:note}Round 1: **bold**, `code`,") || !strings.HasSuffix(text, "{/plx:run}") || !strings.Contains(text, "{plx:run}") {
		t.Errorf("recovered %q", text)
	}
	// By its text the message is found as well.
	r.command(link.RecoverTurn{Turn: "t1", Thread: "th1", Tab: tab.Tab, Text: "mode\nplain"}, &found)
	if !found.Found {
		t.Error("the message is not found by its text")
	}
	r.command(link.RecoverTurn{Turn: "t1", Thread: "th1", Tab: tab.Tab, Text: "mode else"}, &found)
	if found.Found {
		t.Error("another text is found")
	}
}

func TestTabClosedInMidTurn(t *testing.T) {
	r := start(t, practice.Config{})
	tab := r.open("th1", home)
	f := r.takeOff("t1", "th1", tab.Tab, "mode plain")
	f.streaming()
	r.tools.call("", "Target.closeTarget", map[string]any{"targetId": r.tools.find("page", home).ID}, nil)
	closed, lost := false, false
	f.until("the news of the end", func(ev any) bool {
		switch ev := ev.(type) {
		case *link.TabStatus:
			closed = closed || ev.State == "closed"
		case *link.TurnStatus:
			lost = lost || ev.Turns[0].Stage == "lost"
		}
		return closed && lost
	})
	if e := r.refused(link.ResumeFrames{Turn: "t1", From: 1}); e.Code != "no-tab" {
		t.Errorf("resume: %+v", e)
	}
	sent, err := r.site.Wait(r.ctx, func(e practice.Entry) bool { return e.Kind == practice.KindMessage })
	if err != nil {
		t.Fatal(err)
	}
	again := r.open("th1", home+"c/"+sent.Conversation)
	if !again.Created || again.Tab == tab.Tab {
		t.Errorf("open again: %+v", again)
	}
}

func TestTabLeavesTheSite(t *testing.T) {
	r := start(t, practice.Config{})
	tab := r.open("th1", home)
	f := r.takeOff("t1", "th1", tab.Tab, "mode plain")
	f.streaming()
	page := r.tools.session(r.tools.find("page", home))
	r.tools.call(page, "Page.navigate", map[string]any{"url": fmt.Sprintf("http://127.0.0.1:%d/", r.port)}, nil)
	f.until("the news of the turn", func(ev any) bool {
		s, ok := ev.(*link.TurnStatus)
		return ok && s.Turns[0].Stage == "lost"
	})
	// It is brought back when it is needed.
	if again := r.open("th1", home); again.Tab != tab.Tab || again.Created {
		t.Errorf("open again: %+v", again)
	}
	if h := r.say("t2", "th1", tab.Tab, "mode thinking"); h.err != nil {
		t.Errorf("after the return: %v", h.err)
	}
}

func TestStop(t *testing.T) {
	for _, kind := range []string{"testid", "aria"} {
		t.Run(kind, func(t *testing.T) {
			r := start(t, practice.Config{Page: practice.PageConfig{Stop: kind}})
			tab := r.open("th1", home)
			f := r.takeOff("t1", "th1", tab.Tab, "mode plain")
			f.streaming()
			var facts link.PageFacts
			r.command(link.LookPage{Thread: "th1", Tab: tab.Tab}, &facts)
			if !facts.Generating {
				t.Errorf("look while it streams: %s", encode(facts))
			}
			r.command(link.StopTurn{Turn: "t1"}, nil)
			if _, err := r.site.Wait(r.ctx, func(e practice.Entry) bool { return e.Kind == practice.KindStop }); err != nil {
				t.Fatal(err)
			}
			r.command(link.StopTurn{Turn: "t1"}, nil) // nothing to stop is no error
		})
	}
}

func TestSlowHydration(t *testing.T) {
	r := start(t, practice.Config{Page: practice.PageConfig{Hydration: 2500 * time.Millisecond}})
	tab := r.open("th1", home)
	if h := r.say("t1", "th1", tab.Tab, "mode plain"); h.err != nil {
		t.Fatal(h.err)
	}
	for _, e := range r.site.Log() {
		if e.Kind == practice.KindPrefill {
			t.Error("the message went into the address")
		}
	}
}

func TestSignedOut(t *testing.T) {
	r := start(t, practice.Config{SignedOut: true})
	if e := r.refused(link.OpenTab{Thread: "th1", URL: home}); e.Code != "signed-out" {
		t.Errorf("got %+v", e)
	}
}

// chips makes the editor behave as one whose paste handler takes every long text for a file.
const chips = `new MutationObserver(() => {
	const box = document.querySelector('#prompt-textarea');
	const text = box?.innerText ?? '';
	if (window.chipped || text.length < 10000) return;
	window.chipped = true;
	getSelection().selectAllChildren(box);
	const data = new DataTransfer();
	data.setData('text/plain', text);
	box.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
	document.execCommand('delete');
}).observe(document.body, {subtree: true, childList: true, characterData: true}), 0`

func TestPasteChip(t *testing.T) {
	r := start(t, practice.Config{})
	tab := r.open("th1", home)
	page := r.tools.session(r.tools.find("page", home))
	r.tools.eval(page, chips, nil)
	text := "mode plain\n" + strings.Repeat("A line of the long text 🙂🏽, with\ttab and  spaces.\n\n", 260) + "end"
	h := r.say("t1", "th1", tab.Tab, text)
	if h.err != nil {
		t.Fatal(h.err)
	}
	var was bool
	r.tools.eval(page, "window.chipped === true", &was)
	if !was {
		t.Error("the page made no file of the text: the test shows nothing")
	}
	if got := r.accepted(); !slices.Equal(got, []string{text}) {
		t.Errorf("the site got %d messages, %d characters", len(got), len(strings.Join(got, "")))
	}
	for _, e := range r.site.Log() {
		if len(e.Attachments) > 0 {
			t.Errorf("a file was sent: %v", e.Attachments)
		}
	}
}

// TestPageCannotSpeakForUs has the page try what it can reach.
func TestPageCannotSpeakForUs(t *testing.T) {
	r := start(t, practice.Config{})
	tab := r.open("th1", home)
	page := r.tools.session(r.tools.find("page", home))
	r.tools.eval(page, `(() => {
		const c = new MessageChannel();
		window.postMessage('plexus-port', location.origin, [c.port2]);
		for (const m of [{type: 'posted', nonce: '', messageId: 'forged', conversationId: 'forged'}, {type: 'stream', nonce: '', stream: 's1', event: 'data', data: 'forged'}]) {
			c.port1.postMessage(m);
			window.postMessage(m, location.origin);
		}
		// Requests like a send, before ours and with it.
		const post = () => fetch('/backend-api/f/conversation', {method: 'POST', body: JSON.stringify({messages: [{id: 'forged', content: {parts: ['something else']}}]})});
		document.addEventListener('click', post, true);
		new MutationObserver(() => { if (document.querySelector('[data-testid=send-button]') && !window.tried) { window.tried = true; post(); } }).observe(document.body, {subtree: true, childList: true});
	})()`, nil)
	h := r.say("t1", "th1", tab.Tab, "mode plain")
	if h.err != nil || h.result.MessageID == "" || strings.Contains(h.text+h.result.MessageID, "forged") {
		t.Errorf("got %+v", h)
	}
	var tried bool
	if r.tools.eval(page, "window.tried === true", &tried); !tried {
		t.Error("the page did not try")
	}
}

func TestTwoThreadsAtOnce(t *testing.T) {
	r := start(t, practice.Config{})
	type end struct {
		thread string
		h      heard
	}
	ends := make(chan end)
	for _, thread := range []string{"th1", "th2"} {
		tab := r.open(thread, home)
		go func() { ends <- end{thread, r.say("t-"+thread, thread, tab.Tab, "mode handoff-ws "+thread)} }()
	}
	for range 2 {
		if e := <-ends; e.h.err != nil || !strings.HasSuffix(e.h.text, "{/plx:run}") {
			t.Errorf("%s: %+v", e.thread, e.h)
		}
	}
	if got := r.accepted(); len(got) != 2 {
		t.Errorf("the site got %q", got)
	}
}

func TestAnswerOf1MB(t *testing.T) {
	r := start(t, practice.Config{})
	tab := r.open("th1", home)
	before := r.wire.Load()
	h := r.say("t1", "th1", tab.Tab, "long 26215")
	if h.err != nil {
		t.Fatal(h.err)
	}
	crossed := r.wire.Load() - before
	t.Logf("%d bytes of answer, %d of frames in %d updates, %d on the wire", len(h.text), h.bytes, h.lastN, crossed)
	if len(h.text) < 1<<20 || crossed > int64(len(h.text))*13/10 {
		t.Errorf("an answer of %d bytes crossed in %d", len(h.text), crossed)
	}
}
