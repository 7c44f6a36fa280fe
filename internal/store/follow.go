package store

import (
	"context"
	"iter"
	"sync"
)

const (
	maxLive      = 512     // live updates that wait for one follower
	maxLiveBytes = 1 << 20 // and their text
	followPage   = 256     // events read at once
	followBytes  = 4 << 20 // and their bodies
)

// FollowFrom says what a follower wants and what it has.
type FollowFrom struct {
	Thread string // "" for all threads and what belongs to none
	// After is the Seq of the last event that the follower has, or the ID when it
	// follows all; 0 for none. One that is not reached yet counts as the newest,
	// and so does a negative one.
	After int64
}

// followers is who is told of what.
type followers struct {
	mu   sync.Mutex
	last int64 // id of the newest committed event
	all  map[*follower]struct{}
}

// follower is one running Follow.
type follower struct {
	thread string
	start  int64         // id of the newest event when it came
	wake   chan struct{} // holds one

	mu     sync.Mutex
	newest int64 // id of the newest event that concerns it
	live   []liveItem
	bytes  int
}

// liveItem is a live update with the newest event that was there before it,
// so that the two kinds come in the order in which they happened.
type liveItem struct {
	after int64
	live  Live
}

// Publish shows an update to whoever follows its thread now. It never blocks: when
// a follower is slow its oldest live updates are dropped.
func (s *Store) Publish(l Live) {
	s.follow.mu.Lock()
	defer s.follow.mu.Unlock()
	for f := range s.follow.all {
		if f.thread == "" || f.thread == l.Thread {
			f.push(l)
		}
	}
}

// Follow yields every event after from, in order, without gap or repeat, and
// the live updates in between. An event is yielded soon after its commit. The
// sequence ends when ctx does, and after an error (ErrNotFound for an unknown thread,
// ErrClosed). It runs in the caller's goroutine and holds nothing between two updates.
func (s *Store) Follow(ctx context.Context, from FollowFrom) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		f := s.follow.add(from.Thread)
		defer s.follow.remove(f)
		w := &walk{s: s, ctx: ctx, thread: from.Thread, yield: yield}
		after, err := s.followStart(ctx, from, f.start)
		if err != nil {
			w.stop(err)
			return
		}
		w.after = after
		for {
			item, ok, newest := f.take()
			if ok {
				newest = item.after
			}
			if !w.events(newest) || ok && !w.live(item) {
				return
			}
			if ok {
				continue
			}
			select {
			case <-f.wake:
			case <-ctx.Done():
				return
			case <-s.closing:
				w.stop(ErrClosed)
				return
			}
		}
	}
}

// followStart returns the number to go on from. What a follower says it has is
// compared with the table, not with what followers were told of: a reader may
// have seen an event a moment before that.
func (s *Store) followStart(ctx context.Context, from FollowFrom, start int64) (int64, error) {
	last, err := s.lastNumber(ctx, from.Thread)
	if err != nil || from.After >= 0 && from.After <= last {
		return from.After, err
	}
	if from.Thread == "" {
		return start, nil
	}
	return one(ctx, s, value[int64], "SELECT coalesce((SELECT seq FROM events WHERE thread = ? AND id <= ? ORDER BY seq DESC LIMIT 1), 0)", from.Thread, start)
}

// lastNumber returns the Seq of the thread's newest event, the ID of the newest
// of all for "".
func (s *Store) lastNumber(ctx context.Context, thread string) (int64, error) {
	if thread == "" {
		return one(ctx, s, value[int64], newestEvent)
	}
	return one(ctx, s, value[int64], "SELECT last_seq FROM threads WHERE id = ? AND doomed = 0", thread)
}

// walk is the reading side of one Follow.
type walk struct {
	s      *Store
	ctx    context.Context
	thread string
	yield  func(Update, error) bool
	after  int64 // number of the last event yielded
	upTo   int64 // all events that concern it up to this id have been yielded
}

// stop yields an error, unless ctx ended and is the reason.
func (w *walk) stop(err error) bool {
	if w.ctx.Err() == nil {
		w.yield(Update{}, w.s.fail("follow", w.thread, err))
	}
	return false
}

func (w *walk) live(item liveItem) bool {
	return w.ctx.Err() == nil && w.yield(Update{Live: &item.live}, nil)
}

// events yields what is not yielded yet, up to an event id.
func (w *walk) events(upTo int64) bool {
	for w.upTo < upTo {
		page, more, err := w.page(upTo)
		if err != nil {
			return w.stop(err)
		}
		for i := range page {
			if w.ctx.Err() != nil || !w.yield(Update{Event: &page[i]}, nil) {
				return false
			}
			w.after = page[i].Seq
			if w.thread == "" {
				w.after = page[i].ID
			}
		}
		if !more {
			w.upTo = upTo
		}
	}
	return true
}

// page reads the next events up to an id, bounded in number and size, and
// whether there may be more.
func (w *walk) page(upTo int64) (page []Event, more bool, err error) {
	query := "SELECT " + eventColumns + " FROM events WHERE id > ? AND id <= ? ORDER BY id LIMIT ?"
	args := []any{w.after, upTo, followPage}
	if w.thread != "" {
		query = "SELECT " + eventColumns + " FROM events WHERE thread = ? AND seq > ? AND id <= ? ORDER BY seq LIMIT ?"
		args = append([]any{w.thread}, args...)
	}
	rows, err := w.s.rows(w.ctx, query, args...)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	size := 0
	for rows.Next() {
		e, err := scanEvent(rows)
		if err != nil {
			return nil, false, err
		}
		page = append(page, e)
		if size += len(e.Body); size > followBytes {
			return page, true, nil
		}
	}
	return page, len(page) == followPage, rows.Err()
}

// add registers first and takes the newest id in the same step: an event
// committed later wakes the follower, one committed before is in the table.
func (fs *followers) add(thread string) *follower {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f := &follower{thread: thread, start: fs.last, newest: fs.last, wake: make(chan struct{}, 1)}
	fs.all[f] = struct{}{}
	return f
}

func (fs *followers) remove(f *follower) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	delete(fs.all, f)
}

// committed tells the followers of events that are now in the table.
func (fs *followers) committed(events []eventKey) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.last = events[len(events)-1].id
	for f := range fs.all {
		for i := len(events) - 1; i >= 0; i-- {
			if f.thread == "" || f.thread == events[i].thread {
				f.reached(events[i].id)
				break
			}
		}
	}
}

func (f *follower) reached(id int64) {
	f.mu.Lock()
	f.newest = id
	f.mu.Unlock()
	f.signal()
}

func (f *follower) push(l Live) {
	f.mu.Lock()
	f.live = append(f.live, liveItem{after: f.newest, live: l})
	f.bytes += len(l.Text)
	drop := 0
	for len(f.live)-drop > maxLive || (f.bytes > maxLiveBytes && len(f.live)-drop > 1) {
		f.bytes -= len(f.live[drop].live.Text)
		drop++
	}
	f.live = f.live[drop:]
	f.mu.Unlock()
	f.signal()
}

func (f *follower) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// take removes the oldest live update, if any, and returns the newest event's id.
func (f *follower) take() (item liveItem, ok bool, newest int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.live) == 0 {
		return liveItem{}, false, f.newest
	}
	item, f.live = f.live[0], f.live[1:]
	f.bytes -= len(item.live.Text)
	if len(f.live) == 0 {
		f.live = nil
	}
	return item, true, f.newest
}
