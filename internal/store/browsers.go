package store

import "context"

const browserColumns = "id, label, version, token, created, last_seen"

func scanBrowser(row scanner) (Browser, error) {
	var b Browser
	var created, seen int64
	err := row.Scan(&b.ID, &b.Label, &b.Version, &b.Token, &created, &seen)
	b.Created, b.LastSeen = fromStamp(created), fromStamp(seen)
	return b, err
}

// SaveBrowser writes an approved browser, new or again; a known one keeps its
// Created. Zero times are filled in.
func (s *Store) SaveBrowser(ctx context.Context, b Browser) (Browser, error) {
	if b.Token == nil {
		b.Token = []byte{}
	}
	var out Browser
	err := s.write(ctx, "save browser", b.ID, func(t *tx) (err error) {
		out, err = one(ctx, t, scanBrowser, `INSERT INTO browsers (id, label, version, token, created, last_seen) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET label = excluded.label, version = excluded.version, token = excluded.token, last_seen = excluded.last_seen
			RETURNING `+browserColumns,
			b.ID, clean(b.Label), clean(b.Version), b.Token, stamp(orNow(b.Created, t.now)), stamp(orNow(b.LastSeen, t.now)))
		return err
	})
	return out, err
}

// TouchBrowser writes Label, Version and LastSeen of the approved browser with b's ID and Token. It reports false when
// there is none, and makes none.
func (s *Store) TouchBrowser(ctx context.Context, b Browser) (bool, error) {
	known := false
	err := s.write(ctx, "touch browser", b.ID, func(t *tx) error {
		n, err := t.exec("UPDATE browsers SET label = ?, version = ?, last_seen = ? WHERE id = ? AND token = ?",
			clean(b.Label), clean(b.Version), stamp(orNow(b.LastSeen, t.now)), b.ID, b.Token)
		known = n > 0
		return err
	})
	return known, err
}

// Browsers returns the approved browsers, the one seen last first.
func (s *Store) Browsers(ctx context.Context) ([]Browser, error) {
	all, err := list(ctx, s, scanBrowser, "SELECT "+browserColumns+" FROM browsers ORDER BY last_seen DESC, n DESC")
	return all, s.fail("browsers", "", err)
}

// Browser returns an approved browser.
func (s *Store) Browser(ctx context.Context, id string) (Browser, error) {
	b, err := one(ctx, s, scanBrowser, "SELECT "+browserColumns+" FROM browsers WHERE id = ?", id)
	return b, s.fail("browser", id, err)
}

// RemoveBrowser takes a browser's approval back.
func (s *Store) RemoveBrowser(ctx context.Context, id string) error {
	return s.write(ctx, "remove browser", id, func(t *tx) error {
		n, err := t.exec("DELETE FROM browsers WHERE id = ?", id)
		if err == nil && n == 0 {
			err = ErrNotFound
		}
		return err
	})
}
