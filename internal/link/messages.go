// Package link is the protocol between the daemon and the browser extension:
// its messages, the WebSocket carrier, pairing and presence. The Go types
// here are the source; the TypeScript of web/protocol is generated from them.
//
// A message is one JSON object with its type in the field "type". A command
// carries an id and is answered by exactly one response with the same id;
// everything else is an event. The extension decides nothing: it does what a
// command says and reports facts.
//
// Struct tags carry the schema that is checked on the way in: "enum" lists the
// only values of a string; "min" and "max" bound an integer, the bytes of a string
// (256 at most without a tag) or the elements of a slice (256 without a tag); "to"
// says which side reads the message. Field "type" has exactly one value and
// comes first; Peer fills it in when it is empty.
package link

import "encoding/json"

// Protocol is the version of this file. Peers with another are refused.
const Protocol = 1

// Bounds of what a peer may send.
const (
	MaxMessage   = 16 << 20  // bytes of one message, in either direction
	MaxFrameData = 256 << 10 // UTF-16 units of Data in one stream_update of a fetch; longer ones are split
	MaxWholeData = 4 << 20   // the same of one WebSocket message or EventSource event, which is never split; a longer one is left out and reported as event "error"
)

// Path is the HTTP path of the WebSocket on the daemon's listener.
const Path = "/link"

// From the extension's worker.

// Hello is the first message on a connection. A browser that Plexus knows is
// answered with Challenge, any other with Pairing.
type Hello struct {
	Type         string     `json:"type" enum:"hello" to:"daemon"`
	Protocol     int        `json:"protocol"`
	Version      string     `json:"version" min:"1" max:"64"` // of the extension
	Browser      string     `json:"browser" min:"8" max:"64"` // stable id of the profile
	Label        string     `json:"label" min:"1" max:"128"`  // "Chromium 156 on Linux"
	Nonce        string     `json:"nonce" min:"16" max:"64"`  // made anew for each connection
	Paired       bool       `json:"paired"`                   // it has a token from an earlier Welcome
	Capabilities []string   `json:"capabilities"`
	Turns        []TurnFact `json:"turns"` // turns that the worker still holds
}

// Proof answers Challenge, once its proof was found right.
type Proof struct {
	Type  string `json:"type" enum:"proof" to:"daemon"`
	Proof string `json:"proof" min:"64" max:"64"`
}

// Pong answers Ping.
type Pong struct {
	Type string `json:"type" enum:"pong" to:"daemon"`
	N    int64  `json:"n"`
}

// Response answers the command with the same ID.
type Response struct {
	Type   string          `json:"type" enum:"response" to:"daemon"`
	ID     string          `json:"id" min:"1"`
	Result json.RawMessage `json:"result,omitempty"` // shape by command
	Error  *ResponseError  `json:"error,omitempty"`
}

// ResponseError says why a command was not done. Codes: no-tab, tab-busy (another
// command has it), no-composer, composer-not-ready, user-draft, insert-failed, attachment, send-disabled, no-go (the daemon
// sent no Proceed), no-post, no-project, unknown-turn, not-ours, page-lost (the page went away before it answered),
// timeout, bad-message, internal, and the Notice codes.
type ResponseError struct {
	Code string `json:"code" max:"64"`
	Text string `json:"text" max:"4096"`
	// Clicked is true when the send button was clicked before it failed: the
	// message may have gone.
	Clicked bool `json:"clicked"`
}

// SubmitProgress tells the steps of a send_message before its response. At
// dispatched the page stands with the text verified and the button enabled, and waits
// for the daemon's Proceed: no Proceed, no click.
type SubmitProgress struct {
	Type  string `json:"type" enum:"submit_progress" to:"daemon"`
	ID    string `json:"id" min:"1"` // of the send_message
	Turn  string `json:"turn" min:"1"`
	Stage string `json:"stage" enum:"inserted,dispatched,clicked,posted"`
	// MessageID and ConversationID are read from the POST's body; stage posted only.
	MessageID      string `json:"messageId,omitempty"`
	ConversationID string `json:"conversationId,omitempty"`
}

// StreamUpdate carries raw bytes of one of the page's streams while a turn is
// armed. N counts all updates of a turn from 1 without gap, over all its streams
// and all its messages, until EndTurn. A gap that ResumeFrames cannot fill is a loss.
type StreamUpdate struct {
	Type   string `json:"type" enum:"stream_update" to:"daemon"`
	Turn   string `json:"turn" min:"1"`
	N      int64  `json:"n" min:"1"`
	Stream string `json:"stream" min:"1"` // id of the stream within the page load
	Event  string `json:"event" enum:"open,data,close,error"`
	Source string `json:"source,omitempty" enum:"fetch,eventsource,websocket"` // event open only
	URL    string `json:"url,omitempty" max:"4096"`                            // event open only; without query
	Status int    `json:"status,omitempty"`                                    // HTTP status of a fetch; event open only
	Data   string `json:"data,omitempty" max:"12582912"`                       // of a fetch: text cut anywhere, decoded as UTF-8; else one whole message or event. Event error: why
}

