// Package ui_test tests the web UI in a real browser: its pure parts by themselves, and the page against a real daemon.
package ui_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"plexus/internal/chromium"
)

// tabBound is how long any one test may take in the browser.
const tabBound = 120 * time.Second

// browser is the context of the Chromium that the tests share.
var browser context.Context

// tab is a page. Whatever fails or is thrown in it fails the test.
type tab struct {
	t   testing.TB
	ctx context.Context
}

// startBrowser starts the Chromium that all tests share and returns the context of its tabs.
func startBrowser(profile string) (context.Context, func(), error) {
	path, err := chromium.Find()
	if err != nil {
		return nil, nil, fmt.Errorf("%w: run `make chromium`", err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.UserDataDir(profile), chromedp.WindowSize(1400, 900))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses its sandbox to root
	}
	ctx, endAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(ctx)
	stop := func() { _ = chromedp.Cancel(ctx); end(); endAllocator() }
	if err := chromedp.Do(ctx); err != nil {
		stop()
		return nil, nil, fmt.Errorf("start %s: %w", path, err)
	}
	return ctx, stop, nil
}

// newTab opens a tab that shares nothing with the others: no storage, no cache.
func newTab(t testing.TB) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(func() { _ = chromedp.Cancel(ctx); cancel() })
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1400, 900)); err != nil {
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
	ctx, cancel = context.WithTimeout(ctx, tabBound)
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
