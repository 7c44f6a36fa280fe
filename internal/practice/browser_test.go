package practice

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Pictures of what the tests see go to the folder in the environment variable PRACTICE_SHOTS, when it is set.

// browse starts headless Chromium on a site, as the extension finds it: under the real host name.
func browse(t *testing.T, site *Site) *tab {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("no Chromium on this machine")
		}
		t.Skip("no Chromium on this machine")
	}
	opts := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("headless", "new"), chromedp.Flag("lang", "en-US"), chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-background-networking", true),
		chromedp.WindowSize(1200, 800),
	}
	if os.Geteuid() == 0 {
		opts = append(opts, chromedp.NoSandbox)
	}
	for _, f := range site.ChromiumFlags() {
		name, value, _ := strings.Cut(strings.TrimPrefix(f, "--"), "=")
		opts = append(opts, chromedp.Flag(name, value))
	}
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(func() { chromedp.Cancel(ctx); cancel() })
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Listen(ctx, func(ev any) {
		if e, ok := ev.(*runtime.EventExceptionThrown); ok {
			t.Errorf("the page threw: %s", encode(e.ExceptionDetails))
		}
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(ctx, 120*time.Second)
	t.Cleanup(cancel)
	return &tab{t: t, ctx: ctx}
}

// tab is the page under test. Whatever fails in it fails the test.
type tab struct {
	t   *testing.T
	ctx context.Context
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

func get[T any](b *tab, a chromedp.Action[T]) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, a)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// until waits for an expression to be true.
func (b *tab) until(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 15*time.Second)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](expression)); err != nil {
		b.shot("failed " + strings.ReplaceAll(b.t.Name(), "/", " "))
		b.t.Fatalf("wait for %s: %v", expression, err)
	}
}

// open loads an address and waits for the editor.
func (b *tab) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate("https://" + Host + path))
	b.until(`!!` + findView)
}

// write puts text into the editor as the extension does, by a transaction.
func (b *tab) write(text string) {
	b.t.Helper()
	if got := get(b, chromedp.Evaluate[string](insert+"("+encode(text)+")")); got != "ok" {
		b.t.Fatalf("insert: %s", got)
	}
}

func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(selector, chromedp.NodeVisible))
}

func (b *tab) send(text string) {
	b.t.Helper()
	b.write(text)
	b.press(`[data-testid="send-button"]:enabled`)
}

// press waits for a button and presses it by script, wherever it may be moving to.
func (b *tab) press(selector string) {
	b.t.Helper()
	b.until(`(() => { const x = document.querySelector(` + encode(selector) + `); x?.click(); return !!x })()`)
}

// has waits until a selector matches; hasNot until none does.
func (b *tab) has(selector string) {
	b.t.Helper()
	b.until(`!!document.querySelector(` + encode(selector) + `)`)
}

func (b *tab) hasNot(selector string) {
	b.t.Helper()
	b.until(`!document.querySelector(` + encode(selector) + `)`)
}

// text is what a part of the page says.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return get(b, chromedp.Evaluate[string](`document.querySelector(`+encode(selector)+`)?.textContent ?? ""`))
}

func (b *tab) path() string {
	b.t.Helper()
	return get(b, chromedp.Evaluate[string](`location.pathname`))
}

// typed is the text of the editor's document, as it would be sent.
func (b *tab) typed() string {
	b.t.Helper()
	return get(b, chromedp.Evaluate[string](findView+`?.state.doc.textBetween(0, `+findView+`.state.doc.content.size, "\n") ?? "no editor"`))
}

// idle waits until no answer is on its way.
func (b *tab) idle() {
	b.t.Helper()
	b.has(`[data-testid="composer-speech-button"]`)
}

// findView is the way to the editor that is left when nothing exposes it: through the fibers above its node.
const findView = `(() => {
	const node = document.querySelector('#prompt-textarea.ProseMirror[contenteditable=true]');
	if (!node) return null;
	const isView = x => x && typeof x === 'object' && typeof x.dispatch === 'function' && x.state && x.dom === node;
	const within = x => isView(x) ? x : x && typeof x === 'object' && isView(x.current) ? x.current : null;
	let el = node.parentElement, key;
	for (let i = 0; el && i < 12; i++, el = el.parentElement) {
		key = Object.keys(el).find(k => k.startsWith('__reactFiber$'));
		if (key) break;
	}
	for (let f = el && el[key], i = 0; f && i < 40; f = f.return, i++) {
		for (let h = f.memoizedState, n = 0; h && typeof h === 'object' && n < 60; h = h.next, n++) {
			const v = within(h.memoizedState);
			if (v) return v;
		}
	}
	return null;
})()`

const insert = `((text) => {
	const view = ` + findView + `;
	if (!view) return 'no view';
	const {schema} = view.state;
	const lines = text.split('\n').map(l => schema.nodes.paragraph.create(null, l ? schema.text(l) : null));
	view.dispatch(view.state.tr.replaceWith(0, view.state.doc.content.size, lines));
	return 'ok';
})`

// shot keeps a picture where PRACTICE_SHOTS says, for eyes.
func (b *tab) shot(name string) {
	b.t.Helper()
	dir := os.Getenv("PRACTICE_SHOTS")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), get(b, chromedp.CaptureScreenshot()), 0o644); err != nil {
		b.t.Fatal(err)
	}
}
