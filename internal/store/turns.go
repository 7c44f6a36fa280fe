package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// CodeRemoved is the Code of a turn that was taken out of the queue. Its
// state is TurnStopped and it never began.
const CodeRemoved = "removed"

const turnColumns = "id, thread, task, state, round, position, code, reason, since, created, started, ended"

// inFlight is the condition of the index turns_flight, word for word, so that it is used.
const inFlight = "state NOT IN ('queued', 'answered', 'failed', 'stopped')"

func scanTurn(row scanner) (Turn, error) {
	var t Turn
	var since, created int64
	var started, ended sql.NullInt64
	err := row.Scan(&t.ID, &t.Thread, &t.Task, &t.State, &t.Round, &t.Position, &t.Code, &t.Reason, &since, &created, &started, &ended)
	t.Since, t.Created = fromStamp(since), fromStamp(created)
	t.Started, t.Ended = fromNullStamp(started), fromNullStamp(ended)
	return t, err
}

func (t *tx) turn(id string) (Turn, error) {
	return one(context.Background(), t, scanTurn, "SELECT "+turnColumns+" FROM turns WHERE id = ?", id)
}

// saveTurn writes what can change of a turn and appends its event.
func (t *tx) saveTurn(tu Turn) error {
	_, err := t.exec("UPDATE turns SET task = ?, state = ?, round = ?, position = ?, code = ?, reason = ?, since = ?, started = ?, ended = ? WHERE id = ?",
		tu.Task, string(tu.State), tu.Round, tu.Position, tu.Code, tu.Reason, stamp(tu.Since), stampOrNull(tu.Started), stampOrNull(tu.Ended), tu.ID)
	if err != nil {
		return err
	}
	_, err = t.appendRow(tu.Thread, tu.ID, EventTurn, tu)
	return err
}

// EnqueueTurn puts a task at the end of the thread's queue. A thread in the
// bin gives ErrConflict.
func (s *Store) EnqueueTurn(ctx context.Context, thread, task string) (Turn, error) {
	id := NewID("u")
	var out Turn
	err := s.write(ctx, "enqueue turn in thread", thread, func(t *tx) error {
		th, err := t.thread(thread)
		if err != nil {
			return err
		}
		if th.Deleted {
			return fmt.Errorf("%w: the thread is in the bin", ErrConflict)
		}
		last, err := one(ctx, t, value[int], "SELECT coalesce(max(position), 0) FROM turns WHERE thread = ? AND state = 'queued'", thread)
		if err != nil {
			return err
		}
		out = Turn{ID: id, Thread: thread, Task: clean(task), State: TurnQueued, Position: last + 1, Since: t.now, Created: t.now}
		_, err = t.exec("INSERT INTO turns (id, thread, task, state, position, since, created) VALUES (?, ?, ?, ?, ?, ?, ?)",
			out.ID, out.Thread, out.Task, string(out.State), out.Position, stamp(out.Since), stamp(out.Created))
		if err != nil {
			return err
		}
		if err := t.titled(thread, out.Task); err != nil {
			return err
		}
		_, err = t.appendRow(thread, out.ID, EventTurn, out)
		return err
	})
	return out, err
}

// Turn returns a turn.
func (s *Store) Turn(ctx context.Context, id string) (Turn, error) {
	tu, err := one(ctx, s, scanTurn, "SELECT "+turnColumns+" FROM turns WHERE id = ?", id)
	return tu, s.fail("turn", id, err)
}

// Turns returns all turns of a thread in the order in which they were made.
func (s *Store) Turns(ctx context.Context, thread string) ([]Turn, error) {
	all, err := list(ctx, s, scanTurn, "SELECT "+turnColumns+" FROM turns WHERE thread = ? ORDER BY n", thread)
	return all, s.fail("turns of thread", thread, err)
}

const queuedTurns = "SELECT " + turnColumns + " FROM turns WHERE thread = ? AND state = 'queued' ORDER BY position"

// QueuedTurns returns the turns of a thread that wait, first to run first.
func (s *Store) QueuedTurns(ctx context.Context, thread string) ([]Turn, error) {
	all, err := list(ctx, s, scanTurn, queuedTurns, thread)
	return all, s.fail("queued turns of thread", thread, err)
}