// TurnFact is what the worker knows of a turn that it holds.
type TurnFact struct {
	Turn      string `json:"turn"`
	Thread    string `json:"thread"`
	Tab       int    `json:"tab"`
	Send      string `json:"send"`                                      // SendMessage.ID of its newest message, "" for none
	Stage     string `json:"stage" enum:"armed,dispatched,posted,lost"` // of that message; lost: the page that had it is gone
	LastN     int64  `json:"lastN"`                                     // number of its newest stream_update
	MessageID string `json:"messageId,omitempty"`
}

// TurnStatus tells what became of a turn's page: sent on each change.
type TurnStatus struct {
	Type  string     `json:"type" enum:"turn_status" to:"daemon"`
	Turns []TurnFact `json:"turns"`
}

// TabStatus tells a change of a tab that we own.
type TabStatus struct {
	Type   string `json:"type" enum:"tab_status" to:"daemon"`
	Tab    int    `json:"tab"`
	Thread string `json:"thread"`
	State  string `json:"state" enum:"loading,ready,navigated,reloaded,closed,discarded,crashed"` // navigated: another address in the same document
	URL    string `json:"url" max:"4096"`                                                         // "" when it is not the site's
}

// SiteNotice is something that the site shows and that has a name: too-long,
// rate-limited, signed-out, verification, site-error, thinking-failed, chat-gone, network.
type SiteNotice struct {
	Type  string `json:"type" enum:"notice" to:"daemon"`
	Turn  string `json:"turn"` // "" when none is in flight in the tab
	Tab   int    `json:"tab"`
	Code  string `json:"code" enum:"too-long,rate-limited,signed-out,verification,site-error,thinking-failed,chat-gone,network"`
	Text  string `json:"text" max:"2000"` // as the site words it, at most 500 characters
	Until string `json:"until,omitempty"` // RFC 3339, when the site names a time
}

// Recovered is a complete tagged reply read from the rendered page.
type Recovered struct {
	Type string `json:"type" enum:"recovered" to:"daemon"`
	ID   string `json:"id" min:"1"` // of the recover_turn
	Turn string `json:"turn" min:"1"`
	Text string `json:"text" min:"1" max:"8388608"`
}

// From the daemon.

// Challenge proves to a browser that it speaks with the Plexus that approved it,
// and asks the same of it. The token itself never crosses the link again: another
// program may have taken our port before us. A proof is the hex HMAC-SHA-256
// under the SHA-256 of the token of "ROLE PORT HELLO-NONCE CHALLENGE-NONCE",
// ROLE being "plexus" here and "browser" in Proof, PORT the one that the connection was made
// to, so that a proof cannot be passed on to a Plexus at another port.
type Challenge struct {
	Type  string `json:"type" enum:"challenge" to:"worker"`
	Nonce string `json:"nonce"`
	Proof string `json:"proof"`
}

// Welcome ends the greeting of a paired browser. Token is set once, when it was
// just approved; the worker keeps it.
type Welcome struct {
	Type    string `json:"type" enum:"welcome" to:"worker"`
	Version string `json:"version"`
	Token   string `json:"token,omitempty"`
}

// Pairing asks for a person: the code is shown in the UI and by the extension.
type Pairing struct {
	Type string `json:"type" enum:"pairing" to:"worker"`
	Code string `json:"code"`
}

// Refused is the last message on a connection that is not wanted. Codes:
// protocol (other version), denied, bad-hello, replaced (the same browser connected again),
// expired (nobody approved the pairing in time), busy (too many open pairings).
type Refused struct {
	Type string `json:"type" enum:"refused" to:"worker"`
	Code string `json:"code"`
	Text string `json:"text"`
}

// Ping is sent every 10 s.
type Ping struct {
	Type string `json:"type" enum:"ping" to:"worker"`
	N    int64  `json:"n"`
}

// OpenTab makes sure that the thread has its own tab at URL, ready to submit.
// A tab that the worker holds for the thread is used; one at another URL is
// navigated; else a new inactive tab is made. Result: TabResult.
type OpenTab struct {
	Type   string `json:"type" enum:"open_tab" to:"worker"`
	ID     string `json:"id"`
	Thread string `json:"thread"`
	URL    string `json:"url"`
}

// TabResult is the result of OpenTab.
type TabResult struct {
	Tab     int    `json:"tab"`
	URL     string `json:"url" max:"4096"`
	Created bool   `json:"created"`
}

// EnsureProject finds or makes the site's project of this name in the tab. Result: ProjectResult.
type EnsureProject struct {
	Type    string `json:"type" enum:"ensure_project" to:"worker"`
	ID      string `json:"id"`
	Thread  string `json:"thread"`
	Tab     int    `json:"tab"`
	Name    string `json:"name"`
	Project string `json:"project,omitempty"` // id from earlier, tried first
}

