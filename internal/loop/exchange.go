package loop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plexus/internal/plx"
	"plexus/internal/store"
)

// exchange delivers out and returns the model's complete reply.
func (t *turn) exchange(ctx context.Context, out store.Message) (store.Message, error) {
	to := store.TurnSending
	if out.Kind == store.MessageResults {
		to = store.TurnReturning
	}
	req, err := t.request(ctx, out)
	if err != nil {
		return store.Message{}, err
	}
	row, reply, err := t.l.cfg.Store.BeginReply(ctx, t.turn.ID, store.TurnMove{To: to}, store.Message{Round: t.turn.Round + 1})
	if err != nil {
		return store.Message{}, fmt.Errorf("move the turn to %s: %w", to, err)
	}
	t.turn = row
	return t.deliver(ctx, req, reply)
}

// request describes a message to a Model.
func (t *turn) request(ctx context.Context, out store.Message) (Send, error) {
	chat, _, err := t.l.cfg.Store.CurrentChat(ctx, t.turn.Thread)
	if err != nil {
		return Send{}, fmt.Errorf("read the chat: %w", err)
	}
	text := out.Wire
	if text == "" {
		text = out.Text
	}
	return Send{Thread: t.thread, Folder: t.folder, Turn: t.turn.ID, Chat: chat, Message: out.ID,
		Text: text, Delivery: out.Delivery, Receipt: out.Receipt,
		History: func(ctx context.Context) ([]Exchange, error) { return t.history(ctx, out.ID) }}, nil
}

// history is what the model saw before the message with this id.
func (t *turn) history(ctx context.Context, before string) ([]Exchange, error) {
	messages, err := t.l.cfg.Store.Messages(ctx, t.turn.Thread)
	if err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	var out []Exchange
	for _, m := range messages {
		switch {
		case m.ID == before:
			return out, nil
		case m.Kind == store.MessageReply && m.Text != "":
			out = append(out, Exchange{Role: "assistant", Text: m.Text})
		case m.Kind != store.MessageReply && m.Delivery == store.DeliveryAccepted:
			text := m.Wire
			if text == "" {
				text = m.Text
			}
			out = append(out, Exchange{Role: "user", Text: text})
		}
	}
	return out, nil
}

// deliver runs a Send (or Recover, when an earlier process began it) under the watchdog and writes what came of it.
func (t *turn) deliver(ctx context.Context, req Send, reply store.Message) (store.Message, error) {
	watched, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	dog := time.AfterFunc(t.limits.Watchdog, func() { cancel(t.silent()) })
	defer dog.Stop()
	o := &observer{t: t, ctx: context.WithoutCancel(ctx), message: req.Message, state: req.Delivery,
		stream: newStream(t, reply.ID), alive: func() { dog.Reset(t.limits.Watchdog) }}
	t.l.streaming(t.turn.Thread, o.stream)
	defer t.l.streaming(t.turn.Thread, nil)
	call := t.model.Send
	if req.Delivery != store.DeliveryNone {
		call = t.model.Recover
	}
	got, err := call(watched, req, o)
	if cause := context.Cause(watched); err != nil && cause != nil {
		err = cause
	}
	return t.settle(ctx, o, settlement{reply: reply, got: got, err: err})
}

func (t *turn) silent() *Fault {
	return &Fault{Code: FaultSilent,
		Text: fmt.Sprintf("The model gave no sign of life for %s. What it did so far stays.", t.limits.Watchdog),
		Todo: "Look at the chat; then send a message to go on."}
}

type settlement struct {
	reply store.Message
	got   Reply
	err   error
}

// settle writes the reply as far as it came and what is known of the delivery.
func (t *turn) settle(ctx context.Context, o *observer, s settlement) (store.Message, error) {
	if t.l.ctx.Err() != nil {
		return store.Message{}, ErrClosed // a later start finds out
	}
	keep := context.WithoutCancel(ctx)
	if s.err != nil {
		if err := o.undelivered(s.err); err != nil {
			return store.Message{}, errors.Join(s.err, err)
		}
	}
	if s.got.Text == "" {
		s.got.Text = o.stream.text()
	}
	end := store.MessageEnd{Text: s.got.Text, Model: s.got.Model, Recovered: s.got.Recovered,
		Notes: plx.Parse(s.got.Text, plx.Options{Rendered: s.got.Recovered}).Notes}
	if s.err != nil {
		t.cut = &cutReply{id: s.reply.ID, end: end}
		return store.Message{}, s.err
	}
	if err := o.arrived(); err != nil {
		return store.Message{}, err
	}
	row, reply, err := t.l.cfg.Store.CompleteReply(keep, s.reply.ID, end, store.TurnMove{To: store.TurnActing, Round: &s.reply.Round})
	if err != nil {
		return store.Message{}, fmt.Errorf("record the reply: %w", err)
	}
	t.turn = row
	return reply, nil
}
