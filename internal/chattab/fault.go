package chattab

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"plexus/internal/link"
	"plexus/internal/loop"
)

// words are what a person reads of a fault: what happened, and what to do.
type words struct{ text, todo string }

var faultWords = map[string]words{
	loop.FaultConsent:        {"Driving this chat site from a program may break its terms, and you have not agreed to it yet.", "Read the notice in the settings and agree, or use an API model."},
	loop.FaultNoBrowser:      {"No browser with the Plexus extension is connected.", "Start the browser and check that the extension is on and paired; `plexus extension` says how."},
	loop.FaultNoComposer:     {"The page has no message box that Plexus knows.", "Look at the chat's tab. If it looks as always, the site has changed: run `plexus doctor`."},
	loop.FaultUserDraft:      {"Your own text is in the chat's message box, and Plexus does not overwrite it.", "Send or clear your text in the chat's tab, then send the message again."},
	loop.FaultNotAccepted:    {"The send button was clicked, but the page sent nothing.", "Look at the chat's tab. If the message is not there, send it again."},
	loop.FaultUnknownOutcome: {"It cannot be told whether the message reached the chat, so it was not sent again.", "Look at the chat's tab. If the message is not there, send it again."},
	loop.FaultLinkLost:       {"The browser went away and did not come back.", "Start the browser again, then send a message to go on."},
	loop.FaultTabLost:        {"The chat's tab was closed or went elsewhere, and the reply could not be read from it.", "Look at the chat in the browser, then send a message to go on."},
	loop.FaultSilent:         {"The chat gave no sign of life for minutes.", "Look at the chat's tab, then send a message to go on."},
	loop.FaultTooLong:        {"The chat site refused the message because it is too long.", "Send a shorter message, or lower the setting for the size of messages."},
	loop.FaultRateLimited:    {"The chat site's limit is reached.", "Wait until it is lifted, then send the message again."},
	loop.FaultSignedOut:      {"You are signed out of the chat site.", "Sign in in the browser, then send the message again."},
	loop.FaultVerification:   {"The chat site wants proof that a human is there.", "Open the chat's tab, do what it asks, then send the message again."},
	loop.FaultSiteError:      {"The chat site reported an error.", "Look at the chat's tab, then send a message to go on."},
	loop.FaultRefused:        {"The chat site took the message and dropped it without a word.", "Reload the chat's tab and send the message again. If it happens again, use the site by hand for a while."},
	loop.FaultModeration:     {"The chat site blocked the message or its reply.", "Word the task differently, or start a new thread."},
	loop.FaultChatGone:       {"The chat is no longer there. What was done so far is kept.", "Send the message again: the thread goes on in a new chat, which does not know what was said in the old one."},
	loop.FaultNetwork:        {"The browser could not reach the chat site.", "Check the network, then send the message again."},
	loop.FaultInternal:       {"The extension could not do its part.", "Reload the extension and send the message again; `plexus doctor` may say more."},
}

// fault names a failure; detail, which may be "", is added as it came from the site or the page.
func fault(code, detail string) *loop.Fault {
	w, ok := faultWords[code]
	if !ok {
		w = faultWords[loop.FaultInternal]
	}
	text := w.text
	if detail = strings.Join(strings.Fields(detail), " "); detail != "" {
		text += fmt.Sprintf(" It says: %q.", clip(detail, 300))
	}
	return &loop.Fault{Code: code, Text: text, Todo: w.todo}
}

// unsent marks a fault as one of a message that certainly did not arrive.
func unsent(f *loop.Fault) *loop.Fault {
	f.Unsent = true
	return f
}

// noticeCodes are the faults that the site's notices stand for.
var noticeCodes = map[string]string{
	"too-long":        loop.FaultTooLong,
	"rate-limited":    loop.FaultRateLimited,
	"signed-out":      loop.FaultSignedOut,
	"verification":    loop.FaultVerification,
	"site-error":      loop.FaultSiteError,
	"thinking-failed": loop.FaultSiteError,
	"chat-gone":       loop.FaultChatGone,
	"network":         loop.FaultNetwork,
}

