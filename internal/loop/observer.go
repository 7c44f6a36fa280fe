package loop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"plexus/internal/plx"
	"plexus/internal/store"
)

// observer writes down what a Model reports of one Send.
type observer struct {
	t       *turn
	ctx     context.Context
	message string
	stream  *stream
	alive   func()
	state   store.Delivery
}

var _ Observer = (*observer)(nil)

func (o *observer) Delivery(state store.Delivery, receipt string) error {
	o.alive()
	if o.state == store.DeliveryAccepted && state != store.DeliveryAccepted {
		return nil // an earlier process saw it arrive; what arrived stays arrived, also when the model is asked again
	}
	if _, err := o.t.l.cfg.Store.SetDelivery(o.ctx, o.message, state, receipt); err != nil {
		return fmt.Errorf("record the delivery as %s: %w", state, err)
	}
	o.state = state
	if state != store.DeliveryAccepted || o.t.turn.State == store.TurnStreaming {
		return nil
	}
	return o.t.move(o.ctx, store.TurnMove{To: store.TurnStreaming})
}

func (o *observer) Bound(chat store.Chat) error {
	o.alive()
	chat.Thread = o.t.turn.Thread
	if _, err := o.t.l.cfg.Store.BindChat(o.ctx, chat); err != nil {
		return fmt.Errorf("record the chat: %w", err)
	}
	return nil
}

func (o *observer) Text(delta string) {
	o.alive()
	o.stream.add(o.ctx, delta)
}

func (o *observer) Reasoning(delta string) {
	o.alive()
	o.stream.show("reasoning", 0, delta)
}

func (o *observer) Status(text string) {
	o.alive()
	o.t.l.cfg.Store.Publish(store.Live{Thread: o.t.turn.Thread, Turn: o.t.turn.ID, Kind: "status", Text: text})
}

func (o *observer) Notice(n store.Notice) {
	o.alive()
	o.t.notice(o.ctx, n)
}

// undelivered writes what a failure means for the message: not taken when that is certain, unknown when it
// was on its way.
func (o *observer) undelivered(cause error) error {
	var fault *Fault
	state := o.state
	switch {
	case errors.As(cause, &fault) && fault.Unsent:
		state = store.DeliveryFailed
	case state == store.DeliveryDispatched:
		state = store.DeliveryUnknown
	case state == store.DeliveryAttempting:
		state = store.DeliveryFailed // dispatched is always reported before the effect
	}
	if state == o.state {
		return nil
	}
	if _, err := o.t.l.cfg.Store.SetDelivery(o.ctx, o.message, state, ""); err != nil {
		return fmt.Errorf("record the delivery as %s: %w", state, err)
	}
	return nil
}

// arrived makes sure that a message with a complete reply counts as taken, whatever the Model reported.
func (o *observer) arrived() error {
	if o.state == store.DeliveryAccepted {
		return nil
	}
	return o.Delivery(store.DeliveryAccepted, "")
}

// Text of a streaming reply is shown at once and stored in pieces.
const (
	storePiece = 16 << 10
	storeEvery = 250 * time.Millisecond
)

// stream is a reply on its way: each delta is parsed once, shown, and stored soon after.
type stream struct {
	t       *turn  // for its runner alone, which changes it
	thread  string // what it belongs to, for all
	turn    string
	message string
	parser  *plx.Parser
	all     strings.Builder
	pending strings.Builder // not yet stored
	stored  time.Time

	mu    sync.Mutex // guards shown, which Loop.Live reads
	shown []*shown
}

// shown is one note, the answer, or the reasoning, as far as it was published.
type shown struct {
	kind  string
	index int
	text  strings.Builder
}

func newStream(t *turn, message string) *stream {
	return &stream{t: t, thread: t.turn.Thread, turn: t.turn.ID, message: message, parser: plx.NewParser(plx.Options{}), stored: time.Now()}
}

func (s *stream) text() string { return s.all.String() }

func (s *stream) add(ctx context.Context, delta string) {
	s.all.WriteString(delta)
	s.pending.WriteString(delta)
	for _, e := range s.parser.Feed(delta) {
		if e.Action != nil {
			s.t.l.cfg.Store.Publish(s.piece(string(e.Kind), e.Index, 0, e.Action.Tool))
			continue
		}
		s.show(string(e.Kind), e.Index, e.Text)
	}
	if s.pending.Len() >= storePiece || time.Since(s.stored) >= storeEvery {
		s.flush(ctx)
	}
}

// show publishes text after what was published of the same part before.
func (s *stream) show(kind string, index int, text string) {
	s.mu.Lock()
	part := s.part(kind, index)
	offset := int64(part.text.Len())
	part.text.WriteString(text)
	s.mu.Unlock()
	s.t.l.cfg.Store.Publish(s.piece(kind, index, offset, text))
}

func (s *stream) part(kind string, index int) *shown {
	for i := len(s.shown) - 1; i >= 0; i-- { // nearly always the last
		if p := s.shown[i]; p.kind == kind && p.index == index {
			return p
		}
	}
	p := &shown{kind: kind, index: index}
	s.shown = append(s.shown, p)
	return p
}

func (s *stream) piece(kind string, index int, offset int64, text string) store.Live {
	return store.Live{Thread: s.thread, Turn: s.turn, Kind: kind, Of: s.message, Index: index, Offset: offset, Text: text}
}

// live is all that was published, each part from its start.
func (s *stream) live() []store.Live {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []store.Live
	for _, p := range s.shown {
		all = append(all, s.piece(p.kind, p.index, 0, p.text.String()))
	}
	return all
}

// flush stores what is pending. A failure is not the end: the whole text is written when the reply is complete.
func (s *stream) flush(ctx context.Context) {
	s.stored = time.Now()
	if s.pending.Len() == 0 {
		return
	}
	if err := s.t.l.cfg.Store.AppendReply(ctx, s.message, s.pending.String()); err != nil {
		s.t.log.Warn("streaming text not stored yet", slog.Any("error", err))
	}
	s.pending.Reset()
}
