package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// age makes a thread older than it is.
func age(t *testing.T, s *Store, thread string, by time.Duration) {
	t.Helper()
	err := s.write(t.Context(), "age", thread, func(t *tx) error {
		_, err := t.exec("UPDATE threads SET updated = updated - ?1, deleted = deleted - ?1 WHERE id = ?2", by.Microseconds(), thread)
		return err
	})
	wantIs(t, err, nil)
}

// ageAssets makes all assets old enough to be removed.
func ageAssets(t *testing.T, s *Store) {
	t.Helper()
	err := s.write(t.Context(), "age assets", "", func(t *tx) error {
		_, err := t.exec("UPDATE assets SET seen = 0")
		return err
	})
	wantIs(t, err, nil)
}

func rowCount(t *testing.T, s *Store, table string) int {
	t.Helper()
	return must(one(t.Context(), s, value[int], "SELECT count(*) FROM "+table))
}

func TestPurge(t *testing.T) {
	const day = 24 * time.Hour
	rows := []struct {
		name  string
		make  func(t *testing.T, s *Store, th Thread)
		keep  Retention
		stays bool
	}{
		{"nothing asked", func(t *testing.T, s *Store, th Thread) { age(t, s, th.ID, 999*day) }, Retention{}, true},
		{"old", func(t *testing.T, s *Store, th Thread) { age(t, s, th.ID, 31*day) }, Retention{Age: 30 * day}, false},
		{"not old enough", func(t *testing.T, s *Store, th Thread) { age(t, s, th.ID, 29*day) }, Retention{Age: 30 * day}, true},
		{"old and pinned", func(t *testing.T, s *Store, th Thread) {
			must(s.UpdateThread(t.Context(), th.ID, ThreadPatch{Pinned: ptr(true)}))
			age(t, s, th.ID, 31*day)
		}, Retention{Age: 30 * day}, true},
		{"old with a turn that waits", func(t *testing.T, s *Store, th Thread) {
			must(s.EnqueueTurn(t.Context(), th.ID, "x"))
			age(t, s, th.ID, 31*day)
		}, Retention{Age: 30 * day, Bytes: 1}, true},
		{"old with a turn in flight", func(t *testing.T, s *Store, th Thread) {
			u := must(s.EnqueueTurn(t.Context(), th.ID, "x"))
			must(s.MoveTurn(t.Context(), u.ID, TurnMove{To: TurnActing}))
			age(t, s, th.ID, 31*day)
		}, Retention{Age: 30 * day, Bytes: 1}, true},
		{"in the bin for long, though pinned", func(t *testing.T, s *Store, th Thread) {
			must(s.UpdateThread(t.Context(), th.ID, ThreadPatch{Pinned: ptr(true), Deleted: ptr(true)}))
			age(t, s, th.ID, 8*day)
		}, Retention{Bin: 7 * day}, false},
		{"in the bin for short", func(t *testing.T, s *Store, th Thread) {
			must(s.UpdateThread(t.Context(), th.ID, ThreadPatch{Deleted: ptr(true)}))
			age(t, s, th.ID, 6*day)
		}, Retention{Bin: 7 * day}, true},
		{"over the size", func(*testing.T, *Store, Thread) {}, Retention{Bytes: 1}, false},
		{"under the size", func(*testing.T, *Store, Thread) {}, Retention{Bytes: 1 << 30}, true},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			s := open(t)
			th := newThread(t, s)
			row.make(t, s, th)
			p := must(s.Purge(t.Context(), row.keep))
			_, err := s.Thread(t.Context(), th.ID)
			if stays := err == nil; stays != row.stays || (p.Threads == 0) != row.stays {
				t.Fatalf("stays: %v, %+v, %v", stays, p, err)
			}
		})
	}
}

