package practice

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"plexus/internal/scenario"
)

func TestEveryModeSaysTheSame(t *testing.T) {
	for _, mode := range scenario.Modes() {
		t.Run(mode, func(t *testing.T) {
			s := builtin(t, "modes")
			message := "mode " + mode + "\n\n  two  spaces\tand a tab 🙂"
			want, err := s.Start().Reply(message)
			if err != nil {
				t.Fatal(err)
			}
			v := visit(t, Config{Scenario: s})
			r := v.say("", message)
			if r.text != want.Text {
				t.Errorf("the answer is %q, want %q", r.text, want.Text)
			}
			if r.thoughts != want.Reasoning || r.recap != "Thought for 2s" {
				t.Errorf("the thoughts are %q with recap %q, want %q", r.thoughts, r.recap, want.Reasoning)
			}
			if r.status != "finished_successfully" || r.title != "mode "+mode || r.failure != "" {
				t.Errorf("status %q, title %q, failure %q", r.status, r.title, r.failure)
			}
			handedOff := strings.HasPrefix(mode, "handoff")
			if handedOff != (r.handoff != "") || r.ticket != "" {
				t.Errorf("hand-off %q with %q in the ticket", r.handoff, r.ticket)
			}
			if want := map[string]int{scenario.ModeHandoffSSE: 2}[mode]; r.dones != max(want, 1) {
				t.Errorf("%d ends of streams", r.dones)
			}
			v.wait(KindEnd)
			how := map[string]Kind{scenario.ModeHandoffSSE: KindResume, scenario.ModeHandoffWS: KindSubscribe}[mode]
			if got := v.kinds(how); got != "message end" {
				t.Errorf("log is %s", v.kinds())
			}
			if handedOff && v.wait(how).Turn != v.wait(KindMessage).Turn {
				t.Errorf("log is %s", v.kinds())
			}
			e := v.wait(KindMessage)
			if e.Text != message || e.Conversation != r.conversation || e.MessageID == "" || e.Mode != mode || e.Seq != 1 {
				t.Errorf("logged as %+v", e)
			}
		})
	}
}

