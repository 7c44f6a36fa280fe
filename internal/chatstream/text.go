package chatstream

import (
	"bytes"
	"unicode/utf8"
)

// segment is the text of one content part of one message, the same in every stream that carries the message.
type segment struct {
	message *message
	index   int
	raw     []byte // as the model wrote it
	sent    int    // bytes of raw that went into the turn's text
	shown   bool   // some of it is in the turn's text
	listed  bool   // it has a place in the turn's text
	version int    // counts rewrites of raw
}

// view is how far one stream has come in a segment. A resumed stream tells the same text again: its view starts over and
// grows the segment only from where the segment ends.
type view struct {
	seg     *segment
	pos     int
	version int
	// fork is what this stream holds where it differs from the segment; nil while it agrees.
	fork      []byte
	forked    bool
	truncated bool // the site itself cut the text, so the fork is meant
}

// stale reports a view of a text that another stream has rewritten.
func (v *view) stale() bool { return v.version != v.seg.version }

// appendText adds s at the view's end.
func (d *Decoder) appendText(v *view, s string) {
	if v.stale() || s == "" {
		return
	}
	if v.forked {
		if d.room(len(s)) {
			v.fork = append(v.fork, s...)
			d.settle(v, false)
		}
		return
	}
	known := min(len(s), len(v.seg.raw)-v.pos)
	if string(v.seg.raw[v.pos:v.pos+known]) != s[:known] {
		if d.forkAt(v, v.pos) {
			d.appendText(v, s)
		}
		return
	}
	if rest := s[known:]; rest != "" {
		if !d.room(len(rest)) {
			return
		}
		v.seg.raw = append(v.seg.raw, rest...)
		d.grown(v.seg)
	}
	v.pos += len(s)
}

// setText takes s for the whole text. A text shorter than what is known is ignored.
func (d *Decoder) setText(v *view, s string, fresh bool) {
	raw := v.seg.raw
	switch {
	case v.stale() && !fresh, v.forked && len(s) < len(v.fork):
	case len(s) <= len(raw):
		switch {
		case string(raw) == s, fresh && string(raw[:len(s)]) == s:
			d.join(v, len(s))
		case fresh:
			d.forkWith(v, s)
		}
	case string(raw) == s[:len(raw)]:
		d.join(v, len(raw))
		d.appendText(v, s[len(raw):])
	default:
		d.forkWith(v, s)
		d.settle(v, false)
	}
}

// join lets the view agree with its segment, pos bytes into it.
func (d *Decoder) join(v *view, pos int) {
	d.size -= len(v.fork)
	v.fork, v.forked, v.truncated = nil, false, false
	v.pos, v.version = pos, v.seg.version
}

// forkWith lets the view hold s, which is not the segment's text.
func (d *Decoder) forkWith(v *view, s string) {
	d.join(v, 0)
	if d.forkAt(v, 0) && d.room(len(s)) {
		v.fork = []byte(s)
	}
}

// truncateText cuts the view's text to n UTF-16 units, as a page counts characters. The known text stays until what
// follows settles it.
func (d *Decoder) truncateText(v *view, n int) {
	if v.stale() || n < 0 {
		return
	}
	text := v.fork
	if !v.forked {
		text = v.seg.raw[:v.pos]
	}
	at := unitOffset(text, n)
	if at == len(text) {
		return
	}
	if v.forked {
		d.size -= len(v.fork) - at
		v.fork = v.fork[:at]
	} else if !d.forkAt(v, at) {
		return
	}
	v.truncated = true
}

// forkAt lets the view go its own way from pos bytes into the segment.
func (d *Decoder) forkAt(v *view, pos int) bool {
	if d.rewrites >= maxRewrites || !d.room(pos) {
		d.gap("a message was rewritten too often")
		return false
	}
	d.rewrites++
	v.fork, v.forked = bytes.Clone(v.seg.raw[:pos]), true
	return true
}

// settle makes a fork the segment's text when it has outgrown it, or, at the end of a message that the site itself cut,
// when it has any text at all.
func (d *Decoder) settle(v *view, end bool) {
	seg := v.seg
	if !v.forked || len(v.fork) <= len(seg.raw) && !(end && v.truncated && len(v.fork) > 0) {
		return
	}
	same := bytes.Equal(v.fork, seg.raw)
	extends := bytes.HasPrefix(v.fork, seg.raw)
	d.size -= len(seg.raw)
	seg.raw, v.fork, v.forked, v.truncated = v.fork, nil, false, false
	v.pos = len(seg.raw)
	if same {
		return
	}
	if extends {
		d.grown(seg)
		return
	}
	seg.version++
	v.version = seg.version
	d.rewritten(seg)
}

