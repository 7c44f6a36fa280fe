// Package config says where Plexus keeps its files and what can be set: every
// path the program touches, every setting with its type, default and bounds in one
// declaration, and the secrets.
package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// Paths are all the places that Plexus writes to. None is created here.
type Paths struct {
	Home      string // root of everything below
	DB        string // SQLite file
	Assets    string // content-addressed values
	Spool     string // full outputs of tool calls, readable by the model's own shell
	Logs      string
	Extension string // where `plexus extension` writes the browser extension
	Run       string // 0700: lock, daemon.json, secrets
}

// State is the file in which a running daemon says how to reach it.
func (p Paths) State() string { return filepath.Join(p.Run, "daemon.json") }

// Lock is the file that a running daemon holds locked.
func (p Paths) Lock() string { return filepath.Join(p.Run, "daemon.lock") }

// SecretsFile holds secrets where the system has no key store.
func (p Paths) SecretsFile() string { return filepath.Join(p.Run, "secrets.json") }

// Mark is by what the processes of this home's commands are known: their environment has CallVariable, which begins
// with it.
func (p Paths) Mark() string {
	sum := sha256.Sum256([]byte(p.Home))
	return hex.EncodeToString(sum[:8])
}

// CallVariable is in the environment of every command that Plexus runs: MARK "." CALL.
const CallVariable = "PLEXUS_CALL"

// DefaultPaths returns the user's own places, or those under PLEXUS_HOME.
func DefaultPaths() (Paths, error) {
	if home := os.Getenv("PLEXUS_HOME"); home != "" {
		abs, err := filepath.Abs(home)
		if err != nil {
			return Paths{}, fmt.Errorf("resolve PLEXUS_HOME %q: %w", home, err)
		}
		return At(abs), nil
	}
	dir, err := dataDir()
	if err != nil {
		return Paths{}, fmt.Errorf("find the user's data folder: %w", err)
	}
	return At(filepath.Join(dir, "plexus")), nil
}

// At returns the paths of an instance rooted at home.
func At(home string) Paths {
	return Paths{
		Home:      home,
		DB:        filepath.Join(home, "plexus.db"),
		Assets:    filepath.Join(home, "assets"),
		Spool:     filepath.Join(home, "spool"),
		Logs:      filepath.Join(home, "logs"),
		Extension: filepath.Join(home, "extension"),
		Run:       filepath.Join(home, "run"),
	}
}

// Create makes the folders, private to the user.
func (p Paths) Create() error {
	for _, dir := range []string{p.Home, p.Assets, p.Spool, p.Logs, p.Run} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("create folder %q: %w", dir, err)
		}
	}
	return nil
}
