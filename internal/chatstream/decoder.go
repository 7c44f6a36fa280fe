// Package chatstream decodes what a chat site sends to its page while a model answers: event streams in the "v1" delta
// encoding, the streams and WebSocket topics that they are handed off to, and the marks at their ends. Out come the
// answer's text, the reasoning, the model's name, the ids, and the end of the turn.
//
// It is pure: bytes in, updates out, no clock and no goroutine. Its cost is linear in the bytes however they are cut,
// and what it keeps is bounded (see MaxText and its neighbours). What it does not know it skips. The answer's text
// never shrinks: a snapshot shorter than what is known is ignored.
package chatstream

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Decoder reads all streams of one turn. It is not safe for concurrent use.
type Decoder struct {
	streams map[string]*stream
	sockets map[string]bool
	topics  map[string]*topic
	waiting int     // bytes that wait in topics
	last    *stream // the newest that was handed off or cut: what a new stream goes on from

	messages map[string]*message
	users    map[string]bool
	id       string // the conversation's
	told     bool   // id was reported
	slug     string // the model's
	slugSure bool
	gaps     map[string]bool
	lastErr  Update

	answer    []*segment // the answer's texts in order of appearance
	head      int        // the one that is being told
	text      []byte     // the turn's text so far
	lastShown *segment
	size      int // bytes kept of all messages
	rewrites  int

	lastReason any // what the newest reasoning belongs to
	reasoned   bool

	final    bool // a final message is finished
	complete bool // the site said that the turn is complete
	ended    bool

	updates  []Update
	reported int    // bytes of text that are in updates
	thinking []byte // reasoning not yet in updates
}

// New returns a Decoder for one turn.
func New() *Decoder {
	return &Decoder{
		streams:  map[string]*stream{},
		sockets:  map[string]bool{},
		topics:   map[string]*topic{},
		messages: map[string]*message{},
		users:    map[string]bool{},
		gaps:     map[string]bool{},
	}
}

// Expect says which conversation the turn belongs to, where the caller knows. Streams of others are then ignored; without
// it, those of another than the first one seen.
func (d *Decoder) Expect(conversation string) {
	if d.id == "" {
		d.id = conversation
	}
}

// Open begins a stream. The name is the caller's and must be new within the turn; the address is not judged.
func (d *Decoder) Open(name string, source Source, _ string) {
	if d.streams[name] != nil || d.sockets[name] || len(d.streams)+len(d.sockets) >= maxStreams {
		return
	}
	if source == SourceWebSocket {
		d.sockets[name] = true
		return
	}
	s := newStream(d, source)
	if d.last != nil {
		s.goOn(d.last)
	}
	d.streams[name] = s
}

// Data takes what came on a stream; see Source for how it may be cut. data is not retained. A stream that was not opened
// is taken for what its first bytes look like: a WebSocket, or the rest of a fetch.
func (d *Decoder) Data(name string, data []byte) []Update {
	if d.ended {
		return nil
	}
	s := d.streams[name]
	if s == nil && !d.sockets[name] {
		if s = d.unopened(name, data); s == nil && !d.sockets[name] {
			d.gap("the page has too many streams open")
			return d.take()
		}
	}
	if s == nil {
		d.socketMessage(data)
		return d.take()
	}
	s.reader.feed(data, s.event)
	if s.source == SourceEventSource {
		s.reader.flush(s.event)
	}
	return d.take()
}

// unopened begins a stream whose opening was missed.
func (d *Decoder) unopened(name string, data []byte) *stream {
	source := SourceFetch
	if len(data) > 0 && (data[0] == '[' || data[0] == '{') {
		source = SourceWebSocket
	}
	d.Open(name, source, "")
	s := d.streams[name]
	if s != nil {
		s.partial = true
	}
	return s
}

// Close ends a stream; clean says that it came to its end by itself.
func (d *Decoder) Close(name string, clean bool) []Update {
	delete(d.sockets, name)
	if s := d.streams[name]; s != nil {
		s.closed(clean)
		delete(d.streams, name)
	}
	return d.take()
}

// Finish takes what has come for the whole turn, for a caller that knows so from elsewhere: what was held back is told,
// and the turn has ended.
func (d *Decoder) Finish() []Update {
	d.end()
	return d.take()
}