// TestPurgeLeavesNothing: a purged thread is gone from every table, with its
// assets, and what another thread uses stays.
func TestPurgeLeavesNothing(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	shared := json.RawMessage(fmt.Sprintf("%q", strings.Repeat("s", maxInline)))
	own := json.RawMessage(fmt.Sprintf("%q", strings.Repeat("o", maxInline)))
	work := func(inputs ...json.RawMessage) Thread {
		th := newThread(t, s)
		u := must(s.EnqueueTurn(ctx, th.ID, "task"))
		must(s.AddMessage(ctx, Message{Thread: th.ID, Turn: u.ID, Kind: MessageUser, Text: "findme"}))
		m := must(s.AddMessage(ctx, Message{Thread: th.ID, Turn: u.ID, Kind: MessageReply}))
		wantIs(t, s.AppendReply(ctx, m.ID, "x"), nil)
		must(s.BindChat(ctx, Chat{Thread: th.ID}))
		for _, in := range inputs {
			a := must(s.AddAction(ctx, Action{Thread: th.ID, Turn: u.ID, Tool: "write", Input: in}))
			must(s.AddApproval(ctx, Approval{Thread: th.ID, Turn: u.ID, Action: a.ID}))
		}
		must(s.MoveTurn(ctx, u.ID, TurnMove{To: TurnAnswered}))
		return th
	}
	tables := []string{"threads", "turns", "messages", "message_chunks", "chats", "actions", "approvals", "events", "search", "assets"}
	kept := work(shared)
	before := map[string]int{}
	for _, table := range tables {
		before[table] = rowCount(t, s, table)
	}
	gone := work(shared, own)
	fill(t, s, gone.ID, purgeStep+1)
	ageAssets(t, s)
	must(s.UpdateThread(ctx, gone.ID, ThreadPatch{Deleted: ptr(true)}))
	age(t, s, gone.ID, time.Hour)
	p := must(s.Purge(ctx, Retention{Bin: time.Minute}))
	if p.Threads != 1 || p.Assets != 1 || p.Bytes != int64(len(own)) {
		t.Fatalf("%+v", p)
	}
	for _, table := range tables {
		if n := rowCount(t, s, table); n != before[table] {
			t.Errorf("%s has %d rows, had %d", table, n, before[table])
		}
	}
	if got := must(s.OpenActions(ctx)); len(got) != 1 || got[0].Thread != kept.ID || string(got[0].Input) != string(shared) {
		t.Fatal("the other thread lost its asset")
	}
	if n := len(assetFiles(t, s)); n != 1 {
		t.Fatal(n, "asset files")
	}
	if n := must(one(ctx, s, value[int], "PRAGMA freelist_count")); n != 0 {
		t.Fatal(n, "free pages were not given back")
	}
}

// TestPurgeIsFinished: a purge that was cut short after it marked its threads
// is finished by the next, and the thread is gone from the mark on.
func TestPurgeIsFinished(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	th := newThread(t, s)
	wantIs(t, s.doom(ctx, "id = ?", th.ID), nil)
	_, err := s.Thread(ctx, th.ID)
	wantIs(t, err, ErrNotFound)
	_, err = s.UpdateThread(ctx, th.ID, ThreadPatch{Deleted: ptr(false), Title: ptr("x")})
	wantIs(t, err, ErrNotFound)
	_, err = s.Append(ctx, th.ID, "", EventNotice, Notice{})
	wantIs(t, err, ErrNotFound)
	_, err = s.EnqueueTurn(ctx, th.ID, "x")
	wantIs(t, err, ErrNotFound)
	if all := must(s.Threads(ctx, ThreadFilter{})); len(all) != 0 {
		t.Fatal(all)
	}
	if p := must(s.Purge(ctx, Retention{})); p.Threads != 1 {
		t.Fatalf("%+v", p)
	}
}

func TestPurgeWhatBelongsToNoThread(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	old := must(s.AddAction(ctx, Action{Tool: "read"}))
	must(s.MoveAction(ctx, old.ID, ActionMove{To: ActionDone}))
	waiting := must(s.AddAction(ctx, Action{Tool: "read"}))
	err := s.write(ctx, "age", "", func(t *tx) error {
		if _, err := t.exec("UPDATE actions SET ended = 0 WHERE ended IS NOT NULL"); err != nil {
			return err
		}
		_, err := t.exec("UPDATE events SET time = 0")
		return err
	})
	wantIs(t, err, nil)
	last := must(s.LastEventID(ctx))
	must(s.Purge(ctx, Retention{Age: time.Hour}))
	_, err = s.Action(ctx, old.ID)
	wantIs(t, err, ErrNotFound)
	must(s.Action(ctx, waiting.ID))
	if events := must(s.Events(ctx, "", 0, 0)); len(events) != 1 || events[0].ID != last {
		t.Fatal(events)
	}
	if e := must(s.Append(ctx, "", "", EventNotice, Notice{})); e.Seq != 4 || e.ID != last+1 {
		t.Fatal("numbers were given again:", e)
	}
}

