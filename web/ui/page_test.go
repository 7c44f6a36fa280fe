package ui_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// everything makes the page show each kind of thing.
const everything = `
steps:
  - reply: |-
      {plx:note}I look around.{/plx:note}
      {plx:run}echo one; echo two >&2; exit 3{/plx:run}
      {plx:write path="cart/total.go"}package cart
      {/plx:write}
      {plx:run}seq 1 30000{/plx:run}
  - reply: |-
      {plx:note}This needs your word.{/plx:note}
      {plx:run approval="required"}echo asked > asked.txt{/plx:run}
  - when:
      - expect: 'status="denied"'
        reply: |-
          {plx:done}
          # Verdict

          You said **no**. <img src=x onerror="document.title='owned'"> <script>document.title='owned'</script>
          [bad](javascript:document.title='owned') [good](https://go.dev/) ![pic](https://go.dev/x.png)

          ` + "```go\n          func f() {}\n          ```" + `
          {/plx:done}
      - reply: '{plx:done}It was allowed.{/plx:done}'
  - name: talk
    reply: '{plx:done}You said: {{.Message}}{/plx:done}'
    goto: talk
`

// open shows the UI with a fresh key.
func (b *tab) open(d *daemon) {
	b.t.Helper()
	b.do(chromedp.Navigate(d.link()))
	b.until(`document.querySelector('.sidebar') !== null && !document.body.innerText.includes('Connecting')`)
}

// newThread makes a thread of the scripted model, which the UI does not offer, and opens it.
func (b *tab) newThread(d *daemon, model, task string) string {
	b.t.Helper()
	body, err := json.Marshal(map[string]string{"folder": filepath.Base(d.folder), "model": model, "text": task})
	if err != nil {
		b.t.Fatal(err)
	}
	id := js[string](b, fmt.Sprintf(`fetch('/api/threads', {method: 'POST', body: JSON.stringify(%s),
		headers: {'Content-Type': 'application/json', Authorization: 'Bearer ' + sessionStorage.getItem('plexus.token')}})
		.then((r) => r.json()).then((t) => t.id ?? JSON.stringify(t))`, body))
	js[any](b, fmt.Sprintf(`(location.hash = '#/t/%s', 0)`, id))
	b.until(`document.querySelector('.timeline') !== null`)
	return id
}

func (b *tab) says(text string) {
	b.t.Helper()
	quoted, _ := json.Marshal(text)
	b.until(fmt.Sprintf(`document.querySelector('main').innerText.includes(%s)`, quoted))
}

func (b *tab) press(keys string, opts ...chromedp.KeyOption) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys, opts...))
}

// write puts text into the composer and sends it with the keyboard.
func (b *tab) write(text string) {
	b.t.Helper()
	b.do(chromedp.Focus(`#composer`))
	b.press(text)
	b.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
	b.until(`document.querySelector('#composer').value === ''`)
}

func TestKeyIsTradedOnce(t *testing.T) {
	d := newDaemon(t)
	b := newTab(t)
	link := d.link()
	b.do(chromedp.Navigate(link))
	b.until(`document.querySelector('.sidebar') !== null`)
	if at := js[string](b, `location.href`); strings.Contains(at, "key") {
		t.Errorf("the key stays in the address: %s", at)
	}
	if n := js[int](b, `Object.keys(localStorage).filter((k) => localStorage[k] === sessionStorage['plexus.token']).length + document.cookie.length`); n != 0 {
		t.Error("the token is kept outside of sessionStorage")
	}
	b.do(chromedp.Reload())
	b.until(`document.querySelector('.sidebar') !== null`)

	js[any](b, `(sessionStorage.clear(), 0)`)
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(link))
	b.until(`document.body.innerText.includes('used already') && document.body.innerText.includes('plexus open')`)

	js[any](b, `(sessionStorage.setItem('plexus.token', 'nonsense'), 0)`)
	b.do(chromedp.Reload())
	b.until(`document.body.innerText.includes('plexus open')`)
}

