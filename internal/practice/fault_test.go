package practice

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

func (v *visitor) setFault(f Fault) {
	v.t.Helper()
	var ok struct{ Status string }
	v.json("POST", "/practice/fault", f, &ok)
	if ok.Status != "ok" {
		v.t.Fatalf("set fault %+v: %+v", f, ok)
	}
}

func TestBadFaults(t *testing.T) {
	v := visit(t, Config{})
	for name, body := range map[string]any{
		"empty": "", "no name": map[string]any{}, "unknown": Fault{Name: "earthquake"}, "negative": Fault{Name: FaultCut, Count: -1},
		"unknown field": map[string]any{"name": "cut", "when": "now"}, "not an object": "[]",
	} {
		t.Run(name, func(t *testing.T) { v.fails(http.StatusBadRequest, "bad_fault", "POST", "/practice/fault", body) })
	}
}

func TestFaultsAtSend(t *testing.T) {
	v := visit(t, Config{Scenario: builtin(t, "echo")})
	v.setFault(Fault{Name: FaultRateLimit, Count: 2, Skip: 1})
	v.setFault(Fault{Name: FaultTooLong})
	id := v.say("", "one").conversation
	for range 2 {
		res := v.send(id, "two")
		wantFailure(t, res, http.StatusTooManyRequests, "rate_limit_exceeded")
		if res.Header.Get("Retry-After") == "" {
			t.Error("no time is named")
		}
	}
	wantFailure(t, v.send(id, "three"), http.StatusRequestEntityTooLarge, "message_length_exceeds_limit")
	if r := v.say(id, "four"); !strings.Contains(r.text, "four") {
		t.Errorf("after the faults: %q", r.text)
	}
	if got := v.kinds(KindEnd); got != "message rate-limit rate-limit too-long message" {
		t.Errorf("the log is %s", got)
	}
}

func TestFaultError(t *testing.T) {
	v := visit(t, Config{Scenario: builtin(t, "modes")})
	v.setFault(Fault{Name: FaultError, At: 3})
	r := v.say("", "mode plain")
	if r.failure == "" || r.text == "" || r.text != v.wait(KindEnd).Text || r.status == "finished_successfully" {
		t.Errorf("failure %q after %q, status %q", r.failure, r.text, r.status)
	}
	if r := v.say(r.conversation, "mode plain"); r.failure != "" || r.status != "finished_successfully" {
		t.Errorf("after the fault: %q", r.failure)
	}
}

// A cut is of the network only: the answer goes on and can be had whole.
func TestFaultCut(t *testing.T) {
	v := visit(t, Config{Scenario: builtin(t, "modes")})
	v.setFault(Fault{Name: FaultCut})
	res := v.send("", "mode plain")
	part := &reading{}
	if err := part.body(res.Body); err == nil {
		t.Fatalf("the stream ended in order after %q", part.text)
	}
	end := v.wait(KindEnd)
	if part.text == "" || len(part.text) >= len(end.Text) || !strings.HasPrefix(end.Text, part.text) {
		t.Errorf("%q arrived of %q", part.text, end.Text)
	}
	whole := &reading{}
	again := v.request("POST", "/backend-api/f/conversation/resume", map[string]any{"conversation_id": end.Conversation, "offset": 0}, nil)
	if err := whole.body(again.Body); err != nil || whole.text != end.Text {
		t.Errorf("resumed: %q, %v", whole.text, err)
	}
}

func TestFaultCutOverTheSocket(t *testing.T) {
	v := visit(t, Config{Scenario: builtin(t, "modes")})
	v.setFault(Fault{Name: FaultCut})
	res := v.send("", "mode handoff-ws")
	r := &reading{}
	if err := r.body(res.Body); err != nil {
		t.Fatal(err)
	}
	w := v.socket()
	w.command("subscribe", r.topic, 0)
	for {
		err := w.read()
		if err != nil {
			break
		}
		if w.done[r.topic] {
			t.Fatal("the topic came to its end")
		}
	}
	v.follow(r)
	if want := v.wait(KindEnd).Text; r.text != want {
		t.Errorf("on a new socket: %q, want %q", r.text, want)
	}
}

func TestFaultSlowStillSaysAll(t *testing.T) {
	v := visit(t, Config{Scenario: builtin(t, "modes")})
	v.setFault(Fault{Name: FaultSlow, Delay: 1})
	if r := v.say("", "mode plain"); r.text != v.wait(KindEnd).Text {
		t.Errorf("the answer is %q", r.text)
	}
	if v.wait(KindFault).Fault != FaultSlow {
		t.Error("the log does not tell the fault")
	}
}

func TestFaultsOfAScenario(t *testing.T) {
	v := visit(t, Config{Scenario: parse(t, `
steps:
  - fault: rate-limit
  - reply: The second try is answered.
  - fault: too-long
  - reply: Cut in the middle of this, somewhere in its words.
    fault: cut
  - reply: x
    fault: earthquake
  - reply: x
    fault: swallow-click
`)})
	wantFailure(t, v.send("", "a"), http.StatusTooManyRequests, "rate_limit_exceeded")
	id := v.wait(KindRateLimit).Conversation
	if r := v.say(id, "a"); r.text != "The second try is answered." {
		t.Errorf("the second try got %q", r.text)
	}
	wantFailure(t, v.send(id, "b"), http.StatusRequestEntityTooLarge, "message_length_exceeds_limit")
	if _, err := io.ReadAll(v.send(id, "c").Body); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the cut answer ended with %v", err)
	}
	for range 3 { // a fault there is not, one that is the page's, and a scenario at its end
		if r := v.say(id, "d"); r.failure == "" {
			t.Errorf("got %q", r.text)
		}
	}
	var lost []string
	for _, e := range v.site.Log() {
		if e.Kind == KindMindError {
			lost = append(lost, e.Text)
		}
	}
	if got := strings.Join(lost, "|"); !strings.Contains(got, `"earthquake"`) || !strings.Contains(got, `"swallow-click"`) || !strings.Contains(got, "has ended") {
		t.Errorf("the log says %s", got)
	}
}

func TestMindWithoutAnAnswerIsAnErrorOnThePage(t *testing.T) {
	v := visit(t, Config{Scenario: parse(t, "steps:\n  - expect: knock\n    reply: Who is there?\n")})
	r := v.say("", "hello")
	if r.failure == "" || r.text != "" {
		t.Errorf("failure %q, text %q", r.failure, r.text)
	}
	if e := v.wait(KindMindError); !strings.Contains(e.Text, "knock") || !strings.Contains(e.Text, "hello") {
		t.Errorf("the log says %q", e.Text)
	}
	if r := v.say(r.conversation, "knock"); r.text != "Who is there?" {
		t.Errorf("the conversation does not go on: %q", r.text)
	}
}

func TestPageFaultsGoToThePage(t *testing.T) {
	v := visit(t, Config{})
	v.setFault(Fault{Name: FaultSwallowClick, Count: 2})
	var faults []Fault
	v.json("GET", "/practice/page-faults", nil, &faults)
	if len(faults) != 1 || faults[0].Name != FaultSwallowClick || faults[0].Count != 2 {
		t.Errorf("the page gets %+v", faults)
	}
	if e := v.wait(KindFaultArmed); e.Fault != FaultSwallowClick {
		t.Errorf("logged as %+v", e)
	}
}
