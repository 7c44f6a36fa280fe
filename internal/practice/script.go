package practice

import (
	"encoding/json"
	"math/rand/v2"
	"unicode/utf8"

	"plexus/internal/scenario"
)

// step is one item of a stream.
type step struct {
	item string
	text string   // what it adds to the answer
	slow bool     // the site pauses before it
	keep *message // what the conversation holds from here on
}

// script writes the stream of one answer: every event in the order of the real site, in its v1 delta encoding.
type script struct {
	turn  *turn
	asked message
	reply scenario.Reply
	first bool // the first answer of its conversation
	plan  string
	seed  uint64

	rng    *rand.Rand
	steps  []step
	cursor int
	adding bool // the carried operation is the adding of a message
}

// model is what the site calls its model.
const model = "gpt-practice"

func (w script) write() []step {
	w.rng = rand.New(rand.NewPCG(w.seed, 2))
	w.event("delta_encoding", `"v1"`)
	w.data(map[string]any{"type": "resume_conversation_token", "kind": "topic", "token": w.turn.token})
	w.opening()
	if w.reply.Reasoning != "" || w.reply.Mode == scenario.ModeThinking {
		w.thoughts()
	}
	w.final()
	w.closing()
	return w.steps
}

func (w *script) opening() {
	system := newMessage(newUUID(), "system", textContent(""))
	yes := true
	system.EndTurn, system.Weight, system.CreateTime = &yes, 0, nil
	system.Metadata["is_visually_hidden_from_conversation"] = true
	w.header(system)
	asked := w.asked
	asked.Metadata = map[string]any{"turn_exchange_id": w.turn.id}
	w.header(asked)
	w.data(map[string]any{"type": "input_message", "input_message": asked})
	// Types that a reader does not know are passed over.
	w.data(map[string]any{"type": "practice_unknown", "v": "not an answer", "p": "/message/content/parts/0"})
}

// thoughts are what a thinking model shows before it answers: a message of thoughts and a recap.
func (w *script) thoughts() {
	m := newMessage(newUUID(), "assistant", map[string]any{"content_type": "thoughts", "thoughts": []any{}, "source_analysis_msg_id": ""})
	m.Status = "in_progress"
	m.Metadata = map[string]any{"model_slug": model, "parent_id": w.asked.ID, "reasoning_status": "is_reasoning"}
	w.header(m)
	w.delta(map[string]any{"p": "/message/content/thoughts", "o": "append", "v": []any{
		map[string]any{"summary": "Looking at the question", "content": "", "chunks": []any{}, "finished": false},
	}})
	for i, piece := range w.pieces(w.reply.Reasoning) {
		if i == 0 {
			w.delta(map[string]any{"p": "/message/content/thoughts/0/content", "o": "append", "v": piece})
		} else {
			w.delta(map[string]any{"v": piece})
		}
		w.last().slow = true
	}
	w.delta(map[string]any{"p": "", "o": "patch", "v": []any{
		op("/message/content/thoughts/0/finished", "replace", true),
		op("/message/status", "replace", "finished_successfully"),
		op("/message/metadata", "append", map[string]any{"reasoning_status": "reasoning_ended"}),
	}})
	recap := newMessage(newUUID(), "assistant", map[string]any{"content_type": "reasoning_recap", "content": "Thought for 2s"})
	recap.Metadata = map[string]any{"model_slug": model, "parent_id": m.ID, "reasoning_status": "reasoning_ended", "finished_duration_sec": 2}
	w.header(recap)
}

