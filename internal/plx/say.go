package plx

// part returns what text belongs to where the parser stands.
func (p *Parser) part() part {
	switch p.mode {
	case modeNote:
		return part{EventNote, len(p.notes) + 1}
	case modeBody:
		return part{EventAnswer, 0}
	default:
		return part{EventText, 0}
	}
}

// hidden reports whether text where the parser stands is not for the screen.
func (p *Parser) hidden() bool {
	if p.mode == modeBody {
		return p.body.kind != kindDone || p.unclaimed
	}
	return p.mute && p.mode == modeProse
}

// lead reports whether white space at the beginning of the text counts: a reply without tags is shown as it is.
func (p *Parser) lead() bool { return p.mode == modeProse && p.tags == 0 }

// say shows text.
func (p *Parser) say(s string) {
	if s == "" || p.hidden() {
		return
	}
	if p.options.Rendered && p.mode != modeProse {
		s = p.decode(s)
	}
	if p.screen.add(p.part(), s, p.lead()) {
		p.firm()
	}
}

// keep puts a byte aside that may turn out not to be text.
func (p *Parser) keep(c byte) {
	if !p.hidden() {
		p.screen.soft = append(p.screen.soft, c)
	}
}

// commit shows what was put aside.
func (p *Parser) commit() {
	if !p.hidden() && p.screen.commit(p.part(), p.lead()) {
		p.firm()
	}
}

// firm notes that there is text: a fence line before it was wrapped around no tag.
func (p *Parser) firm() {
	if ln := p.line; p.mode != modeBody && ln.pending > 0 {
		ln.quoting, ln.pending = ln.pending, 0
	}
}

// decode decodes entities in rendered text, and keeps one that is not complete for the next time.
func (p *Parser) decode(s string) string {
	if len(p.entity) > 0 {
		s = string(p.entity) + s
		p.entity = p.entity[:0]
	}
	for i := max(0, len(s)-maxEntity); i < len(s); i++ {
		if s[i] == '&' && entityLen(s[i:]) < 0 {
			p.entity = append(p.entity, s[i:]...)
			s = s[:i]
		}
	}
	return decodeEntities(s)
}

// settle shows an entity that will not be completed.
func (p *Parser) settle() {
	if len(p.entity) > 0 {
		s := string(p.entity)
		p.entity = p.entity[:0]
		if p.screen.add(p.part(), s, p.lead()) {
			p.firm()
		}
	}
}
