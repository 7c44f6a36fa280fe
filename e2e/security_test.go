//go:build linux

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"

	"plexus/internal/chromium"
	"plexus/internal/client"
	"plexus/internal/config"
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

// serveVia starts the daemon through a shell script that ends in exec "$@", and returns where its log goes.
func (h *home) serveVia(script string, env ...string) (log string) {
	h.t.Helper()
	log = filepath.Join(h.t.TempDir(), "log")
	f, err := os.Create(log)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	cmd := exec.Command("sh", "-c", script, "sh", binary, "serve", "--port", "0")
	cmd.Env = append(h.env(), env...)
	cmd.Stdout, cmd.Stderr = f, f
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.daemon = cmd
	h.t.Cleanup(func() {
		if h.daemon == cmd {
			h.end()
		}
	})
	h.eventually("the daemon answers", func() bool { return h.answers(cmd.Process.Pid) })
	return log
}

// Under the laxest umask, after everything that writes a file: folders are 0700 and files 0600.
func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	h := &home{t: t, dir: filepath.Join(t.TempDir(), "home"), folder: t.TempDir()}
	h.serveVia(`umask 0; exec "$@"`)
	umask := func(args ...string) {
		cmd := exec.Command("sh", append([]string{"-c", `umask 0; exec "$@"`, "sh", binary}, args...)...)
		cmd.Env, cmd.Dir, cmd.Stdin = h.env(), h.folder, strings.NewReader("sk-hidden")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("plexus %v: %v\n%s", args, err, out)
		}
	}
	umask("folders", "add", h.folder)
	umask("secret", "set", "model.api.key")
	umask("extension")
	umask("open", "--print")
	umask("run", "--model", h.scenario(`
steps:
  - reply: |
      {plx:run}seq 1 100000{/plx:run}
      {plx:write path="made/file"}{{repeat 30000 "0123456789\n"}}{/plx:write}
      {plx:read path="made/file"}{/plx:read}
  - reply: '{plx:done}{{repeat 30000 "0123456789 "}}{/plx:done}'
`), strings.Repeat("a long task ", 5000))
	seen := map[string]bool{}
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(h.dir, path)
		seen[strings.Split(name, string(filepath.Separator))[0]] = true
		if name == "extension" {
			return fs.SkipDir // for the browser to read; nothing in it is secret
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = fs.ModeDir | 0o700
		}
		if info.Mode() != want {
			t.Errorf("%s is %v, want %v", name, info.Mode(), want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plexus.db", "plexus.db-wal", "spool", "assets", "run", "extension"} {
		if !seen[name] {
			t.Errorf("%s is not there: nothing was tested of it", name)
		}
	}
	err = filepath.WalkDir(filepath.Join(h.dir, "extension"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := d.Info(); err != nil || info.Mode().Perm()&0o022 != 0 {
			t.Errorf("%s can be changed by others: %v, %v", path, info.Mode(), err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// commandLines are the arguments and environments of all processes but this one, by pid.
func commandLines() map[string]string {
	lines := map[string]string{}
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		if data, err := os.ReadFile(path); err == nil && path != fmt.Sprintf("/proc/%d/cmdline", os.Getpid()) {
			lines[path] = strings.ReplaceAll(string(data), "\x00", " ")
		}
	}
	return lines
}

// No token and no key is ever an argument of a process, in the environment of a command, or in a log at its most talkative.
func TestTokensStayHidden(t *testing.T) {
	t.Parallel()
	h := &home{t: t, dir: t.TempDir(), folder: t.TempDir()}
	log := h.serveVia(`exec "$@"`, "PLEXUS_DEBUG=1")
	const apiKey = "sk-0123456789-hidden"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, `{"error":{"message":"not `+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+`"}}`, http.StatusUnauthorized)
	}))
	defer server.Close()
	secrets := map[string]string{"the daemon's token": h.state.Token, "the API key": apiKey}
	var printed bytes.Buffer
	say := func(r result) { printed.WriteString(r.out + r.err) }
	h.plexus("folders", "add", h.folder)
	say(h.commandWith(strings.NewReader(apiKey), "secret", "set", "model.api.key"))
	h.plexus("config", "set", "model.api.model", "tiny")
	h.plexus("config", "set", "model.api.url", server.URL+"/v1")
	say(h.command("run", "--model", "api", "hello"))
	say(h.command("run", "--model", "api", "--json", "hello"))
	say(h.command("doctor", "--json"))
	say(h.command("config"))
	say(h.command("secret"))

	key := keyOf(t, h.link())
	_, session := h.exchange(key)
	secrets["a one-time key"], secrets["a session's token"] = key, session
	s := h.dialLink(h.origin())
	s.send(helloFrom("browser-1", false))
	h.plexus("extension", "pair", s.read().Code)
	secrets["a browser's token"] = s.read().Token
	h.greet("browser-1", secrets["a browser's token"])
	h.greet("browser-1", "wrong")
	h.status(http.MethodGet, "/api/nothing?token="+session, session)
	h.status(http.MethodGet, "/api/threads/t_x/stream", "wrong"+session)

	th := h.thread(h.scenario("steps:\n  - reply: '{plx:run}env > environment; echo begun >> trace; sleep 600{/plx:run}'\n"), "go")
	h.eventually("the command runs", func() bool { return len(h.trace()) == 1 })
	run := exec.Command(binary, "show", th.ID, "--json")
	run.Env = h.env()
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	lines := commandLines()
	_ = run.Wait()
	say(h.command("show", th.ID))
	h.plexus("stop", th.ID)
	environment, err := os.ReadFile(filepath.Join(h.folder, "environment"))
	if err != nil {
		t.Fatal(err)
	}
	h.end()
	logged, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(logged, []byte("level=")) {
		t.Errorf("nothing was logged, so nothing was tested:\n%s", logged)
	}
	for what, secret := range secrets {
		if len(secret) < 16 {
			t.Fatalf("%s is %q", what, secret)
		}
		for where, text := range map[string]string{"the log": string(logged), "what commands print": printed.String(), "the environment of a command": string(environment)} {
			if strings.Contains(text, secret) {
				t.Errorf("%s is in %s", what, where)
			}
		}
		for path, line := range lines {
			if strings.Contains(line, secret) {
				t.Errorf("%s is an argument of %s: %s", what, path, line)
			}
		}
		left, err := filesWith(h.dir, secret)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range left {
			if what != "the API key" || name != filepath.Join("run", "secrets.json") {
				t.Errorf("%s is kept in %s", what, name)
			}
		}
	}
}

// filesWith are the files of a folder that hold a text.
func filesWith(dir, text string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if bytes.Contains(data, []byte(text)) {
			name, _ := filepath.Rel(dir, path)
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// answers reports whether the daemon with this pid answers.
func (h *home) answers(pid int) bool {
	var err error
	h.client, h.state, err = client.Find(h.t.Context(), config.At(h.dir))
	return err == nil && h.state.PID == pid
}
