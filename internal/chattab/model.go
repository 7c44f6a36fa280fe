// Package chattab drives a chat site's page as a model: it is the loop.Model
// of threads whose model is a chat tab. The extension has the reflexes (open,
// insert, click, read) and reports facts; everything is decided here: which tab,
// what a failed step means, whether a message may be sent again, what the frames
// say, when the reply is complete.
//
// A message is delivered at most once. It is written down as attempting before
// the command, and as dispatched before the page may click; what was dispatched and
// not seen to arrive is looked up in the page and never sent again on suspicion.
package chattab

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"plexus/internal/link"
	"plexus/internal/loop"
	"plexus/internal/store"
)

// Browsers is where the connected browsers are found; a *link.Hub.
type Browsers interface {
	Peer(browser string) (*link.Peer, bool)
	Wait(ctx context.Context, browser string) (*link.Peer, error)
}

// Memory keeps small facts of the driver between threads; a *store.Store.
type Memory interface {
	Setting(ctx context.Context, key string) (string, bool, error)
	SetSetting(ctx context.Context, key, value string) error
}

// Config is what a Model needs.
type Config struct {
	Hub     Browsers
	Consent func(context.Context) bool // whether the person agreed that the site is driven; nil for no
	Memory  Memory                     // of each folder's project; nil for none: it is then found by name
	Log     *slog.Logger               // nil for none
}

// Model drives chat tabs. It keeps nothing between calls and is safe for concurrent use.
type Model struct {
	cfg    Config
	site   Site
	timing timing
}

var _ loop.Model = (*Model)(nil)

// New returns a Model for the ChatGPT site.
func New(cfg Config) *Model {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Model{cfg: cfg, site: chatGPT, timing: defaultTiming}
}

// maxAttempts bounds how often one message is tried, the first time included.
const maxAttempts = 4

// timing holds every wait of the package; tests shorten it.
type timing struct {
	browser time.Duration // for a browser to connect, or to come back: its alarm ticks every 30 s
	command time.Duration // for the response to a quick command
	open    time.Duration // for a tab to be ready
	project time.Duration // for a project to be found or made
	submit  time.Duration // for a message to be inserted, clicked and posted
	settle  time.Duration // for a dispatched message to be seen as posted, once we stop waiting for its response
	retry   time.Duration // before the second attempt; doubled for each that follows
	draft   time.Duration // for a person to clear the composer
	look    time.Duration // between two looks at a page
	proof   time.Duration // for a page to prove whether a message is there
	gap     time.Duration // for missing frames to be sent again
	closed  time.Duration // for more to come after a stream that carried the answer ended without proof
	trouble time.Duration // for a page to get over what it complained of
	page    time.Duration // for a complete reply to show in the page
	watch   time.Duration // between two looks at a reply that grows in the page
	silence time.Duration // without a sign of life until the page is asked
	alive   time.Duration // between two signs of life to the loop
}

var defaultTiming = timing{
	browser: 35 * time.Second,
	command: 10 * time.Second,
	open:    45 * time.Second,
	project: 45 * time.Second,
	submit:  90 * time.Second,
	settle:  10 * time.Second,
	retry:   300 * time.Millisecond,
	draft:   2 * time.Minute,
	look:    time.Second,
	proof:   15 * time.Second,
	gap:     5 * time.Second,
	closed:  10 * time.Second,
	trouble: 20 * time.Second,
	page:    190 * time.Second,
	watch:   4 * time.Second,
	silence: 3 * time.Minute,
	alive:   15 * time.Second,
}

// Release closes the tab of a thread that was archived or deleted; chat is the one that it had, and may be zero. It is best effort:
// a browser that is not there keeps the tab. It takes no longer than a quick command (10 s), and an error says only that
// the tab may still be open.
func (m *Model) Release(ctx context.Context, chat store.Chat) error {
	if chat.Site != m.site.Name || chat.Browser == "" {
		return nil // no browser had a tab for it
	}
	peer, ok := m.cfg.Hub.Peer(chat.Browser)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, m.timing.command, errSlow)
	defer cancel()
	err := peer.Command(ctx, link.CloseTab{Thread: chat.Thread}, nil)
	if err != nil && code(err) != "no-tab" {
		return fmt.Errorf("close the tab of thread %q: %w", chat.Thread, err)
	}
	return nil
}

// Send delivers req.Text as the next message of the thread's chat and returns the complete reply.
func (m *Model) Send(ctx context.Context, req loop.Send, on loop.Observer) (loop.Reply, error) {
	return m.answer(ctx, req, on, (*session).deliver)
}

// Recover settles a message that an earlier Send began. One that certainly was not clicked is sent; for any other the
// page or the browser's memory of the turn must tell.
func (m *Model) Recover(ctx context.Context, req loop.Send, on loop.Observer) (loop.Reply, error) {
	return m.answer(ctx, req, on, (*session).recover)
}

// answer runs a session: arrive brings its message into the chat, and the reply is waited for.
func (m *Model) answer(ctx context.Context, req loop.Send, on loop.Observer, arrive func(*session, context.Context) error) (loop.Reply, error) {
	s, err := m.begin(ctx, req, on)
	if err != nil {
		return loop.Reply{}, err
	}
	defer s.close()
	if err := arrive(s, ctx); err != nil {
		return s.failed(ctx, err)
	}
	return s.finish(ctx)
}
