package loop

import (
	"context"
	"time"

	"plexus/internal/store"
)

// Model is something that answers messages: a chat tab, an API, a script. The
// loop owns all state; a Model keeps none that matters beyond one Send.
type Model interface {
	// Send delivers req.Text as the next user message of the thread's chat and
	// blocks until the reply is complete. Every step is told to on before it is
	// taken where on's doc says so; an error from on ends the Send with that
	// error and without the step. When ctx ends, Send stops the provider (a
	// site's stop button, a closed request), and returns the text so far with
	// ctx's cause. Failures that a person should read are *Fault.
	Send(ctx context.Context, req Send, on Observer) (Reply, error)

	// Recover settles a Send that was begun by an earlier process or whose link
	// died: it finds out whether the message reached the provider and waits for
	// the reply if so. It may deliver the message again only if it is proved that it
	// did not arrive; a Fault with code FaultUnknownOutcome says that nothing can
	// be proved.
	Recover(ctx context.Context, req Send, on Observer) (Reply, error)
}

// Send is one message to deliver.
type Send struct {
	Thread   store.Thread
	Folder   store.Folder
	Turn     string
	Chat     store.Chat // current binding of the thread; zero for none yet
	Message  string     // store.Message.ID: the key of at-most-once
	Text     string     // the wire text
	Delivery store.Delivery
	Receipt  string // of an earlier attempt, for Recover
	// History reads all earlier messages of the thread that reached the model, oldest first: for models that remember
	// nothing, and for telling an earlier message from this one. It costs what the thread has.
	History func(context.Context) ([]Exchange, error)
}

// Exchange is one earlier message as the provider saw it.
type Exchange struct {
	Role string // "user" or "assistant"
	Text string
}

// Observer hears of a Send as it goes. Calls come from one goroutine at a time.
// Delivery and Bound write to the store and may fail; the Model then gives up
// before the step that they announce.
type Observer interface {
	// Delivery announces attempting (before the command is given, where more than one step leads to the effect),
	// dispatched (before the click or the request), accepted (with the provider's message id), or
	// failed (certainly not taken).
	Delivery(state store.Delivery, receipt string) error
	// Bound tells the chat that the thread now has.
	Bound(store.Chat) error
	// Text and Reasoning are deltas of the reply.
	Text(delta string)
	Reasoning(delta string)
	// Status is what goes on now, in words ("opening a tab in Chromium").
	Status(text string)
	// Notice is something that a person should know though the Send goes on.
	Notice(store.Notice)
}

// Past is a History that is known already.
func Past(all ...Exchange) func(context.Context) ([]Exchange, error) {
	return func(context.Context) ([]Exchange, error) { return all, nil }
}

// Reply is a complete reply.
type Reply struct {
	Text      string
	Model     string // as the provider names it
	Recovered bool   // Text was read from the rendered page, so entities in bodies need decoding
}

// Fault is a failure with a name and words for a person.
type Fault struct {
	Code   string
	Text   string    // what happened, what was kept
	Todo   string    // what to do
	Until  time.Time // for FaultRateLimited, zero when unknown
	Unsent bool      // certain: the message did not reach the provider
}

func (f *Fault) Error() string { return f.Text }

// Codes of faults. Each is also the Code of the turn that it ends.
const (
	FaultNoBrowser      = "no-browser"       // no paired extension is connected
	FaultConsent        = "consent-needed"   // a real site is not driven before the user agreed
	FaultNoComposer     = "no-composer"      // the page has no composer that we know
	FaultUserDraft      = "user-draft"       // the person's own text is in the composer
	FaultNotAccepted    = "not-accepted"     // clicked, and no POST within the bound
	FaultUnknownOutcome = "unknown-outcome"  // may or may not have been taken
	FaultLinkLost       = "link-lost"        // the browser went away in mid-turn
	FaultTabLost        = "tab-lost"         // the tab was closed or went elsewhere
	FaultSilent         = "silent"           // no sign of life for the watchdog's time
	FaultTooLong        = "message-too-long" // the provider refuses the size
	FaultRateLimited    = "rate-limited"
	FaultSignedOut      = "signed-out"
	FaultVerification   = "verification" // the site wants proof of a human
	FaultSiteError      = "site-error"   // the site says that something went wrong
	FaultRefused        = "refused"      // accepted by the page, silently dropped by the server
	FaultModeration     = "moderation"
	FaultChatGone       = "chat-gone"
	FaultNetwork        = "network"      // API server not reachable
	FaultUnauthorized   = "unauthorized" // API key refused
	FaultNotConfigured  = "not-configured"
	FaultProtocol       = "bad-response" // the API answered something that is not its protocol
	FaultScript         = "script"       // the scenario has no answer for this
	FaultFolderGone     = "folder-gone"
	FaultDiskFull       = "disk-full"
	FaultInternal       = "internal" // a defect of Plexus
)