func TestThread(t *testing.T) {
	d := newDaemon(t)
	b := newTab(t)
	b.open(d)
	js[any](b, `(globalThis.violations = [], addEventListener('securitypolicyviolation', (e) => violations.push(e.violatedDirective + ' ' + e.blockedURI)), 0)`)
	b.newThread(d, d.scenario(everything), "Show me everything")
	b.says("This needs your word.")
	b.until(`document.querySelector('.approval') !== null`)
	b.says("exit 3")
	b.says("+1")
	b.says("Waiting for your approval")
	b.until(`document.title.startsWith('(1) Show me everything')`)

	// The queue: two wait, the second goes first, the other is taken back.
	b.write("first")
	b.write("second")
	b.until(`document.querySelectorAll('.queue li').length === 2`)
	b.do(chromedp.Click(`.queue li:last-child [aria-label="Move up"]`))
	b.until(`document.querySelector('.queue li .queued-text').innerText === 'second'`)
	b.do(chromedp.Click(`.queue li:last-child [aria-label="Take back"]`))
	b.until(`document.querySelectorAll('.queue li').length === 1`)

	// By keyboard: to the approval, no, with a reason.
	js[any](b, `(document.activeElement.blur(), 0)`)
	b.press("w")
	b.until(`document.activeElement.classList.contains('approval')`)
	b.press("n")
	b.until(`document.activeElement.tagName === 'TEXTAREA' && document.activeElement.closest('.deny') !== null`)
	b.press("not today")
	b.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
	b.says("You said no.")
	b.says("You said: second")
	if _, err := os.Stat(filepath.Join(d.folder, "asked.txt")); err == nil {
		t.Error("the denied command ran")
	}

	// What the model wrote is text and nothing else.
	if n := js[int](b, `document.querySelectorAll('.answer img, .answer script, .answer [onerror], a[href^="javascript"]').length`); n != 0 {
		t.Errorf("%d elements came out of the model's text", n)
	}
	if at := js[string](b, `[...document.querySelectorAll('.answer a')].map((a) => a.href + ' ' + a.rel).join('\n')`); at != "https://go.dev/ noopener noreferrer nofollow\nhttps://go.dev/x.png noopener noreferrer nofollow" {
		t.Errorf("links of the answer: %s", at)
	}
	if title := js[string](b, `document.title`); strings.Contains(title, "owned") {
		t.Error("the model's text ran")
	}

	// Rows open: the output of a command, the diff of a write, a result too large for an event.
	for i, want := range []string{"one\ntwo", "package cart", "29999"} {
		js[any](b, fmt.Sprintf(`(document.querySelectorAll('.action-head')[%d].click(), 0)`, i))
		b.says(want)
	}
	js[any](b, `(document.querySelector('.wire button').click(), 0)`)
	b.says("To the model: results")

	// The same after a reload, from the store alone.
	text := js[string](b, `[...document.querySelectorAll('.user-text, .note, .action-head, .answer')].map((e) => e.innerText).join('\n')`)
	b.do(chromedp.Reload())
	b.says("You said: second")
	if again := js[string](b, `[...document.querySelectorAll('.user-text, .note, .action-head, .answer')].map((e) => e.innerText).join('\n')`); again != text {
		t.Errorf("after a reload:\n%s\nbefore:\n%s", again, text)
	}
	if v := js[[]string](b, `globalThis.violations ?? []`); len(v) != 0 {
		t.Errorf("the page broke its own content security policy: %v", v)
	}
}

