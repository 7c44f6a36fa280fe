package store

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestEventPages(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	th, other := newThread(t, s), newThread(t, s)
	fill(t, s, th.ID, 2499) // with the thread's own 2500
	fill(t, s, other.ID, 10)
	rows := []struct {
		name        string
		page        func() ([]Event, error)
		first, last int64
	}{
		{"from the start", func() ([]Event, error) { return s.Events(ctx, th.ID, 0, 10) }, 1, 10},
		{"after", func() ([]Event, error) { return s.Events(ctx, th.ID, 10, 10) }, 11, 20},
		{"at the end", func() ([]Event, error) { return s.Events(ctx, th.ID, 2495, 10) }, 2496, 2500},
		{"after the end", func() ([]Event, error) { return s.Events(ctx, th.ID, 2500, 10) }, 0, 0},
		{"negative", func() ([]Event, error) { return s.Events(ctx, th.ID, -7, 3) }, 1, 3},
		{"no limit is the bound", func() ([]Event, error) { return s.Events(ctx, th.ID, 0, 0) }, 1, 1000},
		{"a limit over the bound", func() ([]Event, error) { return s.Events(ctx, th.ID, 0, math.MaxInt) }, 1, 1000},
		{"last page", func() ([]Event, error) { return s.EventsBefore(ctx, th.ID, 0, 10) }, 2491, 2500},
		{"before", func() ([]Event, error) { return s.EventsBefore(ctx, th.ID, 2491, 10) }, 2481, 2490},
		{"first page from the end", func() ([]Event, error) { return s.EventsBefore(ctx, th.ID, 4, 10) }, 1, 3},
		{"before the first", func() ([]Event, error) { return s.EventsBefore(ctx, th.ID, 1, 10) }, 0, 0},
		{"unknown thread", func() ([]Event, error) { return s.EventsBefore(ctx, "t_unknown", 0, 10) }, 0, 0},
	}
	for _, row := range rows {
		got, err := row.page()
		if err != nil || got == nil {
			t.Fatal(row.name, got, err)
		}
		want := int(row.last - row.first + 1)
		if row.first == 0 {
			want = 0
		}
		if len(got) != want {
			t.Errorf("%s: %d events, want %d", row.name, len(got), want)
			continue
		}
		for i, e := range got {
			if e.Seq != row.first+int64(i) || e.Thread != th.ID {
				t.Errorf("%s: event %d is %d of %s", row.name, i, e.Seq, e.Thread)
			}
		}
	}
}

func TestAppendBodies(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	th := newThread(t, s)
	for _, text := range []string{"", "<b>&amp;</b>", "nul \x00", "世界\u2028", "bad \xff", strings.Repeat("x", 1<<20)} {
		e := must(s.Append(ctx, th.ID, "u_x", EventAnswer, Answer{Text: text}))
		got := must(s.Events(ctx, th.ID, e.Seq-1, 1))[0]
		var a Answer
		if err := json.Unmarshal(got.Body, &a); err != nil || a.Text != strings.ToValidUTF8(text, "\uFFFD") {
			t.Errorf("%.20q came back as %.20q, %v", text, a.Text, err)
		}
		if string(got.Body) != string(e.Body) || got.ID != e.ID || got.Turn != "u_x" || !got.Time.Equal(e.Time) {
			t.Errorf("returned %+v, kept %+v", e, got)
		}
	}
	last := must(s.Thread(ctx, th.ID)).LastSeq
	_, err := s.Append(ctx, th.ID, "", EventAnswer, Answer{Text: strings.Repeat("x", maxBody)})
	wantIs(t, err, ErrTooLarge)
	_, err = s.Append(ctx, "t_unknown", "", EventNotice, Notice{})
	wantIs(t, err, ErrNotFound)
	if _, err = s.Append(ctx, th.ID, "", EventNotice, func() {}); err == nil {
		t.Error("a function was taken for a body")
	}
	if got := must(s.Thread(ctx, th.ID)).LastSeq; got != last {
		t.Fatal("a refused event took a number")
	}
}

// TestRefusedInABatch: a write that is refused takes nothing from those that
// share its commit, and leaves no gap.
func TestRefusedInABatch(t *testing.T) {
	s := open(t)
	th := newThread(t, s)
	hold, held := make(chan struct{}), make(chan struct{})
	results := make(chan error, 41)
	go func() {
		results <- s.write(t.Context(), "hold", "", func(*tx) error { close(held); <-hold; return nil })
	}()
	<-held
	for i := range 40 {
		go func() {
			var err error
			if i%2 == 0 {
				_, err = s.Append(t.Context(), th.ID, "", EventNotice, Notice{})
			} else {
				err = s.write(t.Context(), "refuse", "", func(t *tx) error {
					if _, err := t.append(Event{Thread: th.ID, Kind: EventNotice, Body: json.RawMessage("{}")}); err != nil {
						return err
					}
					return ErrConflict
				})
			}
			results <- err
		}()
	}
	close(hold)
	refused := 0
	for range 41 {
		if err := <-results; err != nil {
			wantIs(t, err, ErrConflict)
			refused++
		}
	}
	events := must(s.Events(t.Context(), th.ID, 0, 0))
	if refused != 20 || len(events) != 21 {
		t.Fatalf("%d refused, %d events", refused, len(events))
	}
	for i, e := range events {
		if e.Seq != int64(i)+1 {
			t.Fatal("a gap at", i)
		}
	}
}
