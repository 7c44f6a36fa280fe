package proc

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// reduced feeds pieces to a reducer and returns the text that comes out.
func reduced(pieces ...string) string {
	var out bytes.Buffer
	r := reducer{out: func(p []byte) { out.Write(p) }}
	for _, p := range pieces {
		r.Write([]byte(p))
	}
	r.Close()
	return out.String()
}

func TestReduce(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "a\nb\n", "a\nb\n"},
		{"no newline", "a", "a"},
		{"empty lines", "\n\na\n\n", "\n\na\n\n"},
		{"tabs", "a\tb\n", "a\tb\n"},
		{"crlf", "a\r\nb\r\n", "a\nb\n"},
		{"cr cr lf", "a\r\r\nb\n", "a\nb\n"},
		{"colours", "\x1b[1;31mred\x1b[0m and \x1b[38;2;1;2;3mmore\x1b[m\n", "red and more\n"},
		{"progress", "10%\r20%\r100%\n", "100%\n"},
		{"progress without an end", "10%\r20%", "20%"},
		{"progress that ends in cr", "10%\r20%\r", "20%"},
		{"shorter over longer", "downloading\rdone\n", "doneloading\n"}, // as a terminal shows it
		{"erase to the end", "downloading\r\x1b[Kdone\n", "done\n"},
		{"erase after cr", "\rdownloading\x1b[2K\rdone\n", "done\n"},
		{"erase with colour between", "10%\r\x1b[32m20%\x1b[0m\x1b[K\n", "20%\n"},
		{"blanked with spaces", "downloading\r           \rdone\n", "done\n"},
		{"blanked to nothing", "downloading\r           \r\n", "\n"},
		{"erase nothing", "abc\x1b[K\n", "abc\n"},
		{"erase the beginning", "abc\x1b[1K\x1b[4Gd\n", "   d\n"},
		{"column", "abc\x1b[2GX\n", "aXc\n"},
		{"left and right", "abcd\x1b[2DX\x1b[1CY\n", "abXdY\n"},
		{"far right", "a\x1b[5Cb\n", "a     b\n"},
		{"backspace", "abx\bc\n", "abc\n"},
		{"backspaces past the start", "a\b\b\b\bxy\n", "xy\n"},
		{"spinner", "|\b/\b-\b\\\bdone\n", "done\n"},
		{"man page bold", "N\bNA\bA\n", "NA\n"},
		{"title", "\x1b]0;title\x07a\n", "a\n"},
		{"title with st", "\x1b]0;title\x1b\\a\n", "a\n"},
		{"link", "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\\n", "text\n"},
		{"dcs", "\x1bPq#0\x1b\\a\n", "a\n"},
		{"string never ended", "\x1b]0;title\na\n", "\na\n"},
		{"charset", "\x1b(Ba\x1b)0b\n", "ab\n"},
		{"keypad", "\x1b=a\x1b>\x1b7b\x1b8\n", "ab\n"},
		{"two escapes", "\x1b\x1b[1ma\n", "a\n"},
		{"sequence never ended", "\x1b[1;2\na\n", "\na\n"},
		{"sequence too long", "\x1b[" + strings.Repeat("1", 100) + "mA\n", strings.Repeat("1", 36) + "mA\n"},
		{"sequence at the end", "a\x1b[1", "a"},
		{"up is ignored", "a\x1b[1Ab\n", "ab\n"},
		{"bell and friends", "a\x07b\x0c\x0b\x01\x7fc\n", "abc\n"},
		{"nul", "a\x00b\x00\n", "a\uFFFDb\uFFFD\n"},
		{"invalid", "a\xffb\xc3\n", "a\uFFFDb\uFFFD\n"},
		{"cut character at the end", "a\xe2\x82", "a\uFFFD\uFFFD"},
		{"surrogate", "\xed\xa0\x80\n", "\uFFFD\uFFFD\uFFFD\n"},
		{"wide", "日本\r語\n", "語本\n"},
		{"c1 csi", "a\u009b31mb\n", "ab\n"},
		{"c1", "a\u0085b\n", "ab\n"},
		{"cr then erase line", "abc\r\x1b[2Kd\n", "d\n"},
		{"huge count", "a\x1b[99999999999999999999Cb", "a" + strings.Repeat(" ", lineBytes-2) + "b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := reduced(test.in); got != test.want {
				t.Errorf("%q\ngot  %q\nwant %q", test.in, got, test.want)
			}
			var single []string
			for i := range len(test.in) {
				single = append(single, test.in[i:i+1])
			}
			if got := reduced(single...); got != test.want {
				t.Errorf("byte by byte: %q\ngot  %q\nwant %q", test.in, got, test.want)
			}
		})
	}
}

func TestReduceCounts(t *testing.T) {
	r := reducer{out: func([]byte) {}}
	r.Write([]byte("a\xff\x00\uFFFD"))
	r.Close()
	if r.replaced != 2 {
		t.Errorf("replaced %d, want 2", r.replaced)
	}
}

// TestReduceLongLine passes a line on in parts: memory does not grow with it.
func TestReduceLongLine(t *testing.T) {
	total, largest := 0, 0
	r := reducer{out: func(p []byte) { total += len(p); largest = max(largest, len(p)) }}
	piece := bytes.Repeat([]byte("é"), 5000)
	for range 1000 {
		r.Write(piece)
	}
	r.Close()
	if total != 10_000_000 || largest > lineBytes+len(piece) || cap(r.line) > 4*lineBytes {
		t.Errorf("total %d, largest part %d, capacity %d", total, largest, cap(r.line))
	}
}

var reducePieces = []string{"a", "é", "\xc3", "\xa9", "\n", "\r", "\b", "\x1b", "[", "K", "2K", "1", ";", "m", "3G", "]", "\x07", "\\", "\x00", "\t", "\u009b", " ", "C", "D", "P", "(", strings.Repeat("x", 300)}

// TestReducePieces: how the output is cut makes no difference.
func TestReducePieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom(reducePieces), 0, 40).Draw(t, "pieces")
		whole := reduced(strings.Join(pieces, ""))
		if got := reduced(pieces...); got != whole {
			t.Fatalf("in pieces %q, at once %q", got, whole)
		}
	})
}

func FuzzReduce(f *testing.F) {
	for _, p := range reducePieces {
		f.Add([]byte(p), 1)
	}
	f.Add([]byte("10%\r\x1b[K20%\x1b[3Gx\b\xff\n"), 3)
	f.Fuzz(func(t *testing.T, in []byte, at int) {
		at = max(0, min(at, len(in)))
		whole := reduced(string(in))
		if got := reduced(string(in[:at]), string(in[at:])); got != whole {
			t.Fatalf("cut at %d: %q, at once: %q", at, got, whole)
		}
		if !utf8.ValidString(whole) || strings.ContainsAny(whole, "\x1b\r\x00\b") {
			t.Fatalf("%q gives %q", in, whole)
		}
	})
}

func BenchmarkReduce(b *testing.B) {
	for name, line := range map[string]string{
		"plain":    strings.Repeat("x", 79) + "\n",
		"coloured": "\x1b[32mok\x1b[0m  \tpackage/name\t0.012s\n",
		"progress": "\r 42% [=====>     ] 1.2 MB/s",
		"unicode":  "prüfung größer ✓ ok\n",
	} {
		b.Run(name, func(b *testing.B) {
			data := []byte(strings.Repeat(line, 64<<10/len(line)))
			r := reducer{out: func([]byte) {}}
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				r.Write(data)
			}
		})
	}
}
