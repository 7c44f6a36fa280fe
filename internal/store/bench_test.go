package store

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// fill gives a thread n events, many to a commit.
func fill(b testing.TB, s *Store, thread string, n int) {
	b.Helper()
	for done := 0; done < n; {
		step := min(2000, n-done)
		err := s.write(context.Background(), "fill", thread, func(t *tx) error {
			for i := range step {
				body := fmt.Sprintf(`{"message":"m_aaaaaaaaaaaa","round":%d,"text":"reading the files of package %d before the change"}`, i, done+i)
				if _, err := t.append(Event{Thread: thread, Kind: EventNote, Body: []byte(body)}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		done += step
	}
}

// BenchmarkAppend measures acknowledged events a second: one caller pays for a commit each,
// many share.
func BenchmarkAppend(b *testing.B) {
	for _, callers := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			s := open(b)
			th := newThread(b, s)
			note := Note{Message: "m_aaaaaaaaaaaa", Text: strings.Repeat("a line of a note ", 10)}
			b.ResetTimer()
			var wg sync.WaitGroup
			var left atomic.Int64
			left.Store(int64(b.N))
			for range callers {
				wg.Go(func() {
					for left.Add(-1) >= 0 {
						if _, err := s.Append(context.Background(), th.ID, "", EventNote, note); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

func BenchmarkLastPage(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		b.Run(fmt.Sprintf("events=%d", n), func(b *testing.B) {
			s := open(b)
			th := newThread(b, s)
			fill(b, s, th.ID, n)
			b.ResetTimer()
			for b.Loop() {
				page, err := s.EventsBefore(context.Background(), th.ID, 0, 100)
				if err != nil || len(page) != 100 {
					b.Fatal(len(page), err)
				}
			}
		})
	}
}

func BenchmarkMoveTurn(b *testing.B) {
	s := open(b)
	th := newThread(b, s)
	u := must(s.EnqueueTurn(context.Background(), th.ID, "fix it"))
	states := []TurnState{TurnComposing, TurnSending, TurnStreaming, TurnActing}
	i := 0
	for b.Loop() {
		must(s.MoveTurn(context.Background(), u.ID, TurnMove{To: states[i%len(states)]}))
		i++
	}
}

// BenchmarkStreamReply stores a 1 MB reply in deltas of 4 KB and ends it.
func BenchmarkStreamReply(b *testing.B) {
	s := open(b)
	th := newThread(b, s)
	delta := strings.Repeat("x", 4<<10)
	b.SetBytes(1 << 20)
	for b.Loop() {
		m := must(s.AddMessage(context.Background(), Message{Thread: th.ID, Kind: MessageReply}))
		for range 256 {
			if err := s.AppendReply(context.Background(), m.ID, delta); err != nil {
				b.Fatal(err)
			}
		}
		must(s.FinishReply(context.Background(), m.ID, MessageEnd{}))
	}
}

func BenchmarkSearch(b *testing.B) {
	s := open(b)
	fill(b, s, newThread(b, s).ID, 100_000)
	b.ResetTimer()
	for b.Loop() {
		hits, err := s.Search(context.Background(), "package 7777", 20)
		if err != nil || len(hits) == 0 {
			b.Fatal(hits, err)
		}
	}
}

func BenchmarkThreads(b *testing.B) {
	s := open(b)
	for range 2000 {
		th := newThread(b, s)
		must(s.EnqueueTurn(context.Background(), th.ID, "look at the logs"))
	}
	b.ResetTimer()
	for b.Loop() {
		must(s.Threads(context.Background(), ThreadFilter{Limit: 50}))
	}
}

func BenchmarkOpen(b *testing.B) {
	s := open(b)
	fill(b, s, newThread(b, s).ID, 100_000)
	s.Close()
	for b.Loop() {
		s, err := Open(context.Background(), Options{Path: s.path})
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}
