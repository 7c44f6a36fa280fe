package practice

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"plexus/internal/scenario"
)

// on opens a site and a browser on it for a row of tests that share them.
func on(t *testing.T, cfg Config) (*Site, *tab) {
	t.Helper()
	site, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { site.Close() })
	return site, browse(t, site)
}

// after waits for an entry of a kind that was logged after the first n.
func after(b *tab, site *Site, n int, kind Kind) Entry {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 15*time.Second)
	defer cancel()
	e, err := site.Wait(ctx, func(e Entry) bool { return e.Seq > n && e.Kind == kind })
	if err != nil {
		b.shot("failed " + strings.ReplaceAll(b.t.Name(), "/", " "))
		b.t.Fatalf("wait for %s: %v", kind, err)
	}
	return e
}

func arm(t *testing.T, site *Site, f Fault) {
	t.Helper()
	if err := site.SetFault(f); err != nil {
		t.Fatal(err)
	}
}

func TestApp(t *testing.T) {
	site, browser := on(t, Config{Scenario: builtin(t, "modes"), Page: PageConfig{Hydration: 20 * time.Millisecond}})
	for _, c := range []struct {
		name string
		test func(*tab, *Site)
	}{
		{"editor is out of reach", editorOutOfReach},
		{"modes", answersInEveryMode},
		{"new chat gets its address", newChatGetsItsAddress},
		{"markdown swallows tags", markdownSwallowsTags},
		{"long paste", longPaste},
		{"drafts", drafts},
		{"project", projectAndRedirect},
		{"stop", stopEndsTheAnswer},
		{"reload in mid-answer", reloadInMidAnswer},
		{"too long", tooLong},
		{"rate limit", rateLimit},
		{"error card", errorCard},
		{"cut", cutAndRetry},
		{"swallowed click", swallowedClick},
		{"picker", picker},
		{"missing chat", missingChat},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(&tab{t: t, ctx: browser.ctx}, site) })
	}
}

func editorOutOfReach(b *tab, _ *Site) {
	b.open("/")
	b.shot("new")
	facts := get(b, chromedp.Evaluate[map[string]any](`(() => {
		const n = document.querySelector('#prompt-textarea'), twin = document.querySelector('textarea[name="prompt-textarea"]');
		return {
			ownFiber: Object.keys(n).some(k => k.startsWith('__react')),
			described: !!n.pmViewDesc, exposed: Object.values(n.pmViewDesc).some(v => v && v.dispatch),
			inForm: !!n.closest('form[data-chatgpt-composer]'), twinHidden: twin.hidden,
			send: !!document.querySelector('[data-testid="send-button"]'), voice: !!document.querySelector('[data-testid="composer-speech-button"]'),
			badge: document.querySelector('.badge').textContent,
		}
	})()`))
	for name, want := range map[string]any{
		"ownFiber": false, "described": true, "exposed": false, "inForm": true, "twinHidden": true, "send": false, "voice": true, "badge": "Practice site",
	} {
		if facts[name] != want {
			b.t.Errorf("%s is %v, want %v", name, facts[name], want)
		}
	}
	// Text that is put into the page and not into the editor's state is gone at the next change, and sends nothing.
	b.write("one\n\ntwo  spaces\tand a tab")
	if got := b.typed(); got != "one\n\ntwo  spaces\tand a tab" {
		b.t.Errorf("the editor has %q", got)
	}
	b.has(`[data-testid="send-button"]:enabled`)
	b.write("")
	b.has(`[data-testid="composer-speech-button"]`)
}

