package chatstream

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The helpers below lay out frames as the site sends them.

// sse writes each payload as one event; a payload with a name reads "name|data".
func sse(payloads ...string) string {
	var b strings.Builder
	for _, p := range payloads {
		if name, data, ok := strings.Cut(p, "|"); ok && !strings.ContainsAny(name, `{"`) {
			fmt.Fprintf(&b, "event: %s\n", name)
			p = data
		}
		fmt.Fprintf(&b, "data: %s\n\n", p)
	}
	return b.String()
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// say appends to the first content part, path and op spelled out.
func say(s string) string {
	return `delta|{"p":"/message/content/parts/0","o":"append","v":` + quote(s) + `}`
}

// more appends by carry-over.
func more(s string) string { return `delta|{"v":` + quote(s) + `}` }

// header is a document that begins a message; extra goes into the message.
func header(c int, id, role, content, extra string) string {
	cursor := ""
	if c >= 0 {
		cursor = fmt.Sprintf(`,"c":%d`, c)
	}
	if extra != "" {
		extra = "," + extra
	}
	return fmt.Sprintf(`delta|{"p":"","o":"add","v":{"message":{"id":%q,"author":{"role":%q,"name":null},"content":%s,"status":"in_progress","end_turn":null%s},"conversation_id":"conv-7","error":null}%s}`,
		id, role, content, extra, cursor)
}

const emptyText = `{"content_type":"text","parts":[""]}`

func final(c int, id string) string {
	return header(c, id, "assistant", emptyText, `"recipient":"all","channel":"final","metadata":{"model_slug":"gpt-9"}`)
}

// finish is the closing patch of a message; endTurn is true or false.
func finish(endTurn bool) string {
	return fmt.Sprintf(`delta|{"p":"","o":"patch","v":[{"p":"/message/status","o":"replace","v":"finished_successfully"},{"p":"/message/end_turn","o":"replace","v":%v},{"p":"/message/metadata","o":"append","v":{"is_complete":true}}]}`, endTurn)
}

const (
	encoding = `delta_encoding|"v1"`
	token    = `{"type":"resume_conversation_token","kind":"topic","token":"tkn","conversation_id":"conv-7"}`
	done     = `[DONE]`
	complete = `{"type":"message_stream_complete","conversation_id":"conv-7"}`
)

func handoff(topic string) string {
	return fmt.Sprintf(`{"type":"stream_handoff","conversation_id":"conv-7","turn_exchange_id":"tx","options":[{"type":"resume_sse_endpoint","topic_id":%q},{"type":"subscribe_ws_topic","topic_id":%q}]}`, topic, topic)
}

// socketItem is one element of a WebSocket message with an event-stream text in it.
func socketItem(topic, offset, id, parent, encoded string) string {
	return fmt.Sprintf(`{"type":"message","topic_id":%q,"offset":%s,"payload":{"type":"conversation-turn-stream","payload":{"type":"stream-item","conversation_id":"conv-7","turn_id":"tx","encoded_item":%s,"stream_item_id":%q,"parent_stream_item_id":%q}}}`,
		topic, offset, quote(encoded), id, parent)
}

func socketDone(topic, offset string) string {
	return fmt.Sprintf(`{"type":"message","topic_id":%q,"offset":%s,"payload":{"type":"conversation-turn-stream","payload":{"type":"done","conversation_id":"conv-7","turn_id":"tx"}}}`, topic, offset)
}

func socketComplete(conversation string) string {
	return fmt.Sprintf(`[{"type":"message","topic_id":"conversations","payload":{"type":"conversation-turn-complete","payload":{"conversation_id":%q},"metadata":null}}]`, conversation)
}

// step is one call of a Decoder.
type step struct {
	do     string // open, data, close, cut
	stream string
	source Source
	data   string
}

func open(stream string, source Source) step {
	return step{do: "open", stream: stream, source: source}
}
func data(stream, d string) step { return step{do: "data", stream: stream, data: d} }
func closed(stream string) step  { return step{do: "close", stream: stream} }
func cut(stream string) step     { return step{do: "cut", stream: stream} }

// fetched is a whole response.
func fetched(stream string, payloads ...string) []step {
	return []step{open(stream, SourceFetch), data(stream, sse(payloads...)), closed(stream)}
}

func steps(groups ...any) (out []step) {
	for _, g := range groups {
		switch g := g.(type) {
		case step:
			out = append(out, g)
		case []step:
			out = append(out, g...)
		}
	}
	return out
}

// outcome is what a turn comes to, however its bytes were cut.
type outcome struct {
	Text      string // by updates, revisions applied
	Reasoning string
	Facts     []string // every other update, in order
	Ended     bool
}

// run plays steps. Data of a fetch goes in pieces of at most size bytes; 0 is all at once.
func run(steps []step, size int) (outcome, *Decoder) {
	d := New()
	sources := map[string]Source{"f9": SourceFetch} // f9 and w are never opened
	var o outcome
	hear := func(updates []Update) {
		for _, u := range updates {
			switch u.Kind {
			case KindText:
				o.Text += u.Text
			case KindRevision:
				o.Text = u.Text
				o.Facts = append(o.Facts, "revision")
			case KindReasoning:
				o.Reasoning += u.Text
			default:
				f := string(u.Kind)
				for _, s := range []string{u.ID, u.Code, u.Text} {
					if s != "" {
						f += " " + s
					}
				}
				o.Facts = append(o.Facts, f)
			}
		}
	}
	for _, s := range steps {
		switch s.do {
		case "open":
			sources[s.stream] = s.source
			d.Open(s.stream, s.source, "https://chat.example/stream")
		case "data":
			b := []byte(s.data)
			n := size
			if n == 0 || sources[s.stream] != SourceFetch {
				n = max(1, len(b))
			}
			for len(b) > 0 {
				k := min(n, len(b))
				hear(d.Data(s.stream, b[:k:k]))
				b = b[k:]
			}
		default:
			hear(d.Close(s.stream, s.do == "close"))
		}
	}
	o.Ended = d.Ended()
	return o, d
}
