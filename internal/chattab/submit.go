package chattab

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"plexus/internal/link"
	"plexus/internal/loop"
	"plexus/internal/store"
)

// deliver sends the message, trying again where that is safe. When it returns nil the site has taken the message.
func (s *session) deliver(ctx context.Context) error {
	s.endTurn(ctx) // frames of an earlier message of the turn are of no more use
	clear := time.Now().Add(s.m.timing.draft)
	for attempt := 1; ; attempt++ {
		err := s.attempt(ctx)
		switch {
		case s.accepted && s.err == nil:
			return nil
		case s.err != nil:
			return s.err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case s.dispatched:
			// It may have gone: only proof that it did not lets it be sent again.
			arrived, serr := s.settle(ctx, err)
			if serr != nil {
				return serr
			}
			if arrived {
				return s.takeUp(ctx)
			}
			s.dispatched = false
		}
		wait, again := s.again(err, attempt, clear)
		if !again {
			return asFault(err)
		}
		if code(err) == "user-draft" {
			attempt-- // waiting for the person costs no attempt
		}
		s.log.Info("message not sent yet", slog.Int("attempt", attempt), slog.Any("error", err))
		if err := s.pause(ctx, wait); err != nil {
			return err
		}
	}
}

// again decides whether a message that certainly was not sent is tried once more, and after how long.
func (s *session) again(err error, attempt int, clear time.Time) (time.Duration, bool) {
	var refused *link.ResponseError
	wait := s.m.timing.retry << (attempt - 1)
	switch {
	case errors.As(err, &refused) && refused.Code == "user-draft":
		s.waitForDraft()
		return s.m.timing.look, time.Now().Before(clear)
	case attempt >= maxAttempts:
		return 0, false
	case errors.As(err, &refused):
		return wait, retryable(refused.Code) || refused.Code == "no-post"
	}
	return wait, errors.Is(err, link.ErrClosed) || errors.Is(err, errSlow)
}

// waitForDraft tells once that the person's text is in the way.
func (s *session) waitForDraft() {
	if s.draftTold {
		return
	}
	s.draftTold = true
	f := fault(loop.FaultUserDraft, "")
	s.notice(store.Notice{Code: f.Code, Tone: "warn", Text: f.Text, Todo: "Send or clear your text in the chat's tab; the message goes out by itself then."})
}

// pause waits before another attempt, and for the browser if it went away.
func (s *session) pause(ctx context.Context, d time.Duration) error {
	err := s.sleep(ctx, d)
	if errors.Is(err, link.ErrClosed) || err == nil && s.gone {
		return s.connect(ctx)
	}
	return err
}

// attempt tries once to have the message sent.
func (s *session) attempt(ctx context.Context) error {
	if s.gone {
		if err := s.connect(ctx); err != nil {
			return err
		}
	}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	if err := s.on.Delivery(store.DeliveryAttempting, ""); err != nil {
		s.err = err
		return err
	}
	s.told = time.Now()
	s.status("Sending the message")
	s.send = s.number()
	s.reading.lost, s.reading.trouble = "", nil
	var res link.SendResult
	err := s.submit(ctx, &res)
	if err == nil {
		s.accept(res.MessageID, res.ConversationID, res.URL)
	}
	return err
}

// submit gives the command and sees it through. When the turn is to end, what the page may not click any more is left, and
// what it was let click is waited for a little: its outcome is worth knowing.
func (s *session) submit(ctx context.Context, res *link.SendResult) error {
	limit, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), s.m.timing.submit, errSlow)
	defer cancel()
	done := s.start(limit, link.SendMessage{ID: s.send, Turn: s.req.Turn, Thread: s.req.Thread.ID, Tab: s.tab, Text: s.req.Text}, res)
	ended := ctx.Done()
	for {
		select {
		case ev, ok := <-s.events:
			s.take(ctx, ev, ok)
			if s.err != nil {
				cancel()
			}
		case err := <-done:
			s.drain(ctx, err)
			return err
		case <-ended:
			ended, s.stopping = nil, true
			wait := time.AfterFunc(s.m.timing.settle, cancel)
			defer wait.Stop()
			if !s.dispatched {
				cancel()
			}
		}
	}
}

func code(err error) string {
	var refused *link.ResponseError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}
