package plx

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// row is a reply and what it means.
type row struct {
	name, text string
	rendered   bool
	want       Reply
}

func act(tool, body string, attrs ...string) Action {
	a := Action{Tool: tool, Attrs: map[string]string{}, Body: body}
	for i := 0; i < len(attrs); i += 2 {
		a.Attrs[attrs[i]] = attrs[i+1]
	}
	return a
}

func acts(a ...Action) []Action           { return a }
func problems(codes ...Problem) []Problem { return codes }

// needs is what a reply without meaning asks for.
func needs(display string, codes ...Problem) Reply {
	return Reply{Display: display, Problems: codes, NeedsCorrection: true}
}

var replies = []row{
	// Tags and their heads.
	{name: "act", text: "{plx:note}I look.{/plx:note}\n{plx:run}ls -la{/plx:run}\n{plx:run approval=\"required\"}make{/plx:run}",
		want: Reply{Notes: []string{"I look."}, Actions: acts(act("run", "ls -la"), act("run", "make", "approval", "required")), Display: "I look."}},
	{name: "answer", text: "{plx:done}\nIt **works**.\n{/plx:done}\n", want: Reply{Answer: "It **works**.", Display: "It **works**."}},
	{name: "all actions", text: `{plx:read path="a" start="1" end="9"/}{plx:list path="." depth="2"/}{plx:search query="x" mode="name"/}{plx:search}x y{/plx:search}{plx:write path="b" mode="create"}c{/plx:write}`,
		want: Reply{Actions: acts(act("read", "", "path", "a", "start", "1", "end", "9"), act("list", "", "path", ".", "depth", "2"),
			act("search", "", "query", "x", "mode", "name"), act("search", "x y"), act("write", "c", "path", "b", "mode", "create"))}},
	{name: "self-closed with and without space", text: `{plx:list/}{plx:list /}{plx:list path="a"/ }`, want: Reply{Actions: acts(act("list", ""), act("list", ""), act("list", "", "path", "a"))}},
	{name: "empty body", text: `{plx:read path="a"}{/plx:read}`, want: Reply{Actions: acts(act("read", "", "path", "a"))}},
	{name: "spaces in the delimiters", text: "{ \t plx:run}a{ / plx:run }{\nplx:run\n}b{/\tplx: run}", want: Reply{Actions: acts(act("run", "a"), act("run", "b"))}},
	{name: "names in any case", text: `{PLX:Run CWD="x"}ls{/plx:RUN}{plx:DONE}a{/Plx:done}`, want: Reply{Actions: acts(act("run", "ls", "cwd", "x")), Problems: problems(AnswerDropped)}},
	{name: "quoted brackets", text: `{plx:search query="a}b > c {d} </e> {plx:run}" path="x"/}`, want: Reply{Actions: acts(act("search", "", "query", "a}b > c {d} </e> {plx:run}", "path", "x"))}},
	{name: "quoted entities", text: `{plx:search query="say &quot;hi&quot; &lt;b&gt; &amp;amp; &#39;q&#x27; a&copy=b &nope; R&D"/}`,
		want: Reply{Actions: acts(act("search", "", "query", `say "hi" <b> &amp; 'q' a&copy=b &nope; R&D`))}},
	{name: "entities as quotes", text: `{plx:read path=&quot;a}b.txt&quot; start=&#34;3&#x22;/}`, want: Reply{Actions: acts(act("read", "", "path", "a}b.txt", "start", "3"))}},
	{name: "curly quotes", text: "{plx:write path=“a b.txt\" mode=„append“}x{/plx:write}{plx:read path=”c”/}{plx:read path=\uff02d\uff02/}",
		want: Reply{Actions: acts(act("write", "x", "path", "a b.txt", "mode", "append"), act("read", "", "path", "c"), act("read", "", "path", "d"))}},
	{name: "curly quotes in plain ones", text: `{plx:search query="“so”"/}`, want: Reply{Actions: acts(act("search", "", "query", "“so”"))}},
	{name: "only double quotes", text: `{plx:list path='a' depth=2 glob="*"/}`, want: Reply{Actions: acts(act("list", "", "glob", "*"))}},
	{name: "unknown and repeated attributes", text: `{plx:run Foo-1="a" cwd="b" CWD = "c" cwd="d" e=""}x{/plx:run}`, want: Reply{Actions: acts(act("run", "x", "foo-1", "a", "cwd", "b", "e", ""))}},
	{name: "attributes on lines of their own", text: "{plx:write\r\n  path=\"a\"\r\n  mode=\"append\"\r\n}x{/plx:write}", want: Reply{Actions: acts(act("write", "x", "path", "a", "mode", "append"))}},
	{name: "zero-width and non-breaking", text: "{\u200bplx\u2060:\ufeffr\u200bun\u00a0cwd=\"a\u200bb\u00a0c\"\u200b}x{\u200b/\u00a0plx:run\u200b}", want: Reply{Actions: acts(act("run", "x", "cwd", "ab c"))}},
	{name: "joiners belong to file names", text: "{plx:read path=\"\U0001f468\u200d\U0001f469 3\u202fPM.png\"/}", want: Reply{Actions: acts(act("read", "", "path", "\U0001f468\u200d\U0001f469 3\u202fPM.png"))}},

	// Bodies.
	{name: "command verbatim", text: "{plx:run}\n  cat <<'E'\r\n{ \"a\": [1] } <b> `x` &lt;\nE\n{/plx:run}", want: Reply{Actions: acts(act("run", "\n  cat <<'E'\r\n{ \"a\": [1] } <b> `x` &lt;\nE\n"))}},
	{name: "write loses one newline", text: "{plx:write path=\"f\"}\n\na\n{/plx:write}", want: Reply{Actions: acts(act("write", "\na\n", "path", "f"))}},
	{name: "write loses one CRLF", text: "{plx:write path=\"f\"}\r\n\r\na\r\n{/plx:write}", want: Reply{Actions: acts(act("write", "\r\na\r\n", "path", "f"))}},
	{name: "write without newlines", text: `{plx:write path="f"}a{/plx:write}`, want: Reply{Actions: acts(act("write", "a", "path", "f"))}},
	{name: "write of nothing", text: "{plx:write path=\"f\"}\n{/plx:write}", want: Reply{Actions: acts(act("write", "", "path", "f"))}},
	{name: "write keeps spaces before the newline", text: "{plx:write path=\"f\"} \na{/plx:write}", want: Reply{Actions: acts(act("write", " \na", "path", "f"))}},
	{name: "other tags in a body", text: "{plx:write path=\"f\"}\n{plx:run}rm{/plx:run} {plx:done}x{/plx:done} {/plx:note} {plx:write} {plx:result}\n{/plx:write}",
		want: Reply{Actions: acts(act("write", "{plx:run}rm{/plx:run} {plx:done}x{/plx:done} {/plx:note} {plx:write} {plx:result}\n", "path", "f"))}},
	{name: "escaped closer", text: `{plx:write path="f"}a{\/plx:write}b{ \/ PLX:write }c{\/plx:run}d{\\/plx:write}{/plx:write}`,
		want: Reply{Actions: acts(act("write", `a{/plx:write}b{ / PLX:write }c{\/plx:run}d{\\/plx:write}`, "path", "f"))}},
	{name: "the first closer of the name ends a body", text: `{plx:write path="f"}{plx:write path="g"}x{/plx:write}y{/plx:write}`,
		want: Reply{Actions: acts(act("write", `{plx:write path="g"}x`, "path", "f")), Display: "y"}},
	{name: "nearly a closer", text: "{plx:run}a{/plx:runs}b{/plx:ru}c{/plx:run d{/plx:run x}{{/plx:run}", want: Reply{Actions: acts(act("run", "a{/plx:runs}b{/plx:ru}c{/plx:run d{/plx:run x}{"))}},
	{name: "HTML file from the network", text: "{plx:write path=\"a.html\"}\n<p class=\"x\">&lt;b&gt; &amp;amp;</p>\n{/plx:write}", want: Reply{Actions: acts(act("write", "<p class=\"x\">&lt;b&gt; &amp;amp;</p>\n", "path", "a.html"))}},
	{name: "rendered bodies", rendered: true, text: "{plx:note}a &amp; b{/plx:note}{plx:run}a &lt; b &amp;&amp; c &unknown; &lt{/plx:run}",
		want: Reply{Notes: []string{"a & b"}, Actions: acts(act("run", "a < b && c &unknown; &lt")), Display: "a & b"}},
	{name: "rendered answer", rendered: true, text: "{plx:done}&lt;b&gt; &am", want: Reply{Answer: "<b> &am", Display: "<b> &am"}},
	{name: "network answer", text: "{plx:done}&lt;b&gt;{/plx:done}", want: Reply{Answer: "&lt;b&gt;", Display: "&lt;b&gt;"}},
	{name: "rendered text outside of bodies", rendered: true, text: "a &lt; b", want: Reply{Answer: "a &lt; b", Display: "a &lt; b"}},
	{name: "invalid UTF-8", text: "{plx:note}\xff\xc3{/plx:note}{plx:write path=\"\xe2\x28\"}\xff{\xe2\x80/plx:write}\xc2{/plx:write}",
		want: Reply{Notes: []string{"\xff\xc3"}, Actions: acts(act("write", "\xff{\xe2\x80/plx:write}\xc2", "path", "\xe2\x28")), Display: "\xff\xc3"}},

	// Look-alikes.
	{name: "angle brackets", text: "<plx:note>a</plx:note><plx:run cwd=\"x\">ls > f</plx:run><plx:list/>", want: Reply{Notes: []string{"a"}, Actions: acts(act("run", "ls > f", "cwd", "x"), act("list", "")), Display: "a"}},
	{name: "other look-alikes", text: "‹plx:run›1‹/plx:run›⟨plx:run⟩2⟨/plx:run⟩«plx:run»3«/plx:run»〈plx:run〉4〈/plx:run〉\u2329plx:run\u232a5\u2329/plx:run\u232a\uff1cplx:run\uff1e6\uff1c/plx:run\uff1e\uff5bplx:run\uff5d7\uff5b/plx:run\uff5d",
		want: Reply{Actions: acts(act("run", "1"), act("run", "2"), act("run", "3"), act("run", "4"), act("run", "5"), act("run", "6"), act("run", "7"))}},
	{name: "mixed", text: "<plx:run}1{/plx:run>{plx:run>2«/plx:run}{plx:run}3</plx:run>\n{plx:run}4⟨/plx:run⟩", want: Reply{Actions: acts(act("run", "1"), act("run", "2"), act("run", "3"), act("run", "4"))}},
	{name: "mixed in a fence", text: "```\n{plx:run}1</plx:run>\n```\n", want: Reply{Actions: acts(act("run", "1"))}},
	{name: "look-alikes in a well-formed body", text: "{plx:write path=\"f\"}\n<plx:write path=\"g\">x</plx:write>\n<plx:run>y</plx:run>\nuse </plx:write> so\n</plx:write>\n{/plx:write}",
		want: Reply{Actions: acts(act("write", "<plx:write path=\"g\">x</plx:write>\n<plx:run>y</plx:run>\nuse </plx:write> so\n</plx:write>\n", "path", "f"))}},
	{name: "escapes in look-alikes", text: `<plx:run>a<\/plx:run>b{\/plx:run}</plx:run>{plx:run}<\/plx:run>{/plx:run}`, want: Reply{Actions: acts(act("run", "a</plx:run>b{/plx:run}"), act("run", `<\/plx:run>`))}},
	{name: "done closed by a look-alike", text: "{plx:done}a</plx:done>\n", want: Reply{Answer: "a", Display: "a"}},

	// Repairs.
	{name: "open note", text: "{plx:note}I look.\n{plx:run}ls{/plx:run}", want: Reply{Notes: []string{"I look."}, Actions: acts(act("run", "ls")), Display: "I look."}},
	{name: "open note before a note", text: "{plx:note}a{plx:note}b{/plx:note}{plx:run}c{/plx:run}", want: Reply{Notes: []string{"a", "b"}, Actions: acts(act("run", "c")), Display: "a\n\nb"}},
	{name: "open note at the end", text: "{plx:run}ls{/plx:run}{plx:note}wait", want: Reply{Notes: []string{"wait"}, Actions: acts(act("run", "ls")), Display: "wait"}},
	{name: "other closers in a note", text: "{plx:note}a {/plx:run} b{/plx:note}{plx:run}c{/plx:run}", want: Reply{Notes: []string{"a {/plx:run} b"}, Actions: acts(act("run", "c")), Display: "a {/plx:run} b"}},
	{name: "note with an escaped closer", text: `{plx:note}a{\/plx:note}b{/plx:note}{plx:list/}`, want: Reply{Notes: []string{"a{/plx:note}b"}, Actions: acts(act("list", "")), Display: "a{/plx:note}b"}},
	{name: "note that speaks of an opener", text: "{plx:note}I use {plx:run} for it{/plx:note}{plx:run}ls{/plx:run}", want: Reply{Notes: []string{"I use"}, Actions: acts(act("run", "ls")), Display: "I use", Problems: problems(UnfinishedAction), NeedsCorrection: true}},
	{name: "action in a note", text: "{plx:note}I look. {plx:run}ls{/plx:run}{/plx:note}", want: Reply{Notes: []string{"I look."}, Actions: acts(act("run", "ls")), Display: "I look."}},
	{name: "open note before a body with notes", text: "{plx:note}I write{plx:write path=\"f\"}{plx:note}x{/plx:note}{/plx:write}", want: Reply{Notes: []string{"I write"}, Actions: acts(act("write", "{plx:note}x{/plx:note}", "path", "f")), Display: "I write"}},
	{name: "empty notes", text: "{plx:note}  {/plx:note}{plx:note/}{plx:list/}", want: Reply{Actions: acts(act("list", ""))}},
	{name: "open done", text: "{plx:note}n{/plx:note}{plx:done}a\n{plx:run}ls{/plx:run}\n", want: Reply{Notes: []string{"n"}, Answer: "a\n{plx:run}ls{/plx:run}", Display: "n\n\na\n{plx:run}ls{/plx:run}"}},
	{name: "open done with half a closer", text: "{plx:done}a\n{/plx:do", want: Reply{Answer: "a", Display: "a"}},
	{name: "open done with code", text: "{plx:done}if x {", want: Reply{Answer: "if x {", Display: "if x {"}},
	{name: "fenced tag", text: "```\n{plx:run}ls{/plx:run}\n```\n", want: Reply{Actions: acts(act("run", "ls"))}},
	{name: "fenced reply", text: "````xml\r\n{plx:note}a{/plx:note}\r\n{plx:run}ls{/plx:run}\r\n````", want: Reply{Notes: []string{"a"}, Actions: acts(act("run", "ls")), Display: "a"}},
	{name: "fences around each tag", text: "{plx:note}a\n```\n{plx:run}b{/plx:run}\n```\n\n```bash\n{plx:run}c{/plx:run}\n```\nthen", want: Reply{Notes: []string{"a"}, Actions: acts(act("run", "b"), act("run", "c")), Display: "a\n\nthen"}},
	{name: "fenced answer", text: "```\n{plx:done}a{/plx:done}\n```", want: Reply{Answer: "a", Display: "a"}},
	{name: "fence on the tag's line", text: "```{plx:run}ls{/plx:run}```", want: Reply{Actions: acts(act("run", "ls"))}},
	{name: "fence in a body", text: "{plx:run}\n```\nls\n```\n{/plx:run}", want: Reply{Actions: acts(act("run", "\n```\nls\n```\n"))}},
	{name: "fence around code stays", text: "See:\n```go\nx := 1\n```\n{plx:run}ls{/plx:run}", want: Reply{Actions: acts(act("run", "ls")), Display: "See:\n```go\nx := 1\n```"}},

	// The whole reply.
	{name: "empty", text: "", want: Reply{}},
	{name: "no tag", text: "\n  Just **text**, `{x}` and a < b.\n\n", want: Reply{Answer: "\n  Just **text**, `{x}` and a < b.\n\n", Display: "\n  Just **text**, `{x}` and a < b.\n\n"}},
	{name: "no tag, trailing brace", text: "func main() {", want: Reply{Answer: "func main() {", Display: "func main() {"}},
	{name: "no tag, code block", text: "a\n```js {1,3}\nlet x = {\n```\n", want: Reply{Answer: "a\n```js {1,3}\nlet x = {\n```\n", Display: "a\n```js {1,3}\nlet x = {\n```\n"}},
	{name: "a word on plx", text: "The complx: a thing; see plx and simplx:y.", want: Reply{Answer: "The complx: a thing; see plx and simplx:y.", Display: "The complx: a thing; see plx and simplx:y."}},
	{name: "invented result", text: "{plx:run}a{/plx:run}{plx:result n=\"1\"}fake {plx:run}x{/plx:run}{/plx:result}{plx:run}b{/plx:run}{plx:note}n{/plx:note}",
		want: Reply{Notes: []string{"n"}, Actions: acts(act("run", "a")), Problems: problems(InventedResult), Display: "n", Dropped: 1}},
	{name: "invented result, then answer", text: "{plx:run}a{/plx:run}{plx:result}ok{/plx:result}{plx:done}All good.{/plx:done}",
		want: Reply{Actions: acts(act("run", "a")), Problems: problems(InventedResult, AnswerDropped)}},
	{name: "only an invented result", text: "{plx:result}x{/plx:result}{plx:run}b{/plx:run}", want: Reply{Problems: problems(InventedResult), NeedsCorrection: true, Dropped: 1}},
	{name: "invented result that stays open", text: "{plx:run}a{/plx:run}{plx:result}x\n{plx:run}b{/plx:run}", want: Reply{Actions: acts(act("run", "a")), Problems: problems(InventedResult)}},
	{name: "task from the model", text: "{plx:task}do {plx:run}x{/plx:run}{/plx:task}{plx:run}a{/plx:run}", want: Reply{Actions: acts(act("run", "a"))}},
	{name: "17 actions", text: strings.Repeat("{plx:list/}", 17), want: Reply{Actions: slicesRepeat(act("list", ""), 16), Problems: problems(TooManyActions), Dropped: 1}},
	{name: "actions, then done", text: "{plx:run}a{/plx:run}{plx:done}x{/plx:done}", want: Reply{Actions: acts(act("run", "a")), Problems: problems(AnswerDropped)}},
	{name: "done, then actions", text: "{plx:note}n{/plx:note}{plx:done}x{/plx:done}tail{plx:run}a{/plx:run}", want: Reply{Notes: []string{"n"}, Actions: acts(act("run", "a")), Problems: problems(AnswerDropped), Display: "n\n\ntail"}},
	{name: "two dones", text: "{plx:done}a{/plx:done}{plx:done}b{/plx:done}", want: Reply{Answer: "a", Display: "a", Problems: problems(ExtraAnswer)}},
	{name: "unfinished write", text: "{plx:note}n{/plx:note}{plx:write path=\"f\"}\nhalf a fi", want: Reply{Notes: []string{"n"}, Display: "n", Problems: problems(UnfinishedAction), NeedsCorrection: true}},
	{name: "unfinished head", text: "{plx:note}n{/plx:note}{plx:wri", want: Reply{Notes: []string{"n"}, Display: "n", Problems: problems(UnfinishedAction), NeedsCorrection: true}},
	{name: "unfinished attribute", text: `{plx:run cwd="a`, want: needs("", UnfinishedAction)},
	{name: "unfinished self-close", text: `{plx:read path="a" /`, want: needs("", UnfinishedAction)},
	{name: "unfinished after a whole one", text: "{plx:run}a{/plx:run}{plx:run}b", want: Reply{Actions: acts(act("run", "a")), Problems: problems(UnfinishedAction), NeedsCorrection: true}},
	{name: "unfinished with half a closer", text: "{plx:run}a{/plx:ru", want: needs("", UnfinishedAction)},
	{name: "write closed by another's closer", text: "{plx:write path=\"f\"}a{/plx:run}", want: needs("", UnfinishedAction)},
	{name: "forgotten quote", text: "{plx:write path=\"f}\n{plx:run}rm{/plx:run}{/plx:write}{plx:run}a{/plx:run}", want: Reply{Actions: acts(act("run", "a")), Problems: problems(UnfinishedAction), NeedsCorrection: true}},
	{name: "tag in a head", text: "{plx:run {plx:list/}{/plx:run}", want: needs("", UnfinishedAction)},
	{name: "unknown tag", text: "{plx:exec x=\"1\"}rm {plx:run}rm{/plx:run}{/plx:exec}{plx:run}a{/plx:run}", want: Reply{Actions: acts(act("run", "a")), Problems: problems(UnknownTag)}},
	{name: "unknown tag alone", text: "{plx:exec/}", want: needs("", UnknownTag)},
	{name: "unknown tag with a known beginning", text: "{plx:run.sh}a{/plx:run.sh}{plx:runs/}", want: needs("", UnknownTag)},
	{name: "only a note", text: "{plx:note}n{/plx:note}", want: Reply{Notes: []string{"n"}, Display: "n", NeedsCorrection: true}},
	{name: "only a closer", text: "a {/plx:run} b", want: needs("a\n\nb")},
	{name: "empty done", text: "{plx:done/}", want: Reply{}},
	{name: "prose around tags", text: "I look.\n\n{plx:run}a{/plx:run}\n\nThen more.\n", want: Reply{Actions: acts(act("run", "a")), Display: "I look.\n\nThen more."}},
	{name: "grammar in an answer's code block", text: "{plx:done}\nWrite:\n```\n{plx:run}ls{/plx:run}\n{plx:result}x{/plx:result}\n```\n{/plx:done}",
		want: Reply{Answer: "Write:\n```\n{plx:run}ls{/plx:run}\n{plx:result}x{/plx:result}\n```", Display: "Write:\n```\n{plx:run}ls{/plx:run}\n{plx:result}x{/plx:result}\n```"}},
	{name: "grammar in a note's code", text: "{plx:note}I test `{plx:run}` and ``{plx:list/} ` ``.{/plx:note}{plx:run}a{/plx:run}",
		want: Reply{Notes: []string{"I test `{plx:run}` and ``{plx:list/} ` ``."}, Actions: acts(act("run", "a")), Display: "I test `{plx:run}` and ``{plx:list/} ` ``."}},
	{name: "grammar in code of untagged text", text: "Write `{plx:run}ls{/plx:run}`, or:\n```\nfirst\n{plx:run}rm{/plx:run}\n```\n", want: needs("Write `{plx:run}ls{/plx:run}`, or:\n```\nfirst\n{plx:run}rm{/plx:run}\n```\n")},

	// What looks like protocol and is none.
	{name: "space before the colon", text: "Now.\n{plx : run}ls{/plx : run}", want: needs("Now.")},
	{name: "space before the name", text: "{plx: run}ls", want: needs("")},
	{name: "without delimiters", text: "plx:run ls", want: needs("plx:run ls")},
	{name: "on a later line", text: "Well,\n  / plx :run ls", want: needs("Well,\n  / plx :run ls")},
	{name: "cut in the prefix", text: "Well, {plx:", want: needs("Well, ")},
}

func slicesRepeat(a Action, n int) []Action {
	var list []Action
	for range n {
		list = append(list, a)
	}
	return list
}

func TestReplies(t *testing.T) {
	for _, test := range replies {
		t.Run(test.name, func(t *testing.T) {
			want := test.want
			want.Notes = append([]string{}, want.Notes...)
			want.Actions = append([]Action{}, want.Actions...)
			want.Problems = append([]Problem{}, want.Problems...)
			if diff := cmp.Diff(want, Parse(test.text, Options{Rendered: test.rendered})); diff != "" {
				t.Errorf("%s\n(-want +got)\n%s", test.text, diff)
			}
			check(t, test.text, Options{Rendered: test.rendered})
		})
	}
}

func TestReplyAsJSON(t *testing.T) {
	got, err := json.Marshal(Parse("", Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"notes":[],"actions":[],"answer":"","problems":[],"display":"","needsCorrection":false}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	got, err = json.Marshal(Parse("{plx:list/}", Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"notes":[],"actions":[{"tool":"list","attrs":{},"body":""}],"answer":"","problems":[],"display":"","needsCorrection":false}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
