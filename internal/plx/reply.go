package plx

// Options say where a reply came from.
type Options struct {
	// Rendered is set for text read back from a rendered page: HTML entities in bodies are then decoded. Text from the
	// network must come without it, or an HTML file in a write body would not survive.
	Rendered bool
}

// Reply is what a whole reply means. Its slices and maps are never nil.
type Reply struct {
	// Notes are the lines of commentary, trimmed; empty ones are left out.
	Notes []string `json:"notes"`
	// Actions are to be run in this order; at most MaxActions.
	Actions []Action `json:"actions"`
	// Answer is the trimmed body of the done tag, or the whole reply, as it came, when that has no tag at all.
	Answer string `json:"answer"`
	// Problems has each code at most once, in the order they were met.
	Problems []Problem `json:"problems"`
	// Display is what a person is shown of the reply: notes, answer and text outside of tags, as paragraphs.
	Display string `json:"display"`
	// NeedsCorrection is set when the model has to say it again in the grammar: there is neither an action nor an answer in
	// something that looks like protocol, or its last action was cut off. When there are Actions they are run all the same,
	// and Remarks says what was cut off; otherwise send Correction.
	NeedsCorrection bool `json:"needsCorrection"`
	// Dropped counts the complete actions that are not in Actions: too many, or written after an invented result.
	Dropped int `json:"-"`
}

// Action is one complete action tag.
type Action struct {
	// Tool is the tag's name in lower case: read, list, search, run or write.
	Tool string `json:"tool"`
	// Attrs has all attributes, known or not, with names in lower case and entities in values decoded.
	Attrs map[string]string `json:"attrs"`
	// Body is verbatim, except that its own escaped closers are plain, and that a write has lost one leading newline. It may
	// be invalid UTF-8.
	Body string `json:"body"`
}

// MaxActions is how many actions of one reply are taken.
const MaxActions = 16

// Problem is a code for something in a reply that was not as the grammar wants it.
type Problem string

// The problems of a reply.
const (
	InventedResult   Problem = "invented-result"   // the model wrote a result block itself
	TooManyActions   Problem = "too-many-actions"  // more than MaxActions
	AnswerDropped    Problem = "answer-dropped"    // a done beside actions
	UnfinishedAction Problem = "unfinished-action" // an action without its closer, or with a head that never ends
	UnknownTag       Problem = "unknown-tag"       // a plx tag that does not exist
	ExtraAnswer      Problem = "extra-answer"      // a second done; the first counts
)

// EventKind says what an Event adds to.
type EventKind string

// The kinds of events.
const (
	EventNote   EventKind = "note"   // text of the note with number Index
	EventAnswer EventKind = "answer" // text of the answer
	EventText   EventKind = "text"   // text outside of tags; all of an answer without tags
	EventAction EventKind = "action" // Action is complete, its number is Index
)

// Event is what a screen can show while a reply streams. The texts of one kind and index, put together, are a beginning of
// the final note, answer or text, and all of it once the closer is there. Two things only Finish can know: what is held back at
// the very end of a reply, and that an answer is dropped because actions come after it.
type Event struct {
	Kind   EventKind
	Index  int // notes and actions are counted from 1; 0 for answer and text
	Text   string
	Action *Action // only for EventAction
}
