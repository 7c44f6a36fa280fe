package proc

import (
	"bytes"
	"unicode/utf8"
)

// reducer turns what a program writes to a terminal into the text that is
// left in the end: escape sequences are dropped, a line that was rewritten by
// carriage returns, backspaces and erasures is what it was last, bytes that
// are not UTF-8 and NUL become U+FFFD, other control characters go.
//
// It works on one line at a time; moves to other lines are ignored. Plain
// text, which is nearly all of it, is passed on without being looked at twice.
type reducer struct {
	out      func(p []byte) // finished text, in order; p is not retained
	replaced int64          // bytes that became U+FFFD

	line    []byte // of the current line, while it only grows
	cells   []rune // of the current line, once it was rewritten
	column  int    // where the next character goes in cells
	rewrite bool   // cells hold the line
	cr      bool   // a carriage return came, which may be half of CRLF
	split   []byte // beginning of a character whose end has not come
	state   state
	args    []byte // of the control sequence being read
	length  int    // of the escape sequence being read
}

type state int

const (
	ground state = iota
	escape
	sequence // after ESC [
	command  // a string that ends with BEL or ESC \
	commandEscape
	skipOne // after ESC ( and the like
)

const (
	lineBytes    = 64 << 10 // a longer line is passed on in parts
	sequenceSize = 64       // a longer control sequence is none
	commandSize  = 4 << 10  // a longer string is none
)

// Write takes a piece of output, cut anywhere.
func (r *reducer) Write(p []byte) {
	if len(r.split) > 0 {
		p = append(r.split, p...)
		r.split = nil
	}
	for len(p) > 0 {
		if r.state != ground {
			p = p[r.escaped(p):]
			continue
		}
		n := plainRun(p)
		if n > 0 {
			r.text(p[:n], n == len(p))
			p = p[n:]
			continue
		}
		r.control(p[0])
		p = p[1:]
	}
}

// Close passes on what is left of the last line.
func (r *reducer) Close() {
	if len(r.split) > 0 {
		r.bad(r.split)
		r.split = nil
	}
	r.cr = false // at the very end it rewrites nothing
	r.pass(false)
}

// plainRun returns how much of p has no control character but newline and tab.
func plainRun(p []byte) int {
	for i, c := range p {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return i
		}
	}
	return len(p)
}

// text takes characters. last says that p ends where the piece ended, so that
// its last character may be cut.
func (r *reducer) text(p []byte, last bool) {
	if last {
		whole := wholeRunes(p)
		r.split = append([]byte(nil), p[whole:]...)
		p = p[:whole]
	}
	if utf8.Valid(p) && !hasC1(p) {
		r.put(p)
		return
	}
	for len(p) > 0 {
		c, size := utf8.DecodeRune(p)
		switch {
		case c == utf8.RuneError && size == 1:
			r.bad(p[:1])
		case c == 0x9b: // the one-character form of ESC [
			r.begin(sequence)
			p = p[size:]
			p = p[r.escaped(p):]
			continue
		case c >= 0x80 && c < 0xa0:
		default:
			r.put(p[:size])
		}
		p = p[size:]
	}
}

// hasC1 reports whether there are control characters from U+0080 to U+009F.
func hasC1(p []byte) bool {
	for {
		i := bytes.IndexByte(p, 0xc2)
		if i < 0 || i+1 >= len(p) {
			return false
		}
		if p[i+1] < 0xa0 {
			return true
		}
		p = p[i+2:]
	}
}

// wholeRunes returns the length of p without a character that is cut at its end.
func wholeRunes(p []byte) int {
	for i := 1; i <= utf8.UTFMax && i <= len(p); i++ {
		if utf8.RuneStart(p[len(p)-i]) {
			if !utf8.FullRune(p[len(p)-i:]) {
				return len(p) - i
			}
			break
		}
	}
	return len(p)
}

func (r *reducer) bad(p []byte) {
	for range p {
		r.replaced++
		r.put([]byte("\uFFFD"))
	}
}

// put adds valid text, newlines included, at the cursor.
func (r *reducer) put(p []byte) {
	for len(p) > 0 {
		if r.cr && p[0] != '\n' {
			r.move(0)
		}
		r.cr = false
		if !r.rewrite && len(r.line) == 0 {
			if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
				r.out(p[:i+1])
				p = p[i+1:]
				continue
			}
		}
		end := bytes.IndexByte(p, '\n')
		part := p
		if end >= 0 {
			part = p[:end]
		}
		r.add(part)
		p = p[len(part):]
		if end >= 0 {
			r.pass(true)
			p = p[1:]
		}
	}
}

