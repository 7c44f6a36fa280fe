package chatstream

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// plainTurn is a turn in one response, with all that surrounds the answer.
func plainTurn() []string {
	return []string{
		encoding, token,
		`delta|{"p":"","o":"add","v":{"message":{"id":"sys-0","author":{"role":"system","name":null,"metadata":{}},"create_time":null,"content":{"content_type":"text","parts":[""]},"status":"finished_successfully","end_turn":true,"weight":0.0,"metadata":{"is_visually_hidden_from_conversation":true},"recipient":"all","channel":null},"conversation_id":"conv-7","error":null},"c":0}`,
		`delta|{"v":{"message":{"id":"usr-1","author":{"role":"user"},"content":{"content_type":"text","parts":["fix it"]},"status":"finished_successfully","weight":1.0,"metadata":{"turn_exchange_id":"tx"},"recipient":"all","channel":null},"conversation_id":"conv-7","error":null},"c":1}`,
		`{"type":"input_message","input_message":{"id":"usr-1","author":{"role":"user"},"content":{"content_type":"text","parts":["fix it"]}},"conversation_id":"conv-7"}`,
		`delta|{"v":{"message":{"id":"asst-2","author":{"role":"assistant"},"content":{"content_type":"text","parts":[""]},"status":"in_progress","end_turn":null,"weight":1.0,"metadata":{"model_slug":"gpt-9","parent_id":"usr-1"},"recipient":"all","channel":"final"},"conversation_id":"conv-7","error":null},"c":2}`,
		`{"type":"message_marker","conversation_id":"conv-7","message_id":"asst-2","marker":"user_visible_token","event":"first"}`,
		say("Hel"), more("lo"),
		`delta|{"v":[{"p":"/message/content/parts/0","o":"append","v":", wörld 🌍"},{"p":"/message/metadata/content_references","o":"append","v":[]}]}`,
		more("!"),
		`{"type":"title_generation","title":"A fix","conversation_id":"conv-7"}`,
		finish(true),
		`{"type":"message_marker","conversation_id":"conv-7","message_id":"asst-2","marker":"last_token","event":"last"}`,
		`{"type":"server_ste_metadata","metadata":{"tool_invoked":false,"resume_with_websockets":false,"plan_type":"free","model_slug":"gpt-9"},"conversation_id":"conv-7"}`,
		complete,
		`{"type":"conversation_detail_metadata","banner_info":null,"conversation_id":"conv-7"}`,
		done,
	}
}

type turnTest struct {
	name  string
	steps []step
	want  outcome
}

