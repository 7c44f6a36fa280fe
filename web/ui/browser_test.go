// Package ui_test tests the web UI in a real browser: its pure parts by themselves, and the page against a real daemon.
package ui_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"plexus/internal/chromium"
)

// browserBound is how long any one test may take in the browser.
const browserBound = 120 * time.Second

// tab is a page in a Chromium of its own. Whatever fails or is thrown in it fails the test.
type tab struct {
	t   *testing.T
	ctx context.Context
}

func newTab(t *testing.T) *tab {
	t.Helper()
	path, err := chromium.Find()
	if err != nil {
		t.Fatalf("%v: run `make chromium`", err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1400, 900))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses its sandbox to root
	}
	ctx, cancel := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx); cancel() })
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Listen(ctx, func(ev any) {
		if e, ok := ev.(*runtime.EventExceptionThrown); ok {
			raw, _ := json.Marshal(e.ExceptionDetails)
			t.Errorf("the page threw: %s", raw)
		}
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(ctx, browserBound)
	t.Cleanup(cancel)
	return &tab{t: t, ctx: ctx}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// js evaluates an expression; a promise is awaited.
func js[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits for an expression to become true.
func (b *tab) until(expression string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(20*time.Second))); err != nil {
		body := js[string](b, `document.body.innerText`)
		b.t.Fatalf("wait for %s: %v; the page says:\n%s", expression, err, body)
	}
}
