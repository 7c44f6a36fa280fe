package store

import (
	"encoding/json"
	"time"
)

// Folder is an approved root.
type Folder struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"` // virtual name, unique
	Path    string    `json:"path"` // native, absolute, symlinks resolved, unique
	Level   string    `json:"level"`
	Created time.Time `json:"created"`
}

// Thread is the durable local identity of a conversation.
type Thread struct {
	ID       string    `json:"id"`
	Folder   string    `json:"folder"` // Folder.ID
	Title    string    `json:"title"`
	Model    string    `json:"model"`           // "chat", "api", "scripted:FILE"; "" is the default model
	Level    string    `json:"level,omitempty"` // only stricter than the folder's; "" is the folder's
	State    string    `json:"state"`           // TurnState of the turn in flight, "idle" otherwise; kept by the store
	Queued   int       `json:"queued"`          // turns waiting behind it
	Pinned   bool      `json:"pinned,omitempty"`
	Archived bool      `json:"archived,omitempty"`
	Deleted  bool      `json:"deleted,omitempty"` // in the bin; purged by retention
	LastSeq  int64     `json:"lastSeq"`
	ReadSeq  int64     `json:"readSeq"` // what a person has seen; unread when less than LastSeq
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
}

// Chat is a provider conversation bound to a thread. A thread has at most one
// current chat; earlier ones stay for the record.
type Chat struct {
	ID       string    `json:"id"`
	Thread   string    `json:"thread"`
	Site     string    `json:"site"`     // "chatgpt"
	Provider string    `json:"provider"` // the site's conversation id, "" until it is durable
	URL      string    `json:"url"`
	Project  string    `json:"project"` // the site's project id, "" for none
	Browser  string    `json:"browser"` // Browser.ID
	Current  bool      `json:"current"`
	Created  time.Time `json:"created"`
}

// TurnState is where a turn stands. The last three are final.
type TurnState string

const (
	TurnQueued    TurnState = "queued"
	TurnComposing TurnState = "composing"
	TurnSending   TurnState = "sending"
	TurnStreaming TurnState = "streaming"
	TurnActing    TurnState = "acting"
	TurnWaiting   TurnState = "waiting" // for an approval
	TurnReturning TurnState = "returning"
	TurnAnswered  TurnState = "answered"
	TurnFailed    TurnState = "failed"
	TurnStopped   TurnState = "stopped"
)

// Final reports whether no further state can follow.
func (s TurnState) Final() bool {
	return s == TurnAnswered || s == TurnFailed || s == TurnStopped
}

// Turn is one user message and all that follows until the answer.
type Turn struct {
	ID       string     `json:"id"`
	Thread   string     `json:"thread"`
	Task     string     `json:"task"` // the user's text
	State    TurnState  `json:"state"`
	Round    int        `json:"round"`            // model replies so far
	Position int        `json:"position"`         // order in the queue
	Code     string     `json:"code,omitempty"`   // why it failed or stopped: a stable name
	Reason   string     `json:"reason,omitempty"` // the same in plain words, with what to do
	Since    time.Time  `json:"since"`            // of State
	Created  time.Time  `json:"created"`
	Started  *time.Time `json:"started,omitempty"`
	Ended    *time.Time `json:"ended,omitempty"`
}

// Delivery is what is known of a message on its way to the model.
type Delivery string

const (
	DeliveryNone       Delivery = ""           // not tried
	DeliveryAttempting Delivery = "attempting" // written before the command is given
	DeliveryDispatched Delivery = "dispatched" // written before the click
	DeliveryAccepted   Delivery = "accepted"   // the provider took it; Receipt is its id
	DeliveryUnknown    Delivery = "unknown"    // may or may not have been taken; never repeated blindly
	DeliveryFailed     Delivery = "failed"     // certainly not taken
)

// MessageKind says what a message is for.
type MessageKind string

const (
	MessageUser       MessageKind = "user"       // the user's text; Wire holds what is sent
	MessageResults    MessageKind = "results"    // silent
	MessageCorrection MessageKind = "correction" // silent
	MessageReply      MessageKind = "reply"      // the model's
)

// Message is authored text with a stable identity.
type Message struct {
	ID        string      `json:"id"`
	Thread    string      `json:"thread"`
	Turn      string      `json:"turn"`
	Round     int         `json:"round"`
	Kind      MessageKind `json:"kind"`
	Text      string      `json:"text"`              // as a person reads it; a reply: the raw text
	Wire      string      `json:"wire,omitempty"`    // what goes to the model when it is not Text
	Final     bool        `json:"final"`             // a final message never streams again
	Recovered bool        `json:"recovered"`         // read from the rendered page
	Delivery  Delivery    `json:"delivery"`          // not for replies
	Receipt   string      `json:"receipt,omitempty"` // the provider's id of it
	Model     string      `json:"model,omitempty"`   // of a reply, as the provider names it
	Cut       bool        `json:"cut,omitempty"`     // in an event's body only: Text is a beginning, Store.Message has it whole
	Created   time.Time   `json:"created"`
}

// EventKind names the body of an event.
type EventKind string

const (
	EventThread   EventKind = "thread"   // Thread, after a change of its own
	EventTurn     EventKind = "turn"     // Turn, after each change
	EventMessage  EventKind = "message"  // Message without Wire: a user message or a silent one after each change, a reply when final
	EventNote     EventKind = "note"     // Note
	EventAction   EventKind = "action"   // Action, once when it is written as intended and after each change
	EventApproval EventKind = "approval" // Approval, when asked and when answered
	EventAnswer   EventKind = "answer"   // Answer
	EventNotice   EventKind = "notice"   // Notice
)

