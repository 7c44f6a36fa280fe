package plx

import (
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

// While a reply streams nothing that belongs to a tag is ever on the screen, and what is there stays.
func TestDisplayNeverShowsATag(t *testing.T) {
	for _, text := range []string{
		"{plx:note}I look {at} it.{/plx:note}\n{plx:run}ls{/plx:run}\n",
		"```\n<plx:note>a < b<plx:write path=“x”>{plx:</plx:write>\n```\n",
		"‹plx:note›n‹/plx:note›{\u200bplx:done}func f() {\n}{ / plx:done }",
		"{plx:result n=\"1\"}no{/plx:result}{plx:exec}no{/plx:exec}{plx:task}no{/plx:task}{plx:done}yes</plx:done>",
	} {
		p := NewParser(Options{})
		final := Parse(text, Options{}).Display
		for i := range len(text) {
			p.Feed(text[i : i+1])
			for from, got := range map[string]string{"streaming": p.Display(), "ended here": Parse(text[:i+1], Options{}).Display} {
				if !utf8.ValidString(got) {
					continue // ended inside a rune
				}
				if kept, ok := strings.CutPrefix(final, strings.TrimRight(got, "{<‹\u200b` \n")); !ok {
					t.Fatalf("%s after %q: %q is no beginning of %q (%q)", from, text[:i+1], got, final, kept)
				}
				if strings.Contains(got, "plx") || strings.Contains(got, "no") && i > 40 && strings.Contains(text, "yes") {
					t.Fatalf("%s after %q: %q", from, text[:i+1], got)
				}
			}
		}
		p.Finish()
		if got := p.Display(); got != final {
			t.Errorf("%q: display %q after the end, want %q", text, got, final)
		}
	}
}

func TestTrailingBraceIsShown(t *testing.T) {
	for text, want := range map[string]string{
		"if x {":                          "if x {",
		"{":                               "{",
		"{plx:done}if x {":                "if x {",
		"{plx:note}a{/plx:note}\n{":       "a\n\n{",
		"{plx:done}if x {/":               "if x",
		"{plx:done}if x {p":               "if x",
		"{plx:run}if x {":                 "",
		"{plx:note}a":                     "a",
		"{plx:note}a\n```\n{":             "a",
		"{plx:run}x{/plx:run}{plx:done}{": "",
	} {
		p := NewParser(Options{})
		p.Feed(text)
		if got := p.Display(); got != want {
			t.Errorf("%q shows %q, want %q", text, got, want)
		}
	}
}

// An action is reported with the very byte that closes it, a note with each byte that certainly belongs to it.
func TestEventsComeAtOnce(t *testing.T) {
	p := NewParser(Options{})
	steps := []struct {
		delta string
		want  []Event
	}{
		{"{plx:no", nil},
		{"te}Loo", []Event{{Kind: EventNote, Index: 1, Text: "Loo"}}},
		{"king ", []Event{{Kind: EventNote, Index: 1, Text: "king"}}},
		{"at it", []Event{{Kind: EventNote, Index: 1, Text: " at it"}}},
		{"{/plx:note", nil},
		{"}\n{plx:run}ls{/plx:run", nil},
		{"}", []Event{{Kind: EventAction, Index: 1, Action: &Action{Tool: "run", Attrs: map[string]string{}, Body: "ls"}}}},
		{"{plx:note}b{/plx:note}{plx:list/}", []Event{{Kind: EventNote, Index: 2, Text: "b"}, {Kind: EventAction, Index: 2, Action: &Action{Tool: "list", Attrs: map[string]string{}}}}},
		{"\nso.\n", []Event{{Kind: EventText, Text: "so."}}},
		{"{plx:list/} and", []Event{{Kind: EventAction, Index: 3, Action: &Action{Tool: "list", Attrs: map[string]string{}}}, {Kind: EventText, Text: "\n\nand"}}},
		{"{plx:done}never shown{/plx:done}", nil},
	}
	for _, step := range steps {
		got := p.Feed(step.delta)
		if !sameEvents(got, step.want) {
			t.Fatalf("%q: got %+v, want %+v", step.delta, got, step.want)
		}
	}
	p.Finish()
	if got := p.Feed("{plx:list/}"); got != nil {
		t.Errorf("after the end: %+v", got)
	}
	if got := len(p.Finish().Actions); got != 3 {
		t.Errorf("%d actions after the end", got)
	}
}

func sameEvents(a, b []Event) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Kind != b[i].Kind || a[i].Index != b[i].Index || a[i].Text != b[i].Text || (a[i].Action == nil) != (b[i].Action == nil) {
			return false
		}
		if a[i].Action != nil && (a[i].Action.Tool != b[i].Action.Tool || a[i].Action.Body != b[i].Action.Body) {
			return false
		}
	}
	return true
}

