package chatstream

import (
	"bytes"
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"unicode/utf8"
)

// document is what one cursor of one stream points at: a message, and how far this stream has come in it.
type document struct {
	message   *message
	views     []*view
	thoughts  map[thoughtKey]int // bytes that this stream told of each
	next      int                // index after the highest in thoughts
	inherited bool               // taken over from the stream that handed the turn off
}

// inherit copies the document for a stream that goes on where another stopped.
func (doc *document) inherit() *document {
	c := &document{message: doc.message, inherited: true, next: doc.next, thoughts: maps.Clone(doc.thoughts)}
	for _, v := range doc.views {
		w := *v
		w.fork = bytes.Clone(v.fork)
		c.views = append(c.views, &w)
	}
	return c
}

// view returns the document's view of a content part, or nil beyond the bound.
func (doc *document) view(index int) *view {
	m := doc.message
	if index < 0 || index >= maxParts {
		return nil
	}
	for len(m.parts) <= index {
		m.parts = append(m.parts, &segment{message: m, index: len(m.parts)})
	}
	for len(doc.views) <= index {
		seg := m.parts[len(doc.views)]
		doc.views = append(doc.views, &view{seg: seg, version: seg.version})
	}
	return doc.views[index]
}

// apply carries out one operation on the document of the stream's current cursor.
func (s *stream) apply(p, o string, v json.RawMessage) {
	rest, ok := strings.CutPrefix(p, "/message")
	switch {
	case p == "" && isObject(v):
		s.setDocument(v)
	case p == "" && len(v) > 0 && v[0] == '"':
		// Only text can be meant: a stream that was resumed after a batch had left the path at the root.
		s.applyContent("/parts/0", "append", v)
	case p == "/conversation_id":
		if id, ok := text(v); ok {
			s.d.conversation(s, id)
		}
	case p == "/error":
		s.d.siteError(v)
	case !ok:
	case rest == "":
		s.setMessage(v, o != "append" && o != "patch")
	default:
		if content, ok := strings.CutPrefix(rest, "/content"); ok && (content == "" || content[0] == '/') {
			s.applyContent(content, o, v)
			return
		}
		s.applyHeader(rest[1:], o, v)
	}
}

// setDocument takes a whole document: the header of a message, mostly.
func (s *stream) setDocument(v json.RawMessage) {
	var w documentWire
	if !decode(v, &w) {
		return
	}
	if w.Conversation != "" && !s.d.conversation(s, w.Conversation) {
		return
	}
	if len(w.Error) > 0 {
		s.d.siteError(w.Error)
	}
	if isObject(w.Message) {
		s.setMessage(w.Message, true)
	}
}

// setMessage takes a message. whole says that it stands for all of it, so that another id means another message.
func (s *stream) setMessage(v json.RawMessage, whole bool) {
	var w messageWire
	if s.foreign || !decode(v, &w) {
		return
	}
	doc := s.document()
	fresh := false
	if id := w.ID; whole && id != "" {
		doc, fresh = s.switchTo(doc, &w, id)
		if doc == nil {
			return
		}
	}
	m := doc.message
	if whole || w.Author.Role != nil {
		m.known = true
	}
	w.head(m)
	s.setContent(doc, w.Content, fresh)
	s.headerChanged(m)
}

// switchTo finds the document for the message with this id: the current one if it is the same or nameless, else a new
// one in its place. fresh says that this stream tells the message from its start.
func (s *stream) switchTo(doc *document, w *messageWire, id string) (_ *document, fresh bool) {
	d := s.d
	if doc.message.id == id {
		if doc.inherited {
			doc = &document{message: doc.message}
			s.docs[s.cursor] = doc
			return doc, true
		}
		return doc, false
	}
	known := d.messages[id]
	if known == nil {
		if len(d.messages) >= maxMessages {
			d.gap("the turn has too many messages")
			return nil, false
		}
		if doc.message.id == "" && !doc.message.known && s.startsOf(doc, w) {
			doc.message.id = id
			d.messages[id] = doc.message
			return doc, false
		}
		known = &message{id: id}
		d.messages[id] = known
	}
	if doc.message.id != "" || len(doc.views) > 0 {
		doc.message.left = true
		s.finishViews(doc)
		d.pump(false)
	}
	doc = &document{message: known}
	s.docs[s.cursor] = doc
	return doc, true
}

