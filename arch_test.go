// Package plexus_test holds the architecture to its word: who may import whom, a
// doc comment for each package, and names that say something.
package plexus_test

import (
	"encoding/json"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// imports is the architecture: for each package, which of ours it may import. A package that is missing here fails the test.
var imports = map[string][]string{
	// Pure: no I/O, nothing of ours.
	"internal/plx":        {},
	"internal/chatstream": {},
	"internal/scenario":   {},
	// Vocabulary and leaves.
	"internal/tool":     {},
	"internal/link":     {},
	"internal/config":   {},
	"internal/store":    {},
	"internal/chromium": {},
	// Providers know tool and never engine, store or gate.
	"internal/workspace": {"internal/tool"},
	"internal/proc":      {"internal/tool"},
	// The one door.
	"internal/gate":   {"internal/store", "internal/tool"},
	"internal/engine": {"internal/gate", "internal/store", "internal/tool"},
	// The turn, and what answers it.
	"internal/loop":    {"internal/engine", "internal/plx", "internal/scenario", "internal/store", "internal/tool"},
	"internal/chatapi": {"internal/loop", "internal/store"},
	"internal/chattab": {"internal/chatstream", "internal/link", "internal/loop", "internal/store"},
	// The chat site that we play ourselves.
	"internal/practice": {"internal/scenario", "web"},
	// What a person looks at, and the client of it.
	"internal/server": {"internal/config", "internal/engine", "internal/gate", "internal/link", "internal/loop", "internal/plx",
		"internal/store", "internal/tool", "web"},
	"internal/client": {"internal/config", "internal/store"},
	// Wiring.
	"internal/daemon": {"internal/chatapi", "internal/chattab", "internal/config", "internal/engine", "internal/gate", "internal/link",
		"internal/loop", "internal/plx", "internal/proc", "internal/server", "internal/store", "internal/workspace"},
	"cmd/plexus": {"internal/chromium", "internal/client", "internal/config", "internal/daemon", "internal/gate", "internal/loop",
		"internal/plx", "internal/practice", "internal/scenario", "internal/store", "internal/tool", "web"},
	// What it measures.
	"bench": {"internal/chatstream", "internal/chromium", "internal/client", "internal/config", "internal/engine", "internal/gate",
		"internal/link", "internal/plx", "internal/practice", "internal/proc", "internal/scenario", "internal/store", "internal/tool",
		"internal/workspace"},
	// The browser side and its build.
	"web":              {},
	"web/bundle":       {},
	"web/protocol/gen": {"internal/link", "internal/plx", "internal/store", "internal/tool"},
	"web/protocol":     {},
	"web/extension":    {},
	"web/ui":           {},
	"e2e":              {},
}

// vague are names that say nothing about what a package holds.
var vague = []string{"util", "utils", "helper", "helpers", "common", "core", "misc", "types", "model", "models", "shared", "lib"}

type goPackage struct {
	ImportPath string
	Name       string
	Doc        string
	Imports    []string
	GoFiles    []string
}

const module = "plexus"

func packages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Name,Doc,Imports,GoFiles", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p goPackage
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("only %d packages found", len(all))
	}
	return all
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if name == "" || strings.HasPrefix(name, "web/node_modules/") {
			continue // the root has this test only; npm packages may carry Go files of their own
		}
		allowed, ok := imports[name]
		if !ok {
			t.Errorf("%s is not in the import table: decide where it stands", name)
			continue
		}
		for _, imp := range p.Imports {
			ours, ok := strings.CutPrefix(imp, module+"/")
			if ok && !slices.Contains(allowed, ours) {
				t.Errorf("%s must not import %s", name, ours)
			}
		}
	}
}

func TestPackageDocs(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.GoFiles) > 0 && !strings.Contains(p.ImportPath, "node_modules") && p.Doc == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

func TestPackageNames(t *testing.T) {
	for _, p := range packages(t) {
		if slices.Contains(vague, path.Base(p.ImportPath)) && !strings.Contains(p.ImportPath, "node_modules") {
			t.Errorf("%s: the name says nothing about what is in it", p.ImportPath)
		}
	}
}