func TestEventsComeInTheOrderOfTheRealSite(t *testing.T) {
	v := visit(t, Config{Scenario: builtin(t, "echo")})
	r := v.say("", "hi")
	want := "resume_conversation_token input_message practice_unknown message_marker message_marker server_ste_metadata " +
		"message_stream_complete title_generation conversation_detail_metadata"
	if got := strings.Join(r.types, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	again := v.say(r.conversation, "and again")
	if again.conversation != r.conversation || again.title != "" || again.text != "{plx:done}\nand again\n{/plx:done}" {
		t.Errorf("the second answer is %+v", again)
	}
	var tree struct {
		Title       string
		CurrentNode string `json:"current_node"`
		Mapping     map[string]struct {
			Parent   *string
			Children []string
			Message  *message
		}
	}
	v.json("GET", "/backend-api/conversation/"+r.conversation, nil, &tree)
	var texts []string
	for at := tree.CurrentNode; ; {
		n := tree.Mapping[at]
		if n.Message == nil {
			break
		}
		texts = append(texts, fmt.Sprint(n.Message.Author.Role, n.Message.Content["parts"]))
		at = *n.Parent
	}
	slices.Reverse(texts)
	if got := strings.Join(texts, "|"); got != "user[hi]|assistant[{plx:done}\nhi\n{/plx:done}]|user[and again]|assistant[{plx:done}\nand again\n{/plx:done}]" {
		t.Errorf("the tree is %s", got)
	}
	var status struct{ Status string }
	v.json("GET", "/backend-api/conversation/"+r.conversation+"/stream_status", nil, &status)
	if status.Status != "COMPLETE" {
		t.Errorf("status is %q", status.Status)
	}
}

func TestSendWithoutPapersIsRefusedInSilence(t *testing.T) {
	v := visit(t, Config{Scenario: builtin(t, "echo")})
	used := v.papers()
	body := sendOf(newUUID(), "", "", "hi")
	first := v.request("POST", "/backend-api/f/conversation", body, used)
	if raw, _ := io.ReadAll(first.Body); len(raw) < 100 {
		t.Fatalf("a proper send got %q", raw)
	}
	without := func(name string) http.Header {
		h := v.papers()
		h.Del(name)
		return h
	}
	for name, header := range map[string]http.Header{
		"none":            {},
		"no requirements": without("Openai-Sentinel-Chat-Requirements-Token"),
		"no proof":        without("Openai-Sentinel-Proof-Token"),
		"replayed":        used,
		"made up": {
			"Openai-Sentinel-Chat-Requirements-Token": {"requirements-x"}, "Openai-Sentinel-Proof-Token": {"gAAAAABx"},
		},
	} {
		res := v.request("POST", "/backend-api/f/conversation", body, header)
		raw, _ := io.ReadAll(res.Body)
		if res.StatusCode != http.StatusOK || len(raw) != 14 || string(raw) != "data: [DONE]\n\n" {
			t.Errorf("%s: got %s %q", name, res.Status, raw)
		}
	}
	v.wait(KindEnd)
	if got := v.kinds(); got != "message end refused refused refused refused refused" {
		t.Errorf("the log is %s", got)
	}
}

func TestMessageLimitCountsAsPagesDo(t *testing.T) {
	v := visit(t, Config{Scenario: builtin(t, "echo"), MessageLimit: 10})
	if r := v.say("", "🙂🙂🙂🙂🙂"); !strings.Contains(r.text, "🙂🙂🙂🙂🙂") {
		t.Errorf("a message at the limit got %q", r.text)
	}
	wantFailure(t, v.send("", "🙂🙂🙂🙂🙂x"), http.StatusRequestEntityTooLarge, "message_length_exceeds_limit")
	e := v.wait(KindTooLong)
	if e.Text != "🙂🙂🙂🙂🙂x" || e.Conversation != "" {
		t.Errorf("logged as %+v", e)
	}
}

func TestBadSends(t *testing.T) {
	v := visit(t, Config{Scenario: builtin(t, "echo")})
	post := func(body any) *http.Response {
		return v.request("POST", "/backend-api/f/conversation", body, v.papers())
	}
	ok := sendOf("m", "", "", "hi")
	with := func(key string, value any) map[string]any {
		m := map[string]any{}
		mustDecode(encode(ok), &m)
		m[key] = value
		return m
	}
	for name, body := range map[string]any{
		"empty":           "",
		"not JSON":        "{",
		"nothing":         map[string]any{},
		"other action":    with("action", "variant"),
		"two messages":    with("messages", []any{ok["messages"].([]any)[0], ok["messages"].([]any)[0]}),
		"no id":           sendOf("", "", "", "hi"),
		"invalid type":    with("messages", "hi"),
		"an array":        "[]",
		"not of the user": with("messages", []any{map[string]any{"id": "m", "author": map[string]any{"role": "system"}, "content": textContent("x")}}),
		"two parts":       with("messages", []any{map[string]any{"id": "m", "author": map[string]any{"role": "user"}, "content": textContent("x", "y")}}),
	} {
		t.Run(name, func(t *testing.T) { wantFailure(t, post(body), http.StatusUnprocessableEntity, "bad_request") })
	}
	wantFailure(t, post(sendOf("m", newUUID(), "", "hi")), http.StatusNotFound, "conversation_not_found")
	wantFailure(t, post(sendOf("m", "", "g-p-00000000000000000000000000000000", "hi")), http.StatusNotFound, "conversation_not_found")
	for _, path := range []string{"/backend-api/conversation/none", "/backend-api/conversation/none/stream_status"} {
		v.fails(http.StatusNotFound, "conversation_not_found", "GET", path, nil)
	}
	v.fails(http.StatusNotFound, "conversation_not_found", "POST", "/backend-api/f/conversation/resume", map[string]any{"conversation_id": "none"})
	v.fails(http.StatusUnprocessableEntity, "bad_request", "POST", "/backend-api/f/conversation/resume", "nonsense")
	v.fails(http.StatusUnprocessableEntity, "bad_request", "POST", "/backend-api/stop_conversation", "")
	v.fails(http.StatusNotFound, "not_found", "GET", "/backend-api/nothing", nil)
	v.fails(http.StatusNotFound, "not_found", "GET", "/nothing", nil)
	if got := v.kinds(); got != "unknown unknown" {
		t.Errorf("the log is %s", got)
	}
}

func TestSessionIsNeeded(t *testing.T) {
	v := visit(t, Config{})
	v.token = ""
	v.fails(http.StatusUnauthorized, "unauthorized", "GET", "/backend-api/me", nil)
	v.token = "made-up"
	v.fails(http.StatusUnauthorized, "unauthorized", "POST", "/backend-api/f/conversation", sendOf("m", "", "", "hi"))

	out := visit(t, Config{SignedOut: true})
	var session map[string]any
	out.json("GET", "/api/auth/session", nil, &session)
	if len(session) != 0 {
		t.Errorf("signed out, the session is %v", session)
	}
	out.token = out.site.access.session
	out.fails(http.StatusUnauthorized, "unauthorized", "GET", "/backend-api/me", nil)
}

func TestOtherNamesOfTheSiteGetNothing(t *testing.T) {
	v := visit(t, Config{})
	_, port, _ := strings.Cut(v.site.Addr(), ":")
	for host, want := range map[string]int{
		Host: 200, "127.0.0.1:" + port: 200, "localhost:" + port: 200,
		"evil.example": 421, "localhost": 421, "127.0.0.1": 421, "chatgpt.com.evil.example": 421, SocketHost: 404,
	} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", "https://"+Host+"/practice/log", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		res, err := v.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s got %s, want %d", host, res.Status, want)
		}
	}
}