func answersInEveryMode(b *tab, site *Site) {
	b.open("/")
	for i, mode := range scenario.Modes() {
		n := len(site.Log())
		message := "mode " + mode + "\n\n  two  spaces\tand a tab"
		b.send(message)
		got := after(b, site, n, KindMessage)
		if got.Text != message || got.Mode != mode {
			b.t.Errorf("the site received %q in mode %s", got.Text, got.Mode)
		}
		b.idle()
		last := `article:last-of-type [data-message-author-role="assistant"][data-message-id] .markdown`
		b.has(last)
		if text := b.text(last); !strings.Contains(text, "{plx:run}printf '%s\\n'") || !strings.Contains(text, "{/plx:run}") || !strings.Contains(text, "漢字 🙂🏽") {
			b.t.Errorf("mode %s shows %q", mode, text)
		}
		if recap := b.text("article:last-of-type .thoughts button"); recap != "Thought for 2s" {
			b.t.Errorf("mode %s shows the recap %q", mode, recap)
		}
		count := get(b, chromedp.Evaluate[int](`document.querySelectorAll('article[data-testid^="conversation-turn-"]').length`))
		if count != 2*(i+1) {
			b.t.Errorf("mode %s: %d turns", mode, count)
		}
		if id := get(b, chromedp.Evaluate[string](`[...document.querySelectorAll('[data-message-author-role="user"]')].at(-1).dataset.messageId`)); id != got.MessageID {
			b.t.Errorf("the page has message %s, the site %s", id, got.MessageID)
		}
	}
	b.shot("modes")
}

func newChatGetsItsAddress(b *tab, site *Site) {
	b.open("/")
	b.do(chromedp.Evaluate[chromedp.Void](`(() => {
		window.seen = [];
		for (const f of ['pushState', 'replaceState']) {
			const real = history[f];
			history[f] = function (s, t, url) { seen.push(url); return real.apply(this, arguments) };
		}
	})()`))
	n := len(site.Log())
	b.send("mode plain")
	b.idle()
	id := after(b, site, n, KindMessage).Conversation
	seen := get(b, chromedp.Evaluate[[]string](`seen`))
	if len(seen) != 2 || !strings.HasPrefix(seen[0], "/c/WEB:") || seen[1] != "/c/"+id {
		b.t.Errorf("the address went through %q", seen)
	}
	b.until(`document.title === "mode plain - ChatGPT"`)
	b.has(`nav a[href="/c/` + id + `"]`)
}

func markdownSwallowsTags(b *tab, _ *Site) {
	b.open("/")
	b.send("mode plain")
	b.idle()
	html := get(b, chromedp.Evaluate[string](`document.querySelector('article:last-of-type .markdown').innerHTML`))
	if !strings.Contains(html, "angles") || strings.Contains(html, "&lt;b&gt;") || strings.Contains(html, "<b>") || !strings.Contains(html, "<strong>bold</strong>") {
		b.t.Errorf("rendered as %s", html)
	}
}

const pasteText = `((text) => {
	const data = new DataTransfer();
	data.setData('text/plain', text);
	document.querySelector('#prompt-textarea').dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
})`

func (b *tab) paste(text string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](pasteText + "(" + encode(text) + ")"))
}

func longPaste(b *tab, site *Site) {
	b.open("/")
	line := strings.Repeat("x", 99) + "\n"
	fits, over := strings.Repeat(line, 100), strings.Repeat(line, 100)+"y"
	b.paste(fits)
	b.until(findView + `.state.doc.textContent.length === 9900`)
	b.hasNot(`[aria-label="Pasted text.txt"]`)
	b.write("")

	b.paste(over)
	b.has(`form [role="group"][aria-label="Pasted text.txt"]`)
	b.has(`[data-testid="send-button"]`)
	b.shot("chip")
	b.has(`[data-testid="send-button"]:enabled`)
	b.press(`[aria-label="Remove pasted text attachment"]`)
	b.hasNot(`[aria-label="Pasted text.txt"]`)
	b.idle()

	b.paste(over)
	b.until(`(() => { const x = [...document.querySelectorAll('form button')].find(x => x.textContent === 'Show in text field'); x?.click(); return !!x })()`)
	b.until(findView + `.state.doc.textContent.length === 9901`)
	if got := b.typed(); got != over {
		b.t.Errorf("%d characters came back, want %d", len(got), len(over))
	}
	b.write("")

	// Inserted by a transaction, the same text is text.
	n := len(site.Log())
	b.send(over)
	if e := after(b, site, n, KindMessage); e.Text != over || len(e.Attachments) > 0 {
		b.t.Errorf("%d characters and %q were sent", len(e.Text), e.Attachments)
	}
	b.idle()

	n = len(site.Log())
	b.paste(over)
	b.write("see the file")
	b.press(`[data-testid="send-button"]:enabled`)
	if e := after(b, site, n, KindMessage); e.Text != "see the file" || !slices.Equal(e.Attachments, []string{"Pasted text.txt"}) {
		b.t.Errorf("%q and %q were sent", e.Text, e.Attachments)
	}
	b.idle()
}