// Event is an appended record, never rewritten.
type Event struct {
	ID     int64           `json:"id"`     // over all threads, rising
	Thread string          `json:"thread"` // "" for what belongs to none
	Seq    int64           `json:"seq"`    // within the thread, from 1 without gap
	Turn   string          `json:"turn,omitempty"`
	Time   time.Time       `json:"time"`
	Kind   EventKind       `json:"kind"`
	Body   json.RawMessage `json:"body"`
}

// Note is the body of EventNote: the model's line before a batch.
type Note struct {
	Message string `json:"message"`
	Round   int    `json:"round"`
	Text    string `json:"text"`
}

// Answer is the body of EventAnswer.
type Answer struct {
	Message string `json:"message"`
	Text    string `json:"text"` // Markdown
}

// Notice is the body of EventNotice: something a person should know.
type Notice struct {
	Code string `json:"code"`           // stable name
	Tone string `json:"tone"`           // info, warn, error
	Text string `json:"text"`           // what happened and what was kept
	Todo string `json:"todo,omitempty"` // what to do
}

// ActionState is where a call stands. In between "intended" and "done" its effect is unknown after a crash.
type ActionState string

const (
	ActionIntended ActionState = "intended" // written, not begun
	ActionWaiting  ActionState = "waiting"  // for an approval
	ActionRunning  ActionState = "running"
	ActionDone     ActionState = "done"
)

// Action is the record of one call and the body of EventAction. Input and
// Result are the JSON of tool.Call.Input and tool.Result; a value over 64 KiB is
// kept as an asset and the field holds {"asset":HASH,"bytes":N,"head":TEXT,"small":{its short fields}}.
type Action struct {
	ID       string          `json:"id"` // tool.Call.ID
	Thread   string          `json:"thread,omitempty"`
	Turn     string          `json:"turn,omitempty"`
	Round    int             `json:"round,omitempty"`
	N        int             `json:"n,omitempty"`
	Folder   string          `json:"folder"`
	Tool     string          `json:"tool"`
	Title    string          `json:"title"` // one line for a row
	Input    json.RawMessage `json:"input"`
	Door     string          `json:"door"`
	Actor    string          `json:"actor,omitempty"`
	State    ActionState     `json:"state"`
	Decision string          `json:"decision,omitempty"` // free, read-only, allowed, always, denied
	Outcome  string          `json:"outcome,omitempty"`  // tool.Outcome
	Result   json.RawMessage `json:"result,omitempty"`   // tool.Result, when done
	Created  time.Time       `json:"created"`
	Ended    *time.Time      `json:"ended,omitempty"`
}

// Approval is a question to a person about one call, and the body of EventApproval.
type Approval struct {
	ID       string     `json:"id"`
	Thread   string     `json:"thread,omitempty"`
	Turn     string     `json:"turn,omitempty"`
	Action   string     `json:"action"` // Action.ID
	Folder   string     `json:"folder"`
	Tool     string     `json:"tool"`
	Title    string     `json:"title"`
	Command  string     `json:"command,omitempty"`
	Dir      string     `json:"dir,omitempty"`
	Diff     string     `json:"diff,omitempty"`
	Boundary string     `json:"boundary,omitempty"` // what will hold the command, in words
	Reasons  []string   `json:"reasons"`            // why it is asked
	State    string     `json:"state"`              // pending, allowed, denied, gone
	Always   string     `json:"always,omitempty"`   // Rule.ID of the rule that the answer added
	Reason   string     `json:"reason,omitempty"`   // the person's, for a denial
	By       string     `json:"by,omitempty"`       // ui, cli
	Created  time.Time  `json:"created"`
	Answered *time.Time `json:"answered,omitempty"`
}

// Rule is an "always allow" of a folder: an exact command in one directory, a prefix of words, or every write.
type Rule struct {
	ID      string    `json:"id"`
	Folder  string    `json:"folder"`
	Kind    string    `json:"kind"` // exact, prefix, write (every write tool)
	Pattern string    `json:"pattern"`
	Dir     string    `json:"dir,omitempty"` // exact: the only cwd in which it holds, as in tool.Subject; "" is the folder
	Created time.Time `json:"created"`
}

// Browser is an extension in one browser profile that a person has approved.
type Browser struct {
	ID       string    `json:"id"` // made by the extension, stable per profile
	Label    string    `json:"label"`
	Version  string    `json:"version"` // of the extension when last seen
	Token    []byte    `json:"-"`       // SHA-256 of its token
	Created  time.Time `json:"created"`
	LastSeen time.Time `json:"lastSeen"`
}

// Live is an update that is shown and never stored: text that streams and
// output of a running command. Offset counts the bytes of the same stream that
// came before Text, so that a follower sees a gap; it repairs one by reading the
// message or the call's output.
type Live struct {
	Thread string `json:"thread"`
	Turn   string `json:"turn,omitempty"`
	Kind   string `json:"kind"`            // note, answer, text, reasoning: of message Of; output: of action Of; status: Text is what goes on now
	Of     string `json:"of,omitempty"`    // Message.ID or Action.ID
	Index  int    `json:"index,omitempty"` // number of the note in its reply
	Offset int64  `json:"offset"`
	Text   string `json:"text"`
}

// Update is what a follower gets: exactly one of the two.
type Update struct {
	Event *Event `json:"event,omitempty"`
	Live  *Live  `json:"live,omitempty"`
}
