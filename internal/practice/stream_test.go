package practice

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
	"pgregory.net/rapid"
)

func TestResume(t *testing.T) {
	v := visit(t, Config{Scenario: builtin(t, "modes")})
	r := v.say("", "mode thinking")
	resume := func(offset any, token string) *http.Response {
		h := http.Header{}
		if token != "" {
			h.Set("X-Conduit-Token", token)
		}
		return v.request("POST", "/backend-api/f/conversation/resume", map[string]any{"conversation_id": r.conversation, "offset": offset}, h)
	}
	whole := &reading{}
	if err := whole.body(resume(0, "").Body); err != nil {
		t.Fatal(err)
	}
	if whole.text != r.text || whole.items != r.items {
		t.Errorf("resumed from the start: %d items and %q", whole.items, whole.text)
	}
	for _, offset := range []any{r.items - 3, "7", r.items} {
		rest := &reading{}
		if err := rest.body(resume(offset, r.token).Body); err != nil {
			t.Fatal(err)
		}
		n, _ := readOffset([]byte(encode(offset)))
		if rest.items != r.items-n || rest.dones != 1 {
			t.Errorf("resumed from %v: %d of %d items", offset, rest.items, r.items)
		}
	}
	wantFailure(t, resume(1, ""), http.StatusNotFound, "tokenless_resume_unavailable")
	wantFailure(t, resume(1, "made-up"), http.StatusNotFound, "tokenless_resume_unavailable")
	for _, bad := range []any{-1, "x", 1.5, true, map[string]any{}} {
		wantFailure(t, resume(bad, r.token), http.StatusUnprocessableEntity, "bad_request")
	}
}

// A stream of the site, cut into pieces, is the stream; and it is really cut, also within characters.
func TestRaggedCutsAnywhereAndLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := &pieces{ResponseRecorder: httptest.NewRecorder()}
		out := &ragged{w: rec, rng: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))}
		want := ""
		for _, item := range rapid.SliceOf(rapid.String()).Draw(t, "items") {
			out.send(item)
			want += item
		}
		out.end()
		if got := rec.Body.String(); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
	rec := &pieces{ResponseRecorder: httptest.NewRecorder()}
	out := &ragged{w: rec, rng: rand.New(rand.NewPCG(1, 3))}
	for range 200 {
		out.send("漢字🙂\n")
	}
	out.end()
	within := 0
	for _, p := range rec.list {
		if !utf8.ValidString(p) {
			within++
		}
	}
	if within < 20 {
		t.Errorf("%d of %d pieces end within a character", within, len(rec.list))
	}
}

type pieces struct {
	*httptest.ResponseRecorder
	list []string
}

func (p *pieces) Write(b []byte) (int, error) {
	p.list = append(p.list, string(b))
	return p.ResponseRecorder.Write(b)
}

func TestSocketCatchesUpAndAnnouncesEnds(t *testing.T) {
	v := visit(t, Config{Scenario: builtin(t, "modes")})
	w := v.socket()
	w.command("connect", "", nil)
	w.command("subscribe", topicConversations, nil)
	w.command("subscribe", "conversation-turn-none", 0)
	for len(w.replies) < 3 {
		w.next()
	}
	if got := strings.Join(w.replies, " "); got != "1 true 2 true 3 false" {
		t.Errorf("replies are %s", got)
	}
	r := v.say("", "mode handoff-ws")
	for len(w.ended) == 0 {
		w.next()
	}
	if w.ended[0] != r.conversation || len(w.items) != 0 {
		t.Errorf("the end of %s was announced as of %v, with items of %d topics", r.conversation, w.ended, len(w.items))
	}
	// Whoever comes late gets what was said as catch-ups, from where it asks.
	late := v.socket()
	late.command("subscribe", r.topic, 5)
	for !late.done[r.topic] {
		late.next()
	}
	if all := r.items - 3; late.caught != all-5 || len(late.items[r.topic]) != all-5 {
		t.Errorf("%d catch-ups and %d items, want %d", late.caught, len(late.items[r.topic]), all-5)
	}
}

