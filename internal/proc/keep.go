package proc

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

// keptBytes is how much of an output is in a result: half from its head, half
// from its tail.
const keptBytes = 100_000

// keeper keeps the head and the tail of a text and counts all of it.
type keeper struct {
	head  []byte
	tail  []byte // a ring once it is full
	next  int    // where the ring goes on
	bytes int64
	lines int64 // newlines
	open  bool  // the text does not end in one
}

func (k *keeper) Write(p []byte) {
	if len(p) == 0 {
		return
	}
	k.bytes += int64(len(p))
	k.lines += int64(bytes.Count(p, []byte("\n")))
	k.open = p[len(p)-1] != '\n'
	if room := keptBytes/2 - len(k.head); room > 0 {
		n := min(room, len(p))
		k.head = append(k.head, p[:n]...)
		p = p[n:]
	}
	p = p[max(0, len(p)-keptBytes/2):]
	if room := keptBytes/2 - len(k.tail); room > 0 {
		n := min(room, len(p))
		k.tail = append(k.tail, p[:n]...)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(k.tail[k.next:], p)
		k.next = (k.next + n) % len(k.tail)
		p = p[n:]
	}
}

// lineCount counts a last line without a newline too.
func (k *keeper) lineCount() int64 {
	if k.open {
		return k.lines + 1
	}
	return k.lines
}

// cut reports whether text leaves something out.
func (k *keeper) cut() bool { return k.bytes > int64(len(k.head)+len(k.tail)) }

// text returns the text, or its head and tail with a note between them that
// says how much is missing and where it is. The cuts are between lines where
// there are any, and never inside a character.
func (k *keeper) text(where string) string {
	tail := string(k.tail[k.next:]) + string(k.tail[:k.next])
	if !k.cut() {
		return string(k.head) + tail
	}
	head := string(k.head)
	if i := strings.LastIndexByte(head, '\n'); i >= len(head)/2 {
		head = head[:i+1]
	} else {
		head = head[:wholeRunes([]byte(head))]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)/2 {
		tail = tail[i+1:]
	} else {
		for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
			tail = tail[1:]
		}
	}
	missing := k.bytes - int64(len(head)+len(tail))
	lines := k.lines - int64(strings.Count(head, "\n")+strings.Count(tail, "\n"))
	if !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	return fmt.Sprintf("%s[... %s lines, %s bytes left out; the whole output has %s lines, %s bytes%s ...]\n%s", head,
		humanize.Comma(lines), humanize.Comma(missing), humanize.Comma(k.lineCount()), humanize.Comma(k.bytes), where, tail)
}
