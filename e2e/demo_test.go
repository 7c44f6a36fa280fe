package e2e

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// The first thing a newcomer sees: one command, a real bug fixed through a real browser.
func TestDemo(t *testing.T) {
	t.Parallel()
	needChromium(t)
	cmd := exec.CommandContext(t.Context(), binary, "demo", "--headless", "--json")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("plexus demo: %v\n%s%s", err, out.String(), errs.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	kinds := map[string]int{}
	for _, line := range lines {
		var e struct{ Kind string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("not a JSON line: %q", line)
		}
		kinds[e.Kind]++
	}
	for _, kind := range []string{"turn", "message", "note", "action", "answer", "end"} {
		if kinds[kind] == 0 {
			t.Errorf("no %q event among %v", kind, kinds)
		}
	}
	var last struct{ Status, Tests, Answer string }
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	if last.Status != "answered" || last.Tests != "pass" || last.Answer == "" {
		t.Errorf("the last line is %+v", last)
	}
}