func drafts(b *tab, _ *Site) {
	b.open("/")
	b.write("not sent\nyet")
	b.until(`(localStorage['oai/apps/conversationDrafts'] ?? '').includes('not sent')`)
	b.open("/")
	if got := b.typed(); got != "not sent\nyet" {
		b.t.Errorf("the draft is %q", got)
	}
	b.press(`[data-testid="send-button"]:enabled`)
	b.idle()
	b.open("/")
	if got := b.typed(); got != "" {
		b.t.Errorf("after sending, the draft is %q", got)
	}
}

func projectAndRedirect(b *tab, site *Site) {
	b.open("/")
	n := len(site.Log())
	b.press(`[data-testid="new-project-button"]`)
	b.has(`[role="dialog"] input[name="projectName"]`)
	b.do(chromedp.SendKeys(`input[name="projectName"]`, "plx-till"))
	b.press(`[role="radiogroup"][aria-label="Memory"] [role="radio"][data-memory="project-only"]`)
	b.has(`[data-memory="project-only"][aria-checked="true"]`)
	b.shot("project-dialog")
	b.press(`[data-testid="create-project-button"]:enabled`)
	made := after(b, site, n, KindProject)
	if made.Text != "plx-till" || made.Mode != "project-only" {
		b.t.Errorf("the project is %+v", made)
	}
	home := "/g/" + made.Project + "-plx-till"
	b.until(`location.pathname === ` + encode(home+"/project"))
	b.until(`!!` + findView)
	b.has(`nav a[data-testid="project-link"][href="` + home + `/project"]`)
	b.hasNot(`[role="dialog"]`)

	n = len(site.Log())
	b.send("mode plain")
	sent := after(b, site, n, KindMessage)
	b.idle()
	if sent.Project != made.Project || b.path() != home+"/c/"+sent.Conversation {
		b.t.Errorf("sent in %q at %s", sent.Project, b.path())
	}

	// At its short address the chat moves, and what was typed before is lost; what is typed after stays.
	b.open("/c/" + sent.Conversation)
	b.do(chromedp.Evaluate[chromedp.Void](`window.old = document.querySelector('#prompt-textarea'); 0`))
	b.write("lost on the way")
	b.until(`location.pathname === ` + encode(home+"/c/"+sent.Conversation))
	b.until(`document.querySelector('#prompt-textarea') !== old && !!` + findView)
	if got := b.typed(); got != "" {
		b.t.Errorf("the editor still has %q", got)
	}
	n = len(site.Log())
	b.send("mode thinking")
	if e := after(b, site, n, KindMessage); e.Conversation != sent.Conversation || e.Text != "mode thinking" {
		b.t.Errorf("after the move was sent %+v", e)
	}
	b.idle()
	b.open(home + "/project")
	b.has(`main a[href="` + home + `/c/` + sent.Conversation + `"]`)
}

func stopEndsTheAnswer(b *tab, site *Site) {
	b.open("/")
	arm(b.t, site, Fault{Name: FaultFreeze, At: 5})
	n := len(site.Log())
	b.send("mode plain")
	b.has(`form #composer-submit-button[data-testid="stop-button"][aria-label="Stop streaming"]`)
	after(b, site, n, KindFault)
	b.has(`article[data-turn="assistant"]`)
	b.shot("streaming")
	b.press(`[data-testid="stop-button"]`)
	after(b, site, n, KindStop)
	b.idle()
	after(b, site, n, KindEnd)
	b.send("mode plain")
	b.has(`[data-testid="conversation-turn-4"] [data-message-id]`)
}

