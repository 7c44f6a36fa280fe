package workspace

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestIgnoreRules(t *testing.T) {
	tests := []struct {
		rules, path string
		dir, want   bool
	}{
		{"*.log", "a.log", false, true},
		{"*.log", "d/a.log", false, true},
		{"*.log", "a.log.txt", false, false},
		{"/a", "a", false, true},
		{"/a", "d/a", false, false},
		{"d/a", "d/a", false, true},
		{"d/a", "x/d/a", false, false},
		{"a/", "a", true, true},
		{"a/", "a", false, false},
		{"**/a", "x/y/a", false, true},
		{"a/**", "a/b/c", false, true},
		{"a/**", "a", true, false},
		{"a/**/b", "a/b", false, true},
		{"a/**/b", "a/x/y/b", false, true},
		{"!a", "a", false, false},
		{"*\n!a", "a", false, false},
		{"*\n!a", "b", false, true},
		{"!a\n*", "a", false, true},
		{"# a", "# a", false, false},
		{`\#a`, "#a", false, true},
		{`\!a`, "!a", false, true},
		{"a ", "a", false, true},
		{`a\ `, "a ", false, true},
		{"", "a", false, false},
		{"/", "a", true, false},
		{"[ab]x", "bx", false, true},
		{"[!ab]x", "bx", false, false},
		{"a[", "a[", false, false},
		{"{a,b}", "a", false, false},
		{"{a,b}", "{a,b}", false, true},
		{"a?c", "abc", false, true},
		{"a?c", "a/c", false, false},
		{"\ufeffa", "a", false, true},
		{"a\r\nb\r\n", "b", false, true},
	}
	for _, test := range tests {
		if got := parseIgnore(nil, ".", test.rules).ignored(test.path, test.dir); got != test.want {
			t.Errorf("%q on %q: %v, want %v", test.rules, test.path, got, test.want)
		}
	}
}

// TestIgnoreAsGitDoes compares with git itself on generated rules and paths.
func TestIgnoreAsGitDoes(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	b := newBench(t)
	if out, err := exec.Command(git, "-C", b.folder.Path, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	names := []string{"a", "b", "ab", "a.b", "c"}
	part := rapid.SampledFrom([]string{"a", "b", "*", "?", "ab", "**", "a*", "*b", "[ab]", "[!a]", "a.b", "*.b", "c"})
	rule := rapid.Custom(func(t *rapid.T) string {
		s := strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "parts"), "/")
		return rapid.SampledFrom([]string{"", "", "!"}).Draw(t, "negated") + rapid.SampledFrom([]string{"", "", "/"}).Draw(t, "anchor") +
			s + rapid.SampledFrom([]string{"", "", "/"}).Draw(t, "dir")
	})
	var paths []string // no folder of these exists, so git takes all but the last name for folders
	for _, x := range names {
		paths = append(paths, x)
		for _, y := range names {
			paths = append(paths, x+"/"+y)
			for _, z := range names {
				paths = append(paths, x+"/"+y+"/"+z)
			}
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		rules := strings.Join(rapid.SliceOfN(rule, 1, 5).Draw(rt, "rules"), "\n")
		b.file(".gitignore", rules+"\n")
		cmd := exec.Command(git, "-C", b.folder.Path, "-c", "core.excludesFile=", "check-ignore", "--no-index", "--stdin", "-z")
		cmd.Stdin = strings.NewReader(strings.Join(paths, "\x00"))
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
			rt.Fatalf("git check-ignore: %v", err)
		}
		var want []string
		for p := range bytes.SplitSeq(out, []byte{0}) {
			if len(p) > 0 {
				want = append(want, string(p))
			}
		}
		parsed := parseIgnore(nil, ".", rules)
		var got []string
		for _, p := range paths {
			if ignoredFromTop(parsed, p) {
				got = append(got, p)
			}
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("rules %q:\nours %v\ngit  %v", rules, got, want)
		}
	})
}

// ignoredFromTop asks as the walk does: from the top down, folders first.
func ignoredFromTop(rules *ignores, p string) bool {
	names := strings.Split(p, "/")
	for i := range names {
		if rules.ignored(filepath.Join(names[:i+1]...), i < len(names)-1) {
			return true
		}
	}
	return false
}
