package plx

import "unicode/utf8"

// Models and web pages write a tag's delimiters, quotes and spaces in more ways than one. These are the ones understood.

// isOpening reports whether r opens a tag: the brace, or what is written for it.
func isOpening(r rune) bool {
	switch r {
	case '{', '<', '‹', '⟨', '«', '\u3008', '\u2329', '\uff1c', '\uff5b':
		return true
	}
	return false
}

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

// mayOpen reports whether a tag may begin at s[i], whose byte is in opensRune. It looks at no more than the delimiter and
// the byte after it, and says yes when one of them is still to come.
func mayOpen(s string, i int) bool {
	size := 1
	if s[i] >= utf8.RuneSelf {
		rest := s[i:min(i+utf8.UTFMax, len(s))]
		if !utf8.FullRuneInString(rest) {
			return true
		}
		r, n := utf8.DecodeRuneInString(rest)
		if !isOpening(r) {
			return false
		}
		size = n
	}
	if i+size == len(s) {
		return true
	}
	c := s[i+size]
	return c|0x20 == 'p' || c == '/' || c == '\\' || c >= utf8.RuneSelf || isBlank(c)
}
