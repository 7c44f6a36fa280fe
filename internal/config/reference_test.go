package config

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the page of settings anew")

// The page of settings says what the program does.
func TestReferenceIsCurrent(t *testing.T) {
	const page = "../../docs/settings.md"
	if *update {
		if err := os.WriteFile(page, []byte(Reference()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(page)
	if err != nil || string(data) != Reference() {
		t.Errorf("%s is not current (%v): run go test ./internal/config -update", page, err)
	}
}
