package ui_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// endpoint is an OpenAI-compatible server that says what the test says, when it says it.
type endpoint struct {
	*httptest.Server
	say chan string // "" ends the reply
}

func newEndpoint(t testing.TB) *endpoint {
	t.Helper()
	e := &endpoint{say: make(chan string)}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w).Flush
		_ = flush()
		for {
			select {
			case <-r.Context().Done():
				return
			case text := <-e.say:
				if text == "" {
					_, _ = fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
					return
				}
				quoted, _ := json.Marshal(text)
				_, _ = fmt.Fprintf(w, "data: {\"model\":\"test\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", quoted)
				_ = flush()
			}
		}
	}))
	t.Cleanup(func() { e.CloseClientConnections(); e.Close() })
	return e
}

// reply says the pieces of one reply; the last is followed by its end.
func (e *endpoint) reply(t testing.TB, pieces ...string) {
	t.Helper()
	for _, p := range pieces {
		select {
		case e.say <- p:
		case <-time.After(20 * time.Second):
			t.Fatalf("nobody listens to %q", p)
		}
	}
}

// onAPI makes the daemon use the endpoint.
func (d *daemon) onAPI(e *endpoint) {
	d.t.Helper()
	d.plexus("config", "set", "model.api.url", e.URL+"/v1")
	d.plexus("config", "set", "model.api.model", "test")
	d.plexus("config", "set", "model.default", "api")
}

// start gives a task on the page for new threads.
func (b *tab) start(task string) {
	b.t.Helper()
	js[any](b, `(location.hash = '#/new', 0)`)
	b.until(`document.querySelector('#composer') !== null && document.querySelector('select')?.value !== ''`)
	b.do(chromedp.Focus(`#composer`))
	b.press(task)
	b.do(chromedp.Click(`.composer button[type=submit]`))
	b.until(`location.hash.startsWith('#/t/')`)
}

func TestAnswerStreams(t *testing.T) {
	d, e := newDaemon(t), newEndpoint(t)
	d.onAPI(e)
	b := newTab(t)
	b.open(d)
	b.start("Tell me")
	e.reply(t, "{plx:done}\n# Title\n\nFirst ", "part.\n\nSecond")
	b.says("Second")
	b.says("The model is replying")
	js[any](b, `(globalThis.kept = document.querySelector('.growing p'), 0)`)
	if text := js[string](b, `kept.innerText`); text != "First part." {
		t.Fatalf("the first paragraph reads %q", text)
	}

	// What is there stays the same node while more comes.
	e.reply(t, " part.\n\n```go\nx := 1\n", "y := 2\n", "```\n\nEnd {", "not a tag}")
	b.says("not a tag")
	if !js[bool](b, `kept.isConnected && [...document.querySelectorAll('.growing .code')].length === 1`) {
		t.Error("what was shown was made anew")
	}
	if strings.Contains(js[string](b, `document.querySelector('.growing').innerText`), "plx:") {
		t.Error("a tag is shown")
	}

	// A reload in the middle shows what came so far, and goes on.
	b.do(chromedp.Reload())
	b.says("not a tag")
	e.reply(t, " and on.\n{/plx:", "done}", "")
	b.until(`document.querySelector('.answer:not(.growing)') !== null && document.querySelector('.growing') === null`)
	b.says("Answered after")
	want := "Title\nFirst part.\nSecond part.\ngo\nCopy\nx := 1\ny := 2\nEnd {not a tag} and on."
	if got := js[string](b, `document.querySelector('.answer .prose').innerText.replace(/\n+/g, '\n').trim()`); got != want {
		t.Errorf("the answer reads\n%s\nwant\n%s", got, want)
	}
}

func TestStopAndGoOn(t *testing.T) {
	d, e := newDaemon(t), newEndpoint(t)
	d.onAPI(e)
	b := newTab(t)
	b.open(d)
	b.start("Tell me")
	e.reply(t, "{plx:done}Half of")
	b.says("Half of")
	b.do(chromedp.Click(`.stop`))
	b.until(`document.querySelector('.stop') === null`)
	b.says("Stopped")
	b.write("Go on")
	e.reply(t, "{plx:done}All of it.{/plx:done}", "")
	b.says("All of it.")
}

func TestOutputIsFollowed(t *testing.T) {
	d, e := newDaemon(t), newEndpoint(t)
	d.onAPI(e)
	b := newTab(t)
	b.open(d)
	b.start("Run it")
	e.reply(t, "{plx:note}It takes a while.{/plx:note}\n{plx:run}while [ ! -e go ]; do echo busy; sleep 0.05; done; echo over{/plx:run}", "")
	b.until(`document.querySelector('.action .output')?.innerText.includes('busy')`)
	b.says("Running while [")
	d.plexus("tool", "write", `{"path":"go","content":""}`, "--folder", d.folder)
	e.reply(t, "{plx:done}It is over.{/plx:done}", "")
	b.says("It is over.")
	b.says("exit 0")
}
