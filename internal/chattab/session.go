package chattab

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"plexus/internal/link"
	"plexus/internal/loop"
	"plexus/internal/store"
)

// session is one Send or Recover. All of it runs on the caller's goroutine: commands are waited for while events are
// handled, so that nothing of it needs a lock.
type session struct {
	m    *Model
	req  loop.Send
	on   loop.Observer
	log  *slog.Logger
	chat store.Chat // as last told to on

	peer        *link.Peer
	events      <-chan any // nil when the connection has ended
	unsubscribe func()
	gone        bool // the connection ended and has not been replaced
	tab         int

	send       string // id of the send_message under way
	stopping   bool   // the turn is to end: nothing may be clicked any more
	dispatched bool   // the page was let click
	accepted   bool
	takingUp   bool // the frames are read again from the first
	draftTold  bool // that the person's text is in the way
	receipt    string
	fact       *link.TurnFact // what the browser held of the turn when it connected, or said since

	reading reading
	told    time.Time       // of the last call of on
	err     error           // of on: ends the session
	past    []loop.Exchange // earlier messages of the chat, once they were needed
}

// begin checks what must be true before anything is done, and finds the browser.
func (m *Model) begin(ctx context.Context, req loop.Send, on loop.Observer) (*session, error) {
	s := &session{m: m, req: req, on: on, chat: req.Chat, receipt: req.Receipt,
		log: m.cfg.Log.With(slog.String("thread", req.Thread.ID), slog.String("turn", req.Turn), slog.String("message", req.Message))}
	s.reading = newReading(req.Chat.Provider)
	if m.cfg.Consent == nil || !m.cfg.Consent(ctx) {
		return nil, s.atFirst(fault(loop.FaultConsent, ""))
	}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// atFirst marks a fault that came before anything was done: a message that was not on its way is not sent.
func (s *session) atFirst(f *loop.Fault) *loop.Fault {
	switch s.req.Delivery {
	case store.DeliveryNone, store.DeliveryAttempting, store.DeliveryFailed:
		return unsent(f)
	}
	return f
}

// connect takes the connection of the thread's browser, waiting for it if need be.
func (s *session) connect(ctx context.Context) error {
	browser := s.chat.Browser
	peer, ok := s.m.cfg.Hub.Peer(browser)
	if ok {
		select {
		case <-peer.Done():
			ok = false
		default:
		}
	}
	if !ok {
		s.status("Waiting for the browser")
		wait, cancel := context.WithTimeout(ctx, s.m.timing.browser)
		defer cancel()
		var err error
		if peer, err = s.m.cfg.Hub.Wait(wait, browser); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if s.dispatched || s.accepted {
				return fault(loop.FaultLinkLost, "")
			}
			f := s.atFirst(fault(loop.FaultNoBrowser, ""))
			if browser != "" {
				f.Text = "The browser that has this thread's chat is not connected."
			}
			return f
		}
	}
	s.close()
	s.peer, s.gone, s.fact = peer, false, nil
	s.events, s.unsubscribe = peer.Subscribe(s.req.Turn)
	for _, f := range peer.Info().Turns {
		if f.Turn == s.req.Turn {
			s.fact = &f
		}
	}
	return nil
}

// holds reports whether the browser holds the turn with our message.
func (s *session) holds() bool {
	return s.fact != nil && s.fact.Stage != "lost" && s.ours(s.fact.Send)
}

// number returns an id for a command about our message, for which the browser may be asked, or tell, later. Each is new: the
// browser answers one that it knows from memory.
func (s *session) number() string { return s.req.Message + "." + rand.Text()[:8] }

// ours reports whether number made id, in this session or an earlier one for the same message.
func (s *session) ours(id string) bool { return strings.HasPrefix(id, s.req.Message+".") }

// close ends the subscription.
func (s *session) close() {
	if s.unsubscribe != nil {
		s.unsubscribe()
		s.unsubscribe, s.events = nil, nil
	}
}

func (s *session) status(text string) {
	s.told = time.Now()
	s.on.Status(text)
}

