package plx

import (
	"slices"
	"strings"
)

// tagKind says what is done with a tag's body.
type tagKind int

const (
	kindIgnored tagKind = iota // not ours to act on; only its end matters
	kindAction
	kindDone
)

// body is the open tag and what was read of its body.
//
// A body ends at the first closer of its name: there is no counting of openers, since a body may well mention its own opener.
// A body that was opened in look-alikes ends at a closer in any of them. A body that was opened with braces is well formed when
// it is closed with braces; a closer in look-alikes then is content, except when it closes nothing that was opened in look-alikes
// inside of the body and the next thing is a tag, or nothing.
type body struct {
	name  string
	kind  tagKind
	brace bool
	attrs map[string]string
	text  strings.Builder
	inner int // tags of the same name that are open inside, in look-alikes

	inNote bool // the tag began in a note that was not closed
	notes  int  // notes that were opened inside since
}

// tools are the tags that are actions.
var tools = []string{"read", "list", "search", "run", "write"}

// open takes an opener: the one in the lexer. A broken one, whose head did not end, is opened too, so that nothing in its body is
// taken for a tag, but what it asks for is not done.
func (p *Parser) open(broken bool) {
	l := &p.lexer
	fence := p.line.fenceBefore()
	inNote := p.mode == modeNote
	if inNote {
		p.closeNote()
	} else {
		p.endText()
	}
	if fence > 0 {
		p.outer.wrapped = fence
	}
	p.outer.afterTag()
	p.tags++
	p.mute = false
	name := string(l.name)
	if name == "note" {
		if !l.self {
			p.mode, p.note, p.line = modeNote, lines{}, &p.note
		}
		return
	}
	p.mode = modeBody
	p.body = body{name: name, brace: l.open == '{' && (broken || l.close == '}'), attrs: l.attrs, inNote: inNote}
	switch {
	case slices.Contains(tools, name):
		if p.body.kind = kindAction; broken {
			p.unfinished()
		}
	case name == "done":
		p.body.kind = kindDone
		p.openDone()
	case name == "result":
		p.invented = true
		p.problem(InventedResult)
	case name != "task":
		p.problem(UnknownTag)
	}
	if l.self {
		p.closeBody()
	}
}

func (p *Parser) openDone() {
	p.dones++
	p.unclaimed = true
	switch {
	case p.dones > 1:
		p.problem(ExtraAnswer)
	case p.complete > 0:
		p.problem(AnswerDropped)
	default:
		p.unclaimed = false
	}
}

// unfinished notes that the open action is not to be run.
func (p *Parser) unfinished() {
	p.body.kind = kindIgnored
	p.cutOff = true
	p.problem(UnfinishedAction)
}

// closeNote ends the note; what is kept aside does not belong to it.
func (p *Parser) closeNote() {
	p.settle()
	if note := p.screen.end(); note != "" {
		p.notes = append(p.notes, note)
	}
	p.mode, p.line = modeProse, &p.outer
}

func (p *Parser) endText() { p.screen.end() }

func (p *Parser) closeBody() {
	switch {
	case p.body.kind == kindAction:
		p.act()
	case p.body.kind == kindDone && !p.unclaimed:
		p.settle()
		p.answered = true
		if p.screen.open {
			p.answerAt = span{from: p.screen.gapAt, to: p.screen.out.Len()}
		}
		p.answer = p.screen.end()
	}
	p.mode, p.line = modeProse, &p.outer
	p.outer.afterTag()
}

// act takes the complete action.
func (p *Parser) act() {
	p.complete++
	if p.answered {
		p.problem(AnswerDropped)
		p.screen.remove(p.answerAt.from, p.answerAt.to)
		p.answered, p.answer = false, ""
	}
	if !p.kept() {
		if !p.invented {
			p.problem(TooManyActions)
		}
		return
	}
	a := Action{Tool: p.body.name, Attrs: p.body.attrs, Body: p.bodyText()}
	if a.Attrs == nil {
		a.Attrs = map[string]string{}
	}
	p.actions = append(p.actions, a)
	p.screen.report(len(p.actions), &a)
}

func (p *Parser) bodyText() string {
	s := p.body.text.String()
	if p.body.name == "write" {
		if rest, ok := strings.CutPrefix(s, "\r\n"); ok {
			s = rest
		} else {
			s = strings.TrimPrefix(s, "\n")
		}
	}
	if p.options.Rendered {
		return decodeEntities(s)
	}
	return s
}

