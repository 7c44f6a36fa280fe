package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plexus/internal/tool"
)

// searchBench has a little of everything that a search meets.
func searchBench(t testing.TB) *bench {
	b := newBench(t)
	b.file("a.go", "package a\n\nfunc Needle() {}\n// needle again\n")
	b.file("sub/b.txt", "no\r\nneedle here\r\n")
	b.file("sub/no-newline", "x\nneedle")
	b.file("ignored.log", "needle\n")
	b.file(".gitignore", "*.log\n/private/\n")
	b.file("private/x", "needle\n")
	b.file(".git/HEAD", "needle\n")
	b.file("node_modules/m/x.js", "needle\n")
	b.file("dist/x.js", "needle\n")
	b.file("bin", "needle\x00\nneedle\n")
	b.file("utf16.txt", utf16Bytes("eins\nneedle ü\n", false, true))
	b.file("big.json", strings.Repeat("0123456789abcde\n", 70_000)+"needle\n")
	b.file(".hidden", "needle\n")
	b.link("a.go", "link.go")
	return b
}

func TestSearchContent(t *testing.T) {
	b := searchBench(t)
	want := strings.TrimPrefix(`
.hidden:1:needle
a.go:4:// needle again
utf16.txt:2:needle ü
sub/b.txt:2:needle here
sub/no-newline:2:needle
[5 matches in 5 of 6 files. Skipped: .git/ (version control), dist/ (build folder), node_modules/ (dependencies), private/ (git-ignored), `+
		`1 git-ignored, 1 binary, 1 over 1 MB (big.json), 1 symbolic links. Name a path to search it anyway.]`, "\n")
	if got := b.ok("search", args{"query": "needle"}); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestSearchNamedIsSearchedAnyway(t *testing.T) {
	b := searchBench(t)
	for path, want := range map[string]string{
		"ignored.log":          "ignored.log:1:needle",
		"private":              "private/x:1:needle",
		"private/x":            "private/x:1:needle",
		"node_modules":         "node_modules/m/x.js:1:needle",
		"node_modules/m":       "node_modules/m/x.js:1:needle",
		"dist":                 "dist/x.js:1:needle",
		".git":                 ".git/HEAD:1:needle",
		"bin":                  "bin: binary file, 2 lines match",
		"big.json":             "big.json:70001:needle",
		"link.go":              "a.go:4:// needle again",
		"utf16.txt":            "utf16.txt:2:needle ü",
		"/project/sub":         "sub/b.txt:2:needle here",
		b.folder.Path + "/bin": "bin: binary file",
	} {
		b.has(b.ok("search", args{"query": "needle", "path": path}), want)
	}
	b.fails("not-found", "search", args{"query": "x", "path": "none"})
}

func TestSearchQueries(t *testing.T) {
	b := newBench(t)
	b.file("f", "foo.bar(x)\nFOO bar\nfoo\tbar ÄRGER\nstraße\n\nK\u212a\n")
	tests := []struct {
		in    args
		lines []int
	}{
		{args{"query": "foo.bar("}, []int{1}},
		{args{"query": "foo"}, []int{1, 3}},
		{args{"query": "foo", "case": false}, []int{1, 2, 3}},
		{args{"query": "FOO", "case": false}, []int{1, 2, 3}},
		{args{"query": "ärger", "case": false}, []int{3}},
		{args{"query": "ärger"}, nil},
		{args{"query": "foo.bar", "regexp": true}, []int{1, 3}},
		{args{"query": "^foo", "regexp": true}, []int{1, 3}},
		{args{"query": "bar$", "regexp": true}, []int{2}},
		{args{"query": "^$", "regexp": true}, []int{5}},
		{args{"query": "foo|straße", "regexp": true}, []int{1, 3, 4}},
		{args{"query": "foo.bar", "regexp": true, "case": false}, []int{1, 2, 3}},
		{args{"query": "k", "case": false, "regexp": true}, []int{6}},
		{args{"query": `\)\s*F`, "regexp": true}, nil}, // never over the end of a line
		{args{"query": "(?:x)", "regexp": true}, []int{1}},
		{args{"query": "foo\n"}, []int{1, 3}}, // a body's last newline is none of the query
	}
	for _, test := range tests {
		text := b.ok("search", test.in)
		var want strings.Builder
		for _, n := range test.lines {
			fmt.Fprintf(&want, "f:%d:", n)
		}
		if got := strings.Join(regexp.MustCompile(`(?m)^f:\d+:`).FindAllString(text, -1), ""); got != want.String() {
			t.Errorf("%v: got %s, want %s", test.in, got, want.String())
		}
	}
	b.fails("bad-input", "search", args{"query": "a(", "regexp": true})
	b.fails("bad-input", "search", args{"query": "(a{1000}){1000}", "regexp": true})
	b.fails("bad-input", "search", args{"query": "a\nb"})
	b.fails("bad-input", "search", args{"query": ""})
	b.fails("bad-input", "search", args{"mode": "name"})
	b.fails("bad-input", "search", args{"query": "x", "glob": "[a"})
	b.fails("bad-input", "search", args{"query": "x", "mode": "lines"})
	b.has(b.ok("search", args{"query": `fo+\b`}), "taken as plain text; regexp=true")
}

func TestSearchGlob(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"a.go", "b.ts", "src/c.go", "src/deep/d.go", "src/deep/e.ts", "x/src/f.go"} {
		b.file(name, "needle\n")
	}
	tests := []struct {
		glob, path string
		want       []string
	}{
		{"*.go", "", []string{"a.go", "src/c.go", "src/deep/d.go", "x/src/f.go"}},
		{"*.{ts,md}", "", []string{"b.ts", "src/deep/e.ts"}},
		{"src/**/*.go", "", []string{"src/c.go", "src/deep/d.go"}},
		{"/src/*.go", "", []string{"src/c.go"}},
		{"deep/*.go", "src", []string{"src/deep/d.go"}},
		{"src/deep/*.go", "src", []string{"src/deep/d.go"}},
		{"!*.go", "", []string{"b.ts", "src/deep/e.ts"}},
		{"./a.go", "", []string{"a.go"}},
	}
	for _, test := range tests {
		for _, mode := range []string{"content", "name"} {
			in := args{"query": "needle", "glob": test.glob, "path": test.path}
			if mode == "name" {
				in = args{"mode": "name", "glob": test.glob, "path": test.path}
			}
			text := b.ok("search", in)
			var got []string
			for line := range strings.SplitSeq(text, "\n") {
				if name, _, _ := strings.Cut(line, ":"); !strings.HasPrefix(line, "[") && !strings.HasSuffix(name, "/") {
					got = append(got, name)
				}
			}
			if strings.Join(got, " ") != strings.Join(test.want, " ") {
				t.Errorf("%v: got %v, want %v", in, got, test.want)
			}
		}
	}
}

