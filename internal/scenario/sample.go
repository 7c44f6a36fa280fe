package scenario

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/txtar"
)

// SampleTask is the task that goes with SampleProject.
const SampleTask = "The tests fail. Find the bug and fix it."

//go:embed sample.txtar
var sample []byte

// SampleProject writes a small Go module into dir, which must exist and should be empty: a till that adds up a cart and
// takes off a discount, with one bug and a test that fails because of it. It needs nothing but the Go tool to run.
func SampleProject(dir string) error {
	for _, f := range txtar.Parse(sample).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("write sample project: %w", err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return fmt.Errorf("write sample project: %w", err)
		}
	}
	return nil
}