// Text returns the answer's text so far: all of the updates' text together.
func (d *Decoder) Text() string { return string(d.text) }

// Ended reports whether the turn's end was seen. Nothing changes after it.
func (d *Decoder) Ended() bool { return d.ended }

// begun reports whether anything of the turn has been seen.
func (d *Decoder) begun() bool {
	return len(d.messages) > 0 || len(d.text) > 0 || len(d.users) > 0 || d.last != nil
}

// add queues an update behind the text that came before it.
func (d *Decoder) add(u Update) {
	d.flush()
	d.updates = append(d.updates, u)
}

// flush queues the text and the reasoning that came since the last update.
func (d *Decoder) flush() {
	if len(d.thinking) > 0 {
		d.updates = append(d.updates, Update{Kind: KindReasoning, Text: string(d.thinking)})
		d.thinking = d.thinking[:0]
	}
	if len(d.text) > d.reported {
		d.updates = append(d.updates, Update{Kind: KindText, Text: string(d.text[d.reported:])})
		d.reported = len(d.text)
	}
}

func (d *Decoder) take() []Update {
	d.flush()
	u := d.updates
	d.updates = nil
	return u
}

// reason reports a piece of reasoning; gap goes before it if it belongs to something else than the one before.
func (d *Decoder) reason(of any, t, gap string) {
	if t == "" {
		return
	}
	if len(d.text) > d.reported {
		d.flush()
	}
	if d.reasoned && d.lastReason != of {
		d.thinking = append(d.thinking, gap...)
	}
	d.reasoned, d.lastReason = true, of
	d.thinking = append(d.thinking, t...)
}

// conversation learns the id of a stream's conversation and reports whether it is this turn's.
func (d *Decoder) conversation(s *stream, id string) bool {
	switch {
	case id == s.conversation:
		return true
	case d.id != "" && d.id != id:
		// One that has shown to be ours may mention another.
		s.foreign = s.conversation == ""
		return false
	}
	first := d.id == "" || !d.told
	d.id, d.told, s.conversation = id, true, id
	if first {
		d.add(Update{Kind: KindConversation, ID: label(id)})
	}
	return true
}

func (d *Decoder) userMessage(id string) {
	if !d.users[id] && len(d.users) < maxMessages {
		d.users[id] = true
		d.add(Update{Kind: KindUserMessage, ID: label(id)})
	}
}

// model learns a model's name; sure is the name on a message, which goes before what other events say.
func (d *Decoder) model(slug string, sure bool) {
	if slug == d.slug || d.slugSure && !sure {
		return
	}
	d.slug, d.slugSure = slug, sure
	d.add(Update{Kind: KindModel, Text: label(slug)})
}

func (d *Decoder) siteError(v json.RawMessage) {
	u := Update{Kind: KindError}
	var w struct {
		Code    string `json:"code"`
		Type    string `json:"type"`
		Message string `json:"message"`
		Detail  string `json:"detail"`
	}
	switch t, ok := text(v); {
	case ok:
		u.Text = t
	case !isObject(v) || !decode(v, &w):
		return
	default:
		u.Code, u.Text = w.Code, w.Message
		if u.Code == "" && w.Type != "error" {
			u.Code = w.Type
		}
		if u.Text == "" {
			u.Text = w.Detail
		}
	}
	u.Text, u.Code = label(u.Text), label(u.Code)
	if u == d.lastErr || u.Text == "" && u.Code == "" {
		return
	}
	d.lastErr = u
	d.add(u)
}

// gap reports something left out, once for each reason.
func (d *Decoder) gap(reason string) {
	if !d.gaps[reason] && len(d.gaps) < maxMessages {
		d.gaps[reason] = true
		d.add(Update{Kind: KindGap, Text: reason})
	}
}

// end ends the turn: what was held back is the text's end.
func (d *Decoder) end() {
	if d.ended {
		return
	}
	d.pump(true)
	d.ended = true
	d.add(Update{Kind: KindEnd, Finished: d.final})
}

// label bounds a short text of the site and makes it valid.
func label(s string) string {
	if len(s) > maxLabel {
		s = s[:maxLabel]
		for len(s) > 0 && !utf8.RuneStart(s[len(s)-1]) {
			s = s[:len(s)-1]
		}
		s = s[:max(0, len(s)-1)]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
