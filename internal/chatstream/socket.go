package chatstream

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// topic is one named sequence of items on the site's WebSocket.
type topic struct {
	stream  *stream // nil until a hand-off names the topic
	items   []item  // that came before; then nil
	offset  int64   // highest seen
	lastID  string  // of the newest item
	counted bool    // offset has been set
}

// item is one step of a topic.
type item struct {
	kind         string // stream-item, done; others only count
	conversation string
	text         string
	id, parent   string
}

// cost is about what a waiting item takes, in bytes.
func (it item) cost() int {
	return 128 + len(it.kind) + len(it.conversation) + len(it.text) + len(it.id) + len(it.parent)
}

// frameOfSocket is one element of a WebSocket message.
type frameOfSocket struct {
	Topic   string          `json:"topic_id"`
	Offset  json.RawMessage `json:"offset"`
	Payload struct {
		Type    string `json:"type"`
		Payload struct {
			Type         string `json:"type"`
			Conversation string `json:"conversation_id"`
			Encoded      string `json:"encoded_item"`
			ID           string `json:"stream_item_id"`
			Parent       string `json:"parent_stream_item_id"`
		} `json:"payload"`
	} `json:"payload"`
	Reply struct {
		Catchups []frameOfSocket `json:"catchups"`
	} `json:"reply"`
	Catchups []frameOfSocket `json:"catchups"`
}

// offset is a count that the site writes as a number or as a string.
type offset struct {
	value int64
	given bool
}

func readOffset(v json.RawMessage) offset {
	n, err := strconv.ParseInt(string(bytes.Trim(v, `"`)), 10, 64)
	return offset{value: n, given: err == nil}
}

// socketMessage takes one text message: a list of frames, or a single one.
func (d *Decoder) socketMessage(data []byte) {
	if len(data) > MaxEvent {
		d.gap("a WebSocket message was too large")
		return
	}
	var list []frameOfSocket
	if data = bytes.TrimSpace(data); isObject(data) {
		list = make([]frameOfSocket, 1)
		if !decode(data, &list[0]) {
			return
		}
	} else if !decode(data, &list) {
		return
	}
	d.socketFrames(list)
}

func (d *Decoder) socketFrames(list []frameOfSocket) {
	for i := range list {
		f := &list[i]
		// A reply to a subscription replays what was missed.
		d.socketFrames(f.Catchups)
		d.socketFrames(f.Reply.Catchups)
		d.socketFrame(f)
	}
}

func (d *Decoder) socketFrame(f *frameOfSocket) {
	w := &f.Payload.Payload
	switch f.Payload.Type {
	case "conversation-turn-complete":
		d.turnComplete(w.Conversation)
	case "conversation-turn-stream":
		it := item{kind: w.Type, conversation: w.Conversation, text: w.Encoded, id: w.ID, parent: w.Parent}
		if f.Topic != "" {
			d.topicItem(f.Topic, readOffset(f.Offset), it)
		}
	}
}

// turnComplete takes the site's word that a conversation's turn is over.
func (d *Decoder) turnComplete(conversation string) {
	if d.ended || !d.begun() || conversation == "" || conversation != d.id {
		return
	}
	if d.complete = true; d.final {
		d.end()
		return
	}
	d.add(Update{Kind: KindClosed, Text: "turn complete", Finished: false})
}

// topicItem takes an item in its turn: one seen before is dropped, one of a topic that nobody has named yet waits.
func (d *Decoder) topicItem(name string, at offset, it item) {
	if d.ended || it.conversation != "" && d.id != "" && it.conversation != d.id {
		return
	}
	t := d.topics[name]
	if t == nil {
		if len(d.topics) >= maxTopics {
			d.gap("the page has too many topics")
			return
		}
		t = &topic{}
		d.topics[name] = t
	}
	if at.given {
		if t.counted && at.value <= t.offset {
			return
		}
		t.offset, t.counted = at.value, true
	} else if it.id != "" && it.id == t.lastID {
		return
	}
	if it.parent != "" && t.lastID != "" && it.parent != t.lastID {
		d.gap("the page missed a part of the stream")
	}
	if it.id != "" {
		t.lastID = it.id
	}
	if it.kind != "stream-item" && it.kind != "done" {
		return
	}
	if t.stream != nil {
		d.play(t.stream, it)
		return
	}
	if d.waiting+it.cost() > MaxWaiting {
		d.gap("too much came before it was known where it belongs")
		return
	}
	d.waiting += it.cost()
	t.items = append(t.items, it)
}

// follow makes a topic part of the turn, as the continuation of from, and plays what waited for that.
func (d *Decoder) follow(name string, from *stream) {
	t := d.topics[name]
	if t == nil {
		if len(d.topics) >= maxTopics {
			d.gap("the page has too many topics")
			return
		}
		t = &topic{}
		d.topics[name] = t
	}
	if t.stream == from || t.stream != nil && t.stream.substance {
		return
	}
	t.stream = newStream(d, SourceWebSocket)
	t.stream.goOn(from)
	items := t.items
	t.items = nil
	for _, it := range items {
		d.waiting -= it.cost()
		d.play(t.stream, it)
	}
}

func (d *Decoder) play(s *stream, it item) {
	if it.conversation != "" && !d.conversation(s, it.conversation) {
		return
	}
	if it.kind == "done" {
		s.endMark()
		return
	}
	s.reader.feed([]byte(it.text), s.event)
	// An item is an event or several; one that lacks its empty line must not run into the next.
	if p := s.reader.pending(); string(p) == "[DONE]" || json.Valid(p) {
		s.reader.flush(s.event)
	}
}
