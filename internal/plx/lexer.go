package plx

import (
	"html"
	"strings"
)

// maxHead bounds a tag from its delimiter to the end of its head, in bytes.
const maxHead = 16 << 10

// maxName bounds a tag's name.
const maxName = 64

// verdict is what a lexer makes of a rune.
type verdict int

const (
	more   verdict = iota // go on
	named                 // an opener's name is complete; the rune is not yet taken, step must be called with it again
	whole                 // the tag is complete with this rune
	text                  // this is no tag; the rune is not taken
	broken                // this was meant as a tag and is none; the rune is not taken
)

type lexState int

const (
	lexOpening lexState = iota // before the delimiter
	lexStart                   // after it
	lexEscape
	lexSlash
	lexP
	lexL
	lexX
	lexColon
	lexName
	lexNameRest
	lexTail // after a closer's name
	lexHead // between attributes
	lexSelf // after a slash in the head
	lexAttr
	lexAttrEnd
	lexEquals
	lexQuoteEntity // an entity that may stand for the opening quote
	lexValue
	lexValueEntity // an entity that may stand for the closing quote
)

// lexer reads one tag, rune by rune, so that no byte is read twice however the text is cut into deltas.
type lexer struct {
	state   lexState
	open    rune
	close   rune
	closer  bool
	escaped bool // a closer written with a backslash
	self    bool // self-closed
	spaced  bool // there is a space before the colon
	name    []byte
	attrs   map[string]string

	attr   []byte
	value  []byte
	entity []byte
	quote  rune // what ends the value: '"', '“' for any curly one, '&' for an entity
}

func (l *lexer) reset() {
	*l = lexer{name: l.name[:0], attr: l.attr[:0], value: l.value[:0], entity: l.entity[:0]}
}

// lone reports whether nothing but the delimiter and spaces were read.
func (l *lexer) lone() bool { return l.state == lexStart }

// meant reports whether what was read can hardly be anything but a tag.
func (l *lexer) meant() bool { return l.state >= lexColon }

// brace reports whether the tag is written as it should be, and not with look-alikes.
func (l *lexer) brace() bool { return l.open == '{' && l.close == '}' }

// step takes the next rune; raw are its bytes.
func (l *lexer) step(r rune, raw []byte) verdict {
	if l.state >= lexValue {
		return l.inValue(r, raw)
	}
	if isAbsent(r) && l.state != lexOpening {
		return more
	}
	if l.state >= lexHead {
		return l.inHead(r)
	}
	return l.inName(r)
}

// inName reads up to the end of the name.
func (l *lexer) inName(r rune) verdict {
	switch l.state {
	case lexOpening:
		if !isOpening(r) {
			return text
		}
		l.open, l.state = r, lexStart
		return more
	case lexStart:
		switch {
		case isSpace(r):
			return more
		case r == '/':
			l.closer, l.state = true, lexSlash
			return more
		case r == '\\':
			l.escaped, l.state = true, lexEscape
			return more
		}
		return l.expect(r, 'p', lexP)
	case lexEscape:
		l.closer = true
		return l.expect(r, '/', lexSlash)
	case lexSlash:
		if isSpace(r) {
			return more
		}
		return l.expect(r, 'p', lexP)
	case lexP:
		return l.expect(r, 'l', lexL)
	case lexL:
		return l.expect(r, 'x', lexX)
	case lexX:
		switch {
		case r == ':':
			l.state = lexName
			return more
		case isSpace(r):
			l.state = lexColon
			return more
		}
		return text
	case lexColon: // a space before the colon: not in the grammar, but meant
		switch {
		case isSpace(r):
			return more
		case r == ':':
			l.spaced, l.state = true, lexName
			return more
		}
		return text
	case lexName:
		if l.spaced {
			return broken
		}
		if l.closer && isSpace(r) {
			return more
		}
		if !isLetter(r) {
			return broken
		}
		l.name, l.state = append(l.name, byte(r|0x20)), lexNameRest
		return more
	case lexNameRest:
		return l.inNameRest(r)
	default: // lexTail
		switch {
		case isSpace(r):
			return more
		case isClosing(r):
			l.close = r
			return whole
		}
		return broken
	}
}

func (l *lexer) inNameRest(r rune) verdict {
	switch {
	case isNameRune(r):
		if len(l.name) == maxName {
			return broken
		}
		if r >= 'A' && r <= 'Z' {
			r |= 0x20
		}
		l.name = append(l.name, byte(r))
		return more
	case !l.closer:
		l.state = lexHead
		return named
	}
	l.state = lexTail
	return l.inName(r)
}

func (l *lexer) expect(r, want rune, next lexState) verdict {
	if r == want || isLetter(want) && r == want&^0x20 {
		l.state = next
		return more
	}
	return text
}

