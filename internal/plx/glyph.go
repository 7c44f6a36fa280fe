package plx

import (
	"strings"
	"unicode/utf8"
)

// Models and web pages write a tag's delimiters, quotes and spaces in more ways than one. These are the ones understood.

// isOpening reports whether r opens a tag: the brace, or what is written for it.
func isOpening(r rune) bool {
	switch r {
	case '{', '<', '‹', '⟨', '«', '\u3008', '\u2329', '\uff1c', '\uff5b':
		return true
	}
	return false
}

// openings are the opening delimiters that take more than a byte.
const openings = "‹⟨«\u3008\u2329\uff1c\uff5b"

// beginsOpening reports whether the first bytes of a rune may be those of an opening delimiter.
func beginsOpening(b []byte) bool { return len(b) == 1 || strings.Contains(openings, string(b)) }

// isClosing reports whether r ends a tag.
func isClosing(r rune) bool {
	switch r {
	case '}', '>', '›', '⟩', '»', '\u3009', '\u232a', '\uff1e', '\uff5d':
		return true
	}
	return false
}

// isAbsent reports whether r has no width, so that nobody could see it in a tag's head.
func isAbsent(r rune) bool {
	switch r {
	case '\u00ad', '\u180e', '\u200b', '\u200c', '\u200d', '\u200e', '\u200f', '\u2060', '\ufeff':
		return true
	}
	return false
}

// isSpace reports whether r is a space in a tag's head, the non-breaking and the wide ones included.
func isSpace(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\r', '\v', '\f', '\u00a0', '\u202f', '\u205f', '\u3000':
		return true
	}
	return r >= '\u2000' && r <= '\u200a'
}

// isCurlyQuote reports whether r is a double quote other than the plain one.
func isCurlyQuote(r rune) bool {
	switch r {
	case '“', '”', '„', '‟', '″', '\uff02':
		return true
	}
	return false
}

func isLetter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }

// isNameRune reports whether r may follow the first letter of a name.
func isNameRune(r rune) bool {
	return isLetter(r) || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.' || r == ':'
}

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// opensRune marks the first bytes of all opening delimiters.
var opensRune = [256]bool{'{': true, '<': true, 0xc2: true, 0xe2: true, 0xe3: true, 0xef: true}

// peekBytes bounds how far mayOpen looks ahead.
const peekBytes = 32

// mayOpen reports whether a tag may begin at s[i], whose byte is in opensRune. It only says no when the bytes at hand rule out
// what the lexer would have to see next, so that it saves the lexer work and never decides differently.
func mayOpen(s string, i int) bool {
	size := 1
	if s[i] >= utf8.RuneSelf {
		rest := s[i:min(i+utf8.UTFMax, len(s))]
		if !utf8.FullRuneInString(rest) {
			return beginsOpening([]byte(rest))
		}
		r, n := utf8.DecodeRuneInString(rest)
		if !isOpening(r) {
			return false
		}
		size = n
	}
	slash := false
	for i += size; i < len(s) && size < peekBytes; i, size = i+1, size+1 {
		switch c := s[i]; {
		case isBlank(c):
		case c >= utf8.RuneSelf, c == '\\':
			return true
		case c == '/' && !slash:
			slash = true
		case c|0x20 == 'p':
			return i+1 == len(s) || s[i+1]|0x20 == 'l' || s[i+1] >= utf8.RuneSelf
		default:
			return false
		}
	}
	return true
}
