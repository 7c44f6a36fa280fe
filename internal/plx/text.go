package plx

import (
	"strings"
	"unicode/utf8"
)

// units returns the length of s in UTF-16 code units.
func units(s string) int {
	n := len(s)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 0x80 && c < 0xc0: // goes on with a rune
			n--
		case c >= 0xf0: // begins a rune that takes two
			n++
		}
	}
	return n
}

// head returns the longest beginning of s that has at most limit units. It ends between runes.
func head(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := 0
	for i, r := range s {
		if n += width(r); n > limit {
			return s[:i]
		}
	}
	return s
}

// tail returns the longest end of s that has at most limit units.
func tail(s string, limit int) string {
	n := 0
	for i := len(s); i > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if n += width(r); n > limit {
			return s[i:]
		}
		i -= size
	}
	return s
}

func width(r rune) int {
	if r >= 0x10000 {
		return 2
	}
	return 1
}

// cutEnd cuts s to limit units, on a line boundary where there is one in its last half, and says so with marker.
func cutEnd(s string, limit int, marker string) string {
	if units(s) <= limit {
		return s
	}
	room := limit - units(marker)
	if room < 0 {
		return head(s, max(0, limit))
	}
	s = head(s, room)
	if i := strings.LastIndexByte(s, '\n'); i > len(s)/2 {
		s = s[:i]
	}
	return s + marker
}

// defuse makes text that is data harmless: it is valid UTF-8 then, and what could pass for one of our tags has a backslash after
// its delimiter.
func defuse(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); i++ {
		if !opensRune[s[i]] || !mayOpen(s, i) {
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isOpening(r) {
			continue
		}
		i += size - 1
		if !tagFollows(s[i+1:]) {
			continue
		}
		b.WriteString(s[done : i+1])
		b.WriteByte('\\')
		done = i + 1
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// tagFollows reports whether s, which stands after a delimiter, goes on like a tag.
func tagFollows(s string) bool {
	const word = "/plx:"
	at := 0
	for i, r := range s {
		switch {
		case i > maxHead:
			return false
		case isAbsent(r) || isSpace(r) && (at < 2 || at == len(word)-1):
			continue
		case at == 0 && r|0x20 == 'p':
			at = 2
		case at < len(word) && (r == rune(word[at]) || r|0x20 == rune(word[at]) && at > 0 && at < 4):
			at++
		default:
			return false
		}
		if at == len(word) {
			return true
		}
	}
	return false
}
