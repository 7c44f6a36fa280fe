package workspace

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// encoding is how a file spells its characters, as far as its first bytes tell.
type encoding int

const (
	utf8Plain encoding = iota
	utf8BOM
	utf16LE
	utf16BE
	binary
)

func (e encoding) String() string {
	switch e {
	case utf8BOM:
		return "UTF-8 with BOM"
	case utf16LE:
		return "UTF-16 LE"
	case utf16BE:
		return "UTF-16 BE"
	case binary:
		return "binary"
	default:
		return "UTF-8"
	}
}

// sniff decides by the first bytes of a file, at most sniffBytes of them.
func sniff(head []byte) encoding {
	switch {
	case bytes.HasPrefix(head, []byte{0xEF, 0xBB, 0xBF}):
		return utf8BOM
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE, 0, 0}): // UTF-32
		return binary
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}):
		return utf16LE
	case bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		return utf16BE
	case bytes.IndexByte(head, 0) >= 0:
		return binary
	default:
		return utf8Plain
	}
}

// kindOfBinary names what a binary file seems to be.
func kindOfBinary(head []byte) string {
	if mime := http.DetectContentType(head); mime != "application/octet-stream" && !strings.HasPrefix(mime, "text/") {
		return "binary file, " + mime
	}
	return "binary file"
}

// decoded returns a reader of the text behind the byte order mark, in UTF-8
// as far as the file's encoding is known. Bytes that are not UTF-8 pass.
func decoded(r *bufio.Reader) (*bufio.Reader, encoding, []byte, error) {
	head, err := r.Peek(sniffBytes)
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return nil, utf8Plain, nil, err
	}
	enc := sniff(head)
	switch enc {
	case utf8BOM:
		_, err = r.Discard(3)
	case utf16LE, utf16BE:
		if _, err = r.Discard(2); err == nil {
			r = bufio.NewReaderSize(&utf16Reader{from: r, big: enc == utf16BE}, r.Size())
		}
	default:
		err = nil
	}
	return r, enc, head, err
}

// utf16Reader turns UTF-16 into UTF-8. A lone surrogate and an odd last byte
// become U+FFFD.
type utf16Reader struct {
	from *bufio.Reader
	big  bool
	out  []byte // not yet taken
	unit int    // a unit that was read ahead, -1 for none
	held bool
	err  error
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		u.fill()
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

func (u *utf16Reader) fill() {
	buf := make([]byte, 0, 4<<10)
	for len(buf) < cap(buf)-utf8.UTFMax && u.err == nil {
		r, ok := u.next()
		if !ok {
			break
		}
		if utf16.IsSurrogate(r) {
			second, ok := u.next()
			pair := utf16.DecodeRune(r, second)
			if ok && pair == utf8.RuneError {
				u.unit, u.held = int(second), true
			}
			r = pair
		}
		buf = utf8.AppendRune(buf, r)
	}
	u.out = buf
}

// next returns one unit; U+FFFD for half of one at the end.
func (u *utf16Reader) next() (rune, bool) {
	if u.held {
		u.held = false
		return rune(u.unit), true
	}
	var pair [2]byte
	n, err := io.ReadFull(u.from, pair[:])
	switch {
	case n == 1:
		u.err = io.EOF
		return utf8.RuneError, true
	case err != nil:
		u.err = err
		return utf8.RuneError, false
	case u.big:
		return rune(pair[0])<<8 | rune(pair[1]), true
	default:
		return rune(pair[1])<<8 | rune(pair[0]), true
	}
}

// printable replaces the bytes that are not UTF-8 and NUL, each by U+FFFD, and
// counts them.
func printable(b []byte) (string, int) {
	if utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 {
		return string(b), 0
	}
	var out strings.Builder
	out.Grow(len(b) + len(b)/8)
	replaced := 0
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == 0 || r == utf8.RuneError && size == 1 {
			replaced++
			r = utf8.RuneError
		}
		out.WriteRune(r)
		b = b[size:]
	}
	return out.String(), replaced
}

// wholeRunes drops the beginning of a character that was cut at the end of b.
func wholeRunes(b []byte) []byte {
	for i := 1; i <= utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}
