package workspace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"plexus/internal/tool"
)

func utf16Bytes(s string, big, mark bool) string {
	var b []byte
	units := utf16.Encode([]rune(s))
	if mark {
		units = append([]uint16{0xFEFF}, units...)
	}
	for _, u := range units {
		if big {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return string(b)
}

func TestReadSaysWhatAFileIs(t *testing.T) {
	tests := []struct{ name, content, want string }{
		{"plain", "a\nb\n", "a\nb\n[f: 2 lines, 4 bytes, UTF-8]"},
		{"one line", "a\n", "a\n[f: 1 line, 2 bytes, UTF-8]"},
		{"no newline", "a\nb", "a\nb\n[f: 2 lines, 3 bytes, UTF-8, no newline at the end]"},
		{"empty", "", "[f: empty, 0 bytes]"},
		{"only a newline", "\n", "\n[f: 1 line, 1 byte, UTF-8]"},
		{"crlf", "a\r\nb\r\n", "a\nb\n[f: 2 lines, 6 bytes, UTF-8, CRLF line endings, shown as LF]"},
		{"mixed", "a\r\nb\n", "a\nb\n[f: 2 lines, 5 bytes, UTF-8, mixed LF and CRLF line endings, shown as LF]"},
		{"lone cr", "a\rb\n", "a\rb\n[f: 1 line, 4 bytes, UTF-8]"},
		{"bom", "\ufeffa\n", "a\n[f: 1 line, 5 bytes, UTF-8 with BOM]"},
		{"only bom", "\ufeff", "[f: empty, 3 bytes]"},
		{"latin 1", "caf\xe9 \xff\n", "caf� �\n[f: 1 line, 7 bytes, UTF-8, 2 bytes not text, shown as �]"},
		{"real replacement character", "\uFFFD\n", "\uFFFD\n[f: 1 line, 4 bytes, UTF-8]"},
		{"utf-16 le", utf16Bytes("aé𝄞\r\n", false, true), "aé𝄞\n[f: 1 line, 14 bytes, UTF-16 LE, CRLF line endings, shown as LF]"},
		{"utf-16 be", utf16Bytes("aé𝄞\n", true, true), "aé𝄞\n[f: 1 line, 12 bytes, UTF-16 BE]"},
		{"utf-16 odd", "\xff\xfea\x00\n", "a�\n[f: 1 line, 5 bytes, UTF-16 LE, no newline at the end]"},
		{"utf-16 lone surrogates", "\xff\xfe\x00\xd8a\x00\x00\xdc\n\x00", "�a�\n[f: 1 line, 10 bytes, UTF-16 LE]"},
		{"utf-16 high surrogates", "\xff\xfe\x00\xd8\x00\xd8\x00\xdc", "�𐀀\n[f: 1 line, 8 bytes, UTF-16 LE, no newline at the end]"},
		{"utf-16 without a mark", utf16Bytes("abc", false, false), "[f: binary file, 6 bytes; not shown]"},
		{"utf-32", "\xff\xfe\x00\x00a\x00\x00\x00", "[f: binary file, 8 bytes; not shown]"},
		{"png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "[f: binary file, image/png, 16 bytes; not shown]"},
		{"nul", "a\x00b", "[f: binary file, 3 bytes; not shown]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			b.file("f", test.content)
			if got := b.ok("read", args{"path": "f"}); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestReadRanges(t *testing.T) {
	b := newBench(t)
	var all strings.Builder
	for i := 1; i <= 100; i++ {
		fmt.Fprintf(&all, "line %d\n", i)
	}
	b.file("f", all.String())
	tests := []struct {
		in   args
		want string
	}{
		{args{"path": "f", "start": 99}, "line 99\nline 100\n[f: lines 99-100 of 100 lines, 792 bytes, UTF-8]"},
		{args{"path": "f", "end": 2}, "line 1\nline 2\n[f: lines 1-2 of 100 lines, 792 bytes, UTF-8]"},
		{args{"path": "f", "start": 3, "end": 3}, "line 3\n[f: lines 3-3 of 100 lines, 792 bytes, UTF-8]"},
		{args{"path": "f", "start": 100, "end": 500}, "line 100\n[f: lines 100-100 of 100 lines, 792 bytes, UTF-8]"},
	}
	for _, test := range tests {
		result, err := b.call("read", test.in)
		if err != nil || result.Text != test.want {
			t.Errorf("%v: got %q, %v\nwant %q", test.in, result.Text, err, test.want)
		}
		if want := max(1, toInt(test.in["start"])); result.FirstLine != want || result.Path != "f" {
			t.Errorf("%v: FirstLine %d, Path %q", test.in, result.FirstLine, result.Path)
		}
	}
	b.has(b.fails("bad-range", "read", args{"path": "f", "start": 101}), "100 lines", "101")
	b.fails("bad-input", "read", args{"path": "f", "start": 3, "end": 2})
	b.fails("bad-input", "read", args{"path": "f", "start": 0})
	b.fails("bad-input", "read", args{"path": "f", "paths": []string{"f"}})
	b.fails("bad-input", "read", args{})
	b.fails("bad-input", "read", args{"paths": []string{}})
}

func toInt(v any) int {
	n, _ := v.(int)
	return n
}

func TestReadCutsBetweenLinesAndSaysHowToGoOn(t *testing.T) {
	b := newBench(t)
	line := strings.Repeat("x", 99) + "\n"
	b.file("f", strings.Repeat(line, 5000))
	result, err := b.call("read", args{"path": "f"})
	if err != nil {
		t.Fatal(err)
	}
	text, last, _ := strings.Cut(result.Text, "[")
	if len(text) != readBytes || last != "f: lines 1-2000 of 5,000 lines, 500,000 bytes, UTF-8, cut at 200,000 bytes; next: start=2001]" {
		t.Errorf("%d bytes, then %q", len(text), last)
	}
	if result.Lines != 5000 || result.Bytes != 500_000 {
		t.Errorf("Lines %d, Bytes %d", result.Lines, result.Bytes)
	}
	second := b.ok("read", args{"path": "f", "start": 4001})
	b.has(second, "lines 4001-5000 of 5,000")
}

// TestReadSlicesJoinToTheFile reads a file with lines of every length slice by
// slice.
func TestReadSlicesJoinToTheFile(t *testing.T) {
	b := newBench(t)
	var all strings.Builder
	for i := range 3000 {
		all.WriteString(strings.Repeat("é", i%400) + "\n")
	}
	b.file("f", all.String())
	var got strings.Builder
	for next := 1; next > 0; {
		text := b.ok("read", args{"path": "f", "start": next})
		i := strings.LastIndex(text, "[f: ")
		got.WriteString(text[:i])
		at := strings.Index(text[i:], "next: start=")
		next = 0
		if at >= 0 {
			if _, err := fmt.Sscanf(text[i+at:], "next: start=%d]", &next); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got.String() != all.String() {
		t.Errorf("slices have %d bytes, the file %d", got.Len(), all.Len())
	}
}

func TestReadLongLine(t *testing.T) {
	b := newBench(t)
	b.file("f", "short\n"+strings.Repeat("é", 5_000_000)+"\nend\n")
	first := b.ok("read", args{"path": "f"})
	b.has(first, "short\n[f: lines 1-1 of 3 lines", "next: start=2")
	result, err := b.call("read", args{"path": "f", "start": 2})
	if err != nil || !utf8.ValidString(result.Text) || len(result.Text) > readBytes+300 {
		t.Fatalf("%d bytes, %v", len(result.Text), err)
	}
	b.has(result.Text, "line 2 is longer than 200,000 bytes", "next: start=3")
	if strings.Contains(result.Text, "�") {
		t.Error("a character was cut")
	}
	if result.FirstLine != 2 || result.Lines != 3 {
		t.Errorf("FirstLine %d, Lines %d", result.FirstLine, result.Lines)
	}
}

func TestReadSeveral(t *testing.T) {
	b := newBench(t)
	b.file("a", "A\n")
	b.file("b", "B\n")
	got := b.ok("read", args{"paths": []string{"a", "none", "../outside/secret", "b"}})
	want := "==> a <==\nA\n[a: 1 line, 2 bytes, UTF-8]\n\n==> none <==\n[none does not exist.]\n\n" +
		"==> ../outside/secret <==\n[../outside/secret is outside the folder /project. Use a path inside it.]\n\n==> b <==\nB\n[b: 1 line, 2 bytes, UTF-8]"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	b.fails("not-found", "read", args{"paths": []string{"x", "y"}})
	b.file("big", strings.Repeat("0123456789\n", 50_000))
	text := b.ok("read", args{"paths": []string{"big", "big", "big", "big", "big", "big", "a"}})
	b.has(text, "this result is full; 2 files left")
	if len(text) > readTotal+1000 {
		t.Errorf("%d bytes", len(text))
	}
}

func TestReadFolderListsIt(t *testing.T) {
	b := newBench(t)
	b.file("d/x", "12345")
	if got := b.ok("read", args{"path": "d"}); got != "d/x  5\n[d: 1 entry]" {
		t.Errorf("got %q", got)
	}
}

// TestReadSparse reads a file that is larger than anything that is read.
func TestReadSparse(t *testing.T) {
	b := newBench(t)
	b.file("f", strings.Repeat("line\n", 2000))
	if err := os.Truncate(filepath.Join(b.folder.Path, "f"), 1<<40); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	b.has(b.ok("read", args{"path": "f", "end": 1}), "line\n", "more than ", "1,099,511,627,776 bytes")
}

func TestUnreadableFile(t *testing.T) {
	b := newBench(t)
	b.file("f", "x")
	d, err := Open(b.folder)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for code, cause := range map[string]error{
		"not-permitted": &fs.PathError{Op: "openat", Path: "/other/path", Err: syscall.EACCES},
		"io-error":      &fs.PathError{Op: "read", Path: "/other/path", Err: syscall.EIO},
		"disk-full":     &fs.PathError{Op: "write", Path: "/other/path", Err: syscall.ENOSPC},
	} {
		var refused *tool.Error
		if err := d.explain("f", cause); !errors.As(err, &refused) || refused.Code != code || strings.Contains(refused.Text, "other") || !strings.Contains(refused.Text, "f") {
			t.Errorf("%v: %v, want %s", cause, err, code)
		}
	}
	if os.Geteuid() == 0 {
		return // root reads everything
	}
	if err := os.Chmod(filepath.Join(b.folder.Path, "f"), 0); err != nil {
		t.Fatal(err)
	}
	b.fails("not-permitted", "read", args{"path": "f"})
	b.has(b.ok("search", args{"query": "x"}), "1 unreadable")
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "a\n", "\xff\xfea\x00", "\xfe\xff\xd8", "\xff\xfe\x00\xd8\x00\xd8", "\ufeff\xff", "a\x00", strings.Repeat("é", 5000)} {
		f.Add([]byte(seed), 10, 1)
	}
	f.Fuzz(func(t *testing.T, content []byte, room, start int) {
		r, enc, _, err := decoded(bufio.NewReaderSize(bytes.NewReader(content), sniffBytes))
		if err != nil {
			t.Fatal(err)
		}
		if enc == binary {
			return
		}
		s := slice{want: lineRange{start: max(1, start%100), bytes: max(4, room%1000)}}
		if err := s.take(t.Context(), r); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		result := s.result("f", int64(len(content)), enc)
		if !utf8.ValidString(result.Text) || len(s.text) > s.want.bytes {
			t.Fatalf("%q: %d of %d bytes, %q", content, len(s.text), s.want.bytes, result.Text)
		}
	})
}

func BenchmarkRead20KB(b *testing.B) {
	bn := newBench(b)
	bn.file("src/deep/f", strings.Repeat(strings.Repeat("x", 79)+"\n", 250))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := bn.call("read", args{"path": "src/deep/f"}); err != nil {
			b.Fatal(err)
		}
	}
}