// adversaries are texts that look like much work. Each must cost in proportion to its size all the same.
func adversaries(size int) map[string]string {
	fill := func(s string) string { return strings.Repeat(s, size/len(s)+1)[:size] }
	return map[string]string{
		"prose":                fill("The quick brown fox jumps over the lazy dog, and a line ends here.\n"),
		"code":                 fill("if x[i] < y { return map[string]int{\"a\": 1} } // `tick`\n"),
		"Chinese":              fill("漢字かな交じり文、"),
		"write":                "{plx:write path=\"f\"}\n" + fill("\tif a < b { c() } // 漢\n") + "{/plx:write}",
		"done":                 "{plx:done}" + fill("a line of an **answer** with {braces} in it\n") + "{/plx:done}",
		"openers {":            fill("{"),
		"spaced openers":       fill("{ "),
		"{plx:":                fill("{plx:"),
		"unclosed notes":       fill("{plx:note}"),
		"unclosed runs":        fill("{plx:run}"),
		"unclosed heads":       fill("{plx:run a=\"b\" "),
		"unclosed quotes":      fill("{plx:run a=\"b"),
		"closers":              fill("{/plx:run}"),
		"escaped closers":      "{plx:run}" + fill("{\\/plx:run}"),
		"doubtful closers":     "{plx:run}" + fill("</plx:run> x"),
		"doubtful in a row":    "{plx:run}" + fill("</plx:run>"),
		"doubt, then spaces":   "{plx:run}</plx:run>" + fill(" "),
		"look-alike nests":     "{plx:run}" + fill("<plx:run>") + fill("</plx:run>"),
		"partial closers":      "{plx:done}" + fill("{/plx:don"),
		"one long head":        "{plx:run " + fill("abc "),
		"one long value":       "{plx:run a=\"" + fill("abc "),
		"spaces":               fill(" "),
		"a brace and spaces":   "{" + fill(" "),
		"backticks":            fill("`"),
		"fence lines":          fill("```\n"),
		"fences with info":     fill("```go\n"),
		"newlines":             fill("\n"),
		"actions":              fill("{plx:list/}"),
		"notes":                fill("{plx:note}a{/plx:note}"),
		"dones and actions":    fill("{plx:done}a{/plx:done}{plx:list/}"),
		"results":              fill("{plx:result}a{/plx:result}"),
		"unknown tags":         fill("{plx:x}a{/plx:x}"),
		"colons":               fill("plx :"),
		"first bytes of runes": fill("\xe2"),
		"zero-width":           "{" + fill("\u200b"),
		"entities":             "{plx:done}" + fill("&amp;&am&"),
	}
}

// Reading in pieces of 20 bytes must not copy what came before: what is allocated stays in proportion to the reply.
func TestDeltasStayLinear(t *testing.T) {
	for name, text := range adversaries(1 << 20) {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			feed(text, 20)
			runtime.ReadMemStats(&after)
			if per := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(text)); per > 30 {
				t.Errorf("%.1f bytes allocated for each byte of the reply", per)
			}
			if per := float64(after.Mallocs-before.Mallocs) / float64(len(text)); per > 0.3 {
				t.Errorf("%.2f allocations for each byte of the reply", per)
			}
		})
	}
}

// A usual reply costs next to no allocation, however long it is.
func TestNoAllocationPerByte(t *testing.T) {
	text := typical()
	if n := testing.AllocsPerRun(3, func() { feed(text, 20) }); n > 1000 {
		t.Errorf("%.0f allocations for %d bytes", n, len(text))
	}
}

func TestFiveMegabytes(t *testing.T) {
	file := strings.Repeat("a line with {braces}, <b> and 漢字\n", 5<<20/40)
	got := feed("{plx:note}n{/plx:note}\n{plx:write path=\"f\"}\n"+file+"{/plx:write}\n{plx:run}ls{/plx:run}", 1000)
	if len(got.Actions) != 2 || got.Actions[0].Body != file || len(got.Problems) > 0 {
		t.Errorf("%d actions, problems %v", len(got.Actions), got.Problems)
	}
	if got := feed(file, 1000); got.Answer != file || got.Display != file || got.NeedsCorrection {
		t.Error("an answer of five megabytes is not shown as it is")
	}
	if got := feed("{plx:run}"+file, 1000); len(got.Actions) > 0 || !got.NeedsCorrection {
		t.Error("an unfinished command of five megabytes is run")
	}
}
