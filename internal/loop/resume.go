package loop

import (
	"context"
	"fmt"

	"plexus/internal/engine"
	"plexus/internal/plx"
	"plexus/internal/store"
	"plexus/internal/tool"
)

// resume takes up a turn that an earlier process left in flight. What it needs is in the store: the newest message of
// the turn tells whether something was on its way out, or a reply was being acted on.
func (t *turn) resume(ctx context.Context) (answer, error) {
	messages, err := t.l.cfg.Store.TurnMessages(ctx, t.turn.ID)
	if err != nil {
		return answer{}, fmt.Errorf("read the turn's messages: %w", err)
	}
	if messages, err = t.discardPartial(ctx, messages); err != nil {
		return answer{}, err
	}
	if len(messages) == 0 {
		// It ended between the states queued and sending: nothing was written yet.
		out, err := t.compose(ctx)
		if err != nil {
			return answer{}, err
		}
		return t.rounds(ctx, out)
	}
	last := messages[len(messages)-1]
	if last.Kind != store.MessageReply {
		return t.rounds(ctx, last)
	}
	return t.resumeReply(ctx, last)
}

// discardPartial takes back a reply that was streaming: its message is recovered whole or sent again.
func (t *turn) discardPartial(ctx context.Context, messages []store.Message) ([]store.Message, error) {
	if len(messages) == 0 {
		return nil, nil
	}
	last := messages[len(messages)-1]
	if last.Kind != store.MessageReply || last.Final {
		return messages, nil
	}
	if err := t.l.cfg.Store.DiscardReply(ctx, last.ID); err != nil {
		return nil, fmt.Errorf("discard the unfinished reply: %w", err)
	}
	return messages[:len(messages)-1], nil
}

// resumeReply goes on from a complete reply whose actions may have begun.
func (t *turn) resumeReply(ctx context.Context, reply store.Message) (answer, error) {
	begun, err := t.begun(ctx, reply.Round)
	if err != nil {
		return answer{}, err
	}
	var out store.Message
	var ans *answer
	if t.turn.Round < reply.Round || t.turn.State != store.TurnActing && t.turn.State != store.TurnWaiting {
		if err := t.move(ctx, store.TurnMove{To: store.TurnActing, Round: &reply.Round}); err != nil {
			return answer{}, err
		}
	}
	if len(begun) == 0 {
		out, ans, err = t.act(ctx, reply)
	} else {
		out, err = t.resumeBatch(ctx, reply, begun)
	}
	if err != nil || ans != nil {
		return deref(ans), err
	}
	return t.rounds(ctx, out)
}

// begun returns the records of the round's calls by their number.
func (t *turn) begun(ctx context.Context, round int) (map[int]store.Action, error) {
	actions, err := t.l.cfg.Store.TurnActions(ctx, t.turn.ID)
	if err != nil {
		return nil, fmt.Errorf("read the turn's actions: %w", err)
	}
	begun := map[int]store.Action{}
	for _, a := range actions {
		if a.Round == round {
			begun[a.N] = a
		}
	}
	return begun, nil
}

// resumeBatch settles each call of a batch that was cut short. What had a result keeps it, what was running is
// interrupted, an open question is asked on, and what had not begun is dropped: nothing is run twice.
func (t *turn) resumeBatch(ctx context.Context, reply store.Message, begun map[int]store.Action) (store.Message, error) {
	read := plx.Parse(reply.Text, plx.Options{Rendered: reply.Recovered})
	remarks := append(plx.Remarks(read), "Plexus was restarted while these actions ran.")
	var results []plx.Result
	gated := len(begun) == 1
	for i, a := range read.Actions {
		rec, ok := begun[i+1]
		switch {
		case ok:
			res, asked, err := t.settleAction(ctx, rec)
			if err != nil {
				return store.Message{}, err
			}
			gated = gated && asked
			results = append(results, result(a.Tool, res))
		case !gated:
			results = append(results, result(a.Tool, tool.Result{Status: tool.StatusDropped,
				Text: "Not run: Plexus was restarted before its turn came. Ask for it again if it still makes sense."}))
		}
	}
	return t.results(ctx, results, remarks)
}

// settleAction returns the result of a recorded call and whether a person was asked about it.
func (t *turn) settleAction(ctx context.Context, rec store.Action) (tool.Result, bool, error) {
	asked := rec.State == store.ActionWaiting || rec.Decision == engine.DecisionAllowed || rec.Decision == engine.DecisionDenied || rec.Decision == engine.DecisionAlways
	res, err := t.l.cfg.Engine.Resume(ctx, rec)
	if err != nil {
		return tool.Result{}, false, fmt.Errorf("settle %s after the restart: %w", rec.Tool, err)
	}
	return res, asked, nil
}
