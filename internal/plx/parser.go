package plx

import "unicode/utf8"

// Parser reads one reply as it streams. Each byte is looked at a bounded number of times, however the text is cut. It is not
// safe for concurrent use.
type Parser struct {
	options Options
	mode    mode
	screen  screen
	entity  []byte // rendered text: an entity in a note or an answer that is not complete

	line        *lines // of the text or the note being read
	outer, note lines

	lexing   bool // a tag is being read: held has its bytes
	lexer    lexer
	held     []byte
	headAt   int  // where the tag begins in held; after a closer that is in doubt
	runeAt   int  // where the last incomplete rune begins in held
	quoted   bool // the tag is in quoted code of a note: only the note's closer counts
	doubtful bool // held begins with a closer in look-alikes, of a body that was opened with braces
	between  bool // what follows the doubtful closer has not begun

	body body // of the open tag, in modeBody

	tags  int  // tags met, closers included
	mute  bool // after something that was meant as a tag and is none: held back until the next tag
	muted bool // that happened

	notes    []string
	actions  []Action
	complete int // actions, the dropped ones included
	invented bool
	cutOff   bool // an action was not finished
	problems []Problem

	dones     int
	answer    string
	answered  bool
	answerAt  span // on the screen, with the gap before it
	unclaimed bool // the open done is not shown: it does not count

	reply *Reply
}

type mode int

const (
	modeProse mode = iota
	modeNote
	modeBody
)

// NewParser returns a parser for one reply.
func NewParser(o Options) *Parser {
	p := &Parser{options: o}
	p.line = &p.outer
	return p
}

// Parse reads a whole reply.
func Parse(text string, o Options) Reply {
	p := NewParser(o)
	p.Feed(text)
	return p.Finish()
}

// Feed takes the next piece of the reply and returns what it adds for the screen. The slice is only good until the next
// call, its texts and actions for as long as wanted; they must not be changed. After Finish it does nothing.
func (p *Parser) Feed(delta string) []Event {
	p.screen.next()
	if p.reply != nil {
		return nil
	}
	for i := 0; i < len(delta); {
		switch {
		case p.lexing:
			i = p.lex(delta, i)
		case p.mode == modeBody:
			i = p.inBody(delta, i)
		default:
			i = p.prose(delta, i)
		}
	}
	return p.screen.events
}

// begin starts to read a tag whose first byte is at i.
func (p *Parser) begin(i int) int {
	p.lexer.reset()
	p.lexing, p.doubtful, p.between = true, false, false
	p.held, p.headAt, p.runeAt = p.held[:0], 0, 0
	p.quoted = p.mode == modeNote && p.line.quoted()
	return i
}

// lex takes bytes from s[i:] into the tag being read, until it is one or is none.
func (p *Parser) lex(s string, i int) int {
	for i < len(s) && p.lexing {
		c := s[i]
		p.held = append(p.held, c)
		i++
		r, size := rune(c), 1
		if raw := p.held[p.runeAt:]; c >= utf8.RuneSelf || len(raw) > 1 {
			if !utf8.FullRune(raw) {
				if p.lexer.state == lexOpening && !beginsOpening(raw) {
					p.lexing = false
					p.unread(p.held)
				}
				continue
			}
			if r, size = utf8.DecodeRune(raw); r == utf8.RuneError && size < len(raw) {
				size = len(raw) - 1 // not UTF-8; its last byte may be the first of something else
				p.held = p.held[:len(p.held)-1]
				i--
			}
		}
		p.runeAt = len(p.held)
		if !p.take(r, size) && size == 1 && r < utf8.RuneSelf {
			i-- // the byte is text, or begins another tag
		}
	}
	return i
}

// take gives a rune to the lexer; the last size bytes of held are its bytes. It returns false when the rune belongs to no
// tag: an ASCII one is then no more in held, and any other has been dealt with.
func (p *Parser) take(r rune, size int) bool {
	if p.between {
		if r == '`' || isSpace(r) || isAbsent(r) {
			return len(p.held) <= maxHead || p.refuse(r, size, text)
		}
		if !isOpening(r) {
			return p.refuse(r, size, text)
		}
		p.between, p.headAt = false, len(p.held)-size
		p.lexer.reset()
	}
	v := p.lexer.step(r, p.held[len(p.held)-size:])
	if v == named {
		if p.refuses() {
			return p.refuse(r, size, text)
		}
		v = p.lexer.step(r, p.held[len(p.held)-size:])
	}
	switch v {
	case whole:
		p.whole()
		return true
	case more:
		if len(p.held)-p.headAt <= maxHead {
			return true
		}
		v = text
		if p.lexer.meant() {
			v = broken
		}
	}
	return p.refuse(r, size, v)
}

// refuse ends the reading of something that is no tag before the rune r. It returns false.
func (p *Parser) refuse(r rune, size int, v verdict) bool {
	var last [utf8.UTFMax]byte
	raw := last[:copy(last[:], p.held[len(p.held)-size:])]
	p.held = p.held[:len(p.held)-size]
	p.lexing = false
	switch {
	case v == broken && p.mode != modeBody && !p.quoted && !p.lexer.closer && len(p.lexer.name) > 0 && p.lexer.state >= lexHead:
		p.open(true)
	case v == broken && p.mode == modeProse:
		p.endText()
		p.mute, p.muted = true, true
		p.outer.afterTag()
	default:
		p.unread(p.held)
	}
	if r < utf8.RuneSelf {
		return false
	}
	if isOpening(r) && (p.mode == modeBody || p.mode == modeNote || !p.line.quoted()) {
		p.begin(0)
		p.held = append(p.held, raw...)
		p.runeAt = len(p.held)
		p.lexer.step(r, raw)
		return false
	}
	p.unread(raw)
	return false
}

// unread gives bytes that were read for a tag back to where they stand. They begin with what might have been a delimiter, or
// are one rune, or what is left of one.
func (p *Parser) unread(b []byte) {
	if p.mode == modeBody {
		p.content(b)
		return
	}
	_, size := utf8.DecodeRune(b)
	if !utf8.Valid(b) {
		size = len(b)
	}
	s, i := string(b), 0
	for i < size && (p.line.state == lineFence || p.line.state == lineInfo) {
		i = p.fence(s, i)
	}
	if i < size {
		p.line.state = lineMiddle
		p.say(s[i:size])
	}
	if size < len(s) {
		p.prose(s, size)
	}
}