func (s *session) notice(n store.Notice) {
	s.told = time.Now()
	s.on.Notice(n)
}

// command gives a command and handles events until its response is there.
func (s *session) command(ctx context.Context, limit time.Duration, cmd, result any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSlow)
	defer cancel()
	done := s.start(ctx, cmd, result)
	before := s.err
	for {
		select {
		case ev, ok := <-s.events:
			s.take(ctx, ev, ok)
			if s.err != before {
				cancel()
				<-done
				return s.err
			}
		case err := <-done:
			s.drain(ctx, err)
			return err
		}
	}
}

// drain handles what came before the connection ended, if err says that it did.
func (s *session) drain(ctx context.Context, err error) {
	for errors.Is(err, link.ErrClosed) && s.events != nil {
		ev, ok := <-s.events
		s.take(ctx, ev, ok)
	}
	s.gone = s.gone || errors.Is(err, link.ErrClosed)
}

// errSlow says that a command had no response in time.
var errSlow = errors.New("the browser did not answer in time")

// start gives a command; its outcome comes on the channel, which must be read, or ctx ended, for the goroutine to end.
func (s *session) start(ctx context.Context, cmd, result any) <-chan error {
	done := make(chan error, 1)
	peer := s.peer
	go func() { done <- peer.Command(ctx, cmd, result) }()
	return done
}

// take handles one event, or the end of the events.
func (s *session) take(ctx context.Context, ev any, ok bool) {
	if !ok {
		s.events, s.gone = nil, true
		return
	}
	switch ev := ev.(type) {
	case *link.StreamUpdate:
		s.frame(ctx, ev)
	case *link.SubmitProgress:
		s.reading.life = time.Now()
		s.progress(ctx, ev)
	case *link.SiteNotice:
		s.reading.life = time.Now()
		s.reading.complain(noticeFault(ev), s.graceFor(noticeCodes[ev.Code]))
	case *link.TabStatus:
		s.tabStatus(ev)
	case *link.TurnStatus:
		for _, f := range ev.Turns {
			s.turnFact(ctx, f)
		}
	case *link.Recovered:
		// What the page was asked for an earlier message of the turn may be late.
		if s.ours(ev.ID) {
			s.reading.life = time.Now()
			s.reading.recovered = &ev.Text
		}
	}
}

// progress follows the steps of our own send.
func (s *session) progress(ctx context.Context, p *link.SubmitProgress) {
	if p.ID != s.send {
		return
	}
	switch p.Stage {
	case "dispatched":
		s.proceed(ctx)
	case "posted":
		s.accept(p.MessageID, p.ConversationID, "")
	}
}

// proceed lets the page click, once it is written that the message may be on its way.
func (s *session) proceed(ctx context.Context) {
	let := !s.stopping && s.err == nil && ctx.Err() == nil
	if let {
		if err := s.on.Delivery(store.DeliveryDispatched, ""); err != nil {
			s.err, let = err, false
		} else {
			s.told, s.dispatched = time.Now(), true
		}
	}
	// An error ends the connection, which is seen as such; without a word the page does not click.
	if err := s.peer.Send(context.WithoutCancel(ctx), link.Proceed{ID: s.send, Turn: s.req.Turn, Go: let}); err != nil {
		s.log.Info("proceed not sent", slog.String("error", err.Error()))
	}
}

// accept writes that the site took the message.
func (s *session) accept(message, conversation, address string) {
	if message != "" {
		s.receipt = message
	}
	if !s.accepted && s.err == nil {
		s.accepted, s.dispatched = true, true
		s.reading.life = time.Now()
		if s.err = s.on.Delivery(store.DeliveryAccepted, s.receipt); s.err == nil {
			s.status("Waiting for the reply")
		}
	}
	if conversation == "" {
		conversation, _ = s.m.site.chatOf(address)
	}
	s.bind(conversation, address)
}

