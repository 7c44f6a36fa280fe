package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// State is how a running daemon is reached. It is written to Paths.State, 0600,
// when the daemon is ready, and removed when it ends.
type State struct {
	Port    int    `json:"port"` // on 127.0.0.1
	PID     int    `json:"pid"`
	Version string `json:"version"`
	Token   string `json:"token"` // the daemon's own bearer, new at each start
}

// URL is the address of the UI.
func (s State) URL() string { return "http://localhost:" + strconv.Itoa(s.Port) }

// ErrNoDaemon is returned when no daemon has written its state.
var ErrNoDaemon = errors.New("no daemon is running")

// ReadState returns the state that a daemon wrote last. The daemon may have died since.
func ReadState(p Paths) (State, error) {
	data, err := os.ReadFile(p.State())
	if errors.Is(err, os.ErrNotExist) {
		return State{}, ErrNoDaemon
	}
	if err != nil {
		return State{}, fmt.Errorf("read the daemon's state: %w", err)
	}
	var s State
	if err := json.Unmarshal(data, &s); err != nil || s.Port == 0 || s.Token == "" {
		return State{}, ErrNoDaemon // half a file is that of a daemon that died
	}
	return s, nil
}

// WriteState tells others of a daemon that is ready.
func WriteState(p Paths, s State) error {
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode the daemon's state: %w", err)
	}
	if err := WritePrivate(p.State(), data); err != nil {
		return fmt.Errorf("write the daemon's state: %w", err)
	}
	return nil
}