// startsOf reports whether the text that came before any header can be the start of the message that w describes.
func (s *stream) startsOf(doc *document, w *messageWire) bool {
	probe := message{known: true}
	w.head(&probe)
	if len(doc.views) == 0 {
		return len(doc.thoughts) == 0 || probe.class() == classReasoning
	}
	if probe.class() != classAnswer {
		return false
	}
	var whole string
	if parts := w.Content.Parts; len(parts) > 0 {
		whole, _ = text(parts[0])
	}
	return whole == "" || strings.HasPrefix(whole, string(doc.views[0].seg.raw))
}

// headerChanged draws the consequences of what is now known of m.
func (s *stream) headerChanged(m *message) {
	d := s.d
	if m.role == "user" && m.id != "" {
		d.userMessage(m.id)
	}
	if m.role == "assistant" && m.model != "" {
		d.model(m.model, true)
	}
	if strings.HasPrefix(m.status, "finished") && !m.finished {
		m.finished = true
	}
	for _, seg := range m.parts {
		if len(seg.raw) > seg.sent {
			d.grown(seg)
		}
	}
	if m.finished {
		if doc := s.docs[s.cursor]; doc != nil && doc.message == m {
			s.finishViews(doc)
		}
		d.pump(false)
	}
	if m.final() {
		s.final, d.final = true, true
		if d.complete {
			d.end()
		}
	}
}

func (s *stream) finishViews(doc *document) {
	for _, v := range doc.views {
		s.d.settle(v, true)
	}
}

// applyHeader carries out an operation on a field of the message that is not its content.
func (s *stream) applyHeader(field, o string, v json.RawMessage) {
	doc := s.document()
	m := doc.message
	if o == "remove" {
		v = nil
	}
	switch field {
	case "author/role":
		m.role, _ = text(v)
		m.known = true
	case "recipient":
		m.recipient, _ = text(v)
	case "channel":
		m.channel, _ = text(v)
	case "status":
		m.status, _ = text(v)
	case "end_turn":
		m.endTurn = string(v) == "true"
	case "metadata/model_slug":
		m.model, _ = text(v)
	case "metadata/is_visually_hidden_from_conversation":
		m.hidden = string(v) == "true"
	case "author":
		var w authorWire
		if decode(v, &w) {
			set(&m.role, w.Role)
			m.known = m.known || w.Role != nil
		}
	case "metadata":
		var w metaWire
		if decode(v, &w) {
			set(&m.model, w.Model)
			set(&m.hidden, w.Hidden)
		}
	default:
		return
	}
	s.headerChanged(m)
}

// setContent takes a content object.
func (s *stream) setContent(doc *document, w contentWire, fresh bool) {
	for i, p := range w.Parts {
		if t, ok := text(p); ok {
			if v := doc.view(i); v != nil {
				s.d.setText(v, t, fresh)
			}
		}
	}
	for i, t := range w.Thoughts {
		s.setThought(doc, i, t)
	}
	if w.Content != "" {
		s.tellThought(doc, thoughtKey{0, 'c'}, w.Content, true)
	}
}

// applyContent carries out an operation on the content; path is what follows /message/content.
func (s *stream) applyContent(path, o string, v json.RawMessage) {
	doc := s.document()
	field, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	index, sub, _ := strings.Cut(rest, "/")
	switch field {
	case "":
		var w contentWire
		if o != "remove" && decode(v, &w) {
			set(&doc.message.content, w.Type)
			s.setContent(doc, w, false)
			s.headerChanged(doc.message)
		}
	case "content_type":
		doc.message.content, _ = text(v)
		s.headerChanged(doc.message)
	case "content":
		if t, ok := text(v); ok {
			s.tellThought(doc, thoughtKey{0, 'c'}, t, o != "append")
		}
	case "parts":
		s.applyParts(doc, index, sub, o, v)
	case "thoughts":
		s.applyThoughts(doc, index, sub, o, v)
	}
}

