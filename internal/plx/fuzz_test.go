package plx

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// shown is what a screen has after the events of a whole reply.
type shown struct {
	texts   map[part]string
	actions []Action
}

func watch(t *testing.T, text string, o Options, cut func(rest string) int) (shown, Reply) {
	t.Helper()
	s := shown{texts: map[part]string{}}
	p := NewParser(o)
	for text != "" {
		n := cut(text)
		for _, e := range p.Feed(text[:n]) {
			if (e.Action != nil) != (e.Kind == EventAction) || (e.Text == "") != (e.Kind == EventAction) {
				t.Fatalf("odd event %+v", e)
			}
			if e.Action == nil {
				s.texts[part{e.Kind, e.Index}] += e.Text
				continue
			}
			if s.actions = append(s.actions, *e.Action); len(s.actions) != e.Index {
				t.Fatalf("action %d reported as %d", len(s.actions), e.Index)
			}
		}
		text = text[n:]
	}
	return s, p.Finish()
}

// check holds a reply against everything that is true of all replies.
func check(t *testing.T, text string, o Options) {
	t.Helper()
	once, reply := watch(t, text, o, func(rest string) int { return len(rest) })
	size := 0
	for name, cut := range map[string]func(string) int{
		"one byte at a time": func(string) int { return 1 },
		"growing pieces":     func(rest string) int { size++; return min(size%7+1, len(rest)) },
	} {
		pieces, got := watch(t, text, o, cut)
		if !reflect.DeepEqual(got, reply) {
			t.Fatalf("%s of %q:\n%+v\nat once:\n%+v", name, text, got, reply)
		}
		if !reflect.DeepEqual(pieces, once) {
			t.Fatalf("events with %s of %q:\n%+v\nat once:\n%+v", name, text, pieces, once)
		}
	}
	if len(reply.Actions) > MaxActions || reply.Notes == nil || reply.Actions == nil || reply.Problems == nil {
		t.Fatalf("%q: %+v", text, reply)
	}
	for i, n := range reply.Notes {
		if n == "" || !strings.HasPrefix(n, once.texts[part{EventNote, i + 1}]) {
			t.Fatalf("%q: note %q, but events made %q", text, n, once.texts[part{EventNote, i + 1}])
		}
	}
	for i, a := range once.actions {
		if !reflect.DeepEqual(a, reply.Actions[i]) {
			t.Fatalf("%q: action %+v, but event had %+v", text, reply.Actions[i], a)
		}
	}
	if reply.Answer != "" && !strings.HasPrefix(reply.Answer, once.texts[part{EventAnswer, 0}]) {
		t.Fatalf("%q: answer %q, but events made %q", text, reply.Answer, once.texts[part{EventAnswer, 0}])
	}
	if utf8.ValidString(text) && !utf8.ValidString(reply.Display) {
		t.Fatalf("%q: display is not UTF-8: %q", text, reply.Display)
	}
	if len(reply.Actions) > 0 && reply.Answer != "" {
		t.Fatalf("%q: both actions and an answer", text)
	}
}

// pieces are what awkward replies are made of.
var pieces = []string{
	"{", "}", "<", ">", "/", "\\", "`", "```", "```sh\n", "\n", "\r\n", " ", "    ", "text", "{plx:", "plx:", "{ plx : run}", "{plx: run}",
	"{plx:note}", "{/plx:note}", "{\\/plx:note}", "<plx:note>", "</plx:note>", "‹plx:note›", "{plx:run}", "{/plx:run}", "{ / plx:run }", "</plx:run>",
	"<plx:run>", "«/plx:run»", `{plx:run approval="required" cwd="a}b>c"}`, `{plx:read path="a&quot;b"/}`, `{plx:read path=&quot;a}b&quot; /}`,
	"{plx:list/}", "{plx:list path=“a” /}", `{plx:write path="f"}`, "{plx:write path=\"f", "{/plx:write}", "{\\/plx:write}", "<plx:write>", "</plx:write>",
	"<\\/plx:write>", "{plx:done}", "{/plx:done}", "</plx:done>", "{PLX:Done}", "{plx:result n=\"1\"}", "{/plx:result}", "{plx:task}", "{/plx:task}",
	"{plx:foo}", "{/plx:foo}", "{plx:foo/}", "\u200b", "\u00a0", "{\u200bplx:run\u00a0}", "⟨", "〈", "\xe3\x80", "\xff", "\xc2", "é", "漢", "🙂",
	"&amp;", "&am", "&lt;b&gt;", "{plx:run", "{/plx", "a:b",
}

func FuzzParse(f *testing.F) {
	for _, p := range pieces {
		f.Add(p, false)
	}
	for _, s := range replies {
		f.Add(s.text, s.rendered)
	}
	f.Fuzz(func(t *testing.T, text string, rendered bool) {
		check(t, text, Options{Rendered: rendered})
	})
}

// FuzzPieces makes replies of whole tags and parts of them: each byte chooses a piece.
func FuzzPieces(f *testing.F) {
	f.Add([]byte{20, 13, 21, 26, 13, 27}, false)
	for i := range pieces {
		f.Add([]byte{byte(i), 10, byte(i * 7), byte(i * 13), 24, byte(i * 5), 25, byte(i * 3), byte(i * 11)}, i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, choice []byte, rendered bool) {
		var b strings.Builder
		for _, c := range choice {
			b.WriteString(pieces[int(c)%len(pieces)])
		}
		check(t, b.String(), Options{Rendered: rendered})
	})
}
