package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// titleLength bounds a title that is made from a task, in characters.
const titleLength = 80

// maxThreads bounds a list of threads.
const maxThreads = 1000

const threadColumns = "id, folder, title, model, level, state, queued, pinned, archived, deleted, last_seq, read_seq, created, updated"

func scanThread(row scanner) (Thread, error) {
	var t Thread
	var deleted sql.NullInt64
	var created, updated int64
	err := row.Scan(&t.ID, &t.Folder, &t.Title, &t.Model, &t.Level, &t.State, &t.Queued,
		&t.Pinned, &t.Archived, &deleted, &t.LastSeq, &t.ReadSeq, &created, &updated)
	t.Deleted = deleted.Valid
	t.Created, t.Updated = fromStamp(created), fromStamp(updated)
	return t, err
}

// CreateThread makes a thread. An empty ID or Created is filled in; State,
// Queued and the numbers are the store's. A thread without a title gets one from its first turn.
func (s *Store) CreateThread(ctx context.Context, th Thread) (Thread, error) {
	if th.ID == "" {
		th.ID = NewID("t")
	}
	var out Thread
	err := s.write(ctx, "create thread", th.ID, func(t *tx) error {
		created := stamp(orNow(th.Created, t.now))
		_, err := t.exec(`INSERT INTO threads (id, folder, title, model, level, pinned, archived, created, updated)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, th.ID, orNull(th.Folder), clean(th.Title), clean(th.Model), th.Level, th.Pinned, th.Archived, created, created)
		if err != nil {
			return err
		}
		out, err = t.threadChanged(th.ID)
		return err
	})
	return out, err
}

// threadChanged appends the thread's event and returns the row, whose LastSeq is
// that of the event.
func (t *tx) threadChanged(id string) (Thread, error) {
	seq, err := t.nextSeq(id, EventThread)
	if err != nil {
		return Thread{}, err
	}
	th, err := t.thread(id)
	if err != nil {
		return th, err
	}
	body, err := encode(th)
	if err != nil {
		return th, err
	}
	_, err = t.insertEvent(Event{Thread: id, Seq: seq, Kind: EventThread, Body: []byte(body)})
	return th, err
}

func (t *tx) thread(id string) (Thread, error) {
	return one(context.Background(), t, scanThread, "SELECT "+threadColumns+" FROM thread_rows WHERE id = ?", id)
}

// Thread returns a thread by its id or by the beginning of it, with or without
// "t_"; ErrConflict when several begin so.
func (s *Store) Thread(ctx context.Context, id string) (Thread, error) {
	th, err := one(ctx, s, scanThread, "SELECT "+threadColumns+" FROM thread_rows WHERE id = ?", id)
	if id == "" || !errors.Is(err, ErrNotFound) {
		return th, s.fail("thread", id, err)
	}
	found, err := list(ctx, s, scanThread, "SELECT "+threadColumns+` FROM thread_rows
		WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, 1, length(?1) + 2) = 't_' || ?1 LIMIT 2`, id)
	switch {
	case err != nil:
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		err = ErrNotFound
	default:
		err = fmt.Errorf("%w: more than one thread begins so", ErrConflict)
	}
	return Thread{}, s.fail("thread", id, err)
}

// ThreadFilter selects threads for a list.
type ThreadFilter struct {
	Folder   string // Folder.ID, "" for all
	Archived bool   // the archived ones instead of the others
	Deleted  bool   // those in the bin instead, archived or not
	Query    string // part of the title, in any case
	Limit    int    // at most; 1000 when 0 or more
}

// Threads returns the threads that f selects: pinned first, then by the last
// thing that happened, newest first.
func (s *Store) Threads(ctx context.Context, f ThreadFilter) ([]Thread, error) {
	if f.Limit <= 0 || f.Limit > maxThreads {
		f.Limit = maxThreads
	}
	like := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(head(clean(f.Query), 1<<10)) + "%" // SQLite refuses very long patterns
	all, err := list(ctx, s, scanThread, "SELECT "+threadColumns+` FROM thread_rows
		WHERE (deleted IS NOT NULL) = ?1 AND (?1 OR archived = ?2) AND (?3 = '' OR folder = ?3) AND (?4 = '%%' OR title LIKE ?4 ESCAPE '\')
		ORDER BY pinned DESC, updated DESC, n DESC LIMIT ?5`, f.Deleted, f.Archived, f.Folder, like, f.Limit)
	return all, s.fail("threads", "", err)
}

// ThreadPatch changes what is not nil.
type ThreadPatch struct {
	Title, Model, Level       *string
	Pinned, Archived, Deleted *bool
	ReadSeq                   *int64 // only ever rises, and not over LastSeq; makes no event
}

// UpdateThread changes a thread's own fields. A patch that changes nothing
// appends no event.
func (s *Store) UpdateThread(ctx context.Context, id string, p ThreadPatch) (Thread, error) {
	var out Thread
	err := s.write(ctx, "update thread", id, func(t *tx) error {
		if p.ReadSeq != nil {
			if _, err := t.exec("UPDATE threads SET read_seq = max(read_seq, min(last_seq, ?)) WHERE id = ?", *p.ReadSeq, id); err != nil {
				return err
			}
		}
		before, err := t.thread(id)
		if err != nil {
			return err
		}
		if out = p.apply(before); out == before {
			return nil
		}
		_, err = t.exec(`UPDATE threads SET title = ?, model = ?, level = ?, pinned = ?, archived = ?,
			deleted = CASE WHEN ? THEN coalesce(deleted, ?) END WHERE id = ?`,
			out.Title, out.Model, out.Level, out.Pinned, out.Archived, out.Deleted, stamp(t.now), id)
		if err != nil {
			return err
		}
		out, err = t.threadChanged(id)
		return err
	})
	return out, err
}

func (p ThreadPatch) apply(th Thread) Thread {
	if p.Title != nil {
		th.Title = clean(*p.Title)
	}
	if p.Model != nil {
		th.Model = clean(*p.Model)
	}
	if p.Level != nil {
		th.Level = *p.Level
	}
	if p.Pinned != nil {
		th.Pinned = *p.Pinned
	}
	if p.Archived != nil {
		th.Archived = *p.Archived
	}
	if p.Deleted != nil {
		th.Deleted = *p.Deleted
	}
	return th
}

// titled gives a thread without a title the first line of its first task.
func (t *tx) titled(id, task string) error {
	title := firstLine(task, titleLength)
	if title == "" {
		return nil
	}
	n, err := t.exec("UPDATE threads SET title = ? WHERE id = ? AND title = ''", title, id)
	if err != nil || n == 0 {
		return err
	}
	_, err = t.threadChanged(id)
	return err
}
