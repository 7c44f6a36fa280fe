package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"plexus/internal/config"
	"plexus/internal/store"
)

// starts is how often each daemon is started.
const starts = 9

// measureReady starts daemons: the time from the process to its first answer, with nothing in the store and with a big history.
// The file is in the system's cache, as it is when a daemon comes back.
func measureReady(ctx context.Context, w *world) ([]row, error) {
	empty, err := w.readyTimes(ctx, func(i int) string { return filepath.Join(w.dir, fmt.Sprintf("empty-%d", i)) })
	if err != nil {
		return nil, err
	}
	home := filepath.Join(w.dir, "history")
	if err := makeHistory(ctx, config.At(home), w.history); err != nil {
		return nil, fmt.Errorf("make a history: %w", err)
	}
	big, err := w.readyTimes(ctx, func(int) string { return home })
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(home); err != nil {
		return nil, err
	}
	return []row{
		{"daemon, ready with an empty store", "ms", empty, atMost(100)},
		{fmt.Sprintf("daemon, ready with %d MB of history", w.history/1_000_000), "ms", big, atMost(300)},
	}, nil
}

func (w *world) readyTimes(ctx context.Context, home func(int) string) ([]float64, error) {
	var took []float64
	for i := range starts {
		d, err := w.startDaemon(ctx, home(i))
		if err != nil {
			return nil, err
		}
		took = append(took, ms(d.ready))
		d.end(ctx)
	}
	return took, nil
}

// makeHistory fills a store through its own methods with turns like real ones, until its file has so many bytes.
func makeHistory(ctx context.Context, paths config.Paths, size int64) error {
	if err := paths.Create(); err != nil {
		return err
	}
	s, err := store.Open(ctx, store.Options{Path: paths.DB, Assets: paths.Assets})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	first, err := newThread(ctx, s, paths.Home)
	if err != nil {
		return err
	}
	const batch = 512 // turns, each in a thread of its own: one thread has one turn in flight
	var turns atomic.Uint64
	for {
		have, err := s.Size(ctx)
		if err != nil || have >= size {
			return err
		}
		err = together(64, batch, func(int) error { return pastTurn(ctx, s, first.Folder, turns.Add(1)) })
		if err != nil {
			return err
		}
	}
}

// pastTurn writes a thread with one turn of two rounds as the loop does.
func pastTurn(ctx context.Context, s *store.Store, folder string, seed uint64) error {
	rnd := rand.New(rand.NewPCG(seed, 3))
	th, err := s.CreateThread(ctx, store.Thread{Folder: folder, Title: words(rnd, 40), Model: "api"})
	if err != nil {
		return err
	}
	tu, err := s.EnqueueTurn(ctx, th.ID, words(rnd, 400))
	if err != nil {
		return err
	}
	for round := 1; round <= 2; round++ {
		m, err := s.AddMessage(ctx, store.Message{Thread: th.ID, Turn: tu.ID, Round: round, Kind: store.MessageReply})
		if err != nil {
			return err
		}
		if _, err := s.FinishReply(ctx, m.ID, store.MessageEnd{Text: words(rnd, 6000), Model: "bench"}); err != nil {
			return err
		}
		if _, err := s.Append(ctx, th.ID, tu.ID, store.EventNote, store.Note{Message: m.ID, Round: round, Text: words(rnd, 150)}); err != nil {
			return err
		}
		input, err := json.Marshal(map[string]string{"command": words(rnd, 80)})
		if err != nil {
			return err
		}
		a, err := s.AddAction(ctx, store.Action{ID: store.NewID("a"), Thread: th.ID, Turn: tu.ID, Round: round, N: 1, Folder: folder, Tool: "run", Title: words(rnd, 60), Input: input, Door: "chat"})
		if err != nil {
			return err
		}
		result, err := json.Marshal(map[string]string{"status": "ok", "text": words(rnd, 5000)})
		if err != nil {
			return err
		}
		if _, err := s.MoveAction(ctx, a.ID, store.ActionMove{To: store.ActionDone, Outcome: "ok", Result: result}); err != nil {
			return err
		}
	}
	if _, err := s.Append(ctx, th.ID, tu.ID, store.EventAnswer, store.Answer{Text: words(rnd, 800)}); err != nil {
		return err
	}
	_, err = s.MoveTurn(ctx, tu.ID, store.TurnMove{To: store.TurnAnswered})
	return err
}

var vocabulary = strings.Fields(prose)

// words returns a text of at least n bytes.
func words(rnd *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(vocabulary[rnd.IntN(len(vocabulary))])
		b.WriteByte(' ')
	}
	return b.String()
}
