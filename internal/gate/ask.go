package gate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"plexus/internal/store"
)

var (
	// ErrAnswered says that somebody was first; the approval that comes with it says who.
	ErrAnswered = errors.New("this question was answered before")
	// ErrGone says that the action is gone (stopped, or over), so there is nothing left to answer.
	ErrGone = errors.New("this question is gone: its action was stopped or is over")
	// ErrRule says that what should always be allowed makes no rule; the question stays open.
	ErrRule = errors.New("this cannot be allowed always")
)

// Answer is a person's word.
type Answer struct {
	Allow  bool
	Always bool   // with Allow: add a rule that spares the question next time
	Prefix string // with Always, for a command: the rule is for commands that begin with these words; "" is for exactly this one
	Reason string // with a denial: what the model is told
	By     string // ui, cli
}

// Gate keeps open questions. It is safe for concurrent use.
type Gate struct {
	store *store.Store
	log   *slog.Logger

	mu      sync.Mutex
	waiting map[string]chan struct{} // by approval; closed when it is settled
}

// New makes the gate of a store. There is one for a store: questions are answered
// through it and nowhere else.
func New(s *store.Store, log *slog.Logger) *Gate {
	return &Gate{store: s, log: log, waiting: map[string]chan struct{}{}}
}

// Ask records a question, which moves its action to waiting, and waits for the
// answer. Errors are those of Wait, and of the store when it could not be recorded.
func (g *Gate) Ask(ctx context.Context, a store.Approval) (store.Approval, error) {
	a, err := g.store.AddApproval(ctx, a)
	if err != nil {
		return a, fmt.Errorf("ask about %s: %w", a.Action, err)
	}
	g.log.Info("approval asked", slog.String("approval", a.ID), slog.String("action", a.Action), slog.String("tool", a.Tool))
	return g.Wait(ctx, a.ID)
}

// Wait blocks until an approval is settled and returns it: State is allowed, denied
// or gone. It may be called for a question of an earlier process, and by several at
// once. When ctx ends it returns the cause and the question stays open; Withdraw
// closes it.
func (g *Gate) Wait(ctx context.Context, id string) (store.Approval, error) {
	settled := g.settled(id)              // before reading, so that no answer falls in between
	reading := context.WithoutCancel(ctx) // an answer that is there counts, even at the end
	a, err := g.store.Approval(reading, id)
	if err != nil {
		g.wake(id)
		return a, fmt.Errorf("read approval %s: %w", id, err)
	}
	if a.State != store.ApprovalPending {
		g.wake(id)
		return a, nil
	}
	select {
	case <-settled:
	case <-ctx.Done():
		return a, context.Cause(ctx)
	}
	a, err = g.store.Approval(reading, id)
	if err != nil {
		return a, fmt.Errorf("read approval %s: %w", id, err)
	}
	return a, nil
}

func (g *Gate) settled(id string) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, ok := g.waiting[id]
	if !ok {
		c = make(chan struct{})
		g.waiting[id] = c
	}
	return c
}

func (g *Gate) wake(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c, ok := g.waiting[id]; ok {
		close(c)
		delete(g.waiting, id)
	}
}

// Answer settles a question. The first answer wins: a later one gets ErrAnswered
// with the approval as it was settled. ErrGone when nobody waits for it any
// more, store.ErrNotFound when there never was such a question.
func (g *Gate) Answer(ctx context.Context, id string, ans Answer) (store.Approval, error) {
	a, err := g.store.Approval(ctx, id)
	if err != nil {
		return a, fmt.Errorf("answer approval %s: %w", id, err)
	}
	if a.State != store.ApprovalPending {
		return a, settledError(a)
	}
	if gone, err := g.gone(ctx, a); err != nil || gone {
		if err == nil {
			a, err = g.Withdraw(ctx, id)
		}
		if err == nil {
			err = settledError(a)
		}
		return a, err
	}
	word := store.ApprovalAnswer{State: store.ApprovalDenied, Reason: strings.TrimSpace(ans.Reason), By: ans.By}
	if ans.Allow {
		word.State, word.Reason = store.ApprovalAllowed, ""
		if word.Always, err = rule(a, ans); err != nil {
			return a, err
		}
	}
	won, err := g.store.AnswerApproval(ctx, id, word)
	if errors.Is(err, store.ErrConflict) {
		if a, err = g.store.Approval(ctx, id); err != nil {
			return a, fmt.Errorf("answer approval %s: %w", id, err)
		}
		return a, settledError(a)
	}
	if err != nil {
		return a, fmt.Errorf("answer approval %s: %w", id, err)
	}
	g.log.Info("approval answered", slog.String("approval", id), slog.String("state", won.State), slog.String("by", won.By))
	g.wake(id)
	return won, nil
}

// Withdraw closes a question that nobody waits for any more, and returns it. One
// that was settled before stays as it was.
func (g *Gate) Withdraw(ctx context.Context, id string) (store.Approval, error) {
	a, err := g.store.GoneApproval(ctx, id)
	if errors.Is(err, store.ErrConflict) {
		a, err = g.store.Approval(ctx, id)
	}
	if err != nil {
		return a, fmt.Errorf("withdraw approval %s: %w", id, err)
	}
	g.wake(id)
	return a, nil
}

// gone reports whether the action of an open question no longer waits.
func (g *Gate) gone(ctx context.Context, a store.Approval) (bool, error) {
	act, err := g.store.Action(ctx, a.Action)
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read action %s: %w", a.Action, err)
	}
	return act.State != store.ActionWaiting, nil
}

func settledError(a store.Approval) error {
	if a.State == store.ApprovalGone {
		return ErrGone
	}
	return ErrAnswered
}

// rule is the always-allow rule that an answer asks for, nil for none.
func rule(a store.Approval, ans Answer) (*store.Rule, error) {
	if !ans.Always {
		return nil, nil
	}
	r := store.Rule{Folder: a.Folder, Kind: RuleWrite, Pattern: a.Title}
	switch {
	case ans.Prefix != "":
		r.Kind, r.Pattern = RulePrefix, strings.TrimSpace(ans.Prefix)
		if a.Command == "" || !hasPrefix(a.Command, r.Pattern) {
			return nil, fmt.Errorf("%w: %q is not what this command begins with; a prefix fits only a single command without shell characters", ErrRule, r.Pattern)
		}
	case a.Command != "":
		r.Kind, r.Pattern, r.Dir = RuleExact, strings.TrimSpace(a.Command), ruleDir(a.Dir)
	}
	if err := CheckRule(r.Kind, r.Pattern); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRule, err)
	}
	return &r, nil
}
