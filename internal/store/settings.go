package store

import (
	"context"
	"errors"
)

// Setting returns the value that was set for a key, and whether one was.
func (s *Store) Setting(ctx context.Context, key string) (string, bool, error) {
	v, err := one(ctx, s, value[string], "SELECT value FROM settings WHERE key = ?", key)
	if errors.Is(err, ErrNotFound) {
		return "", false, nil
	}
	return v, err == nil, s.fail("setting", key, err)
}

// SetSetting sets a value. What keys and values there are is for the caller to know.
func (s *Store) SetSetting(ctx context.Context, key, value string) error {
	return s.write(ctx, "set setting", key, func(t *tx) error {
		_, err := t.exec("INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", key, clean(value))
		return err
	})
}

// DeleteSetting makes a setting unset; one that is not set stays so.
func (s *Store) DeleteSetting(ctx context.Context, key string) error {
	return s.write(ctx, "delete setting", key, func(t *tx) error {
		_, err := t.exec("DELETE FROM settings WHERE key = ?", key)
		return err
	})
}

// Settings returns all that is set, never nil.
func (s *Store) Settings(ctx context.Context) (map[string]string, error) {
	all, err := list(ctx, s, func(row scanner) ([2]string, error) {
		var kv [2]string
		err := row.Scan(&kv[0], &kv[1])
		return kv, err
	}, "SELECT key, value FROM settings")
	m := make(map[string]string, len(all))
	for _, kv := range all {
		m[kv[0]] = kv[1]
	}
	return m, s.fail("settings", "", err)
}
