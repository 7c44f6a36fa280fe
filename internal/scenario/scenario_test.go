package scenario

import (
	"errors"
	"strings"
	"testing"
)

func TestParseErrors(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"empty":             {"", "no steps"},
		"only a comment":    {"# nothing\n", "no steps"},
		"not YAML":          {"steps: [\n", "read scenario"},
		"tab":               {"steps:\n\t- reply: x\n", "read scenario"},
		"binary":            {"\x00\xff\xfe", "read scenario"},
		"unknown top key":   {"step:\n  - reply: x\n", `unknown field "step"`},
		"unknown step key":  {"steps:\n  - replay: x\n", `unknown field "replay"`},
		"unknown branch":    {"steps:\n  - when:\n      - repl: x\n", `unknown field "repl"`},
		"steps as text":     {"steps: hello\n", "read scenario"},
		"no reply":          {"steps:\n  - reply: x\n  - name: b\n    expect: y\n", "line 3: neither a reply nor a fault"},
		"bad expression":    {"steps:\n  - reply: x\n  - expect: '('\n    reply: y\n", "line 3: expect: error parsing regexp"},
		"bad unless":        {"steps:\n  - unless: ['a', '[']\n    reply: y\n", "line 2: unless: error parsing regexp"},
		"bad template":      {"steps:\n  - reply: '{{.Got.'\n", "line 2: template: reply"},
		"unknown function":  {"steps:\n  - reply: '{{exec}}'\n", `function "exec" not defined`},
		"bad mode":          {"steps:\n  - reply: x\n    mode: fast\n", `line 2: mode "fast" is not one of`},
		"goto nowhere":      {"steps:\n  - reply: x\n    goto: moon\n", `line 2: goto "moon"`},
		"two of a name":     {"steps:\n  - name: a\n    reply: x\n  - name: a\n    reply: y\n", `line 4: a second step named "a"`},
		"when and reply":    {"steps:\n  - reply: x\n    when:\n      - reply: y\n", "line 2: a step has either"},
		"name in a branch":  {"steps:\n  - when:\n      - name: a\n        reply: x\n", "line 3: a branch has neither"},
		"bad otherwise":     {"steps:\n  - reply: x\notherwise:\n  - expect: y\n", "line 4: neither a reply nor a fault"},
		"one key twice":     {"steps:\n  - reply: x\n    reply: y\n", "already defined"},
		"too large a file":  {"about: " + strings.Repeat("x", maxSource), "the limit is"},
		"too many steps":    {"steps:\n" + strings.Repeat("  - reply: x\n", maxSteps+1), "1001 steps"},
		"list where a text": {"steps:\n  - reply: [x]\n", "read scenario"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Parse([]byte(c.src))
			if err == nil {
				t.Fatalf("parsed as %+v", s)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not contain %q", err, c.want)
			}
		})
	}
}

func mustParse(t *testing.T, src string) *Mind {
	t.Helper()
	s, err := Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return s.Start()
}

func say(t *testing.T, m *Mind, message, want string) Reply {
	t.Helper()
	r, err := m.Reply(message)
	if err != nil {
		t.Fatalf("reply to %q: %v", message, err)
	}
	if r.Text != want {
		t.Fatalf("reply to %q is %q, want %q", message, r.Text, want)
	}
	return r
}

func TestMindFollowsBranchesAndKeepsCaptures(t *testing.T) {
	m := mustParse(t, `
steps:
  - name: hello
    expect: 'I am (?P<who>\w+)'
    reply: 'Hello {{.Got.who}}'
  - name: talk
    when:
      - expect: [one, 'two (?P<n>[0-9]+)']
        unless: three
        reply: '{{.Got.who}} {{.Got.n}} {{.Round}} {{index .Messages 0}}'
        mode: handoff-ws
        reasoning: 'about {{.Got.n}}'
        goto: talk
      - expect: bye
        reply: Bye
        fault: cut
otherwise:
  - expect: help
    reply: Helping
`)
	say(t, m, "help", "Helping") // stays at the first step
	r := say(t, m, "I am Ada", "Hello Ada")
	if r.Mode != ModePlain || r.Fault != "" || r.Reasoning != "" {
		t.Errorf("defaults are wrong: %+v", r)
	}
	r = say(t, m, "one two 7", "Ada 7 3 help")
	if r.Mode != ModeHandoffWS || r.Reasoning != "about 7" {
		t.Errorf("mode or reasoning is wrong: %+v", r)
	}
	say(t, m, "two 8 one", "Ada 8 4 help")
	_, err := m.Reply("one two 9 three")
	for _, want := range []string{"step talk", "not three", "bye", "help", "one two 9 three", "line 8"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("error %v does not name %q", err, want)
		}
	}
	if r = say(t, m, "bye", "Bye"); r.Fault != "cut" {
		t.Errorf("fault is %q", r.Fault)
	}
	if _, err := m.Reply("anything"); !errors.Is(err, ErrEnded) {
		t.Errorf("after the last step: %v", err)
	}
}