func TestPurgeBySizeTakesTheBinFirst(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	oldest, binned, newest := newThread(t, s), newThread(t, s), newThread(t, s)
	for _, th := range []Thread{oldest, binned, newest} {
		fill(t, s, th.ID, 300)
	}
	age(t, s, oldest.ID, time.Hour)
	must(s.UpdateThread(ctx, binned.ID, ThreadPatch{Deleted: ptr(true)}))
	size := must(s.Size(ctx))
	if p := must(s.Purge(ctx, Retention{Bytes: size - 1})); p.Threads != 1 {
		t.Fatalf("%+v", p)
	}
	_, err := s.Thread(ctx, binned.ID)
	wantIs(t, err, ErrNotFound)
	if p := must(s.Purge(ctx, Retention{Bytes: must(s.Size(ctx)) - 1})); p.Threads != 1 {
		t.Fatalf("%+v", p)
	}
	_, err = s.Thread(ctx, oldest.ID)
	wantIs(t, err, ErrNotFound)
	must(s.Thread(ctx, newest.ID))
}

func TestAssets(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	for _, text := range []string{"", "a", strings.Repeat("x", 1<<20)} {
		hash, n, err := s.PutAsset(ctx, strings.NewReader(text))
		if err != nil || n != int64(len(text)) {
			t.Fatal(n, err)
		}
		again := must2(t)(s.PutAsset(ctx, iotest.OneByteReader(strings.NewReader(text[:min(len(text), 10)]))))
		if len(text) <= 10 && again != hash {
			t.Fatal("the same bytes under two names")
		}
		r := must(s.OpenAsset(ctx, hash))
		got := must(io.ReadAll(r))
		r.Close()
		if string(got) != text {
			t.Fatalf("%d bytes came back of %d", len(got), len(text))
		}
	}
	for _, hash := range []string{"", "x", "../../etc/passwd", strings.Repeat("a", 64), strings.Repeat("A", 64), strings.Repeat("a", 63) + "/", strings.Repeat("a", 65)} {
		_, err := s.OpenAsset(ctx, hash)
		wantIs(t, err, ErrNotFound)
	}
	broken := errors.New("line went dead")
	_, _, err := s.PutAsset(ctx, io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)))
	wantIs(t, err, broken)
	for _, name := range assetFiles(t, s) {
		if strings.HasPrefix(name, "new-") {
			t.Fatal("a temporary file stayed:", name)
		}
	}
}

func TestUnusedAssets(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	young := must2(t)(s.PutAsset(ctx, strings.NewReader("young")))
	must(s.Purge(ctx, Retention{}))
	must(s.OpenAsset(ctx, young)).Close()
	ageAssets(t, s)
	again := must2(t)(s.PutAsset(ctx, strings.NewReader("young"))) // young again
	if p := must(s.Purge(ctx, Retention{})); p.Assets != 0 {
		t.Fatalf("%+v", p)
	}
	ageAssets(t, s)
	if err := os.WriteFile(filepath.Join(s.assets, "new-left-by-a-crash"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if p := must(s.Purge(ctx, Retention{})); p.Assets != 1 || p.Bytes != 5 {
		t.Fatalf("%+v", p)
	}
	_, err := s.OpenAsset(ctx, again)
	wantIs(t, err, ErrNotFound)
	if files := assetFiles(t, s); len(files) != 0 {
		t.Fatal(files)
	}
}

// TestPurgeWhilePutting: an asset that is being put and used is never lost to
// a purge.
func TestPurgeWhilePutting(t *testing.T) {
	s := open(t)
	stop := make(chan struct{})
	purged := make(chan error)
	go func() {
		for {
			select {
			case <-stop:
				close(purged)
				return
			default:
				if _, err := s.Purge(context.Background(), Retention{}); err != nil {
					purged <- err
				}
			}
		}
	}()
	for i := range 30 {
		ageAssets(t, s)
		in := json.RawMessage(fmt.Sprintf("%q", fmt.Sprint(i%3, strings.Repeat("x", maxInline))))
		a := must(s.AddAction(t.Context(), Action{Tool: "write", Input: in}))
		if got := must(s.Action(t.Context(), a.ID)); string(got.Input) != string(in) {
			t.Fatalf("round %d: %.100s", i, got.Input)
		}
	}
	close(stop)
	for err := range purged {
		t.Error(err)
	}
}

func assetFiles(t *testing.T, s *Store) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(s.assets, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, d.Name())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