func TestDaemonGoesAndComesBack(t *testing.T) {
	d := newDaemon(t)
	b := newTab(t)
	b.open(d)
	b.newThread(d, d.scenario(everything), "Show me everything")
	b.until(`document.querySelector('.approval') !== null`)
	b.do(chromedp.Focus(`#composer`))
	b.press("a draft")
	d.kill()
	b.until(`document.body.innerText.includes('does not answer')`)
	d.start()
	b.until(`!document.body.innerText.includes('does not answer') && !document.body.innerText.includes('Connection lost')`)
	b.until(`document.querySelector('.approval .primary') !== null`)
	b.do(chromedp.Click(`.approval .primary`))
	b.says("It was allowed.")
	if _, err := os.Stat(filepath.Join(d.folder, "asked.txt")); err != nil {
		t.Errorf("the allowed command did not run: %v", err)
	}
	b.do(chromedp.Reload())
	b.until(`document.querySelector('#composer')?.value === 'a draft'`)
}

func TestApprovalAnsweredElsewhere(t *testing.T) {
	d := newDaemon(t)
	b := newTab(t)
	b.open(d)
	b.newThread(d, d.scenario(everything), "Show me everything")
	b.until(`document.querySelector('.approval') !== null`)
	id := js[string](b, `document.querySelector('.approval').id.replace('approval-', '')`)
	d.plexus("approve", id)
	b.says("It was allowed.")
	b.until(`document.querySelector('.approval') === null && document.querySelector('.chip.warn') === null`)
}

func TestThreadsInTheSideBar(t *testing.T) {
	d := newDaemon(t)
	b := newTab(t)
	b.open(d)
	b.newThread(d, d.scenario("steps:\n  - reply: '{plx:done}Ready.{/plx:done}'\n"), "Alpha task")
	b.says("Ready.")
	menu := func(item string) {
		t.Helper()
		b.do(chromedp.Click(`.thread-head [aria-label="Options for this thread"]`))
		js[any](b, fmt.Sprintf(`([...document.querySelectorAll('[role=menu] button')].find((b) => b.innerText.trim() === %q).click(), 0)`, item))
	}
	menu("Rename")
	b.until(`document.activeElement.classList.contains('title-edit')`)
	b.press("Beta" + kb.Enter)
	b.until(`document.querySelector('.sidebar').innerText.includes('Beta')`)
	menu("Delete")
	b.until(`!document.querySelector('.thread-list').innerText.includes('Beta') && document.querySelector('.toast') !== null`)
	js[any](b, `(document.activeElement.blur(), 0)`)
	b.press("z")
	b.until(`document.querySelector('.thread-list').innerText.includes('Beta')`)
	b.do(chromedp.Focus(`#search`))
	b.press("ready")
	b.until(`document.querySelector('.hit')?.innerText.includes('Beta')`)
}

// TestAccessible lets axe look at every page, wide and light, narrow and dark.
func TestAccessible(t *testing.T) {
	axe, err := os.ReadFile("../node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("%v: run `make npm`", err)
	}
	d := newDaemon(t)
	b := newTab(t)
	b.open(d)
	id := b.newThread(d, d.scenario(everything), "Show me everything")
	b.until(`document.querySelector('.approval') !== null`)
	js[any](b, `(document.querySelectorAll('.action-head')[1].click(), document.querySelector('.wire button').click(), 0)`)
	js[any](b, string(axe)+"; 0")
	for _, look := range []struct {
		theme string
		width int64
	}{{"light", 1400}, {"dark", 360}} {
		js[any](b, fmt.Sprintf(`(document.documentElement.dataset.theme = %q, 0)`, look.theme))
		b.do(chromedp.EmulateViewport(look.width, 800))
		for _, page := range []string{"t/" + id, "", "new", "settings", "folders", "connections", "doctor", "parse"} {
			js[any](b, fmt.Sprintf(`(location.hash = '#/%s', new Promise((r) => requestAnimationFrame(() => setTimeout(r, 0))))`, page))
			b.until(`document.querySelector('main h1') !== null && document.querySelector('main .loading') === null`)
			found := js[[]string](b, `axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations
				.filter((v) => v.impact === 'serious' || v.impact === 'critical')
				.map((v) => v.id + ': ' + v.nodes.map((n) => n.html.slice(0, 120)).join(' | ')))`)
			for _, f := range found {
				t.Errorf("/%s at %d, %s: %s", page, look.width, look.theme, f)
			}
			if js[bool](b, `document.documentElement.scrollWidth > innerWidth`) {
				t.Errorf("/%s at %d: the page is wider than the window", page, look.width)
			}
		}
	}
}

