package scenario

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

// Reply is what a mind says to one message.
type Reply struct {
	// Text is the whole reply. It may be empty when there is a Fault.
	Text string
	// Reasoning is what a thinking model would show before its reply; often empty.
	Reasoning string
	// Mode is how a chat site should stream the reply: one of Modes.
	Mode string
	// Fault names what should go wrong with this reply ("rate-limit", "cut", ...); empty when nothing should.
	Fault string
}

// ErrEnded is returned for a message that comes after the last step.
var ErrEnded = errors.New("the scenario has ended")

// Mind is one conversation with a scenario. It is not safe for concurrent use.
type Mind struct {
	s        *Scenario
	at       int
	messages []string
	got      map[string]string
}

// Start opens a conversation at the first step.
func (s *Scenario) Start() *Mind {
	return &Mind{s: s, got: map[string]string{}}
}

// view is what a template sees.
type view struct {
	// Message is the message to be answered, Messages all of them, the first first.
	Message  string
	Messages []string
	// Round counts the messages, this one included.
	Round int
	// Got has the named groups of all expectations so far, the newest of each name.
	Got map[string]string
}

// Reply answers one message and moves on. A message that nothing expects, and a template that cannot be filled, is an
// error that says what was expected and what came; the conversation then stays where it was, so the same message may be
// put again.
func (m *Mind) Reply(message string) (Reply, error) {
	if m.at >= len(m.s.steps) {
		return Reply{}, fmt.Errorf("%w after %d messages; this came: %s", ErrEnded, len(m.messages), excerpt(message))
	}
	step := m.s.steps[m.at]
	for _, b := range step.branches {
		if got, ok := b.match(message); ok {
			return m.answer(message, b, got, m.at+1)
		}
	}
	for _, b := range m.s.otherwise {
		if got, ok := b.match(message); ok {
			return m.answer(message, b, got, m.at)
		}
	}
	return Reply{}, m.unexpected(step, message)
}

func (b branch) match(message string) (map[string]string, bool) {
	got := map[string]string{}
	for _, re := range b.expect {
		groups := re.FindStringSubmatch(message)
		if groups == nil {
			return nil, false
		}
		for i, name := range re.SubexpNames() {
			if name != "" {
				got[name] = groups[i]
			}
		}
	}
	for _, re := range b.unless {
		if re.MatchString(message) {
			return nil, false
		}
	}
	return got, true
}

// answer fills the templates and, only when that worked, moves on.
func (m *Mind) answer(message string, b branch, got map[string]string, next int) (Reply, error) {
	v := view{Message: message, Messages: append(m.messages[:len(m.messages):len(m.messages)], message), Got: maps.Clone(m.got)}
	v.Round = len(v.Messages)
	maps.Copy(v.Got, got)
	reply, err := b.fill(v)
	if err != nil {
		return Reply{}, fmt.Errorf("scenario line %d: %w", b.line, err)
	}
	m.messages, m.got, m.at = v.Messages, v.Got, next
	if b.next != "" {
		m.at = m.s.byName[b.next]
	}
	return reply, nil
}

func (b branch) fill(v view) (Reply, error) {
	var r Reply
	for _, part := range []struct {
		into *string
		from *template.Template
	}{{&r.Text, b.reply}, {&r.Reasoning, b.reasoning}, {&r.Mode, b.mode}, {&r.Fault, b.fault}} {
		var err error
		if *part.into, err = fill(part.from, v); err != nil {
			return Reply{}, err
		}
	}
	if !slices.Contains(Modes(), r.Mode) {
		return Reply{}, fmt.Errorf("mode %q is not one of %q", r.Mode, Modes())
	}
	return r, nil
}

func (m *Mind) unexpected(st step, message string) error {
	name := st.name
	if name == "" {
		name = strconv.Itoa(m.at + 1)
	}
	var want []string
	for _, b := range append(st.branches[:len(st.branches):len(st.branches)], m.s.otherwise...) {
		var parts []string
		for _, re := range b.expect {
			parts = append(parts, re.String())
		}
		for _, re := range b.unless {
			parts = append(parts, "not "+re.String())
		}
		want = append(want, fmt.Sprintf("line %d: %s", b.line, strings.Join(parts, " and ")))
	}
	return fmt.Errorf("step %s expects none of what came.\nexpected:\n  %s\ncame:\n%s", name, strings.Join(want, "\n  "), excerpt(message))
}

// excerpt keeps an error message readable when a message of megabytes was not expected.
func excerpt(s string) string {
	const most = 2000
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + fmt.Sprintf("\n[%d more bytes]", len(s)-most)
}

// functions are what templates may call beside the built-in ones.
func functions() template.FuncMap {
	return template.FuncMap{
		// replace puts new for every old in s. That old is not there is an error: a reply must not pretend an edit.
		"replace": func(old, new, s string) (string, error) {
			if old == "" || !strings.Contains(s, old) {
				return "", fmt.Errorf("replace: %q does not occur in what was read", old)
			}
			return strings.ReplaceAll(s, old, new), nil
		},
		// plain undoes the backslash that results put into text that looks like a tag.
		"plain": func(s string) string {
			return strings.NewReplacer(`{\plx:`, `{plx:`, `{\/plx:`, `{/plx:`).Replace(s)
		},
		"trim": strings.TrimSpace,
		// repeat makes long replies.
		"repeat": func(n int, s string) (string, error) {
			if n < 0 || len(s) > 0 && n > maxReply/len(s) {
				return "", fmt.Errorf("repeat: %d times %d bytes is more than a reply may have", n, len(s))
			}
			return strings.Repeat(s, n), nil
		},
		"atoi": func(s string) (int, error) { return strconv.Atoi(strings.TrimSpace(s)) },
	}
}

func compileTemplate(name, text string) (*template.Template, error) {
	return template.New(name).Option("missingkey=error").Funcs(functions()).Parse(text)
}

func fill(t *template.Template, v view) (string, error) {
	out := &bounded{}
	if err := t.Execute(out, v); err != nil {
		return "", err
	}
	return out.String(), nil
}

// bounded refuses to grow beyond what a reply may have.
type bounded struct{ strings.Builder }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxReply {
		return 0, fmt.Errorf("the reply is longer than %d bytes", maxReply)
	}
	return b.Builder.Write(p)
}
