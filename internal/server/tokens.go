package server

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"plexus/internal/config"
)

const (
	actorCLI = "cli"
	actorUI  = "ui"

	sessionLife = 30 * 24 * time.Hour
	keyLife     = 2 * time.Minute
	maxKeys     = 64
	nonceSize   = 16
	sealKeySize = 32
)

// Tokens tells who a bearer is: the daemon's own token, new at each start and known to the user's CLI through a 0600
// file, or a session of the web UI. Sessions are sealed with a key that outlives the daemon, so that an open page
// goes on after a restart.
type Tokens struct {
	daemon [sha256.Size]byte
	seal   []byte
}

// NewTokens returns the tokens of an instance. daemon is its own token; sealFile keeps the key of the sessions and is made when missing.
func NewTokens(daemon config.Secret, sealFile string) (*Tokens, error) {
	seal, err := os.ReadFile(sealFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read the session key: %w", err)
	}
	if len(seal) != sealKeySize {
		seal = make([]byte, sealKeySize)
		rand.Read(seal) //nolint:errcheck // never fails
		if err := config.WritePrivate(sealFile, seal); err != nil {
			return nil, fmt.Errorf("keep the session key: %w", err)
		}
	}
	return &Tokens{daemon: sha256.Sum256([]byte(daemon.Reveal())), seal: seal}, nil
}

// actor returns actorCLI, actorUI or "".
func (t *Tokens) actor(token string) string {
	if token == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare(sum[:], t.daemon[:]) == 1 {
		return actorCLI
	}
	if t.sessionValid(token, time.Now()) {
		return actorUI
	}
	return ""
}

// newSession returns a token: expiry, nonce, and a MAC over both.
func (t *Tokens) newSession(now time.Time) string {
	data := make([]byte, 8+nonceSize, 8+nonceSize+sha256.Size)
	binary.BigEndian.PutUint64(data, uint64(now.Add(sessionLife).Unix()))
	rand.Read(data[8:]) //nolint:errcheck // never fails
	return base64.RawURLEncoding.EncodeToString(append(data, t.mac(data)...))
}

func (t *Tokens) sessionValid(token string, now time.Time) bool {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) != 8+nonceSize+sha256.Size {
		return false
	}
	data, mac := raw[:8+nonceSize], raw[8+nonceSize:]
	if !hmac.Equal(mac, t.mac(data)) {
		return false
	}
	return uint64(now.Unix()) < binary.BigEndian.Uint64(data)
}

func (t *Tokens) mac(data []byte) []byte {
	h := hmac.New(sha256.New, t.seal)
	h.Write(data)
	return h.Sum(nil)
}

// oneTimeKeys are the keys that `plexus open` puts into a link. Each opens one session, once, soon.
type oneTimeKeys struct {
	mu   sync.Mutex
	keys map[[sha256.Size]byte]time.Time // by hash, with the end of its life
}

func (k *oneTimeKeys) make(now time.Time) string {
	key := rand.Text()
	k.mu.Lock()
	defer k.mu.Unlock()
	for hash, end := range k.keys {
		if now.After(end) {
			delete(k.keys, hash)
		}
	}
	if k.keys == nil || len(k.keys) >= maxKeys {
		k.keys = map[[sha256.Size]byte]time.Time{}
	}
	k.keys[sha256.Sum256([]byte(key))] = now.Add(keyLife)
	return key
}

func (k *oneTimeKeys) use(key string, now time.Time) bool {
	hash := sha256.Sum256([]byte(key))
	k.mu.Lock()
	defer k.mu.Unlock()
	end, ok := k.keys[hash]
	delete(k.keys, hash)
	return ok && now.Before(end)
}
