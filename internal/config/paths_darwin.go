package config

import "os"

// dataDir is ~/Library/Application Support.
func dataDir() (string, error) { return os.UserConfigDir() }
