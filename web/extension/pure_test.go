package extension_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"

	"plexus/internal/chromium"
)

// laboratory is an empty page that has the extension's functions as "plexus".
func laboratory(t *testing.T) func(expression string, result any) {
	t.Helper()
	t.Parallel()
	if _, err := chromium.Find(); errors.Is(err, chromium.ErrMissing) {
		t.Skip(err)
	}
	built := api.Build(api.BuildOptions{
		EntryPoints: []string{"testdata/exports.ts"}, Bundle: true, Format: api.FormatIIFE, GlobalName: "plexus", Target: api.ES2024,
	})
	if len(built.Errors) > 0 {
		t.Fatal(built.Errors)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	profile := filepath.Join(t.TempDir(), "profile")
	// A page of the loopback has what only pages with TLS have elsewhere.
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<!doctype html><title>Laboratory</title><body>Laboratory</body>")
	}))
	t.Cleanup(srv.Close)
	browser, err := chromium.Start(ctx, chromium.Options{Profile: profile, Flags: []string{"--remote-debugging-port=0"}, Headless: true, URL: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(browser.Close)
	tools := attach(t, ctx, profile)
	page := tools.session(tools.find("page", ""))
	tools.shows(page, "Laboratory")
	tools.eval(page, string(built.OutputFiles[0].Contents)+"; globalThis.plexus = plexus; 0", nil)
	return func(expression string, result any) {
		t.Helper()
		tools.eval(page, expression, result)
	}
}

func TestPureParts(t *testing.T) {
	eval := laboratory(t)
	// Each row is an expression and what it is, as JSON.
	for _, row := range []struct{ name, expression, want string }{
		{"place: chat", `plexus.chatgpt.place('https://chatgpt.com/c/6a00-c')`, `{"conversation":"6a00-c","project":"","passing":false}`},
		{"place: project chat", `plexus.chatgpt.place('https://chatgpt.com/g/g-p-0123456789abcdef0123456789abcdef-plx-shop/c/6a00-c?x=1#y')`, `{"conversation":"6a00-c","project":"g-p-0123456789abcdef0123456789abcdef","passing":false}`},
		{"place: passing", `plexus.chatgpt.place('https://chatgpt.com/c/WEB:6a00')`, `{"conversation":"","project":"","passing":true}`},
		{"place: shared", `plexus.chatgpt.place('https://chatgpt.com/share/6a00')`, `{"conversation":"","project":"","passing":false}`},
		{"place: elsewhere", `plexus.chatgpt.place('https://chatgpt.com.example/c/6a00')`, `{"conversation":"","project":"","passing":false}`},
		{"place: nonsense", `plexus.chatgpt.place('::')`, `{"conversation":"","project":"","passing":false}`},
		{"same: chat and project chat", `plexus.chatgpt.samePlace('https://chatgpt.com/g/g-p-0123456789abcdef0123456789abcdef/c/a', 'https://chatgpt.com/c/a')`, `true`},
		{"same: other chat", `plexus.chatgpt.samePlace('https://chatgpt.com/c/b', 'https://chatgpt.com/c/a')`, `false`},
		{"same: chat for a new one", `plexus.chatgpt.samePlace('https://chatgpt.com/c/b', 'https://chatgpt.com/')`, `false`},
		{"same: passing for a new one", `plexus.chatgpt.samePlace('https://chatgpt.com/c/WEB:b', 'https://chatgpt.com/')`, `false`},
		{"same: project by name or not", `plexus.chatgpt.samePlace('https://chatgpt.com/g/g-p-0123456789abcdef0123456789abcdef-a/project', 'https://chatgpt.com/g/g-p-0123456789abcdef0123456789abcdef/project')`, `true`},
		{"same: query counts", `plexus.chatgpt.samePlace('https://chatgpt.com/?temporary-chat=true', 'https://chatgpt.com/')`, `false`},

		{"send", `plexus.chatgptWire.isSend('post', new URL('https://chatgpt.com/backend-api/f/conversation'))`, `true`},
		{"send: older", `plexus.chatgptWire.isSend('POST', new URL('https://chatgpt.com/backend-api/conversation'))`, `true`},
		{"no send: prepare", `plexus.chatgptWire.isSend('POST', new URL('https://chatgpt.com/backend-api/f/conversation/prepare'))`, `false`},
		{"no send: resume", `plexus.chatgptWire.isSend('POST', new URL('https://chatgpt.com/backend-api/f/conversation/resume'))`, `false`},
		{"no send: list", `plexus.chatgptWire.isSend('GET', new URL('https://chatgpt.com/backend-api/conversations?offset=0'))`, `false`},
		{"no send: read", `plexus.chatgptWire.isSend('GET', new URL('https://chatgpt.com/backend-api/conversation'))`, `false`},
		{"body", `plexus.chatgptWire.readSend('{"messages":[{"id":"m1","content":{"parts":["a","b",{}]}}],"conversation_id":"c1"}')`, `{"messageId":"m1","conversationId":"c1","text":"a\nb\n"}`},
		{"body: new chat", `plexus.chatgptWire.readSend('{"messages":[{"id":"m1"}]}')`, `{"messageId":"m1","conversationId":"","text":""}`},
		{"body: odd", `['', 'x', 'null', '[]', '{"messages":{}}', '{"messages":[null]}', '{"messages":[{"id":7}],"conversation_id":{}}'].map(b => Object.values(plexus.chatgptWire.readSend(b)).join(''))`, `["","","","","","",""]`},

		{"reset: span", `plexus.resetTime('Try again in 12 minutes.', new Date('2026-01-01T10:00:00Z'))`, `"2026-01-01T10:12:00.000Z"`},
		{"reset: none", `plexus.resetTime('Please wait a few minutes.', new Date())`, `null`},
		{"reset: clock", `(() => { const n = new Date(2026, 0, 1, 10, 0); return plexus.resetTime('resets after 3:40 PM', n).getTime() - n.getTime(); })()`, `20400000`},
		{"reset: tomorrow", `(() => { const n = new Date(2026, 0, 1, 22, 0); return plexus.resetTime('until 9:00 AM', n).getTime() - n.getTime(); })()`, `39600000`},
		{"reset: no such hour", `plexus.resetTime('after 27:40', new Date())`, `null`},

		{"bare", "plexus.bare(' a\\u00a0b\\n\\n\\u200bc\\ufeff\\td ')", `"abcd"`},
		{"fingerprint", `Promise.all([plexus.fingerprint('a b'), plexus.fingerprint('a\nb'), plexus.fingerprint('a c')]).then(([x, y, z]) => [x === y, x === z, x.length])`, `[true,false,32]`},

		{"shape", `['{"type":"sleep","n":1,"ms":2}', '{"type":"sleep","n":"1","ms":2}', '{"type":"sleep","n":1}', '{"type":"odd"}', '{"type":"toString"}', '7', 'null', '{"type":"notice","turn":"t","code":"c","text":"x","until":4}', '{"type":"answer","id":"1","error":null}'].map(m => plexus.checked(plexus.fromContent, JSON.parse(m)) !== null)`, `[true,false,false,false,false,false,false,false,false]`},
		{"daemon", `plexus.parseToWorker({type: 'ping', n: 4, more: 1}).n`, `4`},
		{"daemon: unknown", `plexus.parseToWorker({type: 'constructor'}) === undefined`, `true`},
		{"daemon: malformed", `['7', 'null', '[]', '{}', '{"type":7}', '{"type":"ping"}', '{"type":"ping","n":1.5}', '{"type":"proceed","id":"a","turn":"t","go":"yes"}', '{"type":"welcome","version":"1","token":7}'].map(m => { try { plexus.parseToWorker(JSON.parse(m)); return 'taken'; } catch (e) { return e.constructor.name; } }).join()`, `"TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got string
			eval("Promise.resolve("+row.expression+").then(v => JSON.stringify(v))", &got)
			if got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

func TestRenderedText(t *testing.T) {
	eval := laboratory(t)
	for _, row := range []struct{ name, html, want string }{
		{"paragraphs", "<p>one\ntwo</p><p>three</p>", "one\ntwo\n\nthree"},
		{"breaks", "<p>one<br>two</p>", "one\ntwo"},
		{"marks", "<p><strong>b</strong> <em>i</em> <code>c &lt;d&gt;</code></p>", "**b** *i* `c <d>`"},
		{"heading", "<h2>Head</h2><p>text</p>", "## Head\n\ntext"},
		{"list", "<ul><li>one</li><li><p>two</p><p>more</p></li></ul><p>end</p>", "- one\n- two\n\n  more\n\nend"},
		{"numbers", `<ol start="3"><li>one</li><li>two</li></ol>`, "3. one\n4. two"},
		{"code", `<pre><div class="code-head"><span>bash</span><button>Copy code</button></div><code class="language-bash">ls  -l
  echo "x"
</code></pre>`, "```bash\nls  -l\n  echo \"x\"\n```"},
		{"code in its own frame", `<pre><div><div>go</div><div><button>Copy</button></div><div><code>x := 1</code></div></div></pre>`, "```\nx := 1\n```"},
		{"quote", "<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"},
		{"links", `<p><a href="https://a.example/x">here</a> <a href="https://a.example/">https://a.example/</a></p>`, "[here](https://a.example/x) https://a.example/"},
		{"furniture", `<p>text</p><button>Copy</button><svg><title>x</title></svg>`, "text"},
		{"a tag on three lines", "<p>{plx:run}\nls &amp;&amp; pwd\n{/plx:run}</p>", "{plx:run}\nls && pwd\n{/plx:run}"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got string
			eval(`(() => { const d = document.createElement('div'); d.innerHTML = `+encode(row.html)+`; return plexus.renderedText(d); })()`, &got)
			if got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

// transcript is a page of the site with one exchange, an answer and what else is there.
func transcript(answer, more string) string {
	return `<main><article data-turn="user" data-turn-id="a"><div data-message-author-role="user" data-message-id="m1"><div class="whitespace-pre-wrap">do  it
now</div><button>Show more</button></div></article>
<article data-turn="assistant" data-turn-id="b"><div data-message-author-role="assistant"><div class="markdown"></div></div><div data-message-author-role="assistant" data-message-id="m2"><div class="markdown">` +
		answer + `</div></div></article>` + more + `<form data-chatgpt-composer><div id="prompt-textarea" class="ProseMirror" contenteditable="true"></div></form></main>`
}

func TestReplyInThePage(t *testing.T) {
	eval := laboratory(t)
	stop := `<form data-chatgpt-composer><div id="prompt-textarea" contenteditable="true"></div><button aria-label="Stop"></button></form>`
	for _, row := range []struct{ name, page, asked, want string }{
		{"complete", transcript("<p>{plx:done}yes{/plx:done}</p>", ""), `{messageId: 'm1', text: ''}`, `"{plx:done}yes{/plx:done}"`},
		{"by text", transcript("<p>{plx:done}yes{/plx:done}</p>", ""), `{messageId: '', text: 'do it\n\nnow'}`, `"{plx:done}yes{/plx:done}"`},
		{"by its letters", transcript("<p>{plx:done}yes{/plx:done}</p>", ""), `{messageId: '', text: '**do** it now!'}`, `"{plx:done}yes{/plx:done}"`},
		{"self-closing", transcript(`<p>{plx:read path="a" /}</p>`, ""), `{messageId: 'm1', text: ''}`, `"{plx:read path=\"a\" /}"`},
		{"loose closer", transcript("<p>{plx:done}yes{ / plx:done }</p>", ""), `{messageId: 'm1', text: ''}`, `"{plx:done}yes{ / plx:done }"`},
		{"in a fence", transcript("<pre><code>{plx:done}yes{/plx:done}</code></pre>", ""), `{messageId: 'm1', text: ''}`, "\"```\\n{plx:done}yes{/plx:done}\\n```\""},
		{"unfinished", transcript("<p>{plx:done}yes</p>", ""), `{messageId: 'm1', text: ''}`, `null`},
		{"no tags", transcript("<p>yes</p>", ""), `{messageId: 'm1', text: ''}`, `null`},
		{"of another message", transcript("<p>{plx:done}yes{/plx:done}</p>", ""), `{messageId: 'm9', text: ''}`, `null`},
		{"nothing to know it by", transcript("<p>{plx:done}yes{/plx:done}</p>", ""), `{messageId: '', text: ''}`, `null`},
		{"still generating", strings.Replace(transcript("<p>{plx:done}yes{/plx:done}</p>", ""), "<main>", "<main>"+stop, 1), `{messageId: 'm1', text: ''}`, `null`},
		{"a dictation can be stopped too", transcript("<p>{plx:done}yes{/plx:done}</p>", `<button aria-label="Stop dictation"></button>`), `{messageId: 'm1', text: ''}`, `"{plx:done}yes{/plx:done}"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got string
			eval(`(document.body.innerHTML = `+encode(row.page)+`, JSON.stringify(plexus.reply(plexus.chatgpt, `+row.asked+`)))`, &got)
			if got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

func TestNoticesInThePage(t *testing.T) {
	eval := laboratory(t)
	for _, row := range []struct{ name, page, want string }{
		{"nothing", transcript("<p>Too many requests, said the answer. Something went wrong.</p>", ""), ""},
		{"too long", transcript("", `<div role="alert">The message you submitted was too long, please edit it and resubmit.</div>`), "too-long"},
		{"limit", transcript("", `<div role="dialog" data-state="open"><h2>Too many requests</h2>You're making requests too quickly.</div>`), "rate-limited"},
		{"a closed dialog", transcript("", `<div role="dialog" data-state="closed"><h2>Too many requests</h2></div>`), ""},
		{"error card", transcript(`<p>half</p></div></div><div class="card">Something went wrong. <button>Retry</button>`, ""), "site-error"},
		{"delivery", transcript("", `<div role="alert">Message delivery timed out. Please try again.</div>`), "site-error"},
		{"network", transcript("", `<div role="alert">A network error occurred. Please check your connection and try again.</div>`), "network"},
		{"two, the worse first", transcript("", `<div role="alert">Something went wrong.</div><div role="alert">Too many requests</div>`), "rate-limited,site-error"},
		{"signed out", `<main><h1>Welcome back</h1><a data-testid="login-button" href="/auth/login">Log in</a></main>`, "signed-out"},
		{"signed in with a login link", `<a href="/auth/login">x</a><button data-testid="accounts-profile-button"></button>` + transcript("", ""), ""},
		{"challenge", `<form id="challenge-form"></form>`, "verification"},
		{"gone", `<main><h1>This content is unavailable</h1></main>`, "chat-gone"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got string
			eval(`(document.body.innerHTML = `+encode(row.page)+`, plexus.chatgpt.notices(document).map(n => n.code).join())`, &got)
			if got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestComposerInThePage(t *testing.T) {
	eval := laboratory(t)
	editor := `<div id="prompt-textarea" class="ProseMirror" contenteditable="true">x</div>`
	for _, row := range []struct{ name, page, want string }{
		{"before the app", `<form data-chatgpt-composer><textarea id="prompt-textarea"></textarea><button data-testid="send-button">s</button></form>`, `hydrating send`},
		{"nothing", `<main></main>`, `missing`},
		{"off", `<form><div id="prompt-textarea" contenteditable="false"></div></form>`, `disabled`},
		{"empty", `<form>` + editor + `<button data-testid="composer-speech-button" aria-label="Start voice mode"></button></form>`, `ready`},
		{"send", `<form>` + editor + `<button id="composer-submit-button" aria-label="Send prompt">s</button></form>`, `ready send`},
		{"localised send", `<form>` + editor + `<button id="composer-submit-button" aria-label="Senden">s</button></form>`, `ready send`},
		{"stop", `<form>` + editor + `<button id="composer-submit-button" data-testid="stop-button" aria-label="Stop streaming">s</button></form>`, `ready stop`},
		{"newer stop", `<form>` + editor + `<button type="button" aria-label="Stop" class="size-token-button-composer">s</button></form>`, `ready stop`},
		{"stop elsewhere", `<button aria-label="Stop reading">r</button><button aria-label="Stop">p</button><form>` + editor + `<button aria-label="Stop dictation"></button></form>`, `ready`},
		{"a page that is kept", `<div hidden><form>` + editor + `<button data-testid="stop-button"></button></form></div><form><textarea id="prompt-textarea"></textarea></form>`, `hydrating`},
		{"chip", `<form><button aria-label="Remove pasted text attachment">x</button><button aria-label="Remove file a.txt">x</button><button aria-label="Add files and more">+</button>` + editor + `</form>`, `ready 2 attached`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got string
			eval(`(() => {
				document.body.innerHTML = `+encode(row.page)+`;
				const s = plexus.chatgpt, said = [s.composerState(document)];
				if (s.sendButton(document)) said.push('send');
				if (s.stopButton(document)) said.push('stop');
				const n = s.attachmentRemovers(document).length;
				if (n > 0) said.push(n + ' attached');
				return said.join(' ');
			})()`, &got)
			if got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestUpdatesAreNumberedAndHeld(t *testing.T) {
	eval := laboratory(t)
	var got string
	eval(`(() => {
		const said = [];
		let taken = true;
		const u = new plexus.Updates('t', 5, (x) => (said.push(x.n + x.stream + x.event + (x.data ?? '')), taken));
		u.add({stream: 'a', event: 'open', source: 'fetch', url: 'u'});
		u.add({stream: 'a', event: 'data', data: '1'});   // waits: one is under way
		u.add({stream: 'a', event: 'data', data: '2'});   // joins it
		u.add({stream: 'w', event: 'open', source: 'websocket'});
		u.add({stream: 'w', event: 'data', data: 'x'});
		u.add({stream: 'w', event: 'data', data: 'y'});   // whole in itself
		u.taken();
		said.push('|');
		u.acknowledge(6);
		taken = false;                                    // nobody is there
		u.taken();
		u.add({stream: 'a', event: 'data', data: '3'});
		u.add({stream: 'a', event: 'close'});
		said.push('|', JSON.stringify(u.resume(8)), '|', JSON.stringify(u.resume(1)), '|', JSON.stringify(u.resume(99)), u.lastN);
		return said.join(' ');
	})()`, &got)
	want := `5aopen 6adata12 7wopen 8wdatax 9wdatay | ` + // a batch after the first
		`10adata3 11aclose ` + // offered, and not taken
		`8wdatax 9wdatay 10adata3 11aclose 7wopen 8wdatax 9wdatay 10adata3 11aclose ` + // from 8, from 1
		`| {"first":8,"last":11} | {"first":7,"last":11} | {"first":0,"last":0} 11`
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestSelectorsStayWithTheSite keeps the knowledge of a site's pages in the site's folder.
func TestSelectorsStayWithTheSite(t *testing.T) {
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".ts") || strings.HasPrefix(filepath.ToSlash(name), "sites/chatgpt/") {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, word := range []string{"querySelector", ".matches(", ".closest(", "chatgpt.com", "backend-api", "data-testid", "aria-label", "prompt-textarea"} {
			if strings.Contains(string(text), word) {
				t.Errorf("%s has %q: it belongs into sites/", name, word)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