// inHead reads attributes. What is no attribute is skipped.
func (l *lexer) inHead(r rune) verdict {
	switch l.state {
	case lexSelf:
		if isClosing(r) {
			l.self = true
		} else if isSpace(r) {
			return more
		}
	case lexAttr:
		if isNameRune(r) {
			l.attr = append(l.attr, byte(r))
			return more
		}
		if isSpace(r) {
			l.state = lexAttrEnd
			return more
		}
		fallthrough
	case lexAttrEnd:
		if r == '=' {
			l.state = lexEquals
			return more
		}
		if isSpace(r) {
			return more
		}
		l.attr = l.attr[:0]
	case lexEquals:
		if isSpace(r) {
			return more
		}
		if r == '&' {
			l.entity, l.state = append(l.entity[:0], '&'), lexQuoteEntity
			return more
		}
		if l.opensQuote(r) {
			return more
		}
		l.attr = l.attr[:0]
	case lexQuoteEntity:
		if r < 0x80 && len(l.entity) < maxQuoteEntity && !isClosing(r) && !isSpace(r) {
			if l.entity = append(l.entity, byte(r)); r != ';' {
				return more
			}
			if isQuoteEntity(l.entity) {
				l.quote, l.state = '&', lexValue
				return more
			}
		}
		l.attr = l.attr[:0]
	}
	return l.between(r)
}

// between is at a place where an attribute, the end or a slash may come.
func (l *lexer) between(r rune) verdict {
	l.state = lexHead
	switch {
	case isClosing(r):
		l.close = r
		return whole
	case isOpening(r):
		return broken
	case r == '/':
		l.state = lexSelf
	case l.opensQuote(r):
		l.attr = l.attr[:0]
	case isLetter(r) || r == '_':
		l.attr, l.state = append(l.attr[:0], byte(r)), lexAttr
	}
	return more
}

func (l *lexer) opensQuote(r rune) bool {
	switch {
	case r == '"':
		l.quote = '"'
	case isCurlyQuote(r):
		l.quote = '“'
	default:
		return false
	}
	l.value, l.state = l.value[:0], lexValue
	return true
}

// inValue reads a quoted value. It ends with its line: a quote that was forgotten does not swallow the reply.
func (l *lexer) inValue(r rune, raw []byte) verdict {
	if l.state == lexValueEntity {
		if r < 0x80 && len(l.entity) < maxQuoteEntity && r != '\n' && r != '\r' && r != '&' {
			if l.entity = append(l.entity, byte(r)); r != ';' {
				return more
			}
			l.state = lexValue
			if isQuoteEntity(l.entity) {
				l.endValue()
			} else {
				l.value = append(l.value, l.entity...)
			}
			return more
		}
		l.value, l.state = append(l.value, l.entity...), lexValue
	}
	switch {
	case r == '\n' || r == '\r':
		return broken
	case r == '"' && l.quote != '&', isCurlyQuote(r) && l.quote == '“':
		l.endValue()
	case r == '&' && l.quote == '&':
		l.entity, l.state = append(l.entity[:0], '&'), lexValueEntity
	case r == '\u200b' || r == '\u2060' || r == '\ufeff':
		// The joiners and the marks of direction stay: they are parts of real file names.
	case r == '\u00a0':
		l.value = append(l.value, ' ')
	default:
		l.value = append(l.value, raw...)
	}
	return more
}

func (l *lexer) endValue() {
	l.state = lexHead
	if len(l.attr) > 0 {
		name := strings.ToLower(string(l.attr))
		if _, repeated := l.attrs[name]; !repeated {
			if l.attrs == nil {
				l.attrs = map[string]string{}
			}
			l.attrs[name] = decodeEntities(string(l.value))
		}
	}
	l.attr, l.value = l.attr[:0], l.value[:0]
}

// maxQuoteEntity is the length of the longest spelling of a quote as an entity, with some leading zeros.
const maxQuoteEntity = 10

func isQuoteEntity(e []byte) bool { return html.UnescapeString(string(e)) == `"` }

// maxEntity is a bound for the length of an entity.
const maxEntity = 40

// decodeEntities decodes what is certainly meant as an entity: from the ampersand to a semicolon. HTML would also take some
// names without the semicolon, but then the text a&copy=b would not survive.
func decodeEntities(s string) string {
	at := strings.IndexByte(s, '&')
	if at < 0 {
		return s
	}
	var b strings.Builder
	for at >= 0 {
		b.WriteString(s[:at])
		s = s[at:]
		n := entityLen(s)
		switch {
		case n > 0:
			b.WriteString(html.UnescapeString(s[:n]))
		default:
			n = 1
			b.WriteByte('&')
		}
		s = s[n:]
		at = strings.IndexByte(s, '&')
	}
	b.WriteString(s)
	return b.String()
}

// entityLen returns the length of the entity at the beginning of s, 0 when there is none, -1 when more text could make one.
func entityLen(s string) int {
	for i := 1; i < len(s) && i < maxEntity; i++ {
		c := s[i]
		switch {
		case c == ';':
			return i + 1
		case c == '#' && i == 1, c >= '0' && c <= '9', isLetter(rune(c)):
		default:
			return 0
		}
	}
	if len(s) < maxEntity {
		return -1
	}
	return 0
}
