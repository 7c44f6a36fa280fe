//go:build linux

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"

	"plexus/internal/chromium"
	"plexus/internal/store"
)

// Who may do what: every way of a web page, of another program and of another extension to a daemon that is at work.

// tab is a page of a Chromium of the test's own.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// browse starts a Chromium in which the given host names are the loopback.
func browse(t *testing.T, hosts ...string) *tab {
	t.Helper()
	path, err := chromium.Find()
	if err != nil {
		t.Fatalf("%v: run `make chromium`", err)
	}
	var rules []string
	for _, host := range hosts {
		rules = append(rules, "MAP "+host+" 127.0.0.1")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("host-resolver-rules", strings.Join(rules, ",")), chromedp.Flag("disable-popup-blocking", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses its sandbox to root
	}
	ctx, endAllocator := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	ctx, end := chromedp.NewContext(ctx)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx); end(); endAllocator() })
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*bound)
	t.Cleanup(cancel)
	return &tab{t, ctx}
}

func (b *tab) open(url string) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, chromedp.Navigate(url)); err != nil {
		b.t.Fatalf("open %s: %v", url, err)
	}
}

// js evaluates an expression in the page; a promise is awaited.
func (b *tab) js(expression string) string {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%.300s: %v", expression, err)
	}
	return v
}

// until waits for an expression to become true, also on the page that comes next.
func (b *tab) until(expression string) {
	b.t.Helper()
	for {
		_, err := chromedp.Run(b.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(bound)))
		if err == nil {
			return
		}
		if text := err.Error(); !strings.Contains(text, "Cannot find context") && !strings.Contains(text, "navigated or closed") { // the page went away
			b.t.Fatalf("wait for %s: %v; the page says:\n%s", expression, err, b.js(`document.body.innerText`))
		}
	}
}

// attacks are what a page tries, as the body of an async function of (base, token, approval): base is the origin to attack.
// Each returns what it got hold of, "" for nothing. The token is the daemon's own, as if it had leaked: not even with it may a
// page of another origin do anything.
var attacks = map[string]string{
	"get":               `return (await fetch(base + '/api/state')).text()`,
	"get files":         `return (await fetch(base + '/')).text()`,
	"get with token":    `return (await fetch(base + '/api/state', {headers: {Authorization: 'Bearer ' + token}})).text()`,
	"get opaque":        `return (await fetch(base + '/api/state', {mode: 'no-cors', credentials: 'include'})).text()`,
	"get xhr":           `return new Promise((ok, no) => { const x = new XMLHttpRequest(); x.onload = () => ok(x.responseText); x.onerror = no; x.open('GET', base + '/api/state'); x.send() })`,
	"post simple":       `return (await fetch(base + '/api/folders', {method: 'POST', headers: {'Content-Type': 'text/plain'}, body: '{"path":"/usr"}'})).text()`,
	"post opaque":       `return (await fetch(base + '/api/folders', {method: 'POST', mode: 'no-cors', body: '{"path":"/usr"}'})).text()`,
	"post preflight":    `return (await fetch(base + '/api/folders', {method: 'POST', headers: {'Content-Type': 'application/json', Authorization: 'Bearer ' + token}, body: '{"path":"/usr"}'})).text()`,
	"approve":           `return (await fetch(base + '/api/approvals/' + approval, {method: 'POST', headers: {'Content-Type': 'application/json', Authorization: 'Bearer ' + token}, body: '{"decision":"allow"}'})).text()`,
	"put":               `return (await fetch(base + '/api/settings/folder.level', {method: 'PUT', headers: {Authorization: 'Bearer ' + token}, body: '{"value":"full"}'})).text()`,
	"delete":            `return (await fetch(base + '/api/settings/folder.level', {method: 'DELETE', headers: {Authorization: 'Bearer ' + token}})).text()`,
	"shutdown":          `return (await fetch(base + '/api/shutdown', {method: 'POST', mode: 'no-cors'})).text()`,
	"session":           `return (await fetch(base + '/api/session', {method: 'POST', mode: 'no-cors', body: '{"key":"x"}'})).text()`,
	"beacon":            `if (!navigator.sendBeacon(base + '/api/folders', '{"path":"/usr"}')) throw 'not sent'; return ''`,
	"form in a frame":   form("_frame"),
	"form in a tab":     form("_blank"),
	"link":              socket("/link"),
	"socket to the API": socket("/api/stream"),
	"event source":      `return new Promise((ok, no) => { const s = new EventSource(base + '/api/stream'); s.onopen = () => ok('open'); s.onmessage = (e) => ok(e.data); s.onerror = no })`,
	"image":             element(`new Image()`, "/icon.svg", "src"),
	"script":            element(`document.createElement('script')`, "/main.js", "src"),
	"style":             element(`Object.assign(document.createElement('link'), {rel: 'stylesheet'})`, "/style.css", "href"),
	"module":            `return JSON.stringify(Object.keys(await import(base + '/main.js'))) + 'imported'`,
	"frame": `const f = document.createElement('iframe'); f.src = base + '/'; document.body.append(f);
		await new Promise((ok) => f.onload = ok); return f.contentDocument ? f.contentDocument.body.innerText : ''`,
	"opened window": `const w = open(base + '/'); for (let i = 0; i < 40 && w && !w.closed && w.length === 0; i++) await new Promise((ok) => setTimeout(ok, 25));
		return w && !w.closed && w.length > 0 ? 'frames can be counted' : ''`,
}

