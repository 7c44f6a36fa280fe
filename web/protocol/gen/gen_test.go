package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGeneratedFilesAreCurrent fails when a Go type changed and the TypeScript did not.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	out, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range out {
		got, err := os.ReadFile(filepath.Join(root, "web", "protocol", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("web/protocol/%s is stale; run \"go run ./web/protocol/gen\"", name)
		}
	}
}

// source of one made-up package, to show each rule of the translation.
const sample = `package link

import ("encoding/json"; "time")

const ( Protocol = 3; MaxMessage = 1 << 4; MaxFrameData = 2; MaxWholeData = 3; Path = "/p" )

// Tone is how it sounds.
type Tone string

const ( Low Tone = "low"; High Tone = "high" )

// Ask asks. Result: Answer.
type Ask struct {
	Type string ` + "`json:\"type\" enum:\"ask\" to:\"worker\"`" + `
	ID   string ` + "`json:\"id\"`" + `
	Why  string ` + "`json:\"why,omitempty\"`" + ` // at most a line
	N    int64  ` + "`json:\"n\"`" + `
}

// Tell tells.
type Tell struct {
	Type string ` + "`json:\"type\" enum:\"tell\" to:\"daemon\"`" + `
	Tone Tone ` + "`json:\"tone\"`" + `
	Raw json.RawMessage ` + "`json:\"raw\"`" + `
}

// Answer answers.
type Answer struct {
	At     time.Time ` + "`json:\"at\"`" + `
	Words  []string ` + "`json:\"words\"`" + `
	Maybe  *int ` + "`json:\"maybe,omitempty\"`" + `
	Hidden string ` + "`json:\"-\"`" + `
	plain  int
}
`

func loadSample(t *testing.T, text string) (*source, error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "link")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return load(dir)
}

func TestTranslation(t *testing.T) {
	src, err := loadSample(t, sample)
	if err != nil {
		t.Fatal(err)
	}
	text, err := writeLink(src)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"export const MaxMessage = 1 << 4;",
		`export type Tone = "low" | "high";`,
		"/** Ask asks. Result: Answer. */\nexport interface Ask {\n  type: \"ask\";\n  id: string;\n  /** at most a line */\n  why?: string;\n  n: number;\n}",
		"  raw: unknown;",
		"  at: string;\n  words: string[] | null;\n  maybe?: number;\n}",
		"export type ToDaemon = Tell;",
		"  ask: Answer;\n",
		`  ask: { id: "string", why: "string?", n: "number" },`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("missing:\n%s\nin:\n%s", want, text)
		}
	}
}

func TestWhatCannotBeTranslatedIsAnError(t *testing.T) {
	for name, row := range map[string]struct{ old, new, want string }{
		"no result":          {" Result: Answer.", "", "names no Result"},
		"unknown result":     {"Result: Answer.", "Result: Nothing.", "no type Nothing"},
		"a field of no type": {"Words  []string", "Words  chan string", "no TypeScript"},
		"a nested command":   {"N    int64 ", "N    []int64 ", "the checker knows no such field"},
		"no constant":        {"Protocol = 3; ", "", "no constant Protocol"},
		"broken Go":          {"package link", "package", "parse link"},
	} {
		t.Run(name, func(t *testing.T) {
			src, err := loadSample(t, strings.Replace(sample, row.old, row.new, 1))
			if err == nil {
				_, err = writeLink(src)
			}
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}