func TestSearchNames(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"README.md", "src/reader.go", "src/read/x.go", ".gitignore", "hidden.read"} {
		b.file(name, "")
	}
	b.file(".gitignore", "hidden.*\n")
	tests := []struct {
		in   args
		want string
	}{
		{args{"query": "read"}, "src/read/\nsrc/reader.go\nsrc/read/x.go\n[3 matches of 6 names. Skipped: 1 git-ignored. Name a path to search it anyway.]"},
		{args{"query": "read", "case": false}, "README.md\nsrc/read/\nsrc/reader.go\nsrc/read/x.go\n[4 matches"},
		{args{"query": "*.go"}, "src/reader.go\nsrc/read/x.go\n[2 matches"},
		{args{"query": "src/*.go"}, "src/reader.go\n[1 match"},
		{args{"query": `^README\.md$`, "regexp": true}, "README.md\n[1 match"},
		{args{"query": "none"}, "[0 matches of 6 names."},
	}
	for _, test := range tests {
		test.in["mode"] = "name"
		if got := b.ok("search", test.in); !strings.HasPrefix(got, test.want) {
			t.Errorf("%v: got\n%s\nwant\n%s", test.in, got, test.want)
		}
	}
	b.fails("bad-input", "search", args{"query": "(", "mode": "name", "regexp": true})
}

// TestSearchBoundsAreTheSameEachTime: the first matches in the order of paths.
func TestSearchBoundsAreTheSameEachTime(t *testing.T) {
	b := newBench(t)
	for i := range 300 {
		b.file(fmt.Sprintf("d%02d/f%02d", i%7, i), strings.Repeat("needle\n", 1+i%5))
	}
	first := b.ok("search", args{"query": "needle"})
	b.has(first, "Stopped after 200 matches")
	if n := strings.Count(first, "needle\n"); n != matchCount {
		t.Errorf("%d matches", n)
	}
	matches, _, _ := strings.Cut(first, "[")
	for range 20 {
		if again, _, _ := strings.Cut(b.ok("search", args{"query": "needle"}), "["); again != matches {
			t.Fatal("the same search found other matches")
		}
	}
	b.file("one", strings.Repeat("x\n", 100_000))
	text := b.ok("search", args{"query": "x", "path": "one"})
	b.has(text, "one:200:x\n[200 matches", "there are more")
}