func TestMindsOfOneScenarioAreApart(t *testing.T) {
	s, err := Parse([]byte("steps:\n  - expect: '(?P<x>.+)'\n    reply: '{{.Got.x}}{{.Round}}'\n    goto: a\n  - name: a\n    reply: '{{.Got.x}}'\n"))
	if err != nil {
		t.Fatal(err)
	}
	one, two := s.Start(), s.Start()
	say(t, one, "1", "11")
	say(t, two, "2", "21")
	say(t, one, "3", "1")
	say(t, two, "3", "2")
}

func TestReplyFailsWithoutMovingOn(t *testing.T) {
	for name, reply := range map[string]string{
		"a group that never matched": `{{.Got.nothing}}`,
		"replace finds nothing":      `{{replace "old" "new" .Message}}`,
		"replace of nothing":         `{{replace "" "new" .Message}}`,
		"endless":                    `{{repeat 100000000 .Message}}`,
		"endless in parts":           `{{range .Messages}}{{repeat 900000 "0123456789"}}{{repeat 900000 "0123456789"}}{{end}}`,
		"negative":                   `{{repeat -1 "x"}}`,
		"no number":                  `{{repeat (atoi .Message) "x"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			m := mustParse(t, "steps:\n  - expect: start\n    reply: '"+reply+"'\n")
			for range 2 {
				if r, err := m.Reply("start"); err == nil || !strings.Contains(err.Error(), "line 2") {
					t.Fatalf("reply %q, error %v", r.Text[:min(len(r.Text), 50)], err)
				}
			}
			if m.at != 0 || len(m.messages) != 0 {
				t.Errorf("the mind moved to %d with %d messages", m.at, len(m.messages))
			}
		})
	}
}

func TestModeByTemplateIsChecked(t *testing.T) {
	m := mustParse(t, "steps:\n  - expect: '(?P<m>.+)'\n    mode: '{{.Got.m}}'\n    reply: x\n    goto: b\n  - name: b\n    reply: y\n")
	if _, err := m.Reply("fast"); err == nil || !strings.Contains(err.Error(), `mode "fast"`) {
		t.Errorf("error is %v", err)
	}
	if r := say(t, m, "thinking", "x"); r.Mode != ModeThinking {
		t.Errorf("mode is %q", r.Mode)
	}
}

func TestPlain(t *testing.T) {
	m := mustParse(t, "steps:\n  - reply: '{{plain .Message}}'\n")
	say(t, m, `a {\plx:run} b {\/plx:run} {plx:x}`, `a {plx:run} b {/plx:run} {plx:x}`)
}

func TestUnexpectedMessageOfMegabytesIsExcerpted(t *testing.T) {
	m := mustParse(t, "steps:\n  - expect: never\n    reply: x\n")
	_, err := m.Reply(strings.Repeat("ä", 1<<20))
	if err == nil || len(err.Error()) > 3000 || !strings.Contains(err.Error(), "more bytes") {
		t.Errorf("error has %d bytes", len(err.Error()))
	}
}

func TestBuiltins(t *testing.T) {
	names := Names()
	if len(names) < 4 {
		t.Fatalf("names are %q", names)
	}
	for _, name := range names {
		src, ok := Builtin(name)
		if !ok {
			t.Errorf("%s is listed and not there", name)
		}
		if s, err := Parse(src); err != nil || s.About == "" {
			t.Errorf("%s: about %q, %v", name, s.About, err)
		}
	}
	for _, name := range []string{"", "nothing", "../scenario", "demo.yaml"} {
		if _, ok := Builtin(name); ok {
			t.Errorf("%q is a built-in scenario", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range Names() {
		src, _ := Builtin(name)
		f.Add(src, "{plx:task}x{/plx:task}")
	}
	f.Add([]byte("steps:\n  - expect: '(?P<a>.*)'\n    reply: '{{.Got.a}}'\n    goto: ''\n"), "x")
	f.Add([]byte("steps: &a\n  - reply: x\n    when: *a\n"), "x")
	f.Add([]byte("steps:\n  - {reply: x, mode: '{{.Message}}'}\n"), "plain")
	f.Fuzz(func(t *testing.T, src []byte, message string) {
		s, err := Parse(src)
		if err != nil {
			return
		}
		m := s.Start()
		for range 3 {
			at := m.at
			r, err := m.Reply(message)
			if err != nil && m.at != at {
				t.Fatalf("an error moved the mind from %d to %d", at, m.at)
			}
			if len(r.Text) > maxReply {
				t.Fatalf("reply of %d bytes", len(r.Text))
			}
		}
	})
}
