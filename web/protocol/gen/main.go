// Command gen writes the TypeScript of the types that cross a wire, from the Go
// structs that are their source: link.ts for the protocol between daemon and
// extension, api.ts for what the HTTP API returns.
//
//	go run ./web/protocol/gen
//
// A test fails when the files are not what the structs make.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run() error {
	root, err := findRoot()
	if err != nil {
		return err
	}
	out, err := generate(root)
	if err != nil {
		return err
	}
	for name, text := range out {
		if err := os.WriteFile(filepath.Join(root, "web", "protocol", name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// generate returns the text of each file of web/protocol.
func generate(root string) (map[string]string, error) {
	link, err := load(filepath.Join(root, "internal", "link"))
	if err != nil {
		return nil, err
	}
	linkText, err := writeLink(link)
	if err != nil {
		return nil, fmt.Errorf("link.ts: %w", err)
	}
	apiText, err := writeAPI(root)
	if err != nil {
		return nil, fmt.Errorf("api.ts: %w", err)
	}
	return map[string]string{"link.ts": linkText, "api.ts": apiText}, nil
}

// findRoot returns the folder of go.mod at or above the working directory.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no go.mod at or above the working directory")
		}
		dir = up
	}
}
