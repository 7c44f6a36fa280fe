package chattab

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"plexus/internal/link"
	"plexus/internal/loop"
	"plexus/internal/store"
)

const (
	maxReopen = 3       // times that one message's tab is brought back
	maxShown  = 100_000 // characters of a message that the extension reports
)

// finish waits for the reply to be complete.
func (s *session) finish(ctx context.Context) (loop.Reply, error) {
	if err := s.read(ctx); err != nil {
		return s.failed(ctx, err)
	}
	s.endTurn(ctx)
	return s.reply(), nil
}

// reply is the reply as far as it came.
func (s *session) reply() loop.Reply {
	r := &s.reading
	if r.recovered != nil {
		return loop.Reply{Text: *r.recovered, Model: r.model, Recovered: true}
	}
	return loop.Reply{Text: r.decoder.Text(), Model: r.model}
}

// read handles events until the reply is complete, by its frames or by the page.
func (s *session) read(ctx context.Context) error {
	r := &s.reading
	for reopened := 0; ; {
		switch {
		case s.err != nil:
			return s.err
		case s.complete():
			return nil
		case s.gone:
			if err := s.reconnect(ctx); err != nil {
				return err
			}
		case r.lost != "" || r.decoder.Ended():
			otherwise := fault(loop.FaultTabLost, "")
			if r.suspect != "" {
				otherwise = holed(r.suspect)
			}
			if reopened++; reopened > maxReopen {
				return s.giveUp(otherwise)
			}
			if err := s.fromPage(ctx, s.m.timing.page, otherwise); err != nil {
				return err
			}
		case len(r.ahead) > 0:
			whole, err := s.refill(ctx)
			if err != nil && !errors.Is(err, link.ErrClosed) && !errors.Is(err, errSlow) {
				return err
			}
			if !whole && !s.gone {
				r.ahead, r.waiting = map[int64]*link.StreamUpdate{}, 0
				r.suspect = "frames were lost between the browser and Plexus"
				r.lost = r.suspect
			}
		default:
			if err := s.next(ctx); err != nil {
				return err
			}
		}
	}
}