// ProjectResult is the result of EnsureProject.
type ProjectResult struct {
	Project string `json:"project"`
	URL     string `json:"url" max:"4096"` // where a new chat of the project starts
	Created bool   `json:"created"`
}

// SendMessage submits text as one reflex and arms the page's hooks for the turn.
// Progress comes as SubmitProgress; the response comes after the POST was seen
// or with an error. Result: SendResult. The same ID again is answered from what is known, never sent twice.
type SendMessage struct {
	Type   string `json:"type" enum:"send_message" to:"worker"`
	ID     string `json:"id"` // store.Message.ID and attempt
	Turn   string `json:"turn"`
	Thread string `json:"thread"`
	Tab    int    `json:"tab"`
	Text   string `json:"text"`
}

// Proceed answers SubmitProgress with stage dispatched, once the daemon has
// written that the message may be on its way. Without it within 10 s the
// send fails with no-go and nothing was clicked. No response.
type Proceed struct {
	Type string `json:"type" enum:"proceed" to:"worker"`
	ID   string `json:"id"` // of the send_message
	Turn string `json:"turn"`
	Go   bool   `json:"go"` // false: do not click; the send fails with no-go
}

// SendResult is the result of SendMessage.
type SendResult struct {
	MessageID      string `json:"messageId"`
	ConversationID string `json:"conversationId"` // "" while the site has none yet
	URL            string `json:"url" max:"4096"`
}

// ResumeFrames asks for the stream_updates of a turn from number From on. Result: FramesResult;
// the updates themselves come as events before it.
type ResumeFrames struct {
	Type string `json:"type" enum:"resume_frames" to:"worker"`
	ID   string `json:"id"`
	Turn string `json:"turn"`
	From int64  `json:"from"`
}

// FramesResult is the result of ResumeFrames.
type FramesResult struct {
	First int64 `json:"first"` // 0 when none are held
	Last  int64 `json:"last"`
}

// AckFrames lets the worker drop the updates of a turn up to N. No response.
type AckFrames struct {
	Type string `json:"type" enum:"ack_frames" to:"worker"`
	Turn string `json:"turn"`
	N    int64  `json:"n"`
}

// StopTurn presses the site's stop button if the turn's page is generating. Result: null.
type StopTurn struct {
	Type string `json:"type" enum:"stop_turn" to:"worker"`
	ID   string `json:"id"`
	Turn string `json:"turn"`
}

// EndTurn disarms the page's hooks and forgets the turn. Result: null.
type EndTurn struct {
	Type string `json:"type" enum:"end_turn" to:"worker"`
	ID   string `json:"id"`
	Turn string `json:"turn"`
}

// LookPage reports the facts of a tab without changing it. Result: PageFacts.
type LookPage struct {
	Type   string `json:"type" enum:"look_page" to:"worker"`
	ID     string `json:"id"`
	Thread string `json:"thread"`
	Tab    int    `json:"tab"`
}

// PageFacts is the result of LookPage.
type PageFacts struct {
	URL            string        `json:"url" max:"4096"`
	ConversationID string        `json:"conversationId"`
	Composer       string        `json:"composer" enum:"ready,hydrating,missing,disabled"`
	Draft          string        `json:"draft" max:"2000"` // text in the composer, at most 500 characters
	Generating     bool          `json:"generating"`
	Messages       []PageMessage `json:"messages"` // of the transcript, oldest first, newest 50
	Notice         *SiteNotice   `json:"notice,omitempty"`
}

// PageMessage is one message of the transcript as rendered.
type PageMessage struct {
	ID   string `json:"id"` // "" when the page gives none
	Role string `json:"role"`
	Text string `json:"text" max:"400000"` // at most 100,000 characters
}

// RecoverTurn polls the rendered page every 500 ms, at most 3 minutes, for a complete tagged reply
// below the message with MessageID (or, without one, whose text compares equal to Text
// with all white space taken out). The reply comes as Recovered; Result: RecoverResult, at once.
type RecoverTurn struct {
	Type      string `json:"type" enum:"recover_turn" to:"worker"`
	ID        string `json:"id"`
	Turn      string `json:"turn"`
	Thread    string `json:"thread"`
	Tab       int    `json:"tab"`
	MessageID string `json:"messageId,omitempty"`
	Text      string `json:"text,omitempty"`
}

// RecoverResult is the result of RecoverTurn.
type RecoverResult struct {
	Found bool `json:"found"` // our message is in the transcript
}

// CloseTab closes the thread's own tab; without one it does nothing. Result: null.
type CloseTab struct {
	Type   string `json:"type" enum:"close_tab" to:"worker"`
	ID     string `json:"id"`
	Thread string `json:"thread"`
	Tab    int    `json:"tab"` // 0: whichever the thread has
}
