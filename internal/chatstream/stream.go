package chatstream

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// stream is one event stream: a response body, an EventSource, or a topic of the WebSocket.
type stream struct {
	d      *Decoder
	source Source
	reader eventReader

	// What the delta encoding carries from one frame to the next.
	path   string
	op     string
	cursor int
	docs   map[int]*document

	topics       []string // that lead here: those of the hand-off that s goes on from
	ahead        []string // that its own hand-off named
	conversation string
	substance    bool // an event other than an end mark was read
	handed       bool // it said that the turn goes on elsewhere: its end mark ends nothing
	continuation bool // it goes on with a turn that another stream handed off
	foreign      bool // it belongs to another conversation
	final        bool // it told the end of the final message
	done         bool // it had its end mark
	partial      bool // its first bytes are missing: do not judge it by what it lacks
}

func newStream(d *Decoder, source Source) *stream {
	lost := func() { d.gap("an event was too large") }
	return &stream{d: d, source: source, reader: eventReader{lost: lost}, path: "/message/content/parts/0", op: "append", docs: map[int]*document{}}
}

// goOn makes s the continuation of from: it takes over the state of the encoding.
func (s *stream) goOn(from *stream) {
	s.continuation = true
	s.topics = from.ahead
	s.path, s.op, s.cursor = from.path, from.op, from.cursor
	for c, doc := range from.docs {
		s.docs[c] = doc.inherit()
	}
}

// document returns the document of the current cursor, an unknown one if there is none yet.
func (s *stream) document() *document {
	doc := s.docs[s.cursor]
	if doc == nil {
		doc = &document{message: &message{}}
		s.docs[s.cursor] = doc
	}
	return doc
}

// event takes one event of the stream.
func (s *stream) event(name, data []byte) {
	if s.foreign || s.d.ended {
		return
	}
	if string(data) == "[DONE]" {
		s.endMark()
		return
	}
	if bytes.Equal(name, []byte("ping")) {
		return
	}
	s.substance = true
	if s.quick(data) {
		return
	}
	if len(data) == 0 || data[0] != '{' {
		if string(name) == "delta_encoding" && string(data) != `"v1"` {
			s.d.gap("the site uses the delta encoding " + label(string(data)))
		}
		return
	}
	var w frameWire
	if !decode(data, &w) {
		return
	}
	switch {
	case string(name) == "delta" || w.Type == "" && len(w.V) > 0:
		s.delta(w)
	case w.Type != "":
		s.typed(w.Type, data)
	case len(w.Message) > 0 || len(w.Error) > 0:
		// The encoding before v1: each event holds the whole document.
		s.setDocument(data)
	}
}

// frameWire is one event's data, whatever it is.
type frameWire struct {
	Type    string          `json:"type"`
	P       *string         `json:"p"`
	O       *string         `json:"o"`
	V       json.RawMessage `json:"v"`
	C       *int            `json:"c"`
	Message json.RawMessage `json:"message"`
	Error   json.RawMessage `json:"error"`
}

// quick takes the most frequent event, bare text to append, without a general decoder.
func (s *stream) quick(data []byte) bool {
	const head, tail = `{"v":"`, `"}`
	if len(data) < len(head)+len(tail) || string(data[:len(head)]) != head || string(data[len(data)-len(tail):]) != tail ||
		s.op != "append" || s.path != "/message/content/parts/0" {
		return false
	}
	inner := data[len(head) : len(data)-len(tail)]
	v := s.document().view(0)
	if plain(inner) {
		s.d.appendText(v, string(inner))
		return true
	}
	if bytes.IndexByte(inner, '\\') < 0 {
		return false
	}
	t, ok := text(data[len(head)-1 : len(data)-1])
	if ok {
		s.d.appendText(v, t)
	}
	return ok
}