// add writes characters of the current line.
func (r *reducer) add(p []byte) {
	if !r.rewrite {
		r.line = append(r.line, p...)
		if len(r.line) >= lineBytes {
			r.pass(false)
		}
		return
	}
	for len(p) > 0 {
		c, size := utf8.DecodeRune(p)
		p = p[size:]
		if r.column < len(r.cells) {
			r.cells[r.column] = c
		} else {
			r.cells = append(r.cells, c)
		}
		if r.column++; r.column >= lineBytes {
			r.pass(false)
		}
	}
}

// pass hands the current line on and begins another.
func (r *reducer) pass(newline bool) {
	if r.rewrite {
		r.line = r.line[:0]
		for _, c := range r.cells {
			r.line = utf8.AppendRune(r.line, c)
		}
		if newline { // what was blanked out is not text
			r.line = bytes.TrimRight(r.line, " ")
		}
	}
	if newline {
		r.line = append(r.line, '\n')
	}
	if len(r.line) > 0 {
		r.out(r.line)
	}
	r.line, r.cells, r.column, r.rewrite = r.line[:0], r.cells[:0], 0, false
}

// partial returns the current line as far as it has come and will not be
// rewritten by what is already known.
func (r *reducer) partial() []byte {
	if r.rewrite || r.cr {
		return nil
	}
	return r.line
}

// move puts the cursor into a column of the current line.
func (r *reducer) move(column int) {
	r.unlock()
	r.column = max(0, min(column, lineBytes-1))
	for len(r.cells) < r.column {
		r.cells = append(r.cells, ' ')
	}
}

// unlock makes the current line one that can be rewritten.
func (r *reducer) unlock() {
	if r.rewrite {
		return
	}
	r.cells = r.cells[:0]
	for b := r.line; len(b) > 0; {
		c, size := utf8.DecodeRune(b)
		r.cells = append(r.cells, c)
		b = b[size:]
	}
	r.rewrite, r.column = true, len(r.cells)
}

// control takes one control character.
func (r *reducer) control(c byte) {
	switch c {
	case '\r':
		r.cr = true
	case '\b':
		if r.cr {
			return
		}
		r.unlock()
		r.move(r.column - 1)
	case 0x1b:
		r.begin(escape)
	case 0:
		r.bad([]byte{0})
	}
}

func (r *reducer) begin(s state) {
	r.state, r.args, r.length = s, r.args[:0], 0
}

// escaped reads on in an escape sequence and returns how much of p belongs to it.
func (r *reducer) escaped(p []byte) int {
	for i, c := range p {
		r.length++
		switch r.state {
		case escape:
			r.afterEscape(c)
		case sequence:
			switch {
			case c >= 0x40 && c <= 0x7e:
				r.state = ground
				r.perform(c)
			case c < ' ' || c >= 0x7f || r.length > sequenceSize: // it is none; the character counts
				r.state = ground
				return i
			default:
				r.args = append(r.args, c)
			}
		case command:
			switch {
			case c == 0x07:
				r.state = ground
			case c == 0x1b:
				r.state = commandEscape
			case c == '\n', r.length > commandSize: // never ended: do not swallow the rest
				r.state = ground
				return i
			}
		case commandEscape:
			r.state = ground
			if c != '\\' {
				r.begin(escape)
				return i
			}
		case skipOne:
			r.state = ground
		}
		if r.state == ground {
			return i + 1
		}
	}
	return len(p)
}

func (r *reducer) afterEscape(c byte) {
	switch c {
	case '[':
		r.begin(sequence)
	case ']', 'P', 'X', '^', '_':
		r.begin(command)
	case '(', ')', '*', '+', '-', '.', '/', '#', '%', ' ':
		r.state = skipOne
	case 0x1b:
	default:
		r.state = ground
	}
}

// perform does what a control sequence says about the current line.
func (r *reducer) perform(final byte) {
	n := 0
	for _, c := range r.args {
		if c < '0' || c > '9' {
			break
		}
		n = min(n*10+int(c-'0'), lineBytes)
	}
	if r.cr && bytes.IndexByte([]byte("KGCDPX@"), final) >= 0 {
		r.cr = false
		r.move(0)
	}
	switch final {
	case 'K':
		r.erase(n)
	case 'G':
		r.move(max(n, 1) - 1)
	case 'C':
		r.unlock()
		r.move(r.column + max(n, 1))
	case 'D':
		r.unlock()
		r.move(r.column - max(n, 1))
	}
}

// erase blanks the line: from the cursor (0), up to it (1), all of it (2).
func (r *reducer) erase(how int) {
	if how == 0 && !r.rewrite {
		return // the cursor is at the end
	}
	r.unlock()
	switch how {
	case 0:
		r.cells = r.cells[:r.column]
	case 1:
		for i := range min(r.column+1, len(r.cells)) {
			r.cells[i] = ' '
		}
	case 2:
		r.cells = r.cells[:0]
		r.move(r.column)
	}
}
