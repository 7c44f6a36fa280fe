package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plexus/internal/chromium"
	"plexus/internal/practice"
	"plexus/internal/scenario"
	"plexus/internal/store"
)

// chat is a home whose threads are answered by the practice site, through the extension in Chromium.
type chat struct {
	*home
	site    *practice.Site
	profile string
	browser *chromium.Browser
}

func newChat(t *testing.T, cfg practice.Config) *chat {
	t.Helper()
	needChromium(t)
	c := &chat{home: newHome(t), profile: filepath.Join(t.TempDir(), "profile")}
	var err error
	if c.site, err = practice.Start(context.WithoutCancel(t.Context()), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.site.Close(); err != nil {
			t.Error(err)
		}
	})
	c.plexus("consent", "--agree")
	c.plexus("extension")
	c.openBrowser()
	t.Cleanup(func() { c.browser.Close() })
	c.eventually("the browser is paired", c.pair)
	return c
}

func (c *chat) openBrowser() {
	c.t.Helper()
	var err error
	c.browser, err = chromium.Start(context.WithoutCancel(c.t.Context()), chromium.Options{Profile: c.profile, Headless: true,
		Extensions: []string{filepath.Join(c.dir, "extension")}, Flags: c.site.ChromiumFlags()})
	if err != nil {
		c.t.Fatal(err)
	}
}

// pair approves what waits and reports whether a browser is connected.
func (c *chat) pair() bool {
	var state struct {
		Browsers []struct{ Connected bool }
		Pairings []struct{ Code string }
	}
	c.get("/api/state", &state)
	for _, p := range state.Pairings {
		c.plexus("extension", "pair", p.Code)
	}
	return slices.ContainsFunc(state.Browsers, func(b struct{ Connected bool }) bool { return b.Connected })
}

