package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
)

// maxBody bounds the body of an event.
const maxBody = 8 << 20

// maxEvents bounds a page of events.
const maxEvents = 1000

const eventColumns = "id, coalesce(thread, ''), seq, turn, time, kind, body"

func scanEvent(row scanner) (Event, error) {
	var e Event
	var at int64
	err := row.Scan(&e.ID, &e.Thread, &e.Seq, &e.Turn, &at, &e.Kind, (*[]byte)(&e.Body))
	e.Time = fromStamp(at)
	return e, err
}

// Append adds an event that no transition of this package adds by itself: a
// note, an answer, a notice. thread may be "" for what belongs to none. A body over 8 MiB
// of JSON is refused with ErrTooLarge, an unknown thread with ErrNotFound.
func (s *Store) Append(ctx context.Context, thread, turn string, kind EventKind, body any) (Event, error) {
	text, err := encode(body)
	if err != nil {
		return Event{}, s.fail("append event", string(kind), err)
	}
	var e Event
	err = s.write(ctx, "append event to thread", thread, func(t *tx) (err error) {
		e, err = t.append(Event{Thread: thread, Turn: turn, Kind: kind, Body: json.RawMessage(text)})
		return err
	})
	return e, err
}

// append gives the event its id and numbers and writes it.
func (t *tx) append(e Event) (Event, error) {
	if len(e.Body) > maxBody {
		return e, fmt.Errorf("%w: a body of %d bytes, the bound is %d", ErrTooLarge, len(e.Body), maxBody)
	}
	seq, err := t.nextSeq(e.Thread, e.Kind)
	if err != nil {
		return e, err
	}
	e.Seq = seq
	return t.insertEvent(e)
}

// appendRow is append for a row that has just been written. It returns the
// event's id.
func (t *tx) appendRow(thread, turn string, kind EventKind, row any) (int64, error) {
	text, err := encode(row)
	if err != nil {
		return 0, err
	}
	e, err := t.append(Event{Thread: thread, Turn: turn, Kind: kind, Body: json.RawMessage(text)})
	return e.ID, err
}

// nextSeq takes the thread's next number. A thread's own event neither moves it
// in the list nor makes it unread: a person made the change.
func (t *tx) nextSeq(thread string, kind EventKind) (int64, error) {
	ctx := context.Background()
	switch {
	case thread == "":
		return one(ctx, t, value[int64], "SELECT coalesce(max(seq), 0) + 1 FROM events WHERE thread IS NULL")
	case kind == EventThread:
		return one(ctx, t, value[int64], `UPDATE threads SET last_seq = last_seq + 1,
			read_seq = CASE WHEN read_seq = last_seq THEN read_seq + 1 ELSE read_seq END
			WHERE id = ? AND doomed = 0 RETURNING last_seq`, thread)
	default:
		return one(ctx, t, value[int64], `UPDATE threads SET last_seq = last_seq + 1, updated = ?
			WHERE id = ? AND doomed = 0 RETURNING last_seq`, stamp(t.now), thread)
	}
}

func (t *tx) insertEvent(e Event) (Event, error) {
	e.Time = t.now
	var err error
	e.ID, err = t.insert("INSERT INTO events (thread, seq, turn, time, kind, body) VALUES (?, ?, ?, ?, ?, ?)",
		orNull(e.Thread), e.Seq, e.Turn, stamp(e.Time), string(e.Kind), string(e.Body))
	if err != nil {
		return e, err
	}
	t.index(e)
	t.events = append(t.events, eventKey{id: e.ID, thread: e.Thread})
	return e, nil
}

// Events returns the events of a thread ("" for those that belong to none)
// after a number, oldest first, at most limit (1000 when 0 or more).
func (s *Store) Events(ctx context.Context, thread string, after int64, limit int) ([]Event, error) {
	events, err := list(ctx, s, scanEvent,
		"SELECT "+eventColumns+" FROM events WHERE thread IS ? AND seq > ? ORDER BY seq LIMIT ?",
		orNull(thread), after, pageSize(limit))
	return events, s.fail("events of thread", thread, err)
}

// EventsBefore returns the last events of a thread before a number (0: the
// last of all), oldest first, at most limit (1000 when 0 or more).
func (s *Store) EventsBefore(ctx context.Context, thread string, before int64, limit int) ([]Event, error) {
	if before <= 0 {
		before = math.MaxInt64
	}
	events, err := list(ctx, s, scanEvent,
		"SELECT * FROM (SELECT "+eventColumns+" FROM events WHERE thread IS ? AND seq < ? ORDER BY seq DESC LIMIT ?) ORDER BY seq",
		orNull(thread), before, pageSize(limit))
	return events, s.fail("events of thread", thread, err)
}

// LastEventID returns the id of the newest event, 0 before the first.
func (s *Store) LastEventID(ctx context.Context) (int64, error) {
	id, err := s.lastNumber(ctx, "")
	return id, s.fail("last event", "", err)
}

func pageSize(limit int) int {
	if limit <= 0 || limit > maxEvents {
		return maxEvents
	}
	return limit
}