// bind writes which chat the thread now has, if that is news.
func (s *session) bind(conversation, address string) {
	c := s.chat
	if conversation != "" && (c.Provider == "" || c.Provider == conversation) {
		c.Provider = conversation
		if shown, _ := s.m.site.chatOf(c.URL); shown != conversation {
			c.URL = s.m.site.chatURL(conversation)
		}
	}
	if shown, _ := s.m.site.chatOf(address); shown != "" && shown == c.Provider {
		c.URL = address
	}
	s.rebind(c)
}

// rebind writes c as the thread's chat if it differs from what was written before.
func (s *session) rebind(c store.Chat) {
	if c.ID == "" {
		c.ID = store.NewID("c")
	}
	c.Thread, c.Site, c.Browser, c.Current = s.req.Thread.ID, s.m.site.Name, s.peer.Info().Browser, true
	if c == s.chat || s.err != nil {
		return
	}
	if err := s.on.Bound(c); err != nil {
		s.err = err
		return
	}
	s.told, s.chat = time.Now(), c
}

func (s *session) turnFact(ctx context.Context, f link.TurnFact) {
	if f.Turn != s.req.Turn {
		return
	}
	s.fact = &f
	switch {
	case f.Send == s.send && s.send != "" && f.Stage == "posted":
		s.accept(f.MessageID, "", "")
	case f.Stage == "lost":
		s.reading.lost = "the page that had the turn is gone"
	}
}

// tabStatus follows the thread's tab.
func (s *session) tabStatus(t *link.TabStatus) {
	if t.Thread != s.req.Thread.ID {
		return
	}
	s.reading.life = time.Now()
	switch t.State {
	case "closed", "crashed", "discarded", "reloaded":
		s.reading.lost = "the tab was " + t.State
	case "navigated", "ready":
		if !s.accepted {
			return
		}
		shown, passage := s.m.site.chatOf(t.URL)
		switch {
		case shown != "" && (s.chat.Provider == "" || shown == s.chat.Provider):
			s.bind(shown, t.URL)
		case t.State == "navigated" && s.chat.Provider != "" && !passage:
			s.reading.lost = "the tab went elsewhere"
		}
	}
}

// failed is the result of a session that did not come to a reply: what arrived, and why. The turn at the browser is ended, unless
// it is to be taken up again.
func (s *session) failed(ctx context.Context, err error) (loop.Reply, error) {
	cause := context.Cause(ctx)
	if errors.Is(cause, loop.ErrClosed) {
		return s.reply(), cause
	}
	if cause != nil {
		s.stop(ctx)
		err = cause
	}
	if !s.gone {
		s.endTurn(ctx)
	}
	var f *loop.Fault
	if !errors.As(err, &f) && s.err == nil && cause == nil {
		s.log.Error("chat tab failed", slog.Any("error", err))
		f = fault(loop.FaultInternal, err.Error())
		f.Unsent = !s.dispatched && s.atFirst(f).Unsent
		err = f
	}
	return s.reply(), err
}

// stop presses the site's own stop button.
func (s *session) stop(ctx context.Context) {
	if s.gone || !s.dispatched {
		return
	}
	if err := s.command(context.WithoutCancel(ctx), s.m.timing.command, link.StopTurn{Turn: s.req.Turn}, nil); err != nil {
		s.log.Info("stop not pressed", slog.String("error", err.Error()))
	}
}

// endTurn lets the browser forget the turn. One that it does not know is as good.
func (s *session) endTurn(ctx context.Context) {
	err := s.command(context.WithoutCancel(ctx), s.m.timing.command, link.EndTurn{Turn: s.req.Turn}, nil)
	var e *link.ResponseError
	if err != nil && !(errors.As(err, &e) && e.Code == "unknown-turn") {
		s.log.Info("turn not ended at the browser", slog.String("error", err.Error()))
	}
}

// sleep handles events for a while. It returns early, with an error, when the session must end.
func (s *session) sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case ev, ok := <-s.events:
			s.take(ctx, ev, ok)
			if s.err != nil {
				return s.err
			}
			if s.gone {
				return fmt.Errorf("wait: %w", link.ErrClosed)
			}
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