func form(target string) string {
	return `const f = document.createElement('form'); f.method = 'POST'; f.enctype = 'text/plain'; f.action = base + '/api/folders'; f.target = '` + target + `';
		if (f.target === '_frame') { const i = document.createElement('iframe'); i.name = '_frame'; document.body.append(i); }
		const i = document.createElement('input'); i.name = '{"path":"/usr","name":"'; i.value = '"}'; f.append(i); document.body.append(f); f.submit();
		await new Promise((ok) => setTimeout(ok, 100)); return ''`
}

func socket(path string) string {
	return `return new Promise((ok, no) => { const s = new WebSocket(base.replace('http', 'ws') + '` + path + `'); s.onopen = () => ok('open'); s.onerror = no })`
}

func element(make, path, attr string) string {
	return `return new Promise((ok, no) => { const e = ` + make + `; e.onload = () => ok('loaded'); e.onerror = no; e.` + attr + ` = base + '` + path + `'; document.body.append(e) })`
}

// attack runs one attack and returns what it got hold of.
func (b *tab) attack(name, base, token, approval string) string {
	b.t.Helper()
	data, err := json.Marshal([]string{base, token, approval})
	if err != nil {
		b.t.Fatal(err)
	}
	return b.js(fmt.Sprintf(`(async (base, token, approval) => { %s })(...%s).then((got) => String(got), () => '')`, attacks[name], data))
}

// naive is what a local server without a guard looks like. It shows that each attack is a real one: the same request reaches it.
type naive struct {
	mu   sync.Mutex
	seen []string // "METHOD path"
}

func (n *naive) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE")
	h.Set("Access-Control-Allow-Headers", "*, Authorization, Content-Type")
	if r.Method == http.MethodOptions {
		return
	}
	n.mu.Lock()
	n.seen = append(n.seen, r.Method+" "+r.URL.Path)
	n.mu.Unlock()
	switch {
	case r.Header.Get("Upgrade") != "":
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
		if err == nil {
			_ = conn.CloseNow()
		}
	case r.URL.Path == "/icon.svg":
		h.Set("Content-Type", "image/svg+xml")
		_, _ = w.Write([]byte(`<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>`))
	case r.URL.Path == "/main.js":
		h.Set("Content-Type", "text/javascript")
	case r.URL.Path == "/style.css":
		h.Set("Content-Type", "text/css")
	case r.URL.Path == "/api/stream":
		h.Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: x\n\n"))
	case r.URL.Path == "/":
		h.Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>naive</title>a page<iframe></iframe>"))
	default:
		_, _ = w.Write([]byte(`{"all":"yours"}`))
	}
}

// reached waits until the requests that the attacks make have come and returns how many did.
func (n *naive) reached() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.seen)
}