func TestSocketRefusesStrangers(t *testing.T) {
	v := visit(t, Config{})
	good := "wss://" + SocketHost + "/p6/ws/user/" + userID + "?verify=" + v.site.access.socket
	ours := http.Header{"Origin": {"https://" + Host}}
	for name, c := range map[string]struct {
		url    string
		header http.Header
	}{
		"no proof":     {strings.Split(good, "?")[0], ours},
		"wrong proof":  {good + "x", ours},
		"other user":   {strings.Replace(good, userID, "user-else", 1), ours},
		"other origin": {good, http.Header{"Origin": {"https://evil.example"}}},
		"other host":   {strings.Replace(good, SocketHost, Host, 1), ours},
	} {
		if conn, err := v.dial(c.url, c.header); err == nil {
			conn.CloseNow()
			t.Errorf("%s: connected", name)
		}
	}
	conn, err := v.dial(good, ours)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Write(t.Context(), websocket.MessageText, []byte("nonsense")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusUnsupportedData {
		t.Errorf("nonsense got %v", err)
	}
}

func TestOneAnswerAtATimeAndStop(t *testing.T) {
	v := visit(t, Config{Scenario: builtin(t, "modes")})
	v.setFault(Fault{Name: FaultFreeze, At: 4})
	res := v.send("", "mode plain")
	id := v.wait(KindFault).Conversation
	wantFailure(t, v.send(id, "mode plain"), http.StatusConflict, "conversation_busy")
	var status struct{ Status string }
	v.json("GET", "/backend-api/conversation/"+id+"/stream_status", nil, &status)
	if status.Status != "IS_STREAMING" {
		t.Errorf("status is %q", status.Status)
	}
	v.json("POST", "/backend-api/stop_conversation", map[string]any{"conversation_id": id}, &status)
	r := &reading{}
	if err := r.body(res.Body); err != nil {
		t.Fatal(err)
	}
	if r.status != "finished_partial_completion" || r.text == "" || r.text != v.wait(KindEnd).Text {
		t.Errorf("stopped with status %q after %q", r.status, r.text)
	}
	if got := v.kinds(KindConversation); got != "message fault stop end" {
		t.Errorf("the log is %s", got)
	}
	if again := v.say(id, "mode plain"); again.status != "finished_successfully" {
		t.Errorf("after the stop: %q", again.status)
	}
}

func TestCloseEndsWhatIsOpen(t *testing.T) {
	site, err := Start(t.Context(), Config{Scenario: builtin(t, "modes")})
	if err != nil {
		t.Fatal(err)
	}
	v := visit(t, Config{Scenario: builtin(t, "modes")})
	v.setFault(Fault{Name: FaultFreeze})
	res := v.send("", "mode plain")
	w := v.socket()
	v.wait(KindFault)
	waited := make(chan error, 1)
	go func() {
		_, err := v.site.Wait(context.Background(), func(e Entry) bool { return e.Kind == KindStop })
		waited <- err
	}()
	if err := v.site.Close(); err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, res.Body) // however it ends: that it does is what this waits for
	if err := w.read(); err == nil {
		t.Error("the socket is still open")
	}
	if err := <-waited; !errors.Is(err, ErrClosed) {
		t.Errorf("Wait returned %v", err)
	}
	if err := site.Close(); err != nil {
		t.Errorf("closing an idle site: %v", err)
	}
	if err := site.Close(); err != nil {
		t.Errorf("closing it again: %v", err)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	v := visit(t, Config{})
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if _, err := v.site.Wait(ctx, func(Entry) bool { return false }); !errors.Is(err, gone) {
		t.Errorf("Wait returned %v", err)
	}
}

func TestStartRefuses(t *testing.T) {
	open := visit(t, Config{})
	for name, c := range map[string]struct {
		cfg  Config
		want string
	}{
		"every interface": {Config{Addr: "0.0.0.0:0"}, "not on the loopback"},
		"port taken":      {Config{Addr: open.site.Addr()}, "address already in use"},
		"no address":      {Config{Addr: "nonsense"}, "start practice site"},
		"negative limit":  {Config{MessageLimit: -1}, "negative"},
		"stop button":     {Config{Page: PageConfig{Stop: "red"}}, `stop button "red"`},
		"picker":          {Config{Page: PageConfig{Picker: "red"}}, `model picker "red"`},
	} {
		t.Run(name, func(t *testing.T) {
			site, err := Start(t.Context(), c.cfg)
			if err == nil {
				site.Close()
				t.Fatal("started")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %q", err)
			}
		})
	}
}

func TestSiteEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	site, err := Start(ctx, Config{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	wait, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	if _, err := site.Wait(wait, func(Entry) bool { return false }); !errors.Is(err, ErrClosed) {
		t.Errorf("Wait returned %v", err)
	}
	if err := site.Close(); err != nil {
		t.Error(err)
	}
}

func FuzzReadOffset(f *testing.F) {
	for _, seed := range []string{"", "0", "17", `"17"`, `"`, `""`, "-1", "1e3", "99999999999999999999", "null", `"\u0031"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if n, err := readOffset(raw); n < 0 || err != nil && n != 0 {
			t.Errorf("%q is read as %d, %v", raw, n, err)
		}
	})
}

// What a page says over its socket is not to be trusted to be sensible.
func TestSocketAnswersAwkwardCommands(t *testing.T) {
	v := visit(t, Config{})
	w := v.socket()
	for _, c := range []string{`[]`, `[{}]`, `[{"id":"x","command":{"type":"subscribe","topic_id":""}}]`, `[{"id":3,"command":{"type":"subscribe","topic_id":"conversations","offset":{}}}]`} {
		if err := w.conn.Write(t.Context(), websocket.MessageText, []byte(c)); err != nil {
			t.Fatal(err)
		}
	}
	w.command("presence", "", nil)
	for {
		_, raw, err := w.conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), `"id":1,`) {
			return
		}
	}
}
