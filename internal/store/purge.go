package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	purgeStep    = 2000           // events removed in one transaction
	unusedAssets = 24 * time.Hour // how long an asset that nothing uses is kept
)

// Retention says what Purge may remove. Zero values keep everything.
type Retention struct {
	Bin   time.Duration // threads that are in the bin for longer
	Age   time.Duration // threads in which nothing happened for longer, and older records that belong to no thread
	Bytes int64         // threads, those in the bin first and then the oldest, until database and assets are no larger
}

// Purged is what a purge removed.
type Purged struct {
	Threads int
	Assets  int
	Bytes   int64 // of assets
}

// Purge removes what r lets go, and assets that nothing uses. It keeps pinned
// threads outside the bin and threads with a turn that waits or runs. It works
// in short steps, so that other writes go on; one that is cut short is
// finished by the next.
func (s *Store) Purge(ctx context.Context, r Retention) (Purged, error) {
	var p Purged
	err := s.purge(ctx, r, &p)
	return p, s.fail("purge", "", err)
}

func (s *Store) purge(ctx context.Context, r Retention, p *Purged) error {
	if r.Bin > 0 {
		if err := s.doom(ctx, "deleted < ?", stamp(now().Add(-r.Bin))); err != nil {
			return err
		}
	}
	if r.Age > 0 {
		before := stamp(now().Add(-r.Age))
		if err := s.doom(ctx, "pinned = 0 AND updated < ?", before); err != nil {
			return err
		}
		if err := s.purgeUnowned(ctx, before); err != nil {
			return err
		}
	}
	if err := s.purgeDoomed(ctx, p); err != nil {
		return err
	}
	if err := s.purgeAssets(ctx, p); err != nil {
		return err
	}
	if err := s.purgeBytes(ctx, r.Bytes, p); err != nil {
		return err
	}
	return s.write(ctx, "give pages back", "", func(t *tx) error {
		_, err := t.exec("PRAGMA incremental_vacuum(4096)")
		return err
	})
}

// idle keeps threads with work to do from being purged.
const idle = " AND NOT EXISTS (SELECT 1 FROM turns WHERE thread = threads.id AND (state = 'queued' OR " + inFlight + "))"

// doom marks threads as being purged. From then on they are gone.
func (s *Store) doom(ctx context.Context, where string, args ...any) error {
	return s.write(ctx, "mark threads", "", func(t *tx) error {
		_, err := t.exec("UPDATE threads SET doomed = 1 WHERE doomed = 0 AND "+where+idle, args...)
		return err
	})
}

// purgeDoomed removes the marked threads, long ones step by step.
func (s *Store) purgeDoomed(ctx context.Context, p *Purged) error {
	ids, err := list(ctx, s, value[string], "SELECT id FROM threads WHERE doomed = 1 ORDER BY n")
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.purgeEvents(ctx, "thread = ?1 AND id <= ?2", id, int64(1)<<62); err != nil {
			return err
		}
		err := s.write(ctx, "remove thread", id, func(t *tx) error {
			_, err := t.exec("DELETE FROM threads WHERE id = ?", id)
			return err
		})
		if err != nil {
			return err
		}
		p.Threads++
	}
	return nil
}

// purgeEvents removes events and what makes them findable.
func (s *Store) purgeEvents(ctx context.Context, where string, args ...any) error {
	for more := true; more; {
		err := s.write(ctx, "remove events", "", func(t *tx) error {
			_, err := t.exec("DELETE FROM search WHERE rowid IN (SELECT id FROM events WHERE "+where+" ORDER BY id LIMIT ?3)", append(args, purgeStep)...)
			if err != nil {
				return err
			}
			n, err := t.exec("DELETE FROM events WHERE id IN (SELECT id FROM events WHERE "+where+" ORDER BY id LIMIT ?3)", append(args, purgeStep)...)
			more = n == purgeStep
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// purgeUnowned removes old records that belong to no thread. The newest event
// of them stays: the numbers go on from it.
func (s *Store) purgeUnowned(ctx context.Context, before int64) error {
	err := s.purgeEvents(ctx, "thread IS NULL AND time < ?1 AND id < (SELECT max(id) FROM events WHERE thread IS NULL) AND ?2 = ''", before, "")
	if err != nil {
		return err
	}
	return s.write(ctx, "remove actions", "", func(t *tx) error {
		_, err := t.exec("DELETE FROM actions WHERE thread IS NULL AND state = 'done' AND ended < ?", before)
		return err
	})
}

// purgeBytes removes the least needed threads one by one until all fits.
func (s *Store) purgeBytes(ctx context.Context, limit int64, p *Purged) error {
	for limit > 0 {
		size, err := s.Size(ctx)
		if err != nil || size <= limit {
			return err
		}
		id, err := one(ctx, s, value[string], `SELECT id FROM threads WHERE doomed = 0 AND (pinned = 0 OR deleted IS NOT NULL)`+idle+`
			ORDER BY deleted IS NULL, coalesce(deleted, updated), n LIMIT 1`)
		if errors.Is(err, ErrNotFound) {
			return nil // what is left may not be removed
		}
		if err != nil {
			return err
		}
		if err := s.doom(ctx, "id = ?", id); err != nil {
			return err
		}
		if err := s.purgeDoomed(ctx, p); err != nil {
			return err
		}
		if err := s.purgeAssets(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// Size returns the bytes that the database's used pages and the assets take.
func (s *Store) Size(ctx context.Context) (int64, error) {
	n, err := one(ctx, s, value[int64], `SELECT (SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size)
		- (SELECT freelist_count FROM pragma_freelist_count) * (SELECT page_size FROM pragma_page_size)
		+ (SELECT coalesce(sum(bytes), 0) FROM assets)`)
	return n, s.fail("size of the store", "", err)
}

// purgeAssets removes assets that nothing uses: first the rows, then the
// files, so that a row always has its file. The lock keeps a put of the same bytes out.
func (s *Store) purgeAssets(ctx context.Context, p *Purged) error {
	s.assetMu.Lock()
	defer s.assetMu.Unlock()
	type asset struct {
		hash  string
		bytes int64
	}
	var gone []asset
	err := s.write(ctx, "remove assets", "", func(t *tx) (err error) {
		gone, err = list(ctx, t, func(row scanner) (a asset, err error) { return a, row.Scan(&a.hash, &a.bytes) },
			`DELETE FROM assets WHERE seen < ? AND NOT EXISTS (SELECT 1 FROM actions WHERE input_asset = hash)
				AND NOT EXISTS (SELECT 1 FROM actions WHERE result_asset = hash) RETURNING hash, bytes`, stamp(t.now.Add(-unusedAssets)))
		return err
	})
	if err != nil {
		return err
	}
	for _, a := range gone {
		p.Assets++
		p.Bytes += a.bytes
	}
	return s.sweepAssets(ctx)
}

// sweepAssets removes files without a row: those of rows just removed, and
// what a crash left.
func (s *Store) sweepAssets(ctx context.Context) error {
	hashes, err := list(ctx, s, value[string], "SELECT hash FROM assets")
	if err != nil {
		return err
	}
	known := make(map[string]bool, len(hashes))
	for _, h := range hashes {
		known[h] = true
	}
	return filepath.WalkDir(s.assets, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || known[d.Name()] {
			return err
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}
