package config

import "os"

// dataDir is %LocalAppData%: the data is of this machine and must not roam.
func dataDir() (string, error) { return os.UserCacheDir() }