// shot is everything that a web page could have changed.
type shot struct {
	Folders, Threads, Settings, Secrets, Approvals, Pairings string
	Running                                                  bool
}

func (h *home) shot() shot {
	h.t.Helper()
	raw := func(path string) string {
		var data []byte
		h.get(path, &data)
		return string(data)
	}
	return shot{raw("/api/folders"), raw("/api/threads"), raw("/api/settings"), raw("/api/secrets"), raw("/api/approvals"), fmt.Sprint(h.pairings()),
		alive(h.daemon.Process.Pid)}
}

// pairings are the codes that wait for a person.
func (h *home) pairings() []string {
	h.t.Helper()
	var state struct{ Pairings []struct{ Code string } }
	h.get("/api/state", &state)
	var codes []string
	for _, p := range state.Pairings {
		codes = append(codes, p.Code)
	}
	return codes
}

// waiting is a home in which a command waits for a person: the most worthwhile thing to attack.
func waiting(t *testing.T) (h *home, approval string) {
	t.Helper()
	h = newHome(t)
	th := h.thread(h.scenario("steps:\n  - reply: '{plx:run approval=\"required\"}echo attacked >> trace{/plx:run}'\n"), "go")
	h.inState(th.ID, store.TurnWaiting)
	var open []store.Approval
	h.get("/api/approvals", &open)
	if len(open) != 1 {
		t.Fatalf("open questions: %+v", open)
	}
	return h, open[0].ID
}

// Pages of other origins: another host, and another port of our own host, which counts as the same site.
func TestPagesOfOtherOrigins(t *testing.T) {
	t.Parallel()
	h, approval := waiting(t)
	n := &naive{}
	control := httptest.NewServer(n)
	defer control.Close()
	from := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>elsewhere</title><body>"))
	}))
	defer from.Close()
	port := func(s *httptest.Server) string { _, p, _ := strings.Cut(s.Listener.Addr().String(), ":"); return p }

	// Without a guard every attack arrives, and these get hold of something.
	b := browse(t, "evil.example")
	b.open("http://evil.example:" + port(from) + "/")
	blind := map[string]bool{"get opaque": true, "post opaque": true, "shutdown": true, "session": true, "beacon": true, "form in a frame": true, "form in a tab": true, "frame": true}
	for name := range attacks {
		before := n.reached()
		got := b.attack(name, "http://localhost:"+port(control), h.state.Token, approval)
		h.eventually(name+" reaches a server without a guard", func() bool { return n.reached() > before })
		if got == "" && !blind[name] {
			t.Errorf("%s gets nothing from a server without a guard: the attack is no test", name)
		}
	}

	before := h.shot()
	for _, origin := range []string{"http://evil.example:" + port(from), "http://localhost:" + port(from), "http://127.0.0.1:" + port(from)} {
		for _, base := range []string{"http://localhost:" + strconv.Itoa(h.state.Port), "http://127.0.0.1:" + strconv.Itoa(h.state.Port)} {
			b.open(origin + "/")
			for name := range attacks {
				if got := b.attack(name, base, h.state.Token, approval); got != "" {
					t.Errorf("%s from %s got hold of %.200q", name, origin, got)
				}
			}
		}
		// A person may follow a link to the start page, and to nothing of the API.
		b.open(origin + "/")
		b.js(fmt.Sprintf(`(location.href = 'http://localhost:%d/api/state', '')`, h.state.Port))
		b.until(`document.body.innerText.includes("Another site's page may not use Plexus")`)
	}
	if after := h.shot(); after != before {
		t.Errorf("something changed:\n%+v\n%+v", before, after)
	}
	if got := h.trace(); len(got) > 0 {
		t.Errorf("the command was run: %q", got)
	}
}

