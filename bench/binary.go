package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// measureBinary looks at the program itself: its size and how long it takes to say its version.
func measureBinary(ctx context.Context, w *world) ([]row, error) {
	info, err := os.Stat(w.binary)
	if err != nil {
		return nil, err
	}
	home := filepath.Join(w.dir, "version")
	took, err := repeat(20, func() error {
		cmd := exec.CommandContext(ctx, w.binary, "version")
		cmd.Env = w.env(home)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("plexus version: %w: %s", err, out)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []row{
		{"program, `plexus version`", "ms", took, atMost(40)},
		{"program, size", "MB", []float64{float64(info.Size()) / 1e6}, atMost(40)},
	}, nil
}
