package plx

import (
	"slices"
	"strings"
	"unicode/utf8"
)

func (p *Parser) problem(code Problem) {
	if !slices.Contains(p.problems, code) {
		p.problems = append(p.problems, code)
	}
}

// Display returns what a person is shown of the reply so far. What may be, or is, an unfinished tag is held back; only a brace
// at the very end is shown, since that is more often code.
func (p *Parser) Display() string {
	if p.reply != nil {
		return p.reply.Display
	}
	out := p.screen.out.String()
	if !p.lexing || p.doubtful || p.hidden() || !p.lexer.lone() {
		return out
	}
	soft := string(p.screen.soft)
	if strings.TrimSpace(soft) != "" {
		return out // a fence, perhaps around a tag
	}
	switch {
	case p.screen.open, p.lead():
	case out == "":
		soft = ""
	default:
		soft = paragraphGap
	}
	return out + soft + string(p.held)
}

// Finish ends the reply and returns what it means. It may be called again.
func (p *Parser) Finish() Reply {
	if p.reply == nil {
		p.reply = p.finish()
	}
	return *p.reply
}

func (p *Parser) finish() *Reply {
	part := p.finishTag()
	r := &Reply{}
	looks := p.tags > 0 || p.muted
	switch {
	case p.mode == modeNote:
		p.settle()
		p.commit()
		p.closeNote()
	case p.mode == modeBody && p.body.kind == kindAction:
		p.unfinished()
	case p.mode == modeBody && p.body.kind == kindDone:
		soft := string(p.screen.soft)
		p.closeBody()
		if p.answered && part != "" && !p.unclaimed {
			p.answer += soft + part
		}
	case !looks:
		p.screen.out.Write(p.screen.soft)
		r.Display = p.screen.out.String()
		if looks = looksLikeProtocol(r.Display + part); !looks {
			p.answer, p.answered = r.Display+part, true
		}
	}
	if r.Display == "" {
		r.Display = p.screen.out.String()
	}
	r.Notes = append([]string{}, p.notes...)
	r.Actions = append([]Action{}, p.actions...)
	r.Problems = append([]Problem{}, p.problems...)
	r.Answer = p.answer
	r.Dropped = p.complete - len(p.actions)
	r.NeedsCorrection = p.cutOff || looks && len(p.actions) == 0 && !p.answered
	return r
}

// finishTag settles a tag that is being read when the reply ends. It returns what may be text all the same, though it is not
// for the screen.
func (p *Parser) finishTag() string {
	if !p.lexing {
		return ""
	}
	l := &p.lexer
	p.lexing = false
	if p.doubtful {
		if p.headAt > 0 && l.closer { // the right one, cut off
			p.content(p.held)
			return ""
		}
		p.closeBody()
		if p.held = p.held[:copy(p.held, p.held[p.headAt:])]; p.headAt == 0 {
			return ""
		}
	}
	if l.state == lexOpening || l.lone() {
		p.unread(p.held)
		return ""
	}
	if p.mode != modeBody && !p.quoted && !l.closer && p.cutAction() {
		p.cutOff = true
		p.problem(UnfinishedAction)
	}
	if l.state >= lexX && p.tags > 0 {
		return ""
	}
	return string(p.held)
}

// cutAction reports whether the opener being read can become an action.
func (p *Parser) cutAction() bool {
	name := string(p.lexer.name)
	return name != "" && slices.ContainsFunc(tools, func(tool string) bool {
		return tool == name || p.lexer.state == lexNameRest && strings.HasPrefix(tool, name)
	})
}

// looksLikeProtocol is the loose test for a reply that was meant as tags: at the beginning of a line or after an opening
// delimiter, perhaps a slash, then plx and a colon.
func looksLikeProtocol(s string) bool {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], ':')
		if i < 0 {
			return false
		}
		head := strings.TrimRightFunc(s[from:from+i], isInvisible)
		if n := len(head) - len("plx"); n >= 0 && strings.EqualFold(head[n:], "plx") {
			before, first := lookBack(s[:from+n])
			if slash, ok := strings.CutSuffix(before, "/"); ok && !first {
				before, first = lookBack(slash)
			}
			if r, _ := utf8.DecodeLastRuneInString(before); first || isOpening(r) {
				return true
			}
		}
		from += i + 1
	}
}

// lookBack returns s without the spaces at its end, and whether nothing else stands on its last line.
func lookBack(s string) (before string, first bool) {
	before = strings.TrimRightFunc(s, isInvisible)
	return before, before == "" || strings.Contains(s[len(before):], "\n")
}

func isInvisible(r rune) bool { return isSpace(r) || isAbsent(r) }