// TestReaderKeepsTheirPlace scrolls in a thread of several pages of events.
func TestReaderKeepsTheirPlace(t *testing.T) {
	d := newDaemon(t)
	b := newTab(t)
	b.open(d)
	id := b.newThread(d, d.scenario("steps:\n  - name: talk\n    reply: '{plx:done}You said: {{.Message}}{/plx:done}'\n    goto: talk\n"), "task 0")
	const turns = 70
	say := func(from, to int) {
		js[any](b, fmt.Sprintf(`(async () => { for (let i = %d; i < %d; i++) await fetch('/api/threads/%s/turns', {method: 'POST', body: JSON.stringify({text: 'task ' + i}),
			headers: {'Content-Type': 'application/json', Authorization: 'Bearer ' + sessionStorage.getItem('plexus.token')}}); return 0 })()`, from, to, id))
	}
	say(1, turns)
	b.says(fmt.Sprintf("You said: task %d", turns-1))
	b.do(chromedp.Reload())
	b.says(fmt.Sprintf("You said: task %d", turns-1))
	b.until(`(() => { const t = document.querySelector('.timeline'); return t.scrollHeight - t.scrollTop - t.clientHeight < 2 })()`)
	if js[bool](b, `[...document.querySelectorAll('.user-text')].some((e) => e.innerText === 'task 0')`) {
		t.Fatal("the first page holds the whole thread: the test needs a longer one")
	}

	// Earlier pages come in above, and what is in sight stays where it is.
	shown := js[int](b, `document.querySelectorAll('.turn').length`)
	js[any](b, `(() => { const t = document.querySelector('.timeline'); t.scrollTop = 300; return new Promise((r) => t.addEventListener('scroll', () => {
		globalThis.seen = [...document.querySelectorAll('.turn')].find((e) => e.getBoundingClientRect().top > 200);
		globalThis.at = seen.getBoundingClientRect().top; r(0) }, {once: true})) })()`)
	b.until(fmt.Sprintf(`document.querySelectorAll('.turn').length > %d`, shown))
	b.until(`Math.abs(seen.getBoundingClientRect().top - at) < 3`)

	// To the very beginning.
	b.until(`(() => { if (seen.isConnected) document.querySelector('.timeline').scrollTop = 0;
		return [...document.querySelectorAll('.user-text')].some((e) => e.innerText === 'task 0') && document.querySelector('.earlier') === null })()`)
	js[any](b, `(() => { globalThis.seen = [...document.querySelectorAll('.turn')].find((e) => e.getBoundingClientRect().top > 200); globalThis.at = seen.getBoundingClientRect().top; return 0 })()`)

	// What comes in below does not move it either, and is a key away.
	say(turns, turns+1)
	b.says(fmt.Sprintf("You said: task %d", turns))
	b.until(`Math.abs(seen.getBoundingClientRect().top - at) < 3`)
	b.do(chromedp.Click(`.jump`))
	b.until(`(() => { const t = document.querySelector('.timeline'); return t.scrollHeight - t.scrollTop - t.clientHeight < 2 && document.querySelector('.jump') === null })()`)

	// A row that is opened at the end grows downwards.
	js[any](b, `(() => { const w = [...document.querySelectorAll('.wire button')].at(-1); globalThis.row = w; globalThis.at = w.getBoundingClientRect().top; w.click(); return 0 })()`)
	b.until(`document.querySelectorAll('.wire-entry').length > 0 && Math.abs(row.getBoundingClientRect().top - at) < 3`)
}
