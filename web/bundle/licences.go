package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// licences returns the licence texts of the npm packages among inputs, which are
// slash paths relative to web. A package without a licence file is an error: what
// we may not ship must not be bundled.
func licences(web string, inputs map[string]bool) (string, error) {
	var dirs []string
	for name := range inputs {
		if dir := packageDir(name); dir != "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	var b strings.Builder
	for _, dir := range dirs {
		text, err := licence(filepath.Join(web, filepath.FromSlash(dir)))
		if err != nil {
			return "", fmt.Errorf("licence of %s: %w", dir, err)
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// packageDir returns the package folder of a path below node_modules, "" for our own sources.
func packageDir(name string) string {
	const mark = "node_modules/"
	i := strings.LastIndex(name, mark)
	if i < 0 {
		return ""
	}
	rest := strings.Split(name[i+len(mark):], "/")
	n := 1
	if strings.HasPrefix(rest[0], "@") {
		n = 2
	}
	if len(rest) <= n {
		return ""
	}
	return name[:i+len(mark)] + strings.Join(rest[:n], "/")
}

func licence(dir string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return "", err
	}
	var pkg struct{ Name, Version, License string }
	if err := json.Unmarshal(raw, &pkg); err != nil {
		return "", fmt.Errorf("read package.json: %w", err)
	}
	head := fmt.Sprintf("=== %s %s (%s) ===\n\n", pkg.Name, pkg.Version, pkg.License)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		upper := strings.ToUpper(e.Name())
		if !strings.HasPrefix(upper, "LICENSE") && !strings.HasPrefix(upper, "LICENCE") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", err
		}
		return head + strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")) + "\n\n", nil
	}
	// Some packages of a monorepo name their licence and carry no text of it.
	if pkg.License == "MIT" {
		return head + "Licensed under the MIT licence; its text is the same as that of the packages above and below.\n\n", nil
	}
	return "", fmt.Errorf("no licence file and not MIT but %q", pkg.License)
}