// inBody reads a body from s[i:] up to where a closer may begin, and returns where it stopped.
func (p *Parser) inBody(s string, i int) int {
	from := i
	for i < len(s) {
		if opensRune[s[i]] && mayOpen(s, i) {
			p.add(s[from:i])
			return p.begin(i)
		}
		for i++; i < len(s) && !opensRune[s[i]]; i++ {
		}
	}
	p.add(s[from:])
	return i
}

// add appends to the body.
func (p *Parser) add(s string) {
	switch {
	case p.body.kind == kindDone:
		p.say(s)
	case p.kept():
		grow(&p.body.text, len(s))
		p.body.text.WriteString(s)
	}
}

// kept reports whether the open action will be one of the reply's when it is complete.
func (p *Parser) kept() bool {
	return p.body.kind == kindAction && !p.invented && len(p.actions) < MaxActions
}

// content appends bytes to the body that were read for a tag.
func (p *Parser) content(b []byte) {
	if p.body.kind != kindDone {
		if p.kept() {
			grow(&p.body.text, len(b))
			p.body.text.Write(b)
		}
		return
	}
	p.settle()
	for _, c := range b {
		p.keep(c)
	}
	p.commit()
}

// refuses decides about an opener whose name is complete and reports that it is no tag where it stands.
func (p *Parser) refuses() bool {
	if p.mode != modeBody {
		return p.quoted
	}
	if p.doubtful { // the closer before it was one
		p.closeBody()
		p.held = p.held[:copy(p.held, p.held[p.headAt:])]
		p.headAt, p.runeAt, p.doubtful = 0, len(p.held), false
		return false
	}
	if string(p.lexer.name) == "note" {
		p.body.notes++
	}
	if p.body.brace && p.lexer.open != '{' && string(p.lexer.name) == p.body.name {
		p.body.inner++
	}
	return true
}

// whole takes a complete tag.
func (p *Parser) whole() {
	l := &p.lexer
	p.lexing = false
	switch {
	case p.mode == modeBody:
		p.closerInBody()
	case !l.closer:
		p.open(false)
	case p.mode == modeNote && string(l.name) != "note", p.mode == modeProse && l.escaped:
		p.unread(p.held)
	case l.escaped:
		p.unescape()
		p.unread(p.held)
	case p.mode == modeNote:
		p.settle()
		p.commit()
		p.closeNote()
		p.outer.afterTag()
	default: // closes nothing
		p.endText()
		p.outer.afterTag()
		p.tags++
		p.mute = false
	}
}

// closerInBody takes a complete closer in a body: the body's own, or a part of it.
func (p *Parser) closerInBody() {
	l := &p.lexer
	own := string(l.name) == p.body.name
	certain := l.brace() || !p.body.brace
	switch {
	case !own && p.closesNoteAround():
		p.abandon()
	case !own, l.escaped && !certain:
		p.content(p.held)
	case l.escaped:
		p.unescape()
		p.content(p.held)
	case certain:
		p.content(p.held[:p.headAt])
		p.closeBody()
	case p.body.inner > 0:
		p.body.inner--
		p.content(p.held)
	default:
		p.content(p.held[:p.headAt])
		p.held = p.held[:copy(p.held, p.held[p.headAt:])]
		p.headAt, p.runeAt = 0, len(p.held)
		p.lexing, p.doubtful, p.between = true, true, true
	}
}

// closesNoteAround reports whether the closer in the lexer is that of the note in which the open tag began: then the note was
// not open at all, and only spoke of the tag.
func (p *Parser) closesNoteAround() bool {
	if string(p.lexer.name) != "note" || p.lexer.escaped || !p.body.inNote || p.body.kind == kindDone {
		return false
	}
	p.body.notes--
	return p.body.notes < 0
}

// abandon ends the open tag without doing what it asks for.
func (p *Parser) abandon() {
	if p.body.kind == kindAction {
		p.unfinished()
	}
	p.closeBody()
}

// unescape takes the backslash out of the tag in held.
func (p *Parser) unescape() {
	i := p.headAt + slices.Index(p.held[p.headAt:], '\\')
	p.held = slices.Delete(p.held, i, i+1)
}
