package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// files maps a slash path below the part's folder in dist to its content.
type files map[string][]byte

// part is one bundle: the sources in web/NAME, the output in web/dist/NAME.
type part struct {
	name    string
	jsx     string // module of the automatic JSX runtime, "" for none
	main    string // the source whose presence says that the part exists
	entries []entry
}

// entry is one source file that becomes one output file.
type entry struct {
	source string // relative to the part's folder; skipped when it does not exist
	output string
	format api.Format
}

func parts() []part {
	app := []entry{
		{source: "main.tsx", output: "main.js", format: api.FormatESModule},
		{source: "style.css", output: "style.css"},
	}
	return []part{
		{name: "ui", jsx: "preact", main: "main.tsx", entries: app},
		{name: "practice", jsx: "react", main: "main.tsx", entries: app},
		{name: "extension", main: "manifest.json", entries: []entry{
			{source: "worker.ts", output: "worker.js", format: api.FormatESModule},
			// Content scripts are classic scripts: Chrome does not load them as modules.
			{source: "content.ts", output: "content.js", format: api.FormatIIFE},
			{source: "page.ts", output: "page.js", format: api.FormatIIFE},
			{source: "popup.ts", output: "popup.js", format: api.FormatIIFE},
			{source: "popup.css", output: "popup.css"},
		}},
	}
}

// static lists what is copied as it is, from anywhere in a part's folder.
var static = []string{".html", ".png", ".svg", ".ico", ".woff2", ".webmanifest"}

func (p part) exists(web string) bool {
	_, err := os.Stat(filepath.Join(web, p.name, p.main))
	return err == nil
}

// build makes the part in memory.
func (p part) build(web string) (files, error) {
	out := files{}
	inputs := map[string]bool{}
	for _, e := range p.entries {
		if _, err := os.Stat(filepath.Join(web, p.name, e.source)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := p.bundle(web, e, out, inputs); err != nil {
			return nil, err
		}
	}
	if err := p.copyStatic(web, out); err != nil {
		return nil, err
	}
	text, err := licences(web, inputs)
	if err != nil {
		return nil, err
	}
	if text != "" {
		out["LICENSES.txt"] = []byte(text)
	}
	return out, nil
}

// bundle builds one entry into out and adds the files that it was made from to inputs.
func (p part) bundle(web string, e entry, out files, inputs map[string]bool) error {
	res := api.Build(api.BuildOptions{
		AbsWorkingDir: web,
		EntryPointsAdvanced: []api.EntryPoint{{
			InputPath:  "./" + p.name + "/" + e.source,
			OutputPath: strings.TrimSuffix(e.output, path.Ext(e.output)),
		}},
		Outdir:            "dist/" + p.name,
		Bundle:            true,
		Format:            e.format,
		Platform:          api.PlatformBrowser,
		Target:            api.ES2024,
		JSX:               api.JSXAutomatic,
		JSXImportSource:   p.jsx,
		Define:            map[string]string{"process.env.NODE_ENV": `"production"`},
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		Charset:           api.CharsetUTF8,
		LegalComments:     api.LegalCommentsEndOfFile,
		Sourcemap:         api.SourceMapNone,
		Loader:            map[string]api.Loader{".svg": api.LoaderDataURL, ".png": api.LoaderDataURL, ".woff2": api.LoaderDataURL},
		Metafile:          true,
		Write:             false,
		LogLevel:          api.LogLevelSilent,
	})
	if len(res.Errors) > 0 {
		return buildError(web, res.Errors)
	}
	root := filepath.Join(web, "dist", p.name)
	for _, f := range res.OutputFiles {
		rel, err := filepath.Rel(root, f.Path)
		if err != nil {
			return fmt.Errorf("place output %q: %w", f.Path, err)
		}
		rel = filepath.ToSlash(rel)
		if rel == "main.css" { // styles that main.tsx imports
			rel = "style.css"
		}
		if _, dup := out[rel]; dup {
			return fmt.Errorf("two sources make %s", rel)
		}
		out[rel] = f.Contents
	}
	var meta struct {
		Inputs map[string]json.RawMessage `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(res.Metafile), &meta); err != nil {
		return fmt.Errorf("read esbuild's metafile: %w", err)
	}
	for name := range meta.Inputs {
		inputs[name] = true
	}
	return nil
}

// buildError joins what esbuild found; a module that is not there gets the command that brings it.
func buildError(web string, msgs []api.Message) error {
	text := strings.TrimSpace(strings.Join(api.FormatMessages(msgs, api.FormatMessagesOptions{Kind: api.ErrorMessage}), ""))
	if _, err := os.Stat(filepath.Join(web, "node_modules")); err != nil {
		text += "\nweb/node_modules is missing: run \"npm ci --ignore-scripts\" in web first"
	}
	return errors.New(text)
}

// copyStatic adds the files that need no building.
func (p part) copyStatic(web string, out files) error {
	root := filepath.Join(web, p.name)
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "node_modules" || d.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if !slices.Contains(static, path.Ext(rel)) && rel != "manifest.json" {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		out[rel] = data
		return nil
	})
}
