package practice

import (
	"testing"

	"plexus/internal/scenario"
)

func builtin(t *testing.T, name string) *scenario.Scenario {
	t.Helper()
	src, ok := scenario.Builtin(name)
	if !ok {
		t.Fatalf("no built-in scenario %q", name)
	}
	s, err := scenario.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
