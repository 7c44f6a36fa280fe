package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestKeepCutsBetweenLines(t *testing.T) {
	var k keeper
	for i := 1; i <= 100_000; i++ {
		fmt.Fprintf(writerFunc(k.Write), "line %d\n", i)
	}
	text := k.text(" and is in FILE")
	head, rest, _ := strings.Cut(text, "[... ")
	marker, tail, _ := strings.Cut(rest, " ...]\n")
	if !strings.HasPrefix(head, "line 1\n") || !strings.HasSuffix(head, "\n") || !strings.HasSuffix(tail, "line 100000\n") || !strings.HasPrefix(tail, "line ") {
		t.Errorf("head ends %q, tail begins %q", head[len(head)-20:], tail[:20])
	}
	shown := strings.Count(head, "\n") + strings.Count(tail, "\n")
	want := fmt.Sprintf("%s lines, %s bytes left out; the whole output has 100,000 lines, 1,088,895 bytes and is in FILE",
		comma(100_000-shown), comma(1_088_895-len(head)-len(tail)))
	if marker != want {
		t.Errorf("marker %q, want %q", marker, want)
	}
	if len(text) > keptBytes+300 {
		t.Errorf("%d bytes", len(text))
	}
}

type writerFunc func(p []byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

func comma(n int) string {
	s := fmt.Sprint(n)
	if len(s) > 3 {
		s = s[:len(s)-3] + "," + s[len(s)-3:]
	}
	return s
}

// TestKeep: short texts are whole; of long ones the head and the tail are,
// however they come.
func TestKeep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var k keeper
		var all strings.Builder
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 60_000), 0, 8).Draw(t, "sizes") {
			part := strings.Repeat(rapid.SampledFrom([]string{"é", "a\n", "xyz", "日本\n"}).Draw(t, "unit"), n/3)
			k.Write([]byte(part))
			all.WriteString(part)
		}
		text := k.text("")
		if !k.cut() {
			if text != all.String() {
				t.Fatalf("%d bytes became %d", all.Len(), len(text))
			}
			return
		}
		head, rest, _ := strings.Cut(text, "[... ")
		_, tail, found := strings.Cut(rest, " ...]\n")
		head = strings.TrimSuffix(head, "\n")
		if !found || !strings.HasPrefix(all.String(), head) || !strings.HasSuffix(all.String(), tail) || !utf8.ValidString(text) {
			t.Fatalf("head of %d and tail of %d bytes are not those of the text", len(head), len(tail))
		}
		if len(head)+len(tail) > keptBytes || len(head)+len(tail) < keptBytes/4 {
			t.Fatalf("kept %d bytes", len(head)+len(tail))
		}
	})
}

func TestSpoolBound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "call.txt")
	out := newOutput("$ x\n", spool{path: path, limit: 5000}, nil)
	for range 1000 {
		out.Write([]byte("0123456789\n"))
	}
	f := out.finish(false)
	got, err := os.ReadFile(path)
	if err != nil || len(got) < 5000 || len(got) > 5100 || !strings.HasPrefix(string(got), "$ x\n0123456789\n") {
		t.Errorf("the file has %d bytes, %v", len(got), err)
	}
	if !strings.HasSuffix(string(got), "[6,004 more bytes were not kept]\n") {
		t.Errorf("the file ends %q", got[len(got)-60:])
	}
	if f.bytes != 11_000 || f.lines != 1000 || f.trouble != "only the first 5,000 bytes of the output were kept on disk" {
		t.Errorf("%d bytes, %d lines, %q", f.bytes, f.lines, f.trouble)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestSpoolOnlyWhenNeeded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "call.txt")
	out := newOutput("$ x\n", spool{path: path, limit: 5000}, nil)
	out.Write([]byte(strings.Repeat("x", spoolFrom-1)))
	if f := out.finish(false); f.spool != "" {
		t.Errorf("spool %q", f.spool)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a short output has a file: %v", err)
	}
}

func TestLiveShowsLinesAsTheyGrow(t *testing.T) {
	tests := []struct {
		name string
		in   []string
		want []string
	}{
		{"lines", []string{"a\nb\n", "c\n"}, []string{"a\nb\n", "c\n"}},
		{"dots", []string{".", ".", ".\n", "x\n"}, []string{".", ".", ".\n", "x\n"}},
		{"prompt", []string{"Password: "}, []string{"Password: "}},
		{"progress", []string{"1%\r", "2%\r", "3%\n"}, []string{"3%\n"}},
		{"rewritten after it was shown", []string{"1%", "\r2%", "\n"}, []string{"1%", "\n", "2%\n"}},
		{"cut character", []string{"\xc3", "\xa9"}, []string{"é"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			out := newOutput("", spool{}, func(p []byte) { got = append(got, string(p)) })
			for _, p := range test.in {
				out.Write([]byte(p))
			}
			if strings.Join(got, "|") != strings.Join(test.want, "|") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