// next waits for one event, or for one of the times at which waiting is not enough.
func (s *session) next(ctx context.Context) error {
	r := &s.reading
	due, act := r.life.Add(s.m.timing.silence), s.silent
	if r.trouble != nil && r.patience.Before(due) {
		due, act = r.patience, s.troubled
	}
	if end := r.closing.Add(s.m.timing.closed); !r.closing.IsZero() && end.Before(due) {
		due, act = end, s.unproved
	}
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	select {
	case ev, ok := <-s.events:
		s.take(ctx, ev, ok)
		return nil
	case <-timer.C:
		return act(ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// troubled is called when the site has not got over what it complained of.
func (s *session) troubled(ctx context.Context) error {
	f := s.reading.trouble
	if !passing(f.Code) || !s.accepted {
		return s.giveUp(f)
	}
	if s.generating(ctx) {
		s.reading.trouble = nil
		return nil
	}
	return s.fromPage(ctx, s.m.timing.trouble/2, f)
}

// unproved is called when what carried the reply has ended and nothing has come since. A page that is still at it gets more time;
// one that is done has the last word on what the reply is.
func (s *session) unproved(ctx context.Context) error {
	r := &s.reading
	if s.generating(ctx) {
		r.closing = time.Now()
		s.keepAlive()
		return nil
	}
	if s.err != nil || s.gone || ctx.Err() != nil {
		return s.err
	}
	if r.finished && r.suspect == "" {
		return s.closeReading()
	}
	if err := s.fromPage(ctx, 2*s.m.timing.trouble, nil); err != nil || s.complete() || s.gone || r.lost != "" {
		return err
	}
	if r.suspect != "" {
		return holed(r.suspect)
	}
	if !r.grown {
		return fault(loop.FaultSiteError, "")
	}
	s.notice(store.Notice{Code: "reply-cut", Tone: "warn", Text: "The chat site ended the reply without marking it as finished. It may be cut off."})
	return s.closeReading()
}

// closeReading takes what has come for the whole reply.
func (s *session) closeReading() error {
	for _, u := range s.reading.decoder.Finish() {
		s.update(u)
	}
	return s.err
}

// holed is the fault of a reply that may have a hole and that the page does not show whole.
func holed(why string) *loop.Fault {
	return &loop.Fault{Code: loop.FaultLinkLost,
		Text: "A part of the reply was lost on its way (" + why + "), so nothing of it was acted on.",
		Todo: "Send a message to go on. The whole reply is in the chat's tab."}
}

// silent is called when nothing was heard for long.
func (s *session) silent(ctx context.Context) error {
	if s.generating(ctx) {
		s.reading.life = time.Now()
		s.status("The page is still waiting for the model")
		return nil
	}
	if s.gone || ctx.Err() != nil {
		return nil
	}
	return s.fromPage(ctx, 2*s.m.timing.trouble, fault(loop.FaultSilent, ""))
}

// generating asks the page whether the model is at work.
func (s *session) generating(ctx context.Context) bool {
	var facts link.PageFacts
	err := s.command(ctx, s.m.timing.command, link.LookPage{Thread: s.req.Thread.ID, Tab: s.tab}, &facts)
	if err != nil {
		s.log.Info("page not seen", slog.String("error", err.Error()))
	}
	return err == nil && facts.Generating
}

// giveUp ends the reading with f.
func (s *session) giveUp(f *loop.Fault) error {
	if s.reading.grown {
		f.Text += " What came of the reply is kept."
	}
	return f
}

// reconnect waits for the browser to come back and goes on where the frames broke off, or else with the page.
func (s *session) reconnect(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	s.reading.life = time.Now()
	if !s.holds() {
		s.reading.lost = "the browser forgot the turn"
		return nil
	}
	s.status("Waiting for the reply")
	s.send, s.tab = s.fact.Send, s.fact.Tab
	whole, err := s.refill(ctx)
	if err != nil && !errors.Is(err, link.ErrClosed) && !errors.Is(err, errSlow) {
		return err
	}
	if !whole && !s.gone {
		s.reading.suspect = "frames were lost between the browser and Plexus"
		s.reading.lost = s.reading.suspect
	}
	return nil
}

// fromPage reads the reply off the rendered page, for at most limit. Frames that come meanwhile count as well. Without a reply it
// returns otherwise, which may be nil.
func (s *session) fromPage(ctx context.Context, limit time.Duration, otherwise *loop.Fault) error {
	r := &s.reading
	s.status("Reading the reply from the page")
	why := r.lost
	r.lost = ""
	defer func() {
		if s.gone && r.lost == "" {
			r.lost = why
		}
	}()
	end := time.Now().Add(limit)
	if s.chat.Provider != "" {
		if err := s.openTab(ctx, s.chat.URL); err != nil {
			return s.pageFailed(ctx, err, otherwise)
		}
	}
	ask := link.RecoverTurn{ID: s.number(), Turn: s.req.Turn, Thread: s.req.Thread.ID, Tab: s.tab, MessageID: s.receipt}
	if s.receipt == "" {
		ask.Text = s.req.Text
	}
	for found := false; !found; {
		var res link.RecoverResult
		if err := s.command(ctx, s.m.timing.command, ask, &res); err != nil {
			return s.pageFailed(ctx, err, otherwise)
		}
		found = res.Found
		if s.complete() {
			return nil
		}
		if !found && time.Now().After(end) {
			return s.orFault(otherwise)
		}
		if !found {
			if err := s.sleep(ctx, s.m.timing.look); err != nil {
				return s.pageFailed(ctx, err, otherwise)
			}
		}
	}
	return s.watchPage(ctx, end, otherwise)
}

// watchPage waits for the page to show the reply. The page reports a tagged one by itself; any other is taken when two looks in a row
// find the same text and the model not at work.
func (s *session) watchPage(ctx context.Context, end time.Time, otherwise *loop.Fault) error {
	r := &s.reading
	var seen string
	for time.Now().Before(end) {
		done, err := s.until(ctx, s.m.timing.watch, func() bool { return s.complete() || r.lost != "" })
		if err != nil || done || s.gone {
			return err
		}
		s.keepAlive()
		text := s.shown(ctx)
		if text != "" && text == seen && !s.complete() {
			r.recovered = &text
			return nil
		}
		seen = text
	}
	return s.orFault(otherwise)
}

// shown returns the reply that the page shows below our message, "" while there is none, the model is at work, or the site
// complains: beside an error card stands what came before the error, which is no reply.
func (s *session) shown(ctx context.Context) string {
	var facts link.PageFacts
	err := s.command(ctx, s.m.timing.command, link.LookPage{Thread: s.req.Thread.ID, Tab: s.tab}, &facts)
	if err != nil || facts.Generating || facts.Notice != nil {
		return ""
	}
	var parts []string
	below := false
	for _, m := range facts.Messages {
		switch {
		case m.Role == "user":
			below, parts = s.receipt != "" && m.ID == s.receipt || alike(m.Text, s.req.Text), nil
		case below && m.Role == "assistant" && m.Text != "":
			parts = append(parts, m.Text)
		}
	}
	text := strings.Join(parts, "\n\n")
	if len(text) >= maxShown {
		return "" // it may have been cut
	}
	return text
}

// complete reports whether the reply is all there.
func (s *session) complete() bool {
	r := &s.reading
	return r.recovered != nil || r.decoder.Ended() && r.suspect == ""
}

func (s *session) orFault(f *loop.Fault) error {
	if f == nil {
		return nil
	}
	return s.giveUp(f)
}

// pageFailed is what comes of a page that cannot be asked.
func (s *session) pageFailed(ctx context.Context, err error, otherwise *loop.Fault) error {
	var refused *link.ResponseError
	switch {
	case s.err != nil:
		return s.err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, link.ErrClosed):
		return nil
	case errors.As(err, &refused) && noticeCodes[refused.Code] != "":
		return s.giveUp(responseFault(refused))
	case errors.As(err, &refused) && retryable(refused.Code):
		s.reading.lost = refused.Text
		return s.sleepQuietly(ctx)
	}
	s.log.Info("page not read", slog.String("error", err.Error()))
	return s.orFault(otherwise)
}

// sleepQuietly waits a moment before the page is tried again.
func (s *session) sleepQuietly(ctx context.Context) error {
	if err := s.sleep(ctx, s.m.timing.look); err != nil && !errors.Is(err, link.ErrClosed) {
		return err
	}
	return nil
}
