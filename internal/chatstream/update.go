package chatstream

// Source says which of the page's network interfaces carried a stream.
type Source string

const (
	// SourceFetch is the body of a fetch response: server-sent events as raw bytes, cut anywhere.
	SourceFetch Source = "fetch"
	// SourceEventSource is an EventSource: each Data call is one whole event, written as event-stream text.
	SourceEventSource Source = "eventsource"
	// SourceWebSocket is a WebSocket: each Data call is one whole text message.
	SourceWebSocket Source = "websocket"
)

// Kind names what an Update reports.
type Kind string

const (
	// KindText is answer text to append to what was reported before.
	KindText Kind = "text"
	// KindRevision replaces all answer text reported before by Text. It is rare: the site rewrote a message.
	KindRevision Kind = "revision"
	// KindReasoning is text of the model's visible thinking, to append.
	KindReasoning Kind = "reasoning"
	// KindModel names the model that answers: Text is its slug. Sent again only when it changes.
	KindModel Kind = "model"
	// KindConversation gives the conversation's id in ID, once.
	KindConversation Kind = "conversation"
	// KindUserMessage says that the site took a user message: ID is its id. Once for each id.
	KindUserMessage Kind = "user-message"
	// KindHandoff says that the answer goes on in another stream or topic; ID is the topic, or "".
	KindHandoff Kind = "handoff"
	// KindMessageEnd is the end of one message, which is not the end of the turn.
	KindMessageEnd Kind = "message-end"
	// KindEnd is the end of the turn: a finished final message and an end mark of what carried it, or the caller's own
	// word (see Finish). Sent once, last.
	KindEnd Kind = "end"
	// KindClosed says that something which carried the answer ended and the turn's end is not proven by it. Text says
	// what ended; Finished whether the final message is complete all the same. More may follow in another stream.
	KindClosed Kind = "closed"
	// KindError is a failure that the site reported: Code (may be "") and the message in Text.
	KindError Kind = "error"
	// KindModeration says that the site blocked the message or its answer.
	KindModeration Kind = "moderation"
	// KindRefused is a stream that held an end mark and nothing else: the site dropped the message without a word.
	KindRefused Kind = "refused"
	// KindTitle is the title the site gave to the conversation.
	KindTitle Kind = "title"
	// KindGap says that something was left out, so that the text may not be what the model wrote. Text says what.
	KindGap Kind = "gap"
)

// Update is one fact read from the streams. Which fields are set depends on Kind.
type Update struct {
	Kind     Kind
	Text     string
	ID       string
	Code     string
	Finished bool
}

// Bounds of what one Decoder keeps. What goes beyond is dropped and reported once for each bound as a KindGap.
const (
	// MaxText bounds the text of all messages of a turn, in bytes. It is kept twice: as sent and as reported.
	MaxText = 16 << 20
	// MaxEvent bounds one event of an event stream and one WebSocket message, in bytes.
	MaxEvent = 8 << 20
	// MaxWaiting bounds the items kept for topics that no hand-off has named yet, in bytes over all topics.
	MaxWaiting = 4 << 20

	maxStreams   = 64   // open streams and topics in use
	maxTopics    = 64   // topics, named or waiting
	maxDocuments = 256  // cursors of one stream
	maxMessages  = 4096 // messages of one turn
	maxParts     = 256  // content parts of one message
	maxThoughts  = 4096 // thoughts of one message
	maxRewrites  = 64   // times that known text may be rewritten in one turn
	maxNesting   = 8    // batches inside of batches
	maxMarker    = 4096 // bytes of one citation marker
	maxLabel     = 4096 // bytes of an id, slug, title, code or message text in an Update
)