// NextQueued returns the turn that may start now: the first in the queue when
// none is in flight and the thread is not in the bin.
func (s *Store) NextQueued(ctx context.Context, thread string) (Turn, bool, error) {
	tu, err := one(ctx, s, scanTurn, "SELECT "+turnColumns+` FROM turns WHERE thread = ?1 AND state = 'queued'
		AND NOT EXISTS (SELECT 1 FROM turns WHERE thread = ?1 AND `+inFlight+`)
		AND EXISTS (SELECT 1 FROM threads WHERE id = ?1 AND deleted IS NULL AND doomed = 0)
		ORDER BY position LIMIT 1`, thread)
	if errors.Is(err, ErrNotFound) {
		return Turn{}, false, nil
	}
	return tu, err == nil, s.fail("next turn of thread", thread, err)
}

// ActiveTurns returns the turns in flight of all threads.
func (s *Store) ActiveTurns(ctx context.Context) ([]Turn, error) {
	all, err := list(ctx, s, scanTurn, "SELECT "+turnColumns+" FROM turns INDEXED BY turns_flight WHERE "+inFlight+" ORDER BY n")
	return all, s.fail("active turns", "", err)
}

// ThreadsWithQueue returns the ids of the threads outside the bin in which a turn waits.
func (s *Store) ThreadsWithQueue(ctx context.Context) ([]string, error) {
	all, err := list(ctx, s, value[string], `SELECT id FROM threads WHERE deleted IS NULL AND doomed = 0
		AND id IN (SELECT thread FROM turns WHERE state = 'queued') ORDER BY n`)
	return all, s.fail("threads with a queue", "", err)
}

// EditQueued changes the task of a turn that waits, else ErrConflict.
func (s *Store) EditQueued(ctx context.Context, id, task string) (Turn, error) {
	return s.changeQueued(ctx, "edit turn", id, func(tu *Turn, _ *tx) { tu.Task = clean(task) })
}

// RemoveQueued takes a turn out of the queue: it is stopped with CodeRemoved
// without having begun. ErrConflict when it does not wait any more.
func (s *Store) RemoveQueued(ctx context.Context, id string) (Turn, error) {
	return s.changeQueued(ctx, "remove turn", id, func(tu *Turn, t *tx) {
		tu.State, tu.Code, tu.Reason = TurnStopped, CodeRemoved, "Removed from the queue before it began."
		tu.Since, tu.Ended = t.now, t.at()
	})
}

func (s *Store) changeQueued(ctx context.Context, what, id string, change func(*Turn, *tx)) (Turn, error) {
	var out Turn
	err := s.write(ctx, what, id, func(t *tx) error {
		tu, err := t.turn(id)
		if err != nil {
			return err
		}
		if tu.State != TurnQueued {
			return fmt.Errorf("%w: it is %s, not queued", ErrConflict, tu.State)
		}
		change(&tu, t)
		out = tu
		return t.saveTurn(tu)
	})
	return out, err
}