// room keeps the bound of all text of the turn.
func (d *Decoder) room(n int) bool {
	if d.size+n > MaxText {
		d.gap("the answer is longer than 16 MiB")
		return false
	}
	d.size += n
	return true
}

// unitOffset is the byte offset of n UTF-16 units into text, or its length.
func unitOffset(text []byte, n int) int {
	at := 0
	for at < len(text) && n > 0 {
		r, size := utf8.DecodeRune(text[at:])
		if n--; r > 0xFFFF {
			n--
		}
		at += size
	}
	return at
}

// grown moves new text of seg on to the reader.
func (d *Decoder) grown(seg *segment) {
	switch seg.message.class() {
	case classAnswer:
		if !seg.listed {
			seg.listed, seg.sent = true, 0
			d.answer = append(d.answer, seg)
		}
		d.pump(false)
	case classReasoning:
		if seg.sent = min(seg.sent, len(seg.raw)); !seg.shown {
			d.reason(seg, string(seg.raw[seg.sent:]), "\n\n")
			seg.sent = len(seg.raw)
		}
	}
}

// pump adds to the turn's text what is known of it, message after message: the text of a later one waits until the
// earlier one is finished, so that two that are written at the same time never mix.
func (d *Decoder) pump(end bool) {
	for d.head < len(d.answer) {
		seg := d.answer[d.head]
		done := end || seg.message.finished || seg.message.left || d.head+1 < len(d.answer) && d.answer[d.head+1].message == seg.message
		if seg.shown || seg.message.class() == classAnswer {
			seg.sent = d.render(seg, done)
		}
		if !done {
			return
		}
		d.head++
	}
}

// render appends what seg has beyond seg.sent to the turn's text without citation markers, and returns how far it came.
// An unfinished marker is held back unless no more can follow.
func (d *Decoder) render(seg *segment, done bool) int {
	rest := seg.raw[seg.sent:]
	for len(rest) > 0 {
		i := bytes.Index(rest, markerStart)
		if i < 0 {
			d.show(seg, rest)
			return len(seg.raw)
		}
		d.show(seg, rest[:i])
		rest = rest[i:]
		n, open := markerLength(rest)
		if open && !done {
			break
		}
		if n == 0 {
			n = len(markerStart)
			d.show(seg, rest[:n])
		}
		rest = rest[n:]
	}
	return len(seg.raw) - len(rest)
}

func (d *Decoder) show(seg *segment, b []byte) {
	if len(b) == 0 {
		return
	}
	if !seg.shown {
		seg.shown = true
		if len(d.text) > 0 {
			if d.lastShown != nil && d.lastShown.message == seg.message {
				d.text = append(d.text, '\n')
			} else {
				d.text = append(d.text, "\n\n"...)
			}
		}
		d.lastShown = seg
	}
	d.text = append(d.text, b...)
}

// rewritten builds the turn's text again after seg changed in its middle, and reports the whole of it.
func (d *Decoder) rewritten(seg *segment) {
	if !seg.shown {
		d.grown(seg)
		return
	}
	d.flush()
	d.text, d.lastShown, d.head = d.text[:0], nil, 0
	for _, s := range d.answer {
		s.sent, s.shown = 0, false
	}
	d.pump(d.ended)
	d.reported = len(d.text)
	d.updates = append(d.updates, Update{Kind: KindRevision, Text: string(d.text)})
}

// The site marks citations and the like in the text with private-use characters: a start, a name, arguments after
// separators, an end.
var (
	markerStart     = []byte("\uE200")
	markerEnd       = []byte("\uE201")
	markerSeparator = []byte("\uE202")
)

// markerLength measures the marker at the start of b. It is 0 for something else; open says that it may still become one.
func markerLength(b []byte) (n int, open bool) {
	i := len(markerStart)
	for i < len(b) && (b[i] >= 'a' && b[i] <= 'z' || b[i] == '_') {
		i++
	}
	if name := i - len(markerStart); name > 32 || name == 0 && i < len(b) {
		return 0, false
	}
	if i == len(b) {
		return 0, true
	}
	if bytes.HasPrefix(b[i:], markerEnd) {
		return i + len(markerEnd), false
	}
	if !bytes.HasPrefix(b[i:], markerSeparator) {
		return 0, false
	}
	body := b[i:min(len(b), maxMarker)]
	end := bytes.Index(body, markerEnd)
	if end >= 0 {
		body = body[:end]
	}
	if bytes.IndexByte(body, '\n') >= 0 || bytes.Contains(body, markerStart) {
		return 0, false
	}
	if end < 0 {
		return 0, len(b) < maxMarker
	}
	return i + end + len(markerEnd), false
}