func reloadInMidAnswer(b *tab, site *Site) {
	b.open("/")
	arm(b.t, site, Fault{Name: FaultSlow, Delay: 15})
	n := len(site.Log())
	b.send("mode plain")
	id := after(b, site, n, KindMessage).Conversation
	b.until(`location.pathname === "/c/` + id + `"`)
	b.do(chromedp.Reload())
	if e := after(b, site, n, KindResume); e.Conversation != id {
		b.t.Errorf("resumed %+v", e)
	}
	whole := after(b, site, n, KindEnd).Text
	b.has(`[data-testid="conversation-turn-2"] [data-message-id]`)
	if !strings.Contains(whole, "{/plx:run}") || !strings.Contains(b.text(`[data-testid="conversation-turn-2"] .markdown`), "{/plx:run}") {
		b.t.Errorf("the page shows %q", b.text(`[data-testid="conversation-turn-2"]`))
	}
}

func tooLong(b *tab, site *Site) {
	b.open("/")
	arm(b.t, site, Fault{Name: FaultTooLong})
	b.send("far\ntoo long")
	b.has(`[role="alert"]`)
	b.shot("too-long")
	if got := b.text(`[role="alert"]`); got != "The message you submitted was too long, please edit it and resubmit." {
		b.t.Errorf("the notice is %q", got)
	}
	b.until(findView + `?.state.doc.childCount === 2`)
	if got := b.typed(); got != "far\ntoo long" || b.path() != "/" {
		b.t.Errorf("the editor has %q at %s", got, b.path())
	}
	b.hasNot(`[data-message-author-role]`)
	b.press(`[data-testid="send-button"]:enabled`)
	b.has(`[data-testid="conversation-turn-2"] [data-message-id]`)
	b.hasNot(`[role="alert"]`)
}

func rateLimit(b *tab, site *Site) {
	b.open("/")
	arm(b.t, site, Fault{Name: FaultRateLimit})
	b.send("mode plain")
	b.has(`[role="dialog"] h2`)
	b.shot("rate-limit")
	if got := b.text(`[role="dialog"]`); !strings.HasPrefix(got, "Too many requests") || !strings.Contains(got, "few minutes") {
		b.t.Errorf("the dialog says %q", got)
	}
	b.press(`[role="dialog"] button`)
	b.hasNot(`[role="dialog"]`)
	b.press(`[data-testid="send-button"]:enabled`)
	b.has(`[data-testid="conversation-turn-2"] [data-message-id]`)
}

func errorCard(b *tab, site *Site) {
	b.open("/")
	arm(b.t, site, Fault{Name: FaultError, At: 10})
	b.send("mode thinking")
	card := `[data-testid="conversation-turn-2"] .error-card`
	b.has(card)
	b.shot("error")
	if got := b.text(card); !strings.HasPrefix(got, "Something went wrong") || !strings.HasSuffix(got, "Retry") {
		b.t.Errorf("the card says %q", got)
	}
	b.hasNot(`[data-testid="conversation-turn-2"] [role], [role="alert"]`)
	b.idle()
}

func cutAndRetry(b *tab, site *Site) {
	for _, mode := range []string{scenario.ModePlain, scenario.ModeHandoffWS} {
		b.open("/")
		arm(b.t, site, Fault{Name: FaultCut})
		n := len(site.Log())
		b.send("mode " + mode)
		b.has(`.error-card button`)
		if got := b.text(`.error-card`); !strings.HasPrefix(got, "A network error occurred") {
			b.t.Errorf("%s: the card says %q", mode, got)
		}
		after(b, site, n, KindEnd)
		b.press(`.error-card button`)
		b.hasNot(`.error-card`)
		b.has(`[data-testid="conversation-turn-2"] [data-message-id]`)
		if got := b.text(`[data-testid="conversation-turn-2"] .markdown`); !strings.Contains(got, "{/plx:run}") {
			b.t.Errorf("%s: after Retry the page shows %q", mode, got)
		}
	}
}