// turns are streams as the site may send them and what they come to.
func turns() []turnTest {
	begin := []string{"conversation conv-7", "model gpt-9"}
	facts := func(more ...string) []string { return append(append([]string{}, begin...), more...) }
	ended := func(text string) outcome { return outcome{Text: text, Facts: facts("end"), Ended: true} }
	// answer is a response whose final message gets these events.
	answer := func(payloads ...string) []step {
		return fetched("f1", append(append([]string{encoding, final(0, "a")}, payloads...), finish(true), done)...)
	}
	ticket := fetched("f1", encoding, token, handoff("topic-x"), done)

	return []turnTest{
		{"plain", fetched("f1", plainTurn()...), outcome{
			Text: "Hello, wörld 🌍!", Ended: true,
			Facts: []string{"conversation conv-7", "user-message usr-1", "model gpt-9", "title A fix", "message-end", "end"}}},
		{"carriage returns", steps(open("f1", SourceFetch), data("f1", strings.ReplaceAll(sse(plainTurn()...), "\n", "\r\n")), closed("f1")), outcome{
			Text: "Hello, wörld 🌍!", Ended: true,
			Facts: []string{"conversation conv-7", "user-message usr-1", "model gpt-9", "title A fix", "message-end", "end"}}},
		{"byte order mark, comments, ids, fields without a colon", steps(open("f1", SourceFetch),
			data("f1", "\xef\xbb\xbf: hi\nid: 4\nretry: 1\nnonsense\n\nevent:ping\ndata:{}\n\n"+sse(final(0, "a"), say("x"), finish(true), done)), closed("f1")), ended("x")},
		{"stream complete is not the end", fetched("f1", encoding, final(0, "a"), say("x"), finish(true), complete), outcome{
			Text: "x", Facts: facts("message-end", "closed ended without an end mark")}},
		{"end mark without a finished message", fetched("f1", encoding, final(0, "a"), say("x"), done), outcome{
			Text: "x", Facts: facts("closed end mark")}},
		{"finished, but not the turn's end", fetched("f1", encoding, final(0, "a"), say("x"), finish(false), done), outcome{
			Text: "x", Facts: facts("closed end mark")}},
		{"cut in the middle", steps(open("f1", SourceFetch), data("f1", sse(encoding, final(0, "a"), say("x"))+"event: delta\nda"), cut("f1")), outcome{
			Text: "x", Facts: facts("closed cut off")}},
		{"no empty line after the last event", steps(open("f1", SourceFetch),
			data("f1", strings.TrimRight(sse(final(0, "a"), say("x"), finish(true), done), "\n")), closed("f1")), ended("x")},
		{"silent refusal", steps(open("f1", SourceFetch), data("f1", "data: [DONE]\n\n"), closed("f1")), outcome{Facts: []string{"refused"}}},
		{"silent refusal without its empty line", steps(open("f1", SourceFetch), data("f1", "data: [DONE]"), closed("f1")), outcome{Facts: []string{"refused"}}},
		{"nothing at all", steps(open("f1", SourceFetch), cut("f1")), outcome{}},

		{"thoughts, recap, final", fetched("f1", encoding,
			header(0, "t", "assistant", `{"content_type":"thoughts","thoughts":[]}`, `"recipient":"all","channel":null`),
			`delta|{"p":"/message/content/thoughts","o":"append","v":[{"summary":"Plan","content":"Look","chunks":[],"finished":false}]}`,
			`delta|{"p":"/message/content/thoughts/0/content","o":"append","v":" at it"}`,
			more(" now."),
			`delta|{"p":"/message/content/thoughts","o":"append","v":[{"summary":"Do","content":""}]}`,
			`delta|{"p":"/message/content/thoughts/1/content","o":"append","v":"Edit."}`,
			finish(false),
			header(1, "r", "assistant", `{"content_type":"reasoning_recap","content":"Thought for 4s"}`, `"recipient":"all"`),
			final(2, "a"), say("Done"), finish(true), done), outcome{
			Text: "Done", Reasoning: "Plan\nLook at it now.\n\nDo\nEdit.\n\nThought for 4s", Facts: facts("end"), Ended: true}},
		{"thoughts replaced and told in parts", fetched("f1", encoding,
			header(0, "t", "assistant", `{"content_type":"thoughts","thoughts":[{"summary":"A","content":"a"}]}`, ""),
			`delta|{"p":"/message/content/thoughts","o":"replace","v":[{"summary":"A","content":"ab"}]}`,
			`delta|{"p":"/message/content/thoughts/0","o":"replace","v":{"summary":"A","content":"abc"}}`,
			`delta|{"p":"/message/content/thoughts/1/summary","o":"append","v":"B"}`,
			`delta|{"p":"/message/content/thoughts/1","o":"remove"}`, `delta|{"p":"/message/content/thoughts/x/content","o":"append","v":"no"}`,
			final(1, "a"), say("ok"), finish(true), done), outcome{
			Text: "ok", Reasoning: "A\nabc\n\nB", Facts: facts("end"), Ended: true}},
		{"commentary is reasoning", fetched("f1", encoding,
			header(0, "p", "assistant", emptyText, `"recipient":"all","channel":"commentary"`), say("I look first."), finish(false),
			final(1, "a"), say("ok"), finish(true), done), outcome{
			Text: "ok", Reasoning: "I look first.", Facts: facts("end"), Ended: true}},
		{"two visible messages", fetched("f1", encoding,
			final(0, "a"), say("One"), finish(false), final(0, "b"), say("Two"), finish(true), done), ended("One\n\nTwo")},
		{"calls and results of tools", fetched("f1", encoding,
			header(0, "k", "assistant", `{"content_type":"code","language":"unknown","text":""}`, `"recipient":"python"`),
			`delta|{"p":"/message/content/text","o":"append","v":"print(1)"}`, finish(false),
			header(1, "o", "tool", `{"content_type":"execution_output","text":"1"}`, `"recipient":"all"`),
			header(2, "o2", "tool", emptyText, `"recipient":"all"`), say("tool text"),
			header(3, "k2", "assistant", emptyText, `"recipient":"web"`), say("query"),
			header(4, "z", "assistant", `{"content_type":"sonic_webpage","parts":[""]}`, `"recipient":"all"`), say("page"),
			final(5, "a"), say("one"), finish(true), done), ended("one")},
		{"hidden document after the final", fetched("f1", encoding, final(0, "a"), say("yes"), finish(true),
			header(1, "h", "tool", emptyText, `"recipient":"all","metadata":{"is_visually_hidden_from_conversation":true}`), say("no"), finish(false), complete, done), outcome{
			Text: "yes", Facts: facts("message-end", "end"), Ended: true}},
		{"hidden assistant message", fetched("f1", encoding,
			header(0, "h", "assistant", emptyText, `"recipient":"all","metadata":{"is_visually_hidden_from_conversation":true}`), say("no"), finish(true),
			final(1, "a"), say("yes"), finish(true), done), ended("yes")},

		{"first delta before the header", fetched("f1", encoding, say("He"), more("llo"), final(0, "a"), say("!"), finish(true), done), ended("Hello!")},
		{"first delta before a header that repeats it", fetched("f1", encoding, say("He"),
			header(0, "a", "assistant", `{"content_type":"text","parts":["Hell"]}`, `"metadata":{"model_slug":"gpt-9"}`), say("o"), finish(true), done), ended("Hello")},
		{"first delta before a header with a cursor of its own", fetched("f1", encoding, say("He"), final(4, "a"), say("y"), finish(true), done), ended("Hey")},
		{"text before the header of a tool message", fetched("f1", encoding, say("He"),
			header(-1, "o", "tool", emptyText, ""), say("tool"), final(1, "a"), say("y"), finish(true), done), ended("He\n\ny")},
		{"header never comes", fetched("f1", encoding, more("all "), more("there is"), finish(true), done), outcome{
			Text: "all there is", Facts: []string{"end"}, Ended: true}},
		{"unnamed events", fetched("f1", strings.ReplaceAll(final(0, "a"), "delta|", ""), strings.ReplaceAll(say("x"), "delta|", ""),
			strings.ReplaceAll(finish(true), "delta|", ""), done), ended("x")},

		{"batch without path and op", answer(say("a"), `delta|{"v":[{"p":"/message/content/parts/0","o":"append","v":"b"},{"p":"/message/status","o":"replace","v":"in_progress"}]}`, more("c")), ended("abc")},
		{"batch by patch without path", answer(say("a"), `delta|{"o":"patch","v":[{"p":"/message/content/parts/0","o":"append","v":"b"},{"v":"c"}]}`, say("d")), ended("abcd")},
		{"batch in a batch", answer(say("a"), `delta|{"p":"","o":"patch","v":[{"p":"","o":"patch","v":[{"p":"/message/content/parts/0","o":"append","v":"b"}]},{"p":"/message/content/parts/0","o":"append","v":"c"}]}`), ended("abc")},
		{"batch with paths below its own", answer(`delta|{"p":"/message/content","o":"patch","v":[{"p":"/parts/0","o":"append","v":"x"}]}`), ended("x")},
		{"batch of nothing", answer(say("a"), `delta|{"v":[]}`, more("b")), ended("ab")},
		{"bare text after a final batch", answer(say("a"), `delta|{"p":"","o":"patch","v":[{"p":"/message/status","o":"replace","v":"in_progress"}]}`, more("b")), ended("ab")},
		{"list that is a value", answer(say("a"), `delta|{"p":"/message/metadata/content_references","o":"append","v":[{"type":"x"}]}`, say("b")), ended("ab")},
		{"carry over a new message", fetched("f1", encoding, final(0, "a"), say("One"), finish(false),
			`delta|{"v":{"message":{"id":"b","author":{"role":"assistant"},"content":{"content_type":"text","parts":["T"]},"recipient":"all"}},"c":1}`, say("wo"), finish(true), done), ended("One\n\nTwo")},

		{"replace that grows", answer(say("Hel"), `delta|{"p":"/message/content/parts/0","o":"replace","v":"Hello"}`, say("!")), ended("Hello!")},
		{"replace that shrinks", answer(say("Hello"), `delta|{"p":"/message/content/parts/0","o":"replace","v":"He"}`, say("!")), ended("Hello!")},
		{"replace by something longer", answer(say("Hello"), `delta|{"p":"/message/content/parts/0","o":"replace","v":"Goodbye"}`, say("!")), outcome{
			Text: "Goodbye!", Facts: facts("revision", "end"), Ended: true}},
		{"shorter document again", answer(say("Hello"), final(0, "a"), say("!")), ended("Hello!")},
		{"removal", answer(say("Hello"), `delta|{"p":"/message/content/parts/0","o":"remove"}`, say("!")), ended("Hello!")},
		{"truncate and write longer", answer(say("Hello you"), `delta|{"p":"/message/content/parts/0","o":"truncate","v":6}`, say("world")), outcome{
			Text: "Hello world", Facts: facts("revision", "end"), Ended: true}},
		{"truncate and write shorter", answer(say("Hello world"), `delta|{"p":"/message/content/parts/0","o":"truncate","v":6}`, say("you")), outcome{
			Text: "Hello you", Facts: facts("revision", "end"), Ended: true}},
		{"truncate and write the same", answer(say("Hello you"), `delta|{"p":"/message/content/parts/0","o":"truncate","v":6}`, say("you too")), ended("Hello you too")},
		{"truncate counts as a page does", answer(say("🌍🌍a"), `delta|{"p":"/message/content/parts/0","o":"truncate","v":4}`, say("bc")), outcome{
			Text: "🌍🌍bc", Facts: facts("revision", "end"), Ended: true}},
		{"parts as a list", answer(`delta|{"p":"/message/content/parts","o":"replace","v":["one"]}`, `delta|{"p":"/message/content/parts","o":"append","v":["two",{"content_type":"image_asset_pointer"}]}`,
			`delta|{"p":"/message/content/parts/3","o":"append","v":"four"}`), ended("one\ntwo\nfour")},
		{"content replaced whole", answer(`delta|{"p":"/message/content","o":"replace","v":{"content_type":"text","parts":["all"]}}`), ended("all")},
		{"status in the header", fetched("f1", encoding,
			`delta|{"p":"","o":"add","v":{"message":{"id":"a","author":{"role":"assistant"},"content":{"content_type":"text","parts":["at once"]},"status":"finished_successfully","end_turn":true,"metadata":{"model_slug":"gpt-9"},"recipient":"all"},"conversation_id":"conv-7"}}`, done), ended("at once")},
		{"channel learned late", fetched("f1", encoding,
			header(0, "a", "assistant", emptyText, `"recipient":"all","channel":"commentary","metadata":{"model_slug":"gpt-9"}`), say("So "),
			`delta|{"p":"/message/channel","o":"replace","v":"final"}`, say("it is"), finish(true), done), outcome{
			Text: "So it is", Reasoning: "So ", Facts: facts("end"), Ended: true}},
		{"the header comes field by field", fetched("f1", encoding,
			`delta|{"p":"/message/author","o":"replace","v":{"role":"tool"}}`, say("no"), `delta|{"p":"/message/author/role","o":"replace","v":"assistant"}`,
			`delta|{"p":"/message/recipient","o":"replace","v":"python"}`, `delta|{"p":"/message/content/content_type","o":"replace","v":"code"}`, say("no"),
			`delta|{"p":"/message/content/content_type","o":"replace","v":"text"}`, `delta|{"p":"/message/recipient","o":"replace","v":"all"}`,
			`delta|{"p":"/message/metadata","o":"append","v":{"is_visually_hidden_from_conversation":true,"model_slug":"gpt-9"}}`,
			`delta|{"p":"/conversation_id","o":"replace","v":"conv-7"}`,
			`delta|{"p":"/message/metadata/is_visually_hidden_from_conversation","o":"remove"}`,
			`delta|{"p":"/message/status","o":"replace","v":"finished_successfully"}`, `delta|{"p":"/message/end_turn","o":"replace","v":true}`, done), outcome{
			Text: "nono", Facts: []string{"model gpt-9", "conversation conv-7", "end"}, Ended: true}},
		{"a message merged into the one there is", answer(say("a"), `delta|{"p":"/message","o":"append","v":{"status":"in_progress","metadata":{"model_slug":"gpt-9-mini"}}}`, say("b")), outcome{
			Text: "ab", Facts: facts("model gpt-9-mini", "end"), Ended: true}},
		{"a model is named by the server only", fetched("f1", `{"type":"server_ste_metadata","metadata":{"model_slug":"auto"},"conversation_id":"conv-7"}`,
			header(0, "a", "assistant", emptyText, ""), say("x"), finish(true), done), outcome{
			Text: "x", Facts: []string{"conversation conv-7", "model auto", "end"}, Ended: true}},
		{"an error in the document", answer(say("a"), `delta|{"p":"/error","o":"replace","v":{"type":"server_error","detail":"It broke"}}`), outcome{
			Text: "a", Facts: facts("error server_error It broke", "end"), Ended: true}},
		{"full documents, the encoding before v1", fetched("f1",
			`{"message":{"id":"a","author":{"role":"assistant"},"content":{"content_type":"text","parts":["Hel"]},"status":"in_progress","metadata":{"model_slug":"gpt-9"},"recipient":"all"},"conversation_id":"conv-7","error":null}`,
			`{"message":{"id":"a","author":{"role":"assistant"},"content":{"content_type":"text","parts":["Hello"]},"status":"finished_successfully","end_turn":true,"recipient":"all"},"conversation_id":"conv-7","error":null}`,
			done), ended("Hello")},

		{"two cursors interleaved", fetched("f1", encoding, final(0, "a"),
			header(1, "b", "assistant", emptyText, `"recipient":"all"`),
			`delta|{"p":"/message/content/parts/0","o":"append","v":"A","c":0}`, more("a"),
			`delta|{"v":"B","c":1}`, more("b"), `delta|{"v":"x","c":0}`, `delta|{"v":"y","c":1}`,
			`delta|{"p":"/message/status","o":"replace","v":"finished_successfully","c":0}`,
			`delta|{"p":"","o":"patch","v":[{"p":"/message/status","o":"replace","v":"finished_successfully"},{"p":"/message/end_turn","o":"replace","v":true}],"c":1}`, done), ended("Aax\n\nBby")},
		{"a tool's cursor between the answer's deltas", fetched("f1", encoding, final(2, "a"), say("A"),
			header(3, "o", "tool", emptyText, ""), say("noise"),
			`delta|{"v":"B","c":2}`, `delta|{"v":"noise","c":3}`, `delta|{"v":"C","c":2}`, finish(true), done), ended("ABC")},

		{"hand-off by a resumed response", steps(ticket,
			fetched("f2", encoding, final(0, "a"), say("by resume"), finish(true), complete, done)), outcome{
			Text: "by resume", Facts: []string{"conversation conv-7", "handoff topic-x", "model gpt-9", "message-end", "end"}, Ended: true}},
		{"hand-off in the middle, resumed from there", steps(
			fetched("f1", encoding, final(0, "a"), say("first "), handoff("topic-x"), done),
			fetched("f2", more("second"), finish(true), done)), outcome{
			Text: "first second", Facts: facts("handoff topic-x", "end"), Ended: true}},
		{"hand-off in the middle, resumed from the start", steps(
			fetched("f1", encoding, final(0, "a"), say("first "), handoff("topic-x"), done),
			fetched("f2", encoding, final(0, "a"), say("fi"), more("rst "), more("second"), finish(true), done)), outcome{
			Text: "first second", Facts: facts("handoff topic-x", "end"), Ended: true}},
		{"resumed stream that repeats its own hand-off", steps(
			fetched("f1", encoding, final(0, "a"), say("first "), handoff("topic-x"), done),
			fetched("f2", encoding, final(0, "a"), say("first "), handoff("topic-x"), more("second"), finish(true), done)), outcome{
			Text: "first second", Facts: facts("handoff topic-x", "handoff topic-x", "end"), Ended: true}},
		{"cut, and opened again from the start", steps(
			open("f1", SourceFetch), data("f1", sse(encoding, final(0, "a"), say("Hello wo"))), cut("f1"),
			fetched("f2", encoding, final(0, "a"), say("Hello"), more(" world"), finish(true), done)), outcome{
			Text: "Hello world", Facts: facts("closed cut off", "end"), Ended: true}},
		{"cut within an event, and resumed with that event", steps(
			open("f1", SourceFetch), data("f1", sse(encoding, final(0, "a"), say("one "))+strings.TrimRight(sse(more("two ")), "\n")+"\n"), cut("f1"),
			fetched("f2", more("two "), more("three"), finish(true), done)), outcome{
			Text: "one two three", Facts: facts("closed cut off", "end"), Ended: true}},
		{"thoughts told again", steps(
			open("f1", SourceFetch), data("f1", sse(encoding, header(0, "t", "assistant", `{"content_type":"thoughts","thoughts":[]}`, ""),
				`delta|{"p":"/message/content/thoughts","o":"append","v":[{"summary":"Plan","content":"Loo"}]}`)), cut("f1"),
			fetched("f2", encoding, header(0, "t", "assistant", `{"content_type":"thoughts","thoughts":[]}`, ""),
				`delta|{"p":"/message/content/thoughts","o":"append","v":[{"summary":"Plan","content":"L"}]}`,
				`delta|{"p":"/message/content/thoughts/0/content","o":"append","v":"ook"}`,
				final(1, "a"), say("ok"), finish(true), done)), outcome{
			Text: "ok", Reasoning: "Plan\nLook", Facts: facts("end"), Ended: true}},

		{"hand-off by WebSocket", steps(open("w", SourceWebSocket), data("w", `[{"id":1,"type":"reply","reply":{"ok":true,"catchups":[]}}]`), ticket,
			data("w", `[`+socketItem("topic-x", `"1"`, "s1", "s0", sse(final(0, "a")))+`,`+socketItem("topic-x", `2`, "s2", "s1", sse(say("by socket")))+`]`),
			data("w", `[{"type":"message","topic_id":"topic-x","offset":"3","payload":{"type":"conversation-turn-stream","payload":{"type":"heartbeat"}}}]`),
			data("w", `[`+socketItem("topic-x", `"4"`, "s4", "s2", sse(finish(true)))+`]`),
			data("w", `[`+socketDone("topic-x", `"5"`)+`]`)), outcome{
			Text: "by socket", Facts: []string{"conversation conv-7", "handoff topic-x", "model gpt-9", "end"}, Ended: true}},
		{"items before the hand-off is known", steps(open("w", SourceWebSocket),
			data("w", `[`+socketItem("topic-x", `"1"`, "s1", "", sse(final(0, "a"), say("early ")))+`]`),
			data("w", `[`+socketItem("topic-other", `"1"`, "o1", "", sse(final(0, "zz"), say("not ours")))+`]`),
			ticket,
			data("w", `[`+socketItem("topic-x", `"2"`, "s2", "s1", sse(more("late"), finish(true), done))+`]`)), outcome{
			Text: "early late", Facts: []string{"conversation conv-7", "handoff topic-x", "model gpt-9", "end"}, Ended: true}},
		{"replays and catch-ups", steps(open("w", SourceWebSocket), ticket,
			data("w", `[`+socketItem("topic-x", `"1"`, "s1", "", sse(final(0, "a"), say("a")))+`]`),
			data("w", `[`+socketItem("topic-x", `"1"`, "s1", "", sse(final(0, "a"), say("a")))+`]`),
			data("w", `[{"id":3,"type":"reply","reply":{"ok":true,"catchups":[`+socketItem("topic-x", `1`, "s1", "", sse(say("a")))+`,`+socketItem("topic-x", `2`, "s2", "s1", sse(say("b")))+`]}}]`),
			data("w", `[`+socketItem("topic-x", `"2"`, "s2", "s1", sse(say("b")))+`,`+socketItem("topic-x", `"3"`, "s3", "s2", sse(say("c"), finish(true)))+`]`),
			data("w", socketComplete("conv-other")), data("w", socketComplete("conv-7"))), outcome{
			Text: "abc", Facts: []string{"conversation conv-7", "handoff topic-x", "model gpt-9", "end"}, Ended: true}},
		{"a single frame, and catch-ups beside it", steps(open("w", SourceWebSocket), ticket,
			data("w", ` `+socketItem("topic-x", `1`, "s1", "", sse(final(0, "a"), say("a")))),
			data("w", `{"type":"catchup","catchups":[`+socketItem("topic-x", `1`, "s1", "", sse(say("a")))+`,`+socketItem("topic-x", `2`, "s2", "s1", sse(say("b"), finish(true)))+`]}`),
			data("w", `nonsense`), data("w", `[1,"x",null,{"payload":5},{"topic_id":7}]`), data("w", `{"payload":`),
			data("w", `[`+socketDone("topic-x", `3`)+`]`)), outcome{
			Text: "ab", Facts: []string{"conversation conv-7", "handoff topic-x", "model gpt-9", "end"}, Ended: true}},
		{"items without offsets", steps(open("w", SourceWebSocket), ticket,
			data("w", `[`+socketItem("topic-x", `null`, "s1", "", sse(final(0, "a"), say("a")))+`]`),
			data("w", `[`+socketItem("topic-x", `null`, "s1", "", sse(final(0, "a"), say("a")))+`]`),
			data("w", `[`+socketItem("topic-x", `null`, "s2", "s1", sse(say("b"), finish(true)))+`]`), data("w", socketComplete("conv-7"))), outcome{
			Text: "ab", Facts: []string{"conversation conv-7", "handoff topic-x", "model gpt-9", "end"}, Ended: true}},
		{"an item that never came", steps(open("w", SourceWebSocket), ticket,
			data("w", `[`+socketItem("topic-x", `"1"`, "s1", "", sse(final(0, "a"), say("a")))+`]`),
			data("w", `[`+socketItem("topic-x", `"3"`, "s3", "s2", sse(say("c")))+`]`)), outcome{
			Text: "ac", Facts: []string{"conversation conv-7", "handoff topic-x", "model gpt-9", "gap the page missed a part of the stream"}}},
		{"complete before the last item", steps(open("w", SourceWebSocket), ticket,
			data("w", `[`+socketItem("topic-x", `"1"`, "s1", "", sse(final(0, "a"), say("a")))+`]`),
			data("w", socketComplete("conv-7")),
			data("w", `[`+socketItem("topic-x", `"2"`, "s2", "s1", sse(say("b"), finish(true)))+`]`)), outcome{
			Text: "ab", Facts: []string{"conversation conv-7", "handoff topic-x", "model gpt-9", "closed turn complete", "end"}, Ended: true}},
		{"item without its empty line", steps(open("w", SourceWebSocket), ticket,
			data("w", `[`+socketItem("topic-x", `"1"`, "s1", "", strings.TrimRight(sse(final(0, "a")), "\n"))+`]`),
			data("w", `[`+socketItem("topic-x", `"2"`, "s2", "s1", sse(say("x"))[:len(sse(say("x")))-1])+`]`),
			data("w", `[`+socketItem("topic-x", `"3"`, "s3", "s2", sse(finish(true))+"data: [DONE]")+`]`)), outcome{
			Text: "x", Facts: []string{"conversation conv-7", "handoff topic-x", "model gpt-9", "end"}, Ended: true}},
		{"item cut inside an event", steps(open("w", SourceWebSocket), ticket,
			data("w", `[`+socketItem("topic-x", `"1"`, "s1", "", sse(final(0, "a"))+`event: delta`+"\n"+`data: {"p":"/message/content/parts/0","o":"app`)+`]`),
			data("w", `[`+socketItem("topic-x", `"2"`, "s2", "s1", `end","v":"x"}`+"\n\n"+sse(finish(true)))+`,`+socketDone("topic-x", "3")+`]`)), outcome{
			Text: "x", Facts: []string{"conversation conv-7", "handoff topic-x", "model gpt-9", "end"}, Ended: true}},
		{"two hand-offs", steps(open("w", SourceWebSocket), ticket,
			fetched("f2", encoding, header(0, "k", "assistant", `{"content_type":"code","text":"x"}`, `"recipient":"python"`), finish(false), handoff("topic-y"), done),
			data("w", `[`+socketItem("topic-y", `"1"`, "s1", "", sse(final(1, "a"), say("at last"), finish(true)))+`]`),
			data("w", `[`+socketDone("topic-y", `"2"`)+`]`)), outcome{
			Text: "at last", Facts: []string{"conversation conv-7", "handoff topic-x", "handoff topic-y", "model gpt-9", "end"}, Ended: true}},
		{"a topic of tool messages only, then a second hand-off", steps(open("w", SourceWebSocket), ticket,
			data("w", `[`+socketItem("topic-x", `"1"`, "s1", "", sse(header(0, "o", "tool", emptyText, ""), say("noise"), finish(true), handoff("topic-y")))+`,`+socketDone("topic-x", `"2"`)+`]`),
			fetched("f3", encoding, final(1, "a"), say("answer"), finish(true), done)), outcome{
			Text: "answer", Facts: []string{"conversation conv-7", "handoff topic-x", "handoff topic-y", "model gpt-9", "end"}, Ended: true}},
		{"final before the hand-off", steps(
			fetched("f1", encoding, final(0, "a"), say("answer"), finish(true), handoff("topic-x"), done),
			fetched("f2", header(1, "h", "tool", emptyText, `"metadata":{"is_visually_hidden_from_conversation":true}`), finish(false), done)), outcome{
			Text: "answer", Facts: facts("handoff topic-x", "end"), Ended: true}},
		{"EventSource", steps(open("e", SourceEventSource), data("e", "event: delta_encoding\ndata: \"v1\""),
			data("e", strings.TrimRight(sse(final(0, "a")), "\n")), data("e", sse(say("by source"))), data("e", sse(finish(true))), data("e", "data: [DONE]\n")), ended("by source")},

		{"another conversation's stream", steps(fetched("f1", encoding, final(0, "a"), say("mine")),
			fetched("f2", strings.ReplaceAll(final(0, "b"), "conv-7", "conv-8"), say("theirs"), finish(true), done),
			fetched("f3", more("!"), finish(true), done)), outcome{Text: "mine!", Facts: facts("closed ended without an end mark", "end"), Ended: true}},
		{"error event", fetched("f1", encoding, `{"type":"error","error":{"code":"overloaded","message":"Try later"}}`, `{"type":"error","error":"Something went wrong"}`,
			`{"message":null,"conversation_id":"conv-7","error":"There was an error generating a response"}`, done), outcome{
			Facts: []string{"error overloaded Try later", "error Something went wrong", "conversation conv-7", "error There was an error generating a response"}}},
		{"moderation", fetched("f1", encoding, `{"type":"moderation","moderation_response":{"blocked":false},"conversation_id":"conv-7"}`,
			`{"type":"moderation","moderation_response":{"blocked":true},"conversation_id":"conv-7"}`, done), outcome{
			Facts: []string{"conversation conv-7", "moderation"}}},
		{"unknown things", answer(say("a"), `{"type":"ads","x":[1,2,{}]}`, `wobble|{"type":"wobble"}`, `17`, `"text"`, `null`, `[1]`, `{`, `nonsense`, `{"p":5,"o":[],"v":{}}`,
			`delta|{"p":"/message/content/parts/x","o":"append","v":"no"}`, `delta|{"p":"/message/content/parts/-1","o":"append","v":"no"}`,
			`delta|{"p":"/message/content/parts/999999","o":"append","v":"no"}`, `delta|{"p":"/elsewhere","o":"append","v":"no"}`, `delta|{"p":"/messages/x","o":"explode","v":"no"}`,
			`delta|{"p":"/message/contents","o":"append","v":"no"}`, `delta|{"p":"/message/content/parts/0","o":"truncate","v":"no"}`, `delta|{"p":"","o":"add","v":{"message":{"id":7,"author":3}}}`, say("b")), ended("ab")},
		{"another encoding", fetched("f1", `delta_encoding|"v2"`, final(0, "a"), say("x"), finish(true), done), outcome{
			Text: "x", Facts: []string{`gap the site uses the delta encoding "v2"`, "conversation conv-7", "model gpt-9", "end"}, Ended: true}},
		{"a stream whose opening was missed", steps(data("f9", sse(final(0, "a"), say("x"), finish(true), done))), ended("x")},

		{"a socket whose opening was missed", steps(ticket,
			data("w", `[`+socketItem("topic-x", `1`, "s1", "", sse(final(0, "a"), say("x"), finish(true)))+`,`+socketDone("topic-x", "2")+`]`)), outcome{
			Text: "x", Facts: []string{"conversation conv-7", "handoff topic-x", "model gpt-9", "end"}, Ended: true}},

		{"escapes", answer(say("a\n\"b\"\\ \t<é>\u2028 🌍"), `delta|{"v":"\u0041\ud83c\udf0d\/"}`, `delta|{"v":"lone \ud83c."}`), ended("a\n\"b\"\\ \t<é>\u2028 🌍A🌍/lone \ufffd.")},
		{"invalid UTF-8", answer(say("a"), "delta|{\"v\":\"b\xff\xfec\"}", "delta|{\"v\":\"\xc3\"}"), ended("ab\ufffd\ufffdc\ufffd")},
		{"citations", answer(say("See "), more("\ue200cite\ue202turn0search1\ue202turn0news2\ue201."), more(" And\ue200ci"), more("te\ue202turn0"), more("\ue201 this.")), ended("See . And this.")},
		{"citation never finished", answer(say("See \ue200cite\ue202turn0")), ended("See \ue200cite\ue202turn0")},
		{"private-use characters that are no citations", answer(say("icon \ue200 and \ue200; \ue200Home\ue201 \ue201 \ue202 \ue200cite\ue202a\nb\ue201")),
			ended("icon \ue200 and \ue200; \ue200Home\ue201 \ue201 \ue202 \ue200cite\ue202a\nb\ue201")},
	}
}

func TestTurns(t *testing.T) {
	for _, tt := range turns() {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{0, 1, 2, 7, 64} {
				got, d := run(tt.steps, size)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Fatalf("in pieces of %d bytes (-want +got):\n%s", size, diff)
				}
				if d.Text() != got.Text {
					t.Fatalf("in pieces of %d bytes: Text() is %q, the updates say %q", size, d.Text(), got.Text)
				}
			}
		})
	}
}