func (s *stream) applyParts(doc *document, index, sub, o string, v json.RawMessage) {
	if index == "" {
		var parts []json.RawMessage
		if o == "remove" || o == "truncate" || !decode(v, &parts) {
			return
		}
		base := 0
		if o == "append" {
			base = len(doc.views)
		}
		s.setParts(doc, base, parts)
		return
	}
	n, err := strconv.Atoi(index)
	if err != nil || sub != "" {
		return
	}
	w := doc.view(n)
	if w == nil {
		return
	}
	switch t, ok := text(v); {
	case o == "truncate":
		if to, err := strconv.Atoi(string(v)); err == nil {
			s.d.truncateText(w, to)
		}
	case !ok || o == "remove":
	case o == "append", o == "":
		s.d.appendText(w, t)
	default:
		s.d.setText(w, t, false)
	}
}

func (s *stream) setParts(doc *document, base int, parts []json.RawMessage) {
	for i, p := range parts {
		v := doc.view(base + i)
		if v == nil {
			return
		}
		if t, ok := text(p); ok {
			s.d.setText(v, t, false)
		}
	}
}

func (s *stream) applyThoughts(doc *document, index, sub, o string, v json.RawMessage) {
	if index == "" {
		var list []thoughtWire
		if o == "remove" || !decode(v, &list) {
			return
		}
		base := 0
		if o == "append" {
			base = doc.next
		}
		for i, t := range list {
			s.setThought(doc, base+i, t)
		}
		return
	}
	n, err := strconv.Atoi(index)
	if err != nil || n < 0 || o == "remove" || o == "truncate" {
		return
	}
	switch sub {
	case "":
		var t thoughtWire
		if decode(v, &t) {
			s.setThought(doc, n, t)
		}
	case "content", "summary":
		if t, ok := text(v); ok {
			s.tellThought(doc, thoughtKey{n, sub[0]}, t, o != "append" && o != "")
		}
	}
}

func (s *stream) setThought(doc *document, index int, t thoughtWire) {
	s.tellThought(doc, thoughtKey{index, 's'}, t.Summary, true)
	s.tellThought(doc, thoughtKey{index, 'c'}, t.Content, true)
}

// tellThought reports what is new in a piece of reasoning. Its text is not kept: what was told is counted.
func (s *stream) tellThought(doc *document, key thoughtKey, t string, whole bool) {
	m := doc.message
	if m.thoughts == nil {
		m.thoughts = map[thoughtKey]int{}
	}
	if doc.thoughts == nil {
		doc.thoughts = map[thoughtKey]int{}
	}
	if _, ok := m.thoughts[key]; !ok && len(m.thoughts) >= maxThoughts {
		s.d.gap("the turn has too many thoughts")
		return
	}
	at := doc.thoughts[key]
	if whole {
		at = 0
	}
	end := at + len(t)
	doc.thoughts[key] = max(doc.thoughts[key], end)
	doc.next = max(doc.next, key.index+1)
	told := m.thoughts[key]
	m.thoughts[key] = max(told, end)
	if end <= told {
		return
	}
	from := max(0, told-at)
	for from < len(t) && !utf8.RuneStart(t[from]) {
		from++
	}
	if m.class() == classOther {
		return
	}
	gap := "\n\n"
	if key.field == 'c' && s.d.lastReason == any(thoughtID{m, thoughtKey{key.index, 's'}}) {
		gap = "\n"
	}
	s.d.reason(thoughtID{m, key}, t[from:], gap)
}

// thoughtID names a piece of reasoning in the whole turn.
type thoughtID struct {
	message *message
	key     thoughtKey
}

// text reads a JSON string.
func text(v json.RawMessage) (string, bool) {
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	if inner := v[1 : len(v)-1]; plain(inner) {
		return string(inner), true
	}
	var t string
	err := json.Unmarshal(v, &t)
	return t, err == nil
}

func isObject(v json.RawMessage) bool { return len(v) > 0 && v[0] == '{' }
