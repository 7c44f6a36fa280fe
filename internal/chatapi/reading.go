package chatapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"plexus/internal/loop"
	"plexus/internal/store"
)

// chunk is what we use of one event, and of the one object of a server that does
// not stream.
type chunk struct {
	Model   string          `json:"model"`
	Error   json.RawMessage `json:"error"`
	Choices []struct {
		Index        int    `json:"index"`
		Delta        part   `json:"delta"`
		Message      part   `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
}

// part is a piece of a message.
type part struct {
	Content          content `json:"content"`
	Refusal          content `json:"refusal"`
	ReasoningContent content `json:"reasoning_content"`
	Reasoning        content `json:"reasoning"`
}

// content is text: a string, null, or a list of typed pieces. What is not text is
// left out.
type content string

func (c *content) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = content(text)
		return nil
	}
	var pieces []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(data, &pieces) == nil {
		for _, p := range pieces {
			*c += content(p.Text)
		}
	}
	return nil
}

// reading collects one reply.
type reading struct {
	exchange *exchange
	ended    func() // the reply is complete, what follows is formality
	text     strings.Builder
	model    string
	finish   string // finish_reason, "" when there was none
	done     bool   // [DONE], or a whole object
	chunks   int
}

// peek returns the body again with its first byte that is no space, 0 for none.
func peek(body io.Reader) (*bufio.Reader, byte, error) {
	b := bufio.NewReaderSize(body, 32<<10)
	for {
		c, err := b.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return b, 0, nil
		case err != nil:
			return b, 0, err
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0xEF || c == 0xBB || c == 0xBF:
			continue
		}
		return b, c, b.UnreadByte()
	}
}

// events reads a stream to its end.
func (r *reading) events(body *bufio.Reader) error {
	events := newEvents(body)
	for !r.done {
		data, err := events.next()
		switch {
		case errors.Is(err, errLongEvent), events.read > maxReply:
			return r.exchange.bad("more than fits into a reply")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := r.event(data); err != nil {
			return err
		}
	}
	return nil
}

func (r *reading) event(data string) error {
	data = strings.TrimSpace(data)
	switch data {
	case "":
		return nil
	case "[DONE]":
		r.done = true
		return nil
	}
	var c chunk
	if err := json.Unmarshal([]byte(data), &c); err != nil {
		return r.exchange.bad("an event that is not JSON")
	}
	return r.take(c)
}

// whole reads the one object of a server that does not stream.
func (r *reading) whole(body io.Reader) error {
	data, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	if len(data) > maxReply {
		return r.exchange.bad("more than fits into a reply")
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return r.exchange.bad("something that is not JSON")
	}
	r.done = true
	return r.take(c)
}

func (r *reading) take(c chunk) error {
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return r.exchange.told(c.Error)
	}
	r.chunks++
	if c.Model != "" {
		r.model = c.Model
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		for _, p := range []part{choice.Delta, choice.Message} {
			if think := p.ReasoningContent; think != "" {
				r.exchange.on.Reasoning(string(think))
			} else if p.Reasoning != "" {
				r.exchange.on.Reasoning(string(p.Reasoning))
			}
			if text := string(p.Content + p.Refusal); text != "" {
				r.text.WriteString(text)
				r.exchange.on.Text(text)
			}
		}
		if choice.FinishReason != "" && r.finish == "" {
			r.finish = choice.FinishReason
			r.ended()
		}
	}
	return nil
}

// complete judges a body that was read to its end.
func (r *reading) complete() error {
	x := r.exchange
	empty := strings.TrimSpace(r.text.String()) == ""
	switch {
	case r.chunks == 0 && !r.done:
		return x.bad("an empty answer")
	case r.finish == "" && !r.done:
		return x.cut("the connection ended before the reply did")
	case r.finish == "content_filter":
		return &loop.Fault{Code: loop.FaultModeration, Text: "The API server stopped this reply by its content filter. What came before is kept.", Todo: "Word the task in another way."}
	case r.finish == "error":
		return &loop.Fault{Code: loop.FaultSiteError, Text: "The API server ended this reply with an error. What came before is kept.", Todo: "Send a message to go on."}
	case empty && r.finish == "length":
		return x.bad("a reply that reached its length limit before it said anything")
	case empty && (r.finish == "tool_calls" || r.finish == "function_call"):
		return x.bad("a call of a tool of its own instead of text")
	case empty:
		return x.bad("an empty reply")
	case r.finish == "length":
		x.on.Notice(store.Notice{Code: "reply-cut", Tone: "warn", Text: "The model's reply reached its length limit and ends there.", Todo: "Allow longer replies on the server if this happens often."})
	}
	return nil
}

// broken is the fault of a body that could not be read to its end.
func (r *reading) broken(ctx context.Context, err error) error {
	var fault *loop.Fault
	if errors.As(err, &fault) {
		return fault
	}
	cause := context.Cause(ctx)
	ended := r.finish != "" || r.done
	switch {
	case errors.Is(cause, errSilent) && ended, cause == nil && ended:
		return r.complete() // only the formality is missing
	case errors.Is(cause, errSilent):
		return r.exchange.silent()
	case cause != nil:
		return cause
	}
	return r.exchange.cut(fmt.Sprintf("the connection broke (%s)", r.exchange.safe(err.Error())))
}
