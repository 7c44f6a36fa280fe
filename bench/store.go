package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"plexus/internal/store"
)

// writers is how many callers append at one time.
const writers = 256

// measureStore fills one thread with 100,000 events, which many callers append, and reads its last page.
func measureStore(ctx context.Context, w *world) ([]row, error) {
	dir := filepath.Join(w.dir, "store")
	s, err := store.Open(ctx, store.Options{Path: filepath.Join(dir, "plexus.db")})
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	th, err := newThread(ctx, s, dir)
	if err != nil {
		return nil, err
	}
	var perSecond []float64
	note := store.Note{Message: "m_aaaaaaaaaaaa", Text: strings.Repeat("a line of a note ", 10)}
	for range 5 {
		const events = 20_000
		start := time.Now()
		err := together(writers, events, func(int) error {
			_, err := s.Append(ctx, th.ID, "", store.EventNote, note)
			return err
		})
		if err != nil {
			return nil, err
		}
		perSecond = append(perSecond, events/time.Since(start).Seconds())
	}
	alone, err := repeat(200, func() error {
		_, err := s.Append(ctx, th.ID, "", store.EventNote, note)
		return err
	})
	if err != nil {
		return nil, err
	}
	pages, err := repeat(200, func() error {
		page, err := s.EventsBefore(ctx, th.ID, 0, 100)
		if err == nil && len(page) != 100 {
			err = fmt.Errorf("the last page has %d events", len(page))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return []row{
		{fmt.Sprintf("store, events appended by %d callers", writers), "/s", perSecond, atLeast(5000)},
		{"  one event of one caller: a commit of its own", "ms", alone, bound{}},
		{"store, last page of a thread of 100,000 events", "ms", pages, atMost(5)},
	}, nil
}

// newThread approves a fresh folder below dir and makes a thread in it.
func newThread(ctx context.Context, s *store.Store, dir string) (store.Thread, error) {
	path := filepath.Join(dir, "project")
	if err := os.MkdirAll(path, 0o700); err != nil {
		return store.Thread{}, err
	}
	f, err := s.AddFolder(ctx, store.Folder{Name: "project", Path: path, Level: "auto-review"})
	if err != nil {
		return store.Thread{}, err
	}
	return s.CreateThread(ctx, store.Thread{Folder: f.ID, Title: "Bench", Model: "api"})
}

// together calls do with each number below n from so many goroutines. The first error ends it.
func together(callers, n int, do func(int) error) error {
	var wg sync.WaitGroup
	var next atomic.Int64
	var once sync.Once
	var failed error
	for range callers {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				if err := do(int(i)); err != nil {
					once.Do(func() { failed = err })
					next.Store(int64(n))
				}
			}
		})
	}
	wg.Wait()
	return failed
}
