package chatstream

import (
	"encoding/json"
	"errors"
)

// class says what a message's text is to us.
type class int

const (
	classOther     class = iota // a user's, a tool's, a call of a tool, or nothing that we know
	classAnswer                 // the answer, or not yet known to be anything else
	classReasoning              // what the model shows of its thinking
)

// message is one message of the turn: its header as far as it is known, and its text. A message is one thing even if
// several streams tell of it.
type message struct {
	id        string
	known     bool // the header has been seen
	role      string
	recipient string
	content   string // the content type
	channel   string
	model     string
	hidden    bool
	status    string
	endTurn   bool
	finished  bool // never goes back
	left      bool // its stream went on to another message in its place
	parts     []*segment
	thoughts  map[thoughtKey]int // bytes reported of each
}

// thoughtKey names a piece of reasoning in a message: field is 's' for summary, 'c' for content.
type thoughtKey struct {
	index int
	field byte
}

// class is the answer-text rule. Capturing starts unknown: without a header the text is taken for the answer.
func (m *message) class() class {
	if !m.known {
		return classAnswer
	}
	if m.role != "" && m.role != "assistant" || m.recipient != "" && m.recipient != "all" || m.hidden {
		return classOther
	}
	switch m.content {
	case "", "text", "multimodal_text":
		if m.channel == "" || m.channel == "final" {
			return classAnswer
		}
		return classReasoning
	case "thoughts", "reasoning_recap":
		return classReasoning
	}
	return classOther
}

// final reports a finished message that ends the turn's answer. One whose header was missed needs some text for that.
func (m *message) final() bool {
	return m.finished && m.endTurn && m.class() == classAnswer && (m.role == "assistant" || !m.known && len(m.parts) > 0)
}

// The wire shapes, as far as they are of use. What is missing, null or of another type than promised is nil.
type (
	documentWire struct {
		Message      json.RawMessage `json:"message"`
		Conversation string          `json:"conversation_id"`
		Error        json.RawMessage `json:"error"`
	}
	messageWire struct {
		ID        string      `json:"id"`
		Author    authorWire  `json:"author"`
		Content   contentWire `json:"content"`
		Status    *string     `json:"status"`
		EndTurn   *bool       `json:"end_turn"`
		Metadata  metaWire    `json:"metadata"`
		Recipient *string     `json:"recipient"`
		Channel   *string     `json:"channel"`
	}
	authorWire struct {
		Role *string `json:"role"`
	}
	contentWire struct {
		Type     *string           `json:"content_type"`
		Parts    []json.RawMessage `json:"parts"`
		Thoughts []thoughtWire     `json:"thoughts"`
		Content  string            `json:"content"`
	}
	thoughtWire struct {
		Summary string `json:"summary"`
		Content string `json:"content"`
	}
	metaWire struct {
		Model  *string `json:"model_slug"`
		Hidden *bool   `json:"is_visually_hidden_from_conversation"`
	}
)

// head copies what w says of the header into m.
func (w *messageWire) head(m *message) {
	set(&m.role, w.Author.Role)
	set(&m.content, w.Content.Type)
	set(&m.recipient, w.Recipient)
	set(&m.channel, w.Channel)
	set(&m.endTurn, w.EndTurn)
	set(&m.status, w.Status)
	set(&m.model, w.Metadata.Model)
	set(&m.hidden, w.Metadata.Hidden)
}

// decode reads JSON of a shape that nobody promised: a field of another type counts as missing.
func decode(b []byte, v any) bool {
	err := json.Unmarshal(b, v)
	var mistyped *json.UnmarshalTypeError
	return err == nil || errors.As(err, &mistyped)
}

// set stores v in dst if there is one.
func set[T any](dst *T, v *T) {
	if v != nil {
		*dst = *v
	}
}