// passing are faults that a page may get over by itself.
func passing(code string) bool { return code == loop.FaultSiteError || code == loop.FaultNetwork }

// noticeFault is the fault that a notice of the site stands for.
func noticeFault(n *link.SiteNotice) *loop.Fault {
	code, ok := noticeCodes[n.Code]
	if !ok {
		code = loop.FaultSiteError
	}
	f := fault(code, n.Text)
	if until, err := time.Parse(time.RFC3339, n.Until); err == nil {
		f.Until = until
		f.Todo = "Wait until " + until.Local().Format("15:04 on 2 January") + ", then send the message again."
	}
	return f
}

// siteCodes are the faults that the site's own codes stand for.
var siteCodes = map[string]string{
	"message_length_exceeds_limit": loop.FaultTooLong,
	"rate_limit_exceeded":          loop.FaultRateLimited,
}

// refusal is the site's answer to a message that it did not take.
type refusal struct {
	status int
	body   strings.Builder
}

// maxRefusal bounds what is read of such an answer.
const maxRefusal = 64 << 10

func (r *refusal) read(data string) {
	if r.body.Len() < maxRefusal {
		r.body.WriteString(data[:min(len(data), maxRefusal-r.body.Len())])
	}
}

func (r *refusal) fault() *loop.Fault {
	var w struct {
		Detail json.RawMessage `json:"detail"`
	}
	var detail struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal([]byte(r.body.String()), &w) == nil && json.Unmarshal(w.Detail, &detail.Message) != nil {
		_ = json.Unmarshal(w.Detail, &detail) // of another shape: there are no words then
	}
	if code, ok := siteCodes[detail.Code]; ok {
		return unsent(fault(code, detail.Message))
	}
	return statusFault(r.status, detail.Message)
}

// statusFault is the fault that the answer to a message's request stands for, nil if it was taken. Such a message did not arrive,
// except where the server itself failed. words are the site's.
func statusFault(status int, words string) *loop.Fault {
	if words == "" {
		words = fmt.Sprintf("HTTP status %d", status)
	}
	code := loop.FaultSiteError
	switch {
	case status < 400:
		return nil
	case status >= 500:
		return fault(code, words)
	case status == 413:
		code = loop.FaultTooLong
	case status == 429:
		code = loop.FaultRateLimited
	case status == 401:
		code = loop.FaultSignedOut
	case status == 403:
		code = loop.FaultVerification
	case status == 404:
		code = loop.FaultChatGone
	}
	return unsent(fault(code, words))
}

// responseCodes are the faults that a failed command of the extension stands for when it was tried for the last time.
var responseCodes = map[string]string{
	"no-composer":        loop.FaultNoComposer,
	"composer-not-ready": loop.FaultNoComposer,
	"user-draft":         loop.FaultUserDraft,
	"insert-failed":      loop.FaultNoComposer,
	"attachment":         loop.FaultNoComposer,
	"send-disabled":      loop.FaultNoComposer,
	"no-post":            loop.FaultNotAccepted,
	"no-tab":             loop.FaultTabLost,
	"page-lost":          loop.FaultTabLost,
	"tab-busy":           loop.FaultTabLost,
	"not-ours":           loop.FaultTabLost,
}

// responseFault is the fault that a failed command stands for.
func responseFault(e *link.ResponseError) *loop.Fault {
	if code, ok := noticeCodes[e.Code]; ok {
		return fault(code, e.Text)
	}
	code, ok := responseCodes[e.Code]
	if !ok {
		code = loop.FaultInternal
	}
	f := fault(code, "")
	if e.Text != "" {
		f.Text += " " + clip(strings.ToUpper(e.Text[:1])+e.Text[1:], 300)
	}
	return f
}

// clip bounds a text that others wrote, in runes.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
