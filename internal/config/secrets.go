package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/zalando/go-keyring"
)

// SecretAPIKey is the key of the OpenAI-compatible server.
const SecretAPIKey = "model.api.key"

// ErrUnknownSecret is wrapped when a name is not one that Plexus uses.
var ErrUnknownSecret = errors.New("there is no such secret")

// ErrBadSecret is wrapped when a value cannot be a secret.
var ErrBadSecret = fmt.Errorf("a secret is one line of 1 to %d bytes", maxSecret)

// ErrNoSecret is returned when a secret has not been set.
var ErrNoSecret = errors.New("the secret is not set")

// SecretNames are the secrets that Plexus uses.
func SecretNames() []string { return []string{SecretAPIKey} }

// Secret is a value that never shows itself in logs or formatted text.
type Secret string

// String hides the value from fmt.
func (Secret) String() string { return "[secret]" }

// GoString hides the value from %#v.
func (Secret) GoString() string { return "[secret]" }

// LogValue hides the value from slog.
func (Secret) LogValue() slog.Value { return slog.StringValue("[secret]") }

// MarshalJSON hides the value from JSON.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"[secret]"`), nil }

// Reveal returns the value, for the one place that needs it.
func (s Secret) Reveal() string { return string(s) }

const (
	keyringService = "plexus"
	// A key store without a session bus can hang; it is given this long and then
	// the file is used.
	keyringPatience = 2 * time.Second
	maxSecret       = 16 << 10
)

// Secrets keeps secrets in the system's key store, or in a 0600 file where
// there is none. Safe for concurrent use.
type Secrets struct {
	file string
	ring bool

	mu sync.Mutex // guards the file
}

// OpenSecrets returns the secrets of an instance. An instance with a home of
// its own (PLEXUS_HOME) always uses the file, so that it never touches the user's.
func OpenSecrets(ctx context.Context, p Paths) *Secrets {
	s := &Secrets{file: p.SecretsFile()}
	if os.Getenv("PLEXUS_HOME") == "" {
		_, err := withPatience(ctx, func() (string, error) { return keyring.Get(keyringService, "probe") })
		s.ring = err == nil || errors.Is(err, keyring.ErrNotFound)
	}
	return s
}

// Place says where the secrets are, in words.
func (s *Secrets) Place() string {
	if s.ring {
		return "the system's key store"
	}
	return s.file
}

// Get returns a secret or ErrNoSecret.
func (s *Secrets) Get(ctx context.Context, name string) (Secret, error) {
	if err := knownSecret(name); err != nil {
		return "", err
	}
	if s.ring {
		v, err := withPatience(ctx, func() (string, error) { return keyring.Get(keyringService, name) })
		if errors.Is(err, keyring.ErrNotFound) {
			return "", ErrNoSecret
		}
		if err != nil {
			return "", fmt.Errorf("read secret %q from the key store: %w", name, err)
		}
		return Secret(v), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.read()
	if err != nil {
		return "", err
	}
	v, ok := all[name]
	if !ok {
		return "", ErrNoSecret
	}
	return Secret(v), nil
}

// Set keeps a secret.
func (s *Secrets) Set(ctx context.Context, name string, value Secret) error {
	if err := knownSecret(name); err != nil {
		return err
	}
	if value == "" || len(value) > maxSecret || strings.ContainsFunc(value.Reveal(), unicode.IsControl) {
		return fmt.Errorf("set secret %q: %w", name, ErrBadSecret)
	}
	if s.ring {
		_, err := withPatience(ctx, func() (string, error) {
			return "", keyring.Set(keyringService, name, value.Reveal())
		})
		if err != nil {
			return fmt.Errorf("write secret %q to the key store: %w", name, err)
		}
		return nil
	}
	return s.change(func(all map[string]string) { all[name] = value.Reveal() })
}

// Delete forgets a secret; one that is not set is no error.
func (s *Secrets) Delete(ctx context.Context, name string) error {
	if err := knownSecret(name); err != nil {
		return err
	}
	if s.ring {
		_, err := withPatience(ctx, func() (string, error) { return "", keyring.Delete(keyringService, name) })
		if err != nil && !errors.Is(err, keyring.ErrNotFound) {
			return fmt.Errorf("delete secret %q from the key store: %w", name, err)
		}
		return nil
	}
	return s.change(func(all map[string]string) { delete(all, name) })
}

func knownSecret(name string) error {
	if !slices.Contains(SecretNames(), name) {
		return fmt.Errorf("secret %q: %w", name, ErrUnknownSecret)
	}
	return nil
}

func (s *Secrets) read() (map[string]string, error) {
	data, err := os.ReadFile(s.file)
	if errors.Is(err, os.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read secrets: %w", err)
	}
	all := map[string]string{}
	if err := json.Unmarshal(data, &all); err != nil {
		// The decoder's error may quote a value.
		return nil, fmt.Errorf("read secrets: %q is damaged; delete it and set the secrets again", s.file)
	}
	return all, nil
}

func (s *Secrets) change(edit func(map[string]string)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.read()
	if err != nil {
		return err
	}
	edit(all)
	data, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("encode secrets: %w", err)
	}
	if err := WritePrivate(s.file, data); err != nil {
		return fmt.Errorf("keep secrets: %w", err)
	}
	return nil
}

// WritePrivate replaces a file by one with mode 0600 in one step, so that a
// reader sees the old or the new content and nobody else sees either.
func WritePrivate(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*") // 0600 from the start
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone after the rename
	if _, err := f.Write(data); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// withPatience bounds a call into the key store, which takes no context. A call
// that never returns keeps its goroutine: there is no way to end it.
func withPatience(ctx context.Context, call func() (string, error)) (string, error) {
	type answer struct {
		value string
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		v, err := call()
		done <- answer{v, err}
	}()
	ctx, cancel := context.WithTimeout(ctx, keyringPatience)
	defer cancel()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		return "", fmt.Errorf("the key store does not answer: %w", ctx.Err())
	}
}