// A page whose host name now leads to the daemon: to the browser it is of the daemon's own origin.
func TestReboundPage(t *testing.T) {
	t.Parallel()
	h, approval := waiting(t)
	before := h.shot()
	b := browse(t, "rebound.example", "localhost.evil.example")
	for _, host := range []string{"rebound.example", "localhost.evil.example"} {
		base := fmt.Sprintf("http://%s:%d", host, h.state.Port)
		b.open(base + "/")
		b.until(`document.body.innerText.includes('This address is not served here')`)
		b.open(base + "/api/state")
		for name := range attacks {
			got := b.attack(name, base, h.state.Token, approval)
			readable := strings.Contains(got, `"code":"host"`) // the refusal itself, of the page's own origin
			if got != "" && !readable {
				t.Errorf("%s as %s got hold of %.200q", name, host, got)
			}
		}
		// Under its new name the page is a stranger to our own.
		for name := range attacks {
			if got := b.attack(name, "http://localhost:"+strconv.Itoa(h.state.Port), h.state.Token, approval); got != "" {
				t.Errorf("%s from %s got hold of %.200q", name, host, got)
			}
		}
	}
	if after := h.shot(); after != before {
		t.Errorf("something changed:\n%+v\n%+v", before, after)
	}
}

// link is a fresh one-time link to the UI.
func (h *home) link() string {
	h.t.Helper()
	return strings.TrimSpace(h.plexus("open", "--print"))
}

// exchange trades a one-time key and returns the status and the session's token.
func (h *home) exchange(key string) (int, string) {
	h.t.Helper()
	body, err := json.Marshal(map[string]string{"key": key})
	if err != nil {
		h.t.Fatal(err)
	}
	resp, err := http.Post(h.state.URL()+"/api/session", "application/json", bytes.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var got struct{ Token string }
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		h.t.Fatal(err)
	}
	return resp.StatusCode, got.Token
}

func keyOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q, err := url.ParseQuery(u.Fragment)
	if err != nil || q.Get("key") == "" || u.RawQuery != "" {
		t.Fatalf("the link is %s", address)
	}
	return q.Get("key")
}

// A one-time key opens one session, also when many try at once, and none after a restart.
func TestOneTimeKeyReplayed(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	key := keyOf(t, h.link())
	tokens := make(chan string, 16)
	var wg sync.WaitGroup
	for range cap(tokens) {
		wg.Go(func() {
			if status, token := h.exchange(key); status == http.StatusOK {
				tokens <- token
			}
		})
	}
	wg.Wait()
	close(tokens)
	if n := len(tokens); n != 1 {
		t.Fatalf("%d of 16 got a session", n)
	}
	token := <-tokens
	for path, want := range map[string]int{"/api/state": 200, "/api/keys": 404, "/api/shutdown": 404} {
		if got := h.status(http.MethodGet, path, token); got != want {
			t.Errorf("the session's GET %s gave %d, want %d", path, got, want)
		}
	}
	for _, path := range []string{"/api/keys", "/api/shutdown"} {
		if got := h.status(http.MethodPost, path, token); got != http.StatusUnauthorized {
			t.Errorf("the session's POST %s gave %d", path, got)
		}
	}
	unused, old := keyOf(t, h.link()), h.state.Token
	h.end()
	h.start()
	if status, _ := h.exchange(unused); status != http.StatusUnauthorized {
		t.Errorf("a key of the daemon before gave %d", status)
	}
	if got := h.status(http.MethodGet, "/api/state", old); got != http.StatusUnauthorized {
		t.Errorf("the token of the daemon before gave %d", got)
	}
	if got := h.status(http.MethodGet, "/api/state", token); got != http.StatusOK {
		t.Errorf("a session does not survive the restart: %d", got)
	}
}

func (h *home) status(method, path, token string) int {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), method, h.state.URL()+path, http.NoBody)
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// watchPolicy notes every violation of the content security policy from the first moment of every page.
const watchPolicy = `addEventListener('securitypolicyviolation', (e) =>
	sessionStorage.setItem('violations', (sessionStorage.getItem('violations') ?? '') + e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sourceFile + '\n'))`

