package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// follow starts a Follow in a goroutine that ends with the test, and returns its updates.
func follow(t *testing.T, s *Store, from FollowFrom) <-chan Update {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	updates := make(chan Update)
	done := make(chan struct{})
	ready := followerCount(s) + 1
	go func() {
		defer close(done)
		defer close(updates)
		for u, err := range s.Follow(ctx, from) {
			if err != nil {
				t.Errorf("follow: %v", err)
				return
			}
			select {
			case updates <- u:
			case <-ctx.Done():
				return
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	for followerCount(s) < ready {
		runtime.Gosched()
	}
	return updates
}

func followerCount(s *Store) int {
	s.follow.mu.Lock()
	defer s.follow.mu.Unlock()
	return len(s.follow.all)
}

// TestFollowWhileAppending: followers that come at any time, from anywhere,
// see every event from there on once, in order, while many append.
func TestFollowWhileAppending(t *testing.T) {
	const threads, each = 3, 120
	s := open(t)
	var ids []string
	for range threads {
		ids = append(ids, newThread(t, s).ID)
	}
	start := must(s.LastEventID(t.Context()))
	total := int64(threads * each)

	var wg sync.WaitGroup
	for _, id := range ids {
		for half := range 2 {
			wg.Go(func() {
				for i := range each / 2 {
					must(s.Append(context.Background(), id, "", EventNotice, Notice{Text: fmt.Sprint(half, i)}))
					s.Publish(Live{Thread: id, Text: "live"})
				}
			})
		}
	}
	for after := int64(0); after <= each; after += 30 {
		for _, id := range ids {
			wg.Go(func() {
				next := min(after, must(s.Thread(context.Background(), id)).LastSeq) + 1
				for u, err := range s.Follow(context.Background(), FollowFrom{Thread: id, After: next - 1}) {
					if err != nil {
						t.Error(err)
						return
					}
					if u.Event == nil {
						continue
					}
					if u.Event.Seq != next || u.Event.Thread != id {
						t.Errorf("event %d of %s, want %d", u.Event.Seq, u.Event.Thread, next)
						return
					}
					if next++; next > each+1 { // the thread's own event, and each
						return
					}
				}
			})
		}
		wg.Go(func() {
			next := start + 1
			for u, err := range s.Follow(context.Background(), FollowFrom{After: start}) {
				if err != nil {
					t.Error(err)
					return
				}
				if u.Event == nil {
					continue
				}
				if u.Event.ID != next {
					t.Errorf("event %d, want %d", u.Event.ID, next)
					return
				}
				if next++; next > start+total {
					return
				}
			}
		})
	}
	wg.Wait()
	if n := followerCount(s); n != 0 {
		t.Fatalf("%d followers stayed", n)
	}
}

// TestFollowOrder: a live update comes after the events that were there before
// it, and before those that came later.
func TestFollowOrder(t *testing.T) {
	s := open(t)
	th := newThread(t, s)
	for _, from := range []FollowFrom{{Thread: th.ID, After: -1}, {After: -1}} {
		updates := follow(t, s, from)
		for i := range 20 {
			name := fmt.Sprint(i)
			must(s.Append(t.Context(), th.ID, "", EventNotice, Notice{Code: name}))
			s.Publish(Live{Thread: th.ID, Text: name})
		}
		for i := range 40 {
			u := <-updates
			switch {
			case i%2 == 0 && (u.Event == nil || !strings.Contains(string(u.Event.Body), fmt.Sprintf(`"code":"%d"`, i/2))):
				t.Fatalf("update %d: %+v", i, u)
			case i%2 == 1 && (u.Live == nil || u.Live.Text != fmt.Sprint(i/2)):
				t.Fatalf("update %d: %+v", i, u)
			}
		}
	}
}

func TestFollowSlow(t *testing.T) {
	s := open(t)
	th, other := newThread(t, s), newThread(t, s)
	updates := follow(t, s, FollowFrom{Thread: th.ID, After: -1})
	first := must(s.Append(t.Context(), th.ID, "", EventNotice, Notice{}))
	if u := <-updates; u.Event == nil || u.Event.ID != first.ID {
		t.Fatalf("%+v", u)
	}
	// The follower now waits to be read. All this has to wait with it, within bounds.
	for i := range 3 * maxLive {
		s.Publish(Live{Thread: th.ID, Offset: int64(i), Text: strings.Repeat("x", 100)})
		s.Publish(Live{Thread: other.ID, Text: "not for it"})
	}
	for i := range 50 {
		must(s.Append(t.Context(), th.ID, "", EventNotice, Notice{Code: fmt.Sprint(i)}))
	}
	lives, events, last := 0, 0, int64(-1)
	for events < 50 {
		switch u := <-updates; {
		case u.Event != nil:
			if events++; u.Event.Seq != first.Seq+int64(events) {
				t.Fatal("lost an event before", u.Event.Seq)
			}
		case u.Live.Thread != th.ID || u.Live.Offset <= last:
			t.Fatalf("%+v after %d", u.Live, last)
		default:
			lives++
			last = u.Live.Offset
		}
	}
	if last != 3*maxLive-1 || lives > maxLive+2 || lives < maxLive {
		t.Fatalf("%d live updates came, the last is %d", lives, last)
	}
}

func TestLiveQueueBounds(t *testing.T) {
	f := &follower{wake: make(chan struct{}, 1)}
	for range 10 {
		f.push(Live{Text: strings.Repeat("x", maxLiveBytes/4)})
	}
	for range 4 {
		if _, ok, _ := f.take(); !ok {
			t.Fatal("too few")
		}
	}
	if _, ok, _ := f.take(); ok || f.bytes != 0 {
		t.Fatal("too many", f.bytes)
	}
	f.push(Live{Text: strings.Repeat("x", 2*maxLiveBytes)}) // alone it may be larger
	if _, ok, _ := f.take(); !ok || f.bytes != 0 {
		t.Fatal(ok, f.bytes)
	}
}

func TestFollowStarts(t *testing.T) {
	s := open(t)
	th := newThread(t, s)
	must(s.Append(t.Context(), "", "", EventNotice, Notice{Code: "nobody's"}))
	mine := must(s.Append(t.Context(), th.ID, "", EventNotice, Notice{}))
	if next := <-follow(t, s, FollowFrom{Thread: th.ID, After: 1}); next.Event.ID != mine.ID {
		t.Fatalf("%+v", next.Event)
	}
	if next := <-follow(t, s, FollowFrom{After: 1}); next.Event.ID != 2 || next.Event.Thread != "" {
		t.Fatalf("%+v", next.Event)
	}
	beyond := follow(t, s, FollowFrom{Thread: th.ID, After: 1 << 40})
	all := follow(t, s, FollowFrom{After: 1 << 40})
	e := must(s.Append(t.Context(), th.ID, "", EventNotice, Notice{}))
	if next := <-beyond; next.Event.ID != e.ID {
		t.Fatalf("%+v", next.Event)
	}
	if next := <-all; next.Event.ID != e.ID {
		t.Fatalf("%+v", next.Event)
	}
}

func TestFollowEnds(t *testing.T) {
	s := open(t)
	th := newThread(t, s)
	for _, err := range s.Follow(t.Context(), FollowFrom{Thread: "t_unknown"}) {
		wantIs(t, err, ErrNotFound)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for u, err := range s.Follow(ctx, FollowFrom{Thread: th.ID}) {
		if err != nil || u.Event.Seq != 1 {
			t.Fatal(u, err)
		}
		cancel() // in the middle of it
	}
	for range s.Follow(ctx, FollowFrom{Thread: th.ID}) {
		t.Fatal("an update after the end")
	}
	ended := make(chan error)
	go func() {
		for _, err := range s.Follow(context.Background(), FollowFrom{After: -1}) {
			ended <- err
		}
		close(ended)
	}()
	for followerCount(s) == 0 {
		runtime.Gosched()
	}
	s.Close()
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
	if _, more := <-ended; more {
		t.Fatal("it went on")
	}
}

// TestFollowLargeBodies: pages are cut by size, and nothing is skipped.
func TestFollowLargeBodies(t *testing.T) {
	s := open(t)
	th := newThread(t, s)
	for range 12 {
		must(s.Append(t.Context(), th.ID, "", EventAnswer, Answer{Text: strings.Repeat("word ", 200_000)}))
	}
	updates := follow(t, s, FollowFrom{Thread: th.ID})
	for i := range 13 {
		if u := <-updates; u.Event.Seq != int64(i)+1 {
			t.Fatal(u.Event.Seq)
		}
	}
}

// TestFollowFromWhatWasJustRead: an event that a reader saw before followers
// were told of it is not yielded to the one who says that it has it.
func TestFollowFromWhatWasJustRead(t *testing.T) {
	s := open(t)
	th := newThread(t, s)
	e := must(s.Append(t.Context(), th.ID, "", EventNotice, Notice{}))
	s.follow.last-- // as it is between the commit and the telling
	mine, all := follow(t, s, FollowFrom{Thread: th.ID, After: e.Seq}), follow(t, s, FollowFrom{After: e.ID})
	next := must(s.Append(t.Context(), th.ID, "", EventNotice, Notice{}))
	for _, updates := range []<-chan Update{mine, all} {
		if u := <-updates; u.Event.ID != next.ID {
			t.Fatalf("event %d came, want %d", u.Event.ID, next.ID)
		}
	}
}