func TestProjects(t *testing.T) {
	v := visit(t, Config{Scenario: builtin(t, "echo")})
	v.fails(http.StatusUnprocessableEntity, "bad_request", "POST", "/backend-api/gizmos/snorlax/upsert", map[string]any{"display": map[string]any{"name": " "}})
	var made struct {
		Resource struct {
			Gizmo struct {
				ID       string
				ShortURL string `json:"short_url"`
			}
		}
	}
	v.json("POST", "/backend-api/gizmos/snorlax/upsert", map[string]any{"display": map[string]any{"name": "plx-Till Ü"}, "memory_scope": "project-only"}, &made)
	id, slug := made.Resource.Gizmo.ID, made.Resource.Gizmo.ShortURL
	if !projectID.MatchString(id) || slug != id+"-plx-till" {
		t.Errorf("project %q has the address %q", id, slug)
	}
	res := v.request("POST", "/backend-api/f/conversation", sendOf(newUUID(), "", slug, "inside"), v.papers())
	r := &reading{}
	if err := r.body(res.Body); err != nil {
		t.Fatal(err)
	}
	outside := v.say("", "outside")
	var tree struct {
		GizmoID string `json:"gizmo_id"`
	}
	v.json("GET", "/backend-api/conversation/"+r.conversation, nil, &tree)
	if tree.GizmoID != id {
		t.Errorf("the conversation is in %q, want %q", tree.GizmoID, id)
	}
	for path, want := range map[string]string{
		"/backend-api/conversations?offset=0&limit=28&order=updated":      outside.conversation,
		"/backend-api/gizmos/" + slug + "/conversations?cursor=0&limit=5": r.conversation,
	} {
		var list struct{ Items []struct{ ID string } }
		v.json("GET", path, nil, &list)
		if len(list.Items) != 1 || list.Items[0].ID != want {
			t.Errorf("%s has %+v, want %s", path, list.Items, want)
		}
	}
	raw, _ := json.Marshal(v.site.Log())
	if e := v.wait(KindProject); e.Mode != "project-only" || e.Project != id {
		t.Errorf("logged as %+v in %s", e, raw)
	}
}

func TestLogIsServed(t *testing.T) {
	v := visit(t, Config{Scenario: builtin(t, "echo")})
	v.say("", "hi")
	v.wait(KindEnd)
	var served []Entry
	v.json("GET", "/practice/log", nil, &served)
	if len(served) != 2 || served[0].Text != "hi" || served[1].Seq != 2 {
		t.Errorf("the log is %+v", served)
	}
}

func TestReplyOfFiveMegabytes(t *testing.T) {
	v := visit(t, Config{Scenario: builtin(t, "modes")})
	want := "{plx:done}" + strings.Repeat("Forty bytes of text in a line, ended so.\n", 125_000) + "{/plx:done}"
	if r := v.say("", "long 125000"); r.text != want {
		t.Errorf("%d bytes came, want %d", len(r.text), len(want))
	}
}