// final is the answer itself.
func (w *script) final() {
	m := newMessage(newUUID(), "assistant", textContent(""))
	m.Status = "in_progress"
	m.Metadata = map[string]any{"model_slug": model, "parent_id": w.asked.ID, "turn_exchange_id": w.turn.id}
	channel := "final"
	m.Channel = &channel
	w.header(m)
	w.marker(m.ID, "user_visible_token", "first")
	for i, piece := range w.pieces(w.reply.Text) {
		switch {
		case i%7 == 0: // also after a batch, since readers differ in what they carry over from inside of one
			w.delta(op("/message/content/parts/0", "append", piece))
		case i%7 == 6: // a batch without a path of its own
			w.delta(map[string]any{"v": []any{op("/message/content/parts/0", "append", piece), op("/message/metadata/content_references", "append", []any{})}})
		default:
			w.delta(map[string]any{"v": piece})
		}
		w.last().text, w.last().slow = piece, true
	}
	w.delta(map[string]any{"p": "", "o": "patch", "v": []any{
		op("/message/status", "replace", "finished_successfully"),
		op("/message/end_turn", "replace", true),
		op("/message/metadata", "append", map[string]any{"is_complete": true, "finish_details": map[string]any{"type": "stop"}}),
	}})
	whole := m
	yes := true
	whole.Content, whole.Status, whole.EndTurn = textContent(w.reply.Text), "finished_successfully", &yes
	w.last().keep = &whole
	w.marker(m.ID, "last_token", "last")
}

func (w *script) closing() {
	w.data(map[string]any{"type": "server_ste_metadata", "metadata": map[string]any{
		"tool_invoked": false, "resume_with_websockets": w.reply.Mode == scenario.ModeHandoffWS, "plan_type": w.plan, "model_slug": model,
	}})
	w.data(map[string]any{"type": "message_stream_complete"})
	if w.first {
		w.turn.conv.mu.Lock()
		title := w.turn.conv.title
		w.turn.conv.mu.Unlock()
		w.data(map[string]any{"type": "title_generation", "title": title})
	}
	w.data(map[string]any{"type": "conversation_detail_metadata", "banner_info": nil, "blocked_features": []any{}, "model_limits": []any{}, "limits_progress": []any{}})
}

// interrupted ends a stream that was stopped.
func interrupted(t *turn) []string {
	return []string{
		delta(map[string]any{"p": "", "o": "patch", "v": []any{
			op("/message/status", "replace", "finished_partial_completion"),
			op("/message/end_turn", "replace", true),
			op("/message/metadata", "append", map[string]any{"finish_details": map[string]any{"type": "interrupted"}}),
		}}),
		data(map[string]any{"type": "message_stream_complete", "conversation_id": t.conv.id}),
	}
}

// header introduces a message. That it is added is said only when it does not carry over from the delta before.
func (w *script) header(m message) {
	frame := map[string]any{"v": map[string]any{"message": m, "conversation_id": w.turn.conv.id, "error": nil}, "c": w.cursor}
	if !w.adding {
		frame["p"], frame["o"] = "", "add"
	}
	w.cursor++
	w.delta(frame)
	w.adding = true
}

func (w *script) marker(id, marker, event string) {
	w.data(map[string]any{"type": "message_marker", "message_id": id, "marker": marker, "event": event})
}

// pieces cuts a text into what one delta carries: a few characters, or more when the text is long.
func (w *script) pieces(text string) []string {
	most := max(12, len(text)/1500)
	var out []string
	for len(text) > 0 {
		n := min(1+w.rng.IntN(most), len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

func (w *script) last() *step { return &w.steps[len(w.steps)-1] }

func (w *script) data(v map[string]any) {
	v["conversation_id"] = w.turn.conv.id
	w.steps = append(w.steps, step{item: data(v)})
}

func (w *script) delta(v map[string]any) {
	w.adding = false
	w.steps = append(w.steps, step{item: delta(v)})
}

func (w *script) event(name, payload string) {
	w.steps = append(w.steps, step{item: "event: " + name + "\ndata: " + payload + "\n\n"})
}

func op(path, name string, v any) map[string]any { return map[string]any{"p": path, "o": name, "v": v} }

// data is an event that is known by the type in its payload.
func data(v map[string]any) string { return "data: " + encode(v) + "\n\n" }

func delta(v map[string]any) string { return "event: delta\ndata: " + encode(v) + "\n\n" }

// encode never fails: everything on the wire is made of plain maps and messages.
func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
