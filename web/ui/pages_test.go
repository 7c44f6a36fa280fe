package ui_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func (b *tab) goTo(page string) {
	b.t.Helper()
	js[any](b, fmt.Sprintf(`(location.hash = '#/%s', 0)`, page))
	b.until(`document.querySelector('main h1') !== null && document.querySelector('main .loading') === null`)
}

// fill replaces what a field holds and leaves it.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	b.do(chromedp.Focus(selector))
	js[any](b, `(document.activeElement.select(), 0)`)
	b.press(text + kb.Tab)
}

func TestSettings(t *testing.T) {
	d := newDaemon(t)
	b := newTab(t)
	b.open(d)
	b.goTo("settings")
	b.do(chromedp.Focus(`.page-search`))
	b.press("sign of life")
	b.until(`document.querySelectorAll('.field').length === 1`)
	field := `[id="setting-chat.watchdog"]`
	b.fill(field, "tomorrow")
	b.until(`document.querySelector('.field-error') !== null && document.querySelector('` + strings.ReplaceAll(field, `"`, `\"`) + `').getAttribute('aria-invalid') === 'true'`)
	b.fill(field, "90s")
	b.until(`document.querySelector('.field-error') === null && document.querySelector('.field').innerText.includes('Back to 5m')`)
	if got := d.plexus("config", "get", "chat.watchdog"); !strings.Contains(got, "90s") {
		t.Errorf("the CLI says %q", got)
	}
	js[any](b, `([...document.querySelectorAll('.field button')].find((x) => x.innerText.includes('Back to')).click(), 0)`)
	b.until(`!document.querySelector('.field').innerText.includes('Back to 5m')`)

	b.do(chromedp.Reload())
	b.until(`document.querySelector('[id="secret-model.api.key"]') !== null`)
	b.fill(`[id="secret-model.api.key"]`, "sk-very-secret")
	b.do(chromedp.Click(`form.field button[type=submit]`))
	b.until(`document.querySelector('[id="secret-model.api.key"]').placeholder.startsWith('Set')`)
	if strings.Contains(js[string](b, `document.documentElement.outerHTML`), "sk-very-secret") {
		t.Error("a secret that was set is still in the page")
	}
}

func TestFoldersAndRules(t *testing.T) {
	d := newDaemon(t)
	b := newTab(t)
	b.open(d)
	b.newThread(d, d.scenario(everything), "Show me everything")
	b.until(`document.querySelector('.approval') !== null`)
	b.do(chromedp.Focus(`.approval`))
	b.press("a")
	b.says("It was allowed.")
	b.goTo("folders")
	b.until(`document.querySelector('.rules')?.innerText.includes('echo asked > asked.txt')`)
	b.do(chromedp.Click(`.rules button`))
	b.until(`document.querySelector('.rules') === null`)

	// Another folder, by its path.
	more := filepath.Join(t.TempDir(), "more")
	if err := os.Mkdir(more, 0o755); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Click(`.page > .buttons .primary`))
	b.until(`document.querySelector('dialog[open] .dirs li') !== null`)
	b.fill(`.path-line input`, filepath.Dir(more))
	b.do(chromedp.Click(`.path-line [type=submit]`))
	b.until(`[...document.querySelectorAll('.dirs button')].some((x) => x.innerText.trim() === 'more')`)
	js[any](b, `([...document.querySelectorAll('.dirs button')].find((x) => x.innerText.trim() === 'more').click(), 0)`)
	b.until(`document.querySelector('.path-line input').value.endsWith('/more')`)
	b.do(chromedp.Click(`input[value=manual]`), chromedp.Click(`.dialog-foot .primary`))
	b.until(`document.querySelector('dialog') === null && document.querySelector('.page').innerText.includes('/more')`)
	if got := d.plexus("folders"); !strings.Contains(got, more) || !strings.Contains(got, "manual") {
		t.Errorf("the CLI says %q", got)
	}
}

func TestDoctorAndParse(t *testing.T) {
	d := newDaemon(t)
	b := newTab(t)
	b.open(d)
	b.goTo("doctor")
	b.until(`document.querySelectorAll('.checks li').length > 3`)
	b.goTo("parse")
	b.do(chromedp.Focus(`#reply`))
	b.press("{plx:note}Hm.{/plx:note}{plx:run timeout=\"5\"}ls{/plx:run}{plx:done}And done{/plx:done}")
	b.says("1 action")
	b.says("answer-dropped")
	b.says(`timeout="5"`)
}

// TestKeyboardAlone goes from the top of the page to a thread and to the shortcuts without a mouse.
func TestKeyboardAlone(t *testing.T) {
	d := newDaemon(t)
	b := newTab(t)
	b.open(d)
	b.newThread(d, d.scenario(everything), "Show me everything")
	b.until(`document.querySelector('.approval') !== null`)
	b.do(chromedp.Reload())
	b.until(`document.querySelector('.approval') !== null`)
	b.press(kb.Tab)
	b.until(`document.activeElement.classList.contains('skip')`)
	b.press(kb.Enter)
	b.until(`document.activeElement.id === 'main'`)
	b.press("j")
	b.until(`document.activeElement.classList.contains('action-head')`)
	b.press(kb.Enter)
	b.until(`document.activeElement.getAttribute('aria-expanded') === 'true'`)
	b.says("one")
	b.press("?")
	b.until(`document.querySelector('dialog[open] .shortcuts') !== null`)
	b.press(kb.Escape)
	b.until(`document.querySelector('dialog') === null && document.activeElement.classList.contains('action-head')`)
	b.press("/")
	b.until(`document.activeElement.id === 'search'`)
	b.press(kb.ArrowDown)
	b.until(`document.activeElement.hasAttribute('data-rove')`)
	b.press("c")
	b.until(`document.activeElement.id === 'composer'`)
	b.press(kb.Backspace) // the character that a real keyboard holds back when its key was taken
	b.press(kb.ArrowUp)
	b.until(`document.activeElement.value === 'Show me everything'`)
}