func TestSearchLongLines(t *testing.T) {
	b := newBench(t)
	b.file("f", strings.Repeat("é", 1000)+"needle\x1b[31m\x07"+strings.Repeat("ü", 1000)+"\nshort needle\n")
	text := b.ok("search", args{"query": "needle"})
	lines := strings.Split(text, "\n")
	b.has(lines[0], "f:1:…", "needle�[31m�", "…")
	if len(lines[0]) > matchBytes+50 || strings.Contains(lines[0], "\x1b") {
		t.Errorf("line of %d bytes: %q", len(lines[0]), lines[0])
	}
	b.has(lines[1], "f:2:short needle")
	for _, before := range []int{999_990, 999_997, 1_000_000, 1_991_805, 1_991_808, 3_000_000} { // one line, more than a block
		b.file("huge", strings.Repeat("x", before)+"needle"+strings.Repeat("y", 1_500_000)+"\nneedle\n")
		text := b.ok("search", args{"query": "needle", "path": "huge"})
		b.has(text, "huge:1:", "needley", "huge:2:needle\n", "2 matches")
	}
}

func TestSearchStopsInTime(t *testing.T) {
	b := newBench(t)
	for i := range 200 {
		b.file(fmt.Sprintf("f%d", i), "needle\n")
	}
	input, _ := json.Marshal(args{"query": "needle"})
	short := Tools(Options{SearchTime: time.Nanosecond})[2]
	env := tool.Env{Call: tool.Call{Folder: b.folder}}
	result, err := short.Run(t.Context(), env, input)
	if err != nil || !strings.Contains(result.Text, "Stopped after 1ns: not everything was searched") {
		t.Errorf("got %q, %v", result.Text, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if result, err := b.tools["search"].Run(ctx, env, input); err == nil {
		t.Errorf("a stopped search returned %q", result.Text)
	}
}

// TestSearchFindsWhatRegexpFinds compares the search, with its shortcuts, to a
// plain use of regexp line by line.
func TestSearchFindsWhatRegexpFinds(t *testing.T) {
	text := rapid.StringOfN(rapid.SampledFrom([]rune("abAB. \n\té")), 0, 60, -1)
	query := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "B", ".", "a+", "(b|A)", "[ab]", "^", "$", `\.`, "é", "a?", "(?i:b)"}), 1, 5).Draw(t, "parts"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		content, q, fold, isRegexp := text.Draw(t, "content"), query.Draw(t, "query"), rapid.Bool().Draw(t, "fold"), rapid.Bool().Draw(t, "regexp")
		m, err := newMatcher(q, isRegexp, fold)
		if err != nil {
			t.Fatal(err)
		}
		pattern := q
		if !isRegexp {
			pattern = regexp.QuoteMeta(q)
		}
		if fold {
			pattern = "(?i)" + pattern
		}
		re := regexp.MustCompile(pattern)
		var want []string
		lines := strings.Split(content, "\n")
		for i, line := range lines {
			if re.MatchString(line) && (i < len(lines)-1 || line != "") {
				want = append(want, fmt.Sprintf("%d:%s", i+1, line))
			}
		}
		s := scanner{search: &search{}, finder: finder{matcher: m}}
		var out found
		s.block([]byte(content), "f", 1, &out)
		var got []string
		for _, h := range out.hits {
			got = append(got, fmt.Sprintf("%d:%s", h.line, h.text))
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Fatalf("%q in %q: got %q, want %q", pattern, content, got, want)
		}
	})
}

// BenchmarkSearch searches this Go installation's source.
func BenchmarkSearch(b *testing.B) {
	root := benchTree(b)
	for name, in := range map[string]args{
		"rare-literal": {"query": "xyzzy-not-there"},
		"fold":         {"query": "XYZZY-not-there", "case": false},
		"regexp":       {"query": `func \w+NotThere\(`, "regexp": true},
		"no-literal":   {"query": `[0-9]{12}`, "regexp": true},
		"names":        {"query": "not-there", "mode": "name"},
	} {
		b.Run(name, func(b *testing.B) {
			bn := newBench(b)
			bn.folder = tool.Folder{Name: "src", Path: root}
			for b.Loop() {
				if _, err := bn.call("search", in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchTree(b *testing.B) string {
	root := os.Getenv("GOROOT")
	if root == "" {
		root = "/usr/local/go"
	}
	if _, err := os.Stat(root + "/src"); err != nil {
		b.Skip("no large tree here")
	}
	return root + "/src"
}