// ReorderQueue puts the thread's queue in the order of ids, which must name
// exactly the turns that wait, else ErrConflict: the queue has changed meanwhile.
func (s *Store) ReorderQueue(ctx context.Context, thread string, ids []string) ([]Turn, error) {
	var out []Turn
	err := s.write(ctx, "reorder queue of thread", thread, func(t *tx) error {
		if _, err := t.thread(thread); err != nil {
			return err
		}
		queue, err := list(ctx, t, scanTurn, queuedTurns, thread)
		if err != nil {
			return err
		}
		out, err = reordered(queue, ids)
		if err != nil {
			return err
		}
		for i, tu := range out {
			if tu.ID == queue[i].ID {
				continue // in its place already
			}
			if err := t.saveTurn(tu); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// reordered returns queue in the order of ids, with the positions that it had.
func reordered(queue []Turn, ids []string) ([]Turn, error) {
	out := make([]Turn, 0, len(queue))
	for _, id := range ids {
		at := slices.IndexFunc(queue, func(tu Turn) bool { return tu.ID == id })
		again := slices.ContainsFunc(out, func(tu Turn) bool { return tu.ID == id })
		if at < 0 || again {
			return nil, fmt.Errorf("%w: the queue has changed", ErrConflict)
		}
		tu := queue[at]
		tu.Position = queue[len(out)].Position
		out = append(out, tu)
	}
	if len(out) != len(queue) {
		return nil, fmt.Errorf("%w: the queue has changed", ErrConflict)
	}
	return out, nil
}

// TurnMove is a transition of a turn.
type TurnMove struct {
	From         []TurnState // where it must be; nil for anywhere but a final state
	To           TurnState   // never queued
	Code, Reason string      // replace what the turn has
	Round        *int        // nil leaves it
}

// MoveTurn makes a transition. ErrConflict when the turn is not in From, is
// final, or leaves the queue while another of its thread is in flight.
func (s *Store) MoveTurn(ctx context.Context, id string, m TurnMove) (Turn, error) {
	var out Turn
	err := s.write(ctx, "move turn", id, func(t *tx) (err error) {
		out, err = t.moveTurn(id, m)
		return err
	})
	return out, err
}

func (t *tx) moveTurn(id string, m TurnMove) (Turn, error) {
	tu, err := t.turn(id)
	if err != nil {
		return Turn{}, err
	}
	if err := m.allowed(tu); err != nil {
		return Turn{}, err
	}
	if tu.State != m.To {
		tu.Since = t.now
	}
	if tu.Started == nil && !m.To.Final() {
		tu.Started = t.at()
	}
	if m.To.Final() {
		tu.Ended = t.at()
	}
	if m.Round != nil {
		tu.Round = *m.Round
	}
	tu.State, tu.Code, tu.Reason = m.To, m.Code, clean(m.Reason)
	return tu, t.saveTurn(tu)
}

// TurnEnd is how a turn ended, with all that belongs to that.
type TurnEnd struct {
	To           TurnState // a final one
	Code, Reason string
	Answer       *Answer    // nil for none
	Cut          string     // a reply that the end cut short, by its Message.ID; "" for none
	CutEnd       MessageEnd // as far as it came
}

// EndTurn moves a turn to a final state, and writes in the same transaction what was answered and what came of a reply
// that was cut short: no reader sees one without the other, and none is written twice. ErrConflict when the turn is
// final already.
func (s *Store) EndTurn(ctx context.Context, id string, end TurnEnd) (Turn, error) {
	var out Turn
	err := s.write(ctx, "end turn", id, func(t *tx) error {
		tu, err := t.turn(id)
		if err != nil {
			return err
		}
		if !end.To.Final() {
			return fmt.Errorf("a turn does not end as %q", end.To)
		}
		if tu.State.Final() {
			return fmt.Errorf("%w: it is %s", ErrConflict, tu.State)
		}
		if end.Answer != nil {
			if _, err := t.appendRow(tu.Thread, tu.ID, EventAnswer, end.Answer); err != nil {
				return err
			}
		}
		if end.Cut != "" {
			if _, err := t.finishReply(end.Cut, end.CutEnd); err != nil {
				return err
			}
		}
		tu.State, tu.Code, tu.Reason, tu.Since, tu.Ended = end.To, end.Code, clean(end.Reason), t.now, t.at()
		out = tu
		return t.saveTurn(tu)
	})
	return out, err
}

// shiftTurn moves a turn that is in state from, with what happened to its approval; any other is left alone.
func (t *tx) shiftTurn(id string, from, to TurnState) error {
	if id == "" {
		return nil
	}
	tu, err := t.turn(id)
	if errors.Is(err, ErrNotFound) || err == nil && tu.State != from {
		return nil
	}
	if err != nil {
		return err
	}
	tu.State, tu.Since = to, t.now
	return t.saveTurn(tu)
}

func (m TurnMove) allowed(tu Turn) error {
	switch m.To {
	case TurnComposing, TurnSending, TurnStreaming, TurnActing, TurnWaiting, TurnReturning, TurnAnswered, TurnFailed, TurnStopped:
	default:
		return fmt.Errorf("a turn cannot move to state %q", m.To)
	}
	if tu.State.Final() || m.From != nil && !slices.Contains(m.From, tu.State) {
		return fmt.Errorf("%w: it is %s", ErrConflict, tu.State)
	}
	return nil
}
