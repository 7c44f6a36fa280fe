// Command bundle builds the browser side of Plexus: the web UI, the practice
// site and the extension, from web/ into web/dist, where the Go program
// embeds them. It uses esbuild's Go API, so building needs Go alone; the npm
// packages that the sources import are put into web/node_modules by "npm ci".
//
//	go run ./web/bundle           build
//	go run ./web/bundle -check    build in memory, fail when web/dist differs
//
// The output is the same on every machine: minified, under stable names, with
// no source maps, and with the licences of what was bundled beside it.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	check := flag.Bool("check", false, "build in memory and fail when web/dist differs")
	only := flag.String("only", "", "comma-separated parts to build: ui, practice, extension")
	flag.Parse()
	if err := run(*check, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

func run(check bool, only string) error {
	web, err := findWeb()
	if err != nil {
		return err
	}
	var stale []string
	for _, p := range parts() {
		if only != "" && !strings.Contains(","+only+",", ","+p.name+",") {
			continue
		}
		if !p.exists(web) {
			fmt.Printf("%-10s no sources yet\n", p.name)
			continue
		}
		out, err := p.build(web)
		if err != nil {
			return fmt.Errorf("build %s: %w", p.name, err)
		}
		if check {
			diff, err := compare(out, filepath.Join(web, "dist", p.name))
			if err != nil {
				return fmt.Errorf("compare %s: %w", p.name, err)
			}
			stale = append(stale, diff...)
			continue
		}
		if err := write(out, filepath.Join(web, "dist", p.name)); err != nil {
			return fmt.Errorf("write %s: %w", p.name, err)
		}
		fmt.Printf("%-10s %d files, %d KB\n", p.name, len(out), size(out)>>10)
	}
	if len(stale) > 0 {
		return fmt.Errorf("web/dist is not what the sources make; run \"go run ./web/bundle\":\n  %s", strings.Join(stale, "\n  "))
	}
	return nil
}

// findWeb returns the web folder of the module that the working directory is in.
func findWeb() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "web"), nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no go.mod at or above the working directory: run it inside the repository")
		}
		dir = up
	}
}