// arrived is the text of each message that the site accepted, in order.
func (c *chat) arrived() []string {
	var texts []string
	for _, e := range c.site.Log() {
		if e.Kind == practice.KindMessage {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

func mind(t *testing.T, src string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// One command and its answer, in each way in which the site may stream.
func TestChatStreamModes(t *testing.T) {
	t.Parallel()
	c := newChat(t, practice.Config{Scenario: mind(t, `
steps:
  - expect: '\{plx:task\}\nplay (?P<mode>[a-z-]+)\n'
    mode: '{{.Got.mode}}'
    reasoning: Something to think about first.
    reply: |
      {plx:note}Playing {{.Got.mode}}.{/plx:note}
      {plx:run}echo ran-{{.Got.mode}} >> trace; echo "a  b	c <tag> &amp; 日本"{/plx:run}
  - expect: ['\[exit 0\]', 'a  b	c <tag> &amp; 日本']
    mode: '{{.Got.mode}}'
    reasoning: Enough.
    reply: '{plx:done}Played **{{.Got.mode}}**.{/plx:done}'
`)})
	for _, mode := range scenario.Modes() {
		th := c.thread("chat", "play "+mode)
		c.inState(th.ID, store.TurnAnswered)
		if out := c.plexus("show", th.ID); !strings.Contains(out, "Played **"+mode+"**.") || !strings.Contains(out, "Playing "+mode) {
			t.Errorf("%s: the thread reads\n%s", mode, out)
		}
	}
	want := []string{}
	for _, mode := range scenario.Modes() {
		want = append(want, "ran-"+mode)
	}
	if got := c.trace(); !slices.Equal(got, want) {
		t.Errorf("trace %q, want %q", got, want)
	}
	if got := len(c.arrived()); got != 2*len(want) {
		t.Errorf("%d messages reached the site, want %d", got, 2*len(want))
	}
}

// A follow-up goes into the same chat, in which a project redirect has rebuilt the editor; a long message stays text.
func TestChatFollowUpAndLongText(t *testing.T) {
	t.Parallel()
	c := newChat(t, practice.Config{Scenario: mind(t, `
steps:
  - expect: '\{plx:task\}'
    reply: '{plx:done}first{/plx:done}'
  - expect: '^long (?P<tail>(?s:.*))end of the text$'
    reply: '{plx:done}read {{len .Message}}{/plx:done}'
`)})
	th := c.thread("chat", "begin")
	c.inState(th.ID, store.TurnAnswered)
	text := "long " + strings.Repeat("one line of many\n\n  with  spaces\n", 1000) + "end of the text"
	if err := c.client.Post(t.Context(), "/api/threads/"+th.ID+"/turns", map[string]string{"text": text}, nil); err != nil {
		t.Fatal(err)
	}
	c.eventually("the second turn is over", func() bool { turns := c.turns(th.ID); return len(turns) == 2 && turns[1].State.Final() })
	if out := c.plexus("show", th.ID); !strings.Contains(out, fmt.Sprintf("read %d", len(text))) {
		t.Errorf("the long message did not arrive whole:\n%s", out)
	}
	ids := map[string]bool{}
	for _, e := range c.site.Log() {
		if e.Kind == practice.KindMessage {
			ids[e.Conversation] = true
			if len(e.Attachments) > 0 {
				t.Errorf("the message went as an attachment: %q", e.Attachments)
			}
		}
	}
	if len(ids) != 1 {
		t.Errorf("the thread used %d chats", len(ids))
	}
}

// What the site refuses is named, not looped on, and the thread goes on.
func TestChatRefusals(t *testing.T) {
	t.Parallel()
	c := newChat(t, practice.Config{MessageLimit: 20_000, Scenario: mind(t, "steps:\n  - name: any\n    reply: '{plx:done}answer{/plx:done}'\n    goto: any\n")})
	for fault, code := range map[string]string{practice.FaultTooLong: "message-too-long", practice.FaultRateLimit: "rate-limited", practice.FaultError: "site-error"} {
		before := len(c.arrived())
		if err := c.site.SetFault(practice.Fault{Name: fault}); err != nil {
			t.Fatal(err)
		}
		th := c.thread("chat", "provoke "+fault)
		turn := c.inState(th.ID, store.TurnFailed)
		if turn.Code != code || turn.Reason == "" {
			t.Errorf("%s ended as %s: %s", fault, turn.Code, turn.Reason)
		}
		if n := len(c.arrived()) - before; n > 1 {
			t.Errorf("%s: the message was sent %d times", fault, n)
		}
		if err := c.client.Post(t.Context(), "/api/threads/"+th.ID+"/turns", map[string]string{"text": "again"}, nil); err != nil {
			t.Fatal(err)
		}
		c.eventually("the thread goes on after "+fault, func() bool { turns := c.turns(th.ID); return turns[len(turns)-1].State.Final() })
		if turns := c.turns(th.ID); turns[len(turns)-1].State != store.TurnAnswered {
			t.Errorf("after %s the thread does not go on:\n%s", fault, c.story(th.ID))
		}
	}
}

// The daemon is killed while the site streams. The next one finds the answer on the page; the site got the message once.
func TestChatDaemonKilledWhileStreaming(t *testing.T) {
	t.Parallel()
	c := newChat(t, practice.Config{Scenario: mind(t, `
steps:
  - expect: '\{plx:task\}'
    reply: |
      {plx:note}Slowly.{/plx:note}
      {plx:run}echo once >> trace{/plx:run}
    fault: slow
  - expect: '\[exit 0\]'
    reply: '{plx:done}over{/plx:done}'
`)})
	th := c.thread("chat", "go")
	c.inState(th.ID, store.TurnStreaming)
	port := c.state.Port
	c.kill()
	c.startAt(port)
	c.inState(th.ID, store.TurnAnswered)
	if got := c.trace(); !slices.Equal(got, []string{"once"}) {
		t.Errorf("trace %q, want the command once", got)
	}
	if got := c.arrived(); len(got) != 2 {
		t.Errorf("the site got %d messages, want 2", len(got))
	}
}
