package extension_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plexus/internal/link"
	"plexus/internal/practice"
	"plexus/internal/scenario"
)

// accepted returns the texts of the messages that the site took, in order.
func (r *rig) accepted() []string {
	var texts []string
	for _, e := range r.site.Log() {
		if e.Kind == practice.KindMessage {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

func TestMessagesInEveryStreamMode(t *testing.T) {
	r := start(t, practice.Config{Seed: 7})
	tab := r.open("th1", home)
	if !tab.Created || tab.Tab == 0 {
		t.Errorf("open: %+v", tab)
	}
	var want []string
	for i, mode := range scenario.Modes() {
		turn := fmt.Sprint("turn", i)
		text := "mode " + mode + "\n\n  two  spaces\tand a tab 漢字 🙂🏽 <b>&amp;</b>\n\n\n{plx:note}x{/plx:note}"
		want = append(want, text)
		h := r.say(turn, "th1", tab.Tab, text)
		if h.err != nil {
			t.Fatalf("%s: %v (%v)", mode, h.err, h.stages)
		}
		if got := strings.Join(h.stages, " "); got != "inserted dispatched clicked posted" {
			t.Errorf("%s: stages %s", mode, got)
		}
		if !strings.Contains(h.text, fmt.Sprintf("Round %d:", i+1)) || !strings.HasSuffix(h.text, "{/plx:run}") || strings.Contains(h.text, "only-thought") {
			t.Errorf("%s: text %q", mode, h.text)
		}
		r.command(link.EndTurn{Turn: turn}, nil)
		entry, err := r.site.Wait(r.ctx, func(e practice.Entry) bool { return e.Kind == practice.KindMessage && e.Mode == mode })
		if err != nil {
			t.Fatal(err)
		}
		if entry.MessageID != h.result.MessageID {
			t.Errorf("%s: the receipt is %q, the site has %q", mode, h.result.MessageID, entry.MessageID)
		}
	}
	if got := r.accepted(); !slices.Equal(got, want) {
		t.Errorf("the site got %q, want %q", got, want)
	}
	var facts link.PageFacts
	r.command(link.LookPage{Thread: "th1", Tab: tab.Tab}, &facts)
	if facts.Composer != "ready" || facts.Generating || facts.Draft != "" || facts.ConversationID == "" || len(facts.Messages) != 8 {
		t.Errorf("look: %s", encode(facts))
	}
	if m := facts.Messages[0]; m.Role != "user" || m.Text != want[0] || m.ID == "" {
		t.Errorf("first message: %s", encode(m))
	}
	// The same chat needs no navigation, however its address is written.
	again := r.open("th1", home+"c/"+facts.ConversationID)
	if again.Created || again.Tab != tab.Tab {
		t.Errorf("open again: %+v", again)
	}
	r.command(link.CloseTab{Thread: "th1"}, nil) // its own, of whatever number
	if e := r.refused(link.LookPage{Thread: "th1", Tab: tab.Tab}); e.Code != "no-tab" {
		t.Errorf("look at a closed tab: %+v", e)
	}
}

func TestWhatIsNotOurs(t *testing.T) {
	r := start(t, practice.Config{})
	first, second := r.open("th1", home), r.open("th2", home)
	if first.Tab == second.Tab {
		t.Fatal("two threads share a tab")
	}
	for name, cmd := range map[string]any{
		"send":   link.SendMessage{Turn: "t", Thread: "th1", Tab: second.Tab, Text: "x"},
		"look":   link.LookPage{Thread: "th1", Tab: second.Tab},
		"close":  link.CloseTab{Thread: "th1", Tab: second.Tab},
		"number": link.LookPage{Thread: "th1", Tab: 1},
	} {
		if e := r.refused(cmd); e.Code != "not-ours" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if e := r.refused(link.OpenTab{Thread: "th3", URL: "https://example.com/"}); e.Code != "not-ours" {
		t.Errorf("open elsewhere: %+v", e)
	}
	if e := r.refused(link.StopTurn{Turn: "none"}); e.Code != "unknown-turn" {
		t.Errorf("stop: %+v", e)
	}
	if e := r.refused(link.EndTurn{Turn: "none"}); e.Code != "unknown-turn" {
		t.Errorf("end: %+v", e)
	}
	if len(r.accepted()) != 0 {
		t.Errorf("the site got %q", r.accepted())
	}
}

func TestNoGoIsNoClick(t *testing.T) {
	r := start(t, practice.Config{})
	tab := r.open("th1", home)
	events, cancel := r.peer.Subscribe("t1")
	defer cancel()
	done := make(chan error, 1)
	go func() {
		done <- r.peer.Command(r.ctx, link.SendMessage{ID: "m1", Turn: "t1", Thread: "th1", Tab: tab.Tab, Text: "mode plain"}, nil)
	}()
	for ev := range events {
		if p, ok := ev.(*link.SubmitProgress); ok && p.Stage == "dispatched" {
			break
		}
	}
	// While one command is at work in the tab, another waits its turn elsewhere.
	if e := r.refused(link.SendMessage{ID: "m2", Turn: "t2", Thread: "th1", Tab: tab.Tab, Text: "other"}); e.Code != "tab-busy" {
		t.Errorf("second command: %+v", e)
	}
	if err := r.peer.Send(r.ctx, link.Proceed{ID: "m1", Turn: "t1", Go: false}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil || !strings.Contains(encode(err), `"no-go"`) || strings.Contains(encode(err), `"clicked":true`) {
		t.Errorf("got %s", encode(err))
	}
	// The text that we left behind is ours, and makes way for the next one.
	h := r.say("t3", "th1", tab.Tab, "mode plain again")
	if h.err != nil {
		t.Fatal(h.err)
	}
	if got := r.accepted(); !slices.Equal(got, []string{"mode plain again"}) {
		t.Errorf("the site got %q", got)
	}
}

func TestSameSendTwiceIsSentOnce(t *testing.T) {
	r := start(t, practice.Config{})
	tab := r.open("th1", home)
	events, cancel := r.peer.Subscribe("t1")
	defer cancel()
	cmd := link.SendMessage{ID: "m1", Turn: "t1", Thread: "th1", Tab: tab.Tab, Text: "mode plain"}
	var first, second link.SendResult
	done := make(chan error, 1)
	go func() { done <- r.peer.Command(r.ctx, cmd, &first) }()
	for ev := range events {
		if p, ok := ev.(*link.SubmitProgress); ok && p.Stage == "dispatched" {
			break
		}
	}
	if err := r.peer.Send(r.ctx, link.Proceed{ID: "m1", Turn: "t1", Go: true}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	r.command(cmd, &second)
	if first != second || first.MessageID == "" {
		t.Errorf("got %+v, then %+v", first, second)
	}
	if got := r.accepted(); len(got) != 1 {
		t.Errorf("the site got %q", got)
	}
}

func TestAPersonsDraftStays(t *testing.T) {
	r := start(t, practice.Config{})
	tab := r.open("th1", home)
	page := r.tools.session(r.tools.find("page", home))
	r.tools.eval(page, `document.querySelector('#prompt-textarea').focus()`, nil)
	r.tools.call(page, "Input.insertText", map[string]any{"text": "my own words"}, nil)
	h := r.say("t1", "th1", tab.Tab, "mode plain")
	if e := asRefusal(h.err); e.Code != "user-draft" || e.Clicked {
		t.Errorf("got %v", h.err)
	}
	var facts link.PageFacts
	r.command(link.LookPage{Thread: "th1", Tab: tab.Tab}, &facts)
	if facts.Draft != "my own words" {
		t.Errorf("the draft is %q", facts.Draft)
	}
	r.tools.eval(page, `(document.execCommand('selectAll'), document.execCommand('delete'), 0)`, nil)
	if h = r.say("t1", "th1", tab.Tab, "mode plain"); h.err != nil {
		t.Fatal(h.err)
	}
	if got := r.accepted(); !slices.Equal(got, []string{"mode plain"}) {
		t.Errorf("the site got %q", got)
	}
}

func TestSwallowedClickIsNamed(t *testing.T) {
	r := start(t, practice.Config{})
	tab := r.open("th1", home)
	if err := r.site.SetFault(practice.Fault{Name: practice.FaultSwallowClick}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.site.Wait(r.ctx, func(e practice.Entry) bool { return e.Kind == practice.KindFaultArmed }); err != nil {
		t.Fatal(err)
	}
	h := r.say("t1", "th1", tab.Tab, "mode plain")
	if e := asRefusal(h.err); e.Code != "no-post" || !e.Clicked {
		t.Fatalf("got %v, stages %v", h.err, h.stages)
	}
	var facts link.PageFacts
	r.command(link.LookPage{Thread: "th1", Tab: tab.Tab}, &facts)
	if facts.Draft != "mode plain" || len(facts.Messages) != 0 {
		t.Errorf("look: %s", encode(facts))
	}
	if h = r.say("t1", "th1", tab.Tab, "mode plain"); h.err != nil {
		t.Fatal(h.err)
	}
	if got := r.accepted(); len(got) != 1 {
		t.Errorf("the site got %q", got)
	}
}

func TestRefusalsOfTheSite(t *testing.T) {
	r := start(t, practice.Config{MessageLimit: 20_000})
	tab := r.open("th1", home)
	for _, row := range []struct {
		turn, text, code string
		status           int
	}{
		{"t1", strings.Repeat("long ", 5000), "too-long", 413},
		{"t2", "fault rate-limit", "rate-limited", 429},
	} {
		events, cancel := r.peer.Subscribe(row.turn)
		done := make(chan error, 1)
		go func() {
			done <- r.peer.Command(r.ctx, link.SendMessage{ID: row.turn, Turn: row.turn, Thread: "th1", Tab: tab.Tab, Text: row.text}, nil)
		}()
		status, notice := 0, ""
		for status == 0 || notice == "" {
			select {
			case ev := <-events:
				switch ev := ev.(type) {
				case *link.SubmitProgress:
					if ev.Stage == "dispatched" {
						if err := r.peer.Send(r.ctx, link.Proceed{ID: row.turn, Turn: row.turn, Go: true}); err != nil {
							t.Fatal(err)
						}
					}
				case *link.StreamUpdate:
					if ev.Event == "open" && strings.HasSuffix(ev.URL, "/f/conversation") {
						status = ev.Status
					}
				case *link.SiteNotice:
					notice = ev.Code
				}
			case <-r.ctx.Done():
				t.Fatalf("%s: status %d, notice %q", row.turn, status, notice)
			}
		}
		if status != row.status || notice != row.code {
			t.Errorf("%s: status %d, notice %q", row.turn, status, notice)
		}
		if err := <-done; err != nil {
			t.Errorf("%s: %v", row.turn, err) // the request was made
		}
		cancel()
		r.command(link.EndTurn{Turn: row.turn}, nil)
	}
}

func TestProjectsAndTheRedirect(t *testing.T) {
	r := start(t, practice.Config{Page: practice.PageConfig{Redirect: 700 * time.Millisecond}})
	tab := r.open("th1", home)
	var made, found link.ProjectResult
	r.command(link.EnsureProject{Thread: "th1", Tab: tab.Tab, Name: "plx-shop"}, &made)
	if !made.Created || !strings.HasPrefix(made.Project, "g-p-") || !strings.HasSuffix(made.URL, "/project") {
		t.Fatalf("made %+v", made)
	}
	entry, err := r.site.Wait(r.ctx, func(e practice.Entry) bool { return e.Kind == practice.KindProject })
	if err != nil || entry.Project != made.Project {
		t.Errorf("the site made %+v, %v", entry, err)
	}
	r.command(link.EnsureProject{Thread: "th1", Tab: tab.Tab, Name: "plx-shop"}, &found)
	if found.Created || found.Project != made.Project {
		t.Errorf("by name: %+v", found)
	}
	r.command(link.EnsureProject{Thread: "th1", Tab: tab.Tab, Name: "renamed", Project: made.Project}, &found)
	if found.Created || found.Project != made.Project {
		t.Errorf("by id: %+v", found)
	}
	r.open("th1", made.URL)
	h := r.say("t1", "th1", tab.Tab, "mode plain")
	if h.err != nil {
		t.Fatal(h.err)
	}
	r.command(link.EndTurn{Turn: "t1"}, nil)
	sent, err := r.site.Wait(r.ctx, func(e practice.Entry) bool { return e.Kind == practice.KindMessage })
	if err != nil || sent.Project != made.Project {
		t.Fatalf("the message went to %+v, %v", sent, err)
	}
	// Another thread's tab comes to the chat by its short address; the page moves it and rebuilds the editor meanwhile.
	other := r.open("th2", home+"c/"+sent.Conversation)
	h = r.say("t2", "th2", other.Tab, "mode plain, after the move")
	if h.err != nil {
		t.Fatalf("%v %v", h.err, h.stages)
	}
	if got := r.accepted(); !slices.Equal(got, []string{"mode plain", "mode plain, after the move"}) {
		t.Errorf("the site got %q", got)
	}
}

func asRefusal(err error) link.ResponseError {
	if e, ok := err.(*link.ResponseError); ok {
		return *e
	}
	return link.ResponseError{}
}
