package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDistIsCurrent fails when a source was changed without building.
func TestDistIsCurrent(t *testing.T) {
	web, err := findWeb()
	if err != nil {
		t.Fatal(err)
	}
	_, modules := os.Stat(filepath.Join(web, "node_modules"))
	for _, p := range parts() {
		t.Run(p.name, func(t *testing.T) {
			if !p.exists(web) {
				t.Skip("no sources yet")
			}
			if p.jsx != "" && modules != nil {
				t.Skip("needs web/node_modules: npm ci --ignore-scripts")
			}
			out, err := p.build(web)
			if err != nil {
				t.Fatal(err)
			}
			diff, err := compare(out, filepath.Join(web, "dist", p.name))
			if err != nil {
				t.Fatal(err)
			}
			if len(diff) > 0 {
				t.Errorf("run \"go run ./web/bundle\":\n%s", strings.Join(diff, "\n"))
			}
		})
	}
}

func TestWriteMakesTheFolderExact(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "part")
	first := files{"a.js": []byte("1"), "icons/b.png": []byte("2")}
	if err := write(first, dir); err != nil {
		t.Fatal(err)
	}
	second := files{"a.js": []byte("1"), "c.css": []byte("3")}
	diff, err := compare(second, dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(diff, "; "), "dist/part/c.css is missing; dist/part/icons/b.png has no source"; got != want {
		t.Errorf("compare: got %q, want %q", got, want)
	}
	if err := write(second, dir); err != nil {
		t.Fatal(err)
	}
	if diff, err = compare(second, dir); err != nil || len(diff) > 0 {
		t.Errorf("after write: %v, %v", diff, err)
	}
}

func TestPackageDir(t *testing.T) {
	for in, want := range map[string]string{
		"ui/main.tsx":                                   "",
		"node_modules/preact/dist/preact.mjs":           "node_modules/preact",
		"node_modules/@radix-ui/react-id/dist/index.js": "node_modules/@radix-ui/react-id",
		"node_modules/a/node_modules/b/c.js":            "node_modules/a/node_modules/b",
		"node_modules/loose.js":                         "",
	} {
		if got := packageDir(in); got != want {
			t.Errorf("packageDir(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestBrokenSourceIsNamed(t *testing.T) {
	web := t.TempDir()
	if err := os.MkdirAll(filepath.Join(web, "ui"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(web, "ui", "main.tsx"), []byte(`import { x } from "absent"; x(`), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := parts()[0].build(web)
	if err == nil || !strings.Contains(err.Error(), "ui/main.tsx") || !strings.Contains(err.Error(), "npm ci") {
		t.Errorf("got %v, want an error that names the file and npm ci", err)
	}
}
