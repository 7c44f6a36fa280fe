package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// limitPages bounds the database to n pages, as a full disk would.
func limitPages(t *testing.T, s *Store, n int64) {
	t.Helper()
	err := s.write(t.Context(), "limit", "", func(t *tx) error {
		rows, err := t.rows(context.Background(), fmt.Sprintf("PRAGMA max_page_count = %d", n))
		if err != nil {
			return err
		}
		return rows.Close()
	})
	wantIs(t, err, nil)
}

// TestDiskFull: on a full disk writes fail with ErrFull and leave nothing
// behind, what was acknowledged stays, reading goes on, and with room again so does writing.
func TestDiskFull(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	th := newThread(t, s)
	pages := must(one(ctx, s, value[int64], "PRAGMA page_count"))
	limitPages(t, s, pages+100)

	big := Answer{Text: strings.Repeat("words that fill the disk ", 400)}
	var acked []int64
	var failed error
	for failed == nil {
		e, err := s.Append(ctx, th.ID, "", EventAnswer, big)
		if failed = err; err == nil {
			acked = append(acked, e.Seq)
		}
	}
	wantIs(t, failed, ErrFull)
	if !strings.Contains(failed.Error(), "free some space") {
		t.Errorf("%q does not say what to do", failed)
	}
	if len(acked) == 0 {
		t.Fatal("nothing fitted")
	}
	check := func() {
		t.Helper()
		events := must(s.Events(ctx, th.ID, 1, 0))
		if len(events) != len(acked) {
			t.Fatalf("%d events, %d were acknowledged", len(events), len(acked))
		}
		for i, e := range events {
			if e.Seq != acked[i] || e.Seq != int64(i)+2 {
				t.Fatalf("event %d is %d", i, e.Seq)
			}
		}
	}
	check()
	_, err := s.Append(ctx, th.ID, "", EventAnswer, big) // still
	wantIs(t, err, ErrFull)
	check()
	limitPages(t, s, 1<<30)
	for range 3 {
		acked = append(acked, must(s.Append(ctx, th.ID, "", EventAnswer, big)).Seq)
	}
	check()
	s.Close()
	s = openAt(t, s.path)
	if s.Aside() != "" {
		t.Fatal("taken for damaged")
	}
	check()
}

// TestDiskFullSparesOthers: in a batch, the write that does not fit fails
// alone; those that fit are kept.
func TestDiskFullSparesOthers(t *testing.T) {
	s := open(t)
	th := newThread(t, s)
	pages := must(one(t.Context(), s, value[int64], "PRAGMA page_count"))
	limitPages(t, s, pages+20)
	hold, held := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = s.write(context.Background(), "hold", "", func(*tx) error { close(held); <-hold; return nil })
	})
	<-held
	errs := make([]error, 11)
	for i := range errs {
		text := "small"
		if i == 5 {
			text = strings.Repeat("x", 1<<20)
		}
		wg.Go(func() { _, errs[i] = s.Append(context.Background(), th.ID, "", EventNotice, Notice{Text: text}) })
	}
	close(hold)
	wg.Wait()
	for i, err := range errs {
		if want := i == 5; errors.Is(err, ErrFull) != want || (err != nil) != want {
			t.Errorf("write %d: %v", i, err)
		}
	}
	if events := must(s.Events(t.Context(), th.ID, 1, 0)); len(events) != 10 {
		t.Fatal(len(events))
	}
}