func swallowedClick(b *tab, site *Site) {
	b.open("/")
	n := len(site.Log())
	arm(b.t, site, Fault{Name: FaultSwallowClick})
	after(b, site, n, KindFaultArmed)
	// The log tells that the page was told; it acts on that a moment later.
	b.do(chromedp.Evaluate[chromedp.Void](`new Promise(r => setTimeout(r, 50))`, chromedp.EvalAwaitPromise))
	b.send("mode plain")
	if got := b.typed(); got != "mode plain" {
		b.t.Errorf("after the click that was swallowed, the editor has %q", got)
	}
	b.press(`[data-testid="send-button"]:enabled`)
	after(b, site, n, KindMessage)
	b.idle()
	sent := 0
	for _, e := range site.Log()[n:] {
		if e.Kind == KindMessage {
			sent++
		}
	}
	if sent != 1 {
		b.t.Errorf("%d messages were sent", sent)
	}
}

func picker(b *tab, _ *Site) {
	b.open("/")
	button := `[data-testid="model-switcher-dropdown-button"]`
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('` + button + `').click()`))
	if open := get(b, chromedp.Evaluate[bool](`!!document.querySelector('[role="menu"]')`)); open {
		b.t.Error("a bare click opens the menu; the real one opens on pointerdown only")
	}
	b.click(button)
	b.has(`body > [data-radix-popper-content-wrapper] [role="menu"][data-state="open"]`)
	b.shot("picker")
	b.click(`[role="menuitem"][data-testid="model-switcher-gpt-practice-thinking"]`)
	b.until(`document.querySelector('` + button + `').textContent.includes('Practice Thinking')`)
}

func missingChat(b *tab, _ *Site) {
	b.do(chromedp.Navigate("https://" + Host + "/c/00000000-0000-4000-8000-000000000000"))
	b.until(`document.body.textContent.includes('This content is unavailable')`)
	b.hasNot(`#prompt-textarea`)
}

// Before the app has started there is a plain textarea, and its send only leads to another page.
func TestSendBeforeHydrationSendsNothing(t *testing.T) {
	site, b := on(t, Config{Scenario: builtin(t, "echo"), Page: PageConfig{Hydration: time.Hour}})
	b.do(chromedp.Navigate("https://" + Host + "/"))
	b.has(`form[data-chatgpt-composer] textarea.wcDTda_fallbackTextarea[name="prompt-textarea"]`)
	b.do(chromedp.SendKeys(`#prompt-textarea`, "too early & lost"))
	n := len(site.Log())
	b.press(`[data-testid="send-button"]`)
	if e := after(b, site, n, KindPrefill); e.Text != "too early & lost" {
		t.Errorf("the page was opened with %q", e.Text)
	}
	for _, e := range site.Log() {
		if e.Kind != KindPage && e.Kind != KindPrefill {
			t.Errorf("this reached the site: %+v", e)
		}
	}
}

func TestOtherFormsOfThePage(t *testing.T) {
	site, b := on(t, Config{Scenario: builtin(t, "modes"), Page: PageConfig{Stop: "aria", Picker: "none", Hydration: -1}})
	b.open("/")
	b.hasNot(`[data-testid="model-switcher-dropdown-button"]`)
	arm(t, site, Fault{Name: FaultFreeze})
	n := len(site.Log())
	b.send("mode plain")
	b.has(`form button[aria-label="Stop"].size-token-button-composer:not([data-testid])`)
	after(b, site, n, KindFault)
	b.press(`form button[aria-label="Stop"]`)
	after(b, site, n, KindStop)
	b.idle()
	b.do(chromedp.EmulateViewport(390, 780), dark)
	b.has(`.bubble`)
	b.shot("narrow")
}

// dark makes the page think that the user likes it dark.
func dark(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
	_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	})
	return chromedp.Void{}, err
}

func TestSignedOutPage(t *testing.T) {
	_, b := on(t, Config{SignedOut: true})
	b.do(chromedp.Navigate("https://" + Host + "/"))
	b.has(`[data-testid="login-button"][href="/auth/login"]`)
}