// The UI keeps to its own policy while it is used, and the policy stops what hostile text would do.
func TestUIKeepsToItsPolicy(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var mu sync.Mutex
	var leaks []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		leaks = append(leaks, r.URL.String())
	}))
	defer elsewhere.Close()
	hostile := fmt.Sprintf(`<img src="%[1]s/img"> <script src="%[1]s/script"></script> ![pic](%[1]s/pic) <iframe src="%[1]s/frame"></iframe> <style>@import "%[1]s/css"; body{background:url(%[1]s/bg)}</style>
      <svg onload="document.title='owned'"> <a href="javascript:document.title='owned'">a</a> [b](javascript:document.title='owned') <base href="%[1]s/"> <meta http-equiv=refresh content="0;%[1]s/meta">`, elsewhere.URL)
	th := h.thread(h.scenario(fmt.Sprintf(`
steps:
  - reasoning: thinking
    reply: |
      {plx:note}%[1]s{/plx:note}
      {plx:run}printf '%%s' '<script>document.title="owned"</script><img src=%[2]s/out>'{/plx:run}
      {plx:write path="a.html"}%[1]s{/plx:write}
  - reply: '{plx:run approval="required"}echo "<b onclick=x>"{/plx:run}'
  - name: any
    reply: |
      {plx:done}
      # Shown

      %[1]s

      | a | b |
      | - | - |
      | 1 | 2 |
      {/plx:done}
    goto: any
`, hostile, elsewhere.URL)), "<img src="+elsewhere.URL+"/task> task")
	b := browse(t)
	if err := chromedp.Do(b.ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watchPolicy})
		return err
	})); err != nil {
		t.Fatal(err)
	}
	b.open(h.link())
	b.until(`document.querySelector('.sidebar') !== null`)
	if at := b.js(`location.href + document.cookie + JSON.stringify(localStorage)`); strings.Contains(at, "key=") || strings.Contains(at, b.js(`sessionStorage.getItem('plexus.token')`)) {
		t.Errorf("the key or the token is kept where it should not be: %s", at)
	}
	b.js(`(location.hash = '#/t/` + th.ID + `', '')`)
	b.until(`document.querySelector('.approval') !== null`)
	h.eventually("the question is there", func() bool { return h.turns(th.ID)[0].State == store.TurnWaiting })
	b.js(`([...document.querySelectorAll('.approval button')].find((e) => e.innerText.includes('Allow')).click(), '')`)
	b.until(`document.querySelector('main').innerText.includes('Shown')`)
	for _, e := range []string{"summary", "main button[aria-expanded=false]"} {
		b.js(`(document.querySelectorAll('` + e + `').forEach((e) => e.click()), '')`)
	}
	for _, page := range []string{"new", "settings", "folders", "connections", "doctor", "parse", "", "t/" + th.ID} {
		b.js(`(location.hash = '#/` + page + `', '')`)
		b.until(`document.querySelector('main') !== null && document.querySelector('main').innerText.trim() !== ''`)
	}
	if err := chromedp.Do(b.ctx, chromedp.Reload()); err != nil {
		t.Fatal(err)
	}
	b.until(`document.querySelector('main')?.innerText.includes('Shown') ?? false`)
	if got := b.js(`sessionStorage.getItem('violations') ?? ''`); got != "" {
		t.Errorf("the UI violates its policy:\n%s", got)
	}
	if got := b.js(`document.title`); strings.Contains(got, "owned") {
		t.Error("text of the model was run")
	}
	mu.Lock()
	if len(leaks) > 0 {
		t.Errorf("the UI asked another server: %q", leaks)
	}
	mu.Unlock()

	// And the watch works: what the policy forbids is stopped and noted.
	b.js(`(document.body.insertAdjacentHTML('beforeend', '<img src="` + elsewhere.URL + `/x"><style>b{}</style>'), '')`)
	b.js(`(document.body.append(Object.assign(document.createElement('script'), {text: 'document.title = "owned"'})), '')`)
	b.until(`['img-src', 'style-src', 'script-src'].every((d) => (sessionStorage.getItem('violations') ?? '').includes(d))`)
	if got := b.js(`document.title`); strings.Contains(got, "owned") {
		t.Error("an inline script was run")
	}
	mu.Lock()
	defer mu.Unlock()
	if len(leaks) > 0 {
		t.Errorf("a forbidden picture was loaded: %q", leaks)
	}
}
