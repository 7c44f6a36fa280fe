package store

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

// open makes a store that ends with the test.
func open(t testing.TB) *Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "data", "plexus.db"))
}

func openAt(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(context.Background(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// must is for steps that are not what a test is about.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// newThread makes a thread in the store's only folder.
func newThread(t testing.TB, s *Store) Thread {
	t.Helper()
	f := must(s.AddFolder(t.Context(), Folder{Path: "/srv/app", Level: "auto-review"}))
	return must(s.CreateThread(t.Context(), Thread{Folder: f.ID}))
}

// wantIs fails unless err is target; nil means no error.
func wantIs(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("error = %v, want %v", err, target)
	}
}

func ptr[T any](v T) *T { return &v }
