package practice

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Kind says what an Entry tells.
type Kind string

// The kinds of entries.
const (
	KindPage         Kind = "page"         // a page was loaded
	KindPrefill      Kind = "prefill"      // a send before hydration: a navigation that posts nothing
	KindMessage      Kind = "message"      // a message was accepted
	KindRefused      Kind = "refused"      // a message without proof of a real page was refused in silence
	KindTooLong      Kind = "too-long"     // a message over the limit was refused
	KindRateLimit    Kind = "rate-limit"   // a message was refused for its rate
	KindResume       Kind = "resume"       // a stream was resumed
	KindSubscribe    Kind = "subscribe"    // a turn was subscribed to over the WebSocket
	KindConversation Kind = "conversation" // a whole conversation was read
	KindProject      Kind = "project"      // a project was made
	KindStop         Kind = "stop"         // a turn was stopped
	KindEnd          Kind = "end"          // a turn ended; Text is what was said
	KindMindError    Kind = "mind-error"   // the mind had no answer; Text says why
	KindFault        Kind = "fault"        // a fault happened
	KindFaultArmed   Kind = "fault-armed"  // a page knows of a fault that is for it to play
	KindUnknown      Kind = "unknown"      // a request that the site has no answer for
)

// Entry is one thing that reached the site or that it did. Fields that mean nothing for a kind are empty.
type Entry struct {
	Seq          int       `json:"seq"` // from 1, without gap
	Time         time.Time `json:"time"`
	Kind         Kind      `json:"kind"`
	Path         string    `json:"path,omitempty"`
	Conversation string    `json:"conversation,omitempty"`
	Project      string    `json:"project,omitempty"`
	Turn         string    `json:"turn,omitempty"`
	MessageID    string    `json:"messageId,omitempty"` // as the page made it
	Text         string    `json:"text,omitempty"`
	Attachments  []string  `json:"attachments,omitempty"` // their names
	Mode         string    `json:"mode,omitempty"`
	Fault        string    `json:"fault,omitempty"`
}

// journal is the site's own record. It only grows; a practice site does not run for long.
type journal struct {
	mu      sync.Mutex
	entries []Entry
	grown   chan struct{} // closed and replaced at each entry
}

func (j *journal) init() { j.grown = make(chan struct{}) }

func (j *journal) add(e Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.Seq, e.Time = len(j.entries)+1, time.Now()
	j.entries = append(j.entries, e)
	close(j.grown)
	j.grown = make(chan struct{})
}

// from returns the entries after the first n and a channel that closes when there are more.
func (j *journal) from(n int) ([]Entry, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries[n:]), j.grown
}

// Log returns a copy of everything logged so far, the oldest first.
func (s *Site) Log() []Entry {
	entries, _ := s.journal.from(0)
	return entries
}

// Wait returns the first entry that want accepts, from the start of the log or yet to come.
func (s *Site) Wait(ctx context.Context, want func(Entry) bool) (Entry, error) {
	seen := 0
	for {
		entries, more := s.journal.from(seen)
		for _, e := range entries {
			if want(e) {
				return e, nil
			}
		}
		seen += len(entries)
		select {
		case <-more:
		case <-ctx.Done():
			return Entry{}, context.Cause(ctx)
		case <-s.ctx.Done():
			return Entry{}, ErrClosed
		}
	}
}
