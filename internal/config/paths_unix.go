//go:build !windows && !darwin

package config

import (
	"os"
	"path/filepath"
)

// dataDir follows the XDG base directory specification: a relative value is ignored.
func dataDir() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "share"), nil
}
