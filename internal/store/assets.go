package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxAsset bounds one asset in bytes.
const maxAsset = 256 << 20

// PutAsset keeps the bytes of r under their SHA-256 (lower-case hex) and
// returns it with their number. The same bytes are kept once. More than 256
// MiB gives ErrTooLarge. An asset that nothing uses is removed by a purge a day after its
// last put.
func (s *Store) PutAsset(ctx context.Context, r io.Reader) (hash string, n int64, err error) {
	s.assetMu.RLock()
	defer s.assetMu.RUnlock()
	tmp, err := os.CreateTemp(s.assets, "new-*")
	if err != nil {
		return "", 0, s.fail("put asset", "", err)
	}
	defer os.Remove(tmp.Name()) // gone already when all went well
	defer tmp.Close()
	sum := sha256.New()
	n, err = io.Copy(io.MultiWriter(tmp, sum), io.LimitReader(r, maxAsset+1))
	if err == nil && n > maxAsset {
		err = fmt.Errorf("%w: more than %d bytes", ErrTooLarge, maxAsset)
	}
	if err == nil {
		err = tmp.Sync()
	}
	if err == nil {
		err = tmp.Close()
	}
	if err != nil {
		return "", 0, s.fail("put asset", "", err)
	}
	hash = hex.EncodeToString(sum.Sum(nil))
	if err := s.placeAsset(tmp.Name(), hash); err != nil {
		return "", 0, s.fail("put asset", hash, err)
	}
	err = s.write(ctx, "put asset", hash, func(t *tx) error {
		_, err := t.exec("INSERT INTO assets (hash, bytes, seen) VALUES (?, ?, ?) ON CONFLICT (hash) DO UPDATE SET seen = excluded.seen", hash, n, stamp(t.now))
		return err
	})
	return hash, n, err
}

// placeAsset gives the file its name; a rename replaces an equal one whole.
func (s *Store) placeAsset(tmp, hash string) error {
	path := s.assetPath(hash)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		if _, there := os.Stat(path); there == nil {
			return nil // open elsewhere on Windows: the bytes are the same
		}
		return err
	}
	return syncDir(filepath.Dir(path))
}

func (s *Store) assetPath(hash string) string { return filepath.Join(s.assets, hash[:2], hash) }

// OpenAsset opens an asset for reading; the caller closes it.
func (s *Store) OpenAsset(_ context.Context, hash string) (io.ReadCloser, error) {
	if !validHash(hash) {
		return nil, s.fail("open asset", fmt.Sprintf("%q", hash), ErrNotFound)
	}
	f, err := os.Open(s.assetPath(hash))
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, s.fail("open asset", hash, err)
	}
	return f, nil
}

func validHash(hash string) bool {
	return len(hash) == 2*sha256.Size && strings.Trim(hash, "0123456789abcdef") == ""
}
