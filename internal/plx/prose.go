package plx

// Text outside of tags, and in notes, is Markdown: tags that are quoted in it as code are no tags, and a code fence that is
// wrapped around a tag is no text.

// maxInfo bounds what may stand behind the backticks of a fence line, in bytes.
const maxInfo = 64

type lineState int

const (
	lineStart lineState = iota // only spaces so far
	lineFence                  // the backticks at the beginning of a line
	lineInfo                   // what stands behind three or more of them
	lineMiddle
	lineTicks // backticks in the middle of a line
)

// lines follows the lines of Markdown text as far as code is concerned.
type lines struct {
	state  lineState
	indent int
	ticks  int // length of the row of backticks being read, or of the fence line
	info   int // bytes of the fence line's info
	softAt int // length of the soft text before the fence line
	span   int // length of the backticks that opened the code span we are in; 0 for none

	pending int // a fence was opened by the line before: around a tag or around code?
	quoting int // in a fenced block of code, opened by that many backticks
	wrapped int // in a fence that is wrapped around tags
}

// quoted reports whether a tag here would be code.
func (l *lines) quoted() bool { return l.span > 0 || l.quoting > 0 }

// afterTag starts anew behind a tag: a fence may follow on the same line.
func (l *lines) afterTag() { *l = lines{wrapped: l.wrapped} }

// fenceBefore returns the length of the fence that stands right before a tag, or 0.
func (l *lines) fenceBefore() int {
	if l.state == lineFence || l.state == lineInfo {
		return l.ticks
	}
	return l.pending
}

// prose reads text outside of tags or in a note from s[i:] up to where a tag may begin, and returns where it stopped.
func (p *Parser) prose(s string, i int) int {
	ln := p.line
	from := i // of what is certainly text
	for i < len(s) {
		c := s[i]
		switch ln.state {
		case lineStart:
			switch {
			case c == '\n':
				ln.indent = 0
				i++
			case c == '\r':
				i++
			case c == ' ' && ln.indent < 3:
				ln.indent++
				i++
			case c == '`':
				p.say(s[from:i])
				p.settle()
				ln.state, ln.ticks, ln.softAt = lineFence, 0, len(p.screen.soft)
			default:
				ln.state = lineMiddle
			}
		case lineFence, lineInfo:
			if opensRune[c] && ln.ticks >= 3 && (!ln.quoted() || p.mode == modeNote) && mayOpen(s, i) {
				return p.begin(i)
			}
			i = p.fence(s, i)
			from = i
		case lineMiddle:
			if c == '\n' {
				ln.state, ln.indent, ln.span = lineStart, 0, 0
				i++
				continue
			}
			if c == '`' {
				ln.state, ln.ticks = lineTicks, 0
				continue
			}
			if opensRune[c] && mayOpen(s, i) {
				p.say(s[from:i])
				from = i
				if !ln.quoted() || p.mode == modeNote {
					return p.begin(i)
				}
			}
			for i++; i < len(s) && !stopsProse[s[i]]; i++ {
			}
		case lineTicks:
			if c == '`' {
				ln.ticks++
				i++
				continue
			}
			p.codeSpan()
		}
	}
	if from < len(s) {
		p.say(s[from:])
	}
	return i
}

// stopsProse marks the bytes that mean something in the middle of a line: those of opensRune, and two more.
var stopsProse = [256]bool{'\n': true, '`': true, '{': true, '<': true, 0xc2: true, 0xe2: true, 0xe3: true, 0xef: true}

// codeSpan opens or closes a span of code with the backticks that were read.
func (p *Parser) codeSpan() {
	ln := p.line
	switch ln.span {
	case 0:
		ln.span = ln.ticks
	case ln.ticks:
		ln.span = 0
	}
	ln.state = lineMiddle
}

// fence reads a byte of a line that may be a fence line. All of it is soft until that is known.
func (p *Parser) fence(s string, i int) int {
	ln := p.line
	c := s[i]
	switch {
	case ln.state == lineFence && c == '`':
		ln.ticks++
	case ln.ticks < 3, c == '`', ln.info == maxInfo && c != '\n': // backticks that open a code span
		ln.info = 0
		p.commit()
		p.codeSpan()
		return i
	case c == '\n':
		p.keep(c)
		p.fenceLine()
		ln.state, ln.indent, ln.info = lineStart, 0, 0
		return i + 1
	default:
		ln.state = lineInfo
		if !isBlank(c) {
			ln.info++
		}
	}
	p.keep(c)
	return i + 1
}

// fenceLine decides what a complete fence line is.
func (p *Parser) fenceLine() {
	ln := p.line
	bare := ln.info == 0
	switch {
	case ln.quoting > 0:
		if bare && ln.ticks >= ln.quoting {
			ln.quoting = 0
		}
		p.commit()
	case ln.wrapped > 0 && bare && ln.ticks >= ln.wrapped:
		p.screen.soft = p.screen.soft[:ln.softAt]
		ln.wrapped = 0
	case ln.pending > 0 && bare: // an empty block
		p.commit()
		ln.pending, ln.quoting = 0, 0
	default:
		ln.pending = ln.ticks
	}
}