// plain reports bytes that stand for themselves in a JSON string.
func plain(b []byte) bool {
	ascii := true
	for _, c := range b {
		if c < 0x20 || c == '"' || c == '\\' {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	return ascii || utf8.Valid(b)
}

// delta takes a frame of the delta encoding: what it leaves out is as in the frame before.
func (s *stream) delta(w frameWire) {
	if w.P != nil {
		s.path = *w.P
	}
	if w.O != nil {
		s.op = *w.O
	}
	if w.C != nil && *w.C != s.cursor {
		s.moveTo(*w.C)
	}
	s.operate(operation{P: w.P, O: w.O, V: w.V}, s.path, s.op, 0)
}

// moveTo makes c the current cursor. What came before any cursor was named belongs to the first that is.
func (s *stream) moveTo(c int) {
	if doc := s.docs[s.cursor]; doc != nil && !doc.message.known && doc.message.id == "" && len(s.docs) == 1 {
		delete(s.docs, s.cursor)
		s.docs[c] = doc
	}
	if s.docs[c] == nil && len(s.docs) >= maxDocuments {
		s.d.gap("a stream writes too many messages at once")
		return
	}
	s.cursor = c
}

type operation struct {
	P *string         `json:"p"`
	O *string         `json:"o"`
	V json.RawMessage `json:"v"`
}

// operate applies one operation, or a batch of them. A batch leaves the stream's carried path and op as the frame itself
// set them; inside of it they carry from one operation to the next.
func (s *stream) operate(op operation, p, o string, depth int) {
	batch, ok := asBatch(op.V, o == "patch")
	if !ok {
		s.apply(p, o, op.V)
		return
	}
	if depth >= maxNesting {
		s.d.gap("operations are nested too deeply")
		return
	}
	base, inner := p, p
	if o != "patch" {
		base, inner = "", p
	}
	for _, b := range batch {
		if b.P != nil {
			inner = *b.P
			if base != "" && !strings.HasPrefix(inner, "/message") {
				inner = base + inner
			}
		}
		if b.O != nil {
			o = *b.O
		}
		s.operate(b, inner, o, depth+1)
	}
}

// asBatch reads a list of operations: a list whose elements all are objects with a path, or, where a patch says that it
// is one, any list of objects.
func asBatch(v json.RawMessage, patch bool) ([]operation, bool) {
	if len(v) == 0 || v[0] != '[' {
		return nil, false
	}
	if first := bytes.TrimLeft(v[1:], " \t\r\n"); len(first) == 0 || first[0] != '{' {
		return nil, false
	}
	var ops []operation
	if !decode(v, &ops) {
		return nil, false
	}
	for _, op := range ops {
		if op.P == nil && !patch {
			return nil, false
		}
	}
	return ops, true
}

// typed takes an event that is not a delta.
func (s *stream) typed(kind string, data []byte) {
	d := s.d
	var w struct {
		Conversation string          `json:"conversation_id"`
		MessageID    string          `json:"message_id"`
		Input        messageWire     `json:"input_message"`
		Title        string          `json:"title"`
		Error        json.RawMessage `json:"error"`
		Metadata     metaWire        `json:"metadata"`
		Options      []struct {
			Topic string `json:"topic_id"`
		} `json:"options"`
		Moderation struct {
			Blocked bool `json:"blocked"`
		} `json:"moderation_response"`
	}
	if !decode(data, &w) {
		return
	}
	if id := w.Conversation; id != "" && !d.conversation(s, id) {
		return
	}
	switch kind {
	case "input_message":
		if role := w.Input.Author.Role; w.Input.ID != "" && role != nil && *role == "user" {
			d.userMessage(w.Input.ID)
		}
	case "stream_handoff":
		var topics []string
		for _, o := range w.Options {
			if t := o.Topic; t != "" && !slices.Contains(topics, t) && len(topics) < maxTopics {
				topics = append(topics, t)
			}
		}
		s.handOff(topics)
	case "message_stream_complete":
		d.add(Update{Kind: KindMessageEnd, ID: label(w.MessageID)})
	case "title_generation":
		if w.Title != "" {
			d.add(Update{Kind: KindTitle, Text: label(w.Title)})
		}
	case "server_ste_metadata":
		if slug := w.Metadata.Model; slug != nil && *slug != "" {
			d.model(*slug, false)
		}
	case "moderation":
		if w.Moderation.Blocked {
			d.add(Update{Kind: KindModeration})
		}
	case "error":
		if len(w.Error) == 0 {
			w.Error = data
		}
		d.siteError(w.Error)
	}
}

// handOff takes the news that the turn goes on in one of topics, or in a stream that the page will open. Being told of
// the topics that s itself goes on with is a replay of what led to s, and says nothing of how s will end.
func (s *stream) handOff(topics []string) {
	d := s.d
	fresh := len(topics) == 0
	for _, t := range topics {
		fresh = fresh || !slices.Contains(s.topics, t)
	}
	if fresh {
		s.handed = true
		d.last = s
	}
	s.ahead = topics
	if len(topics) == 0 {
		d.add(Update{Kind: KindHandoff})
	}
	for _, t := range topics {
		d.add(Update{Kind: KindHandoff, ID: label(t)})
		d.follow(t, s)
	}
}

// endMark takes the stream's own end, [DONE] or a topic's done. After a hand-off it only ends the ticket.
func (s *stream) endMark() {
	if s.done || s.d.ended {
		return
	}
	s.done = true
	if s.handed {
		return // only the ticket ends
	}
	d := s.d
	switch {
	case !s.substance && !s.continuation && !s.partial && !d.begun():
		d.add(Update{Kind: KindRefused})
	case d.final && (s.final || s.continuation):
		d.end()
	case s.carries():
		d.add(Update{Kind: KindClosed, Text: "end mark", Finished: d.final})
	}
}

// carries reports whether the stream told any of the answer.
func (s *stream) carries() bool {
	for _, doc := range s.docs {
		if doc.message.class() == classAnswer && len(doc.views) > 0 {
			return true
		}
	}
	return false
}

// closed takes the end of the connection.
func (s *stream) closed(clean bool) {
	d := s.d
	if d.ended {
		return
	}
	switch {
	case s.reader.skip:
		s.reader.lost()
	case clean && string(s.reader.pending()) == "[DONE]":
		s.endMark()
	}
	// Any other event that no empty line has closed does not count: a page that goes on elsewhere asks for it again.
	if d.ended || s.done || s.foreign {
		return
	}
	if s.handed || !s.substance {
		return
	}
	// The page may open it again: what follows takes over from here.
	d.last = s
	if s.carries() {
		why := "cut off"
		if clean {
			why = "ended without an end mark"
		}
		d.add(Update{Kind: KindClosed, Text: why, Finished: d.final})
	}
}
