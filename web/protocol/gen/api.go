package main

import (
	"fmt"
	"path/filepath"
	"slices"
)

// apiTypes lists what the HTTP API returns, by package; types that these refer to
// come along. Packages that the module does not have yet are left out.
var apiTypes = []struct {
	pkg   string
	types []string
}{
	{"tool", []string{"Result", "Change", "Info"}},
	{"gate", []string{"Level"}},
	{"store", []string{"Folder", "Thread", "Chat", "Turn", "Message", "Event", "Note", "Answer", "Notice", "Action", "Approval", "Rule", "Browser", "Live", "Update", "Hit"}},
	{"plx", []string{"Reply"}},
	{"link", []string{"PeerInfo", "PairingInfo"}},
}

// writeAPI makes api.ts. A type name that two packages share would be one too many, and is an error.
func writeAPI(root string) (string, error) {
	w := &apiWriter{root: root, sources: map[string]*source{}, seen: map[string]string{}}
	for _, group := range apiTypes {
		for _, name := range group.types {
			if err := w.add(group.pkg, name); err != nil {
				return "", err
			}
		}
	}
	return header + "\n" + w.text, nil
}

type apiWriter struct {
	root    string
	sources map[string]*source
	seen    map[string]string // package by type name
	text    string
}

func (a *apiWriter) add(pkg, name string) error {
	if from, ok := a.seen[name]; ok {
		if from != pkg {
			return fmt.Errorf("both %s and %s have a type %s", from, pkg, name)
		}
		return nil
	}
	src, err := a.source(pkg)
	if err != nil {
		return err
	}
	def, ok := src.byName[name]
	if !ok {
		return nil
	}
	a.seen[name] = pkg
	var needs [][2]string
	w := &writer{src: src, need: func(p, n string) {
		if p == "" {
			p = pkg
		}
		if !slices.Contains(needs, [2]string{p, n}) {
			needs = append(needs, [2]string{p, n})
		}
	}}
	if err := w.declare(def); err != nil {
		return fmt.Errorf("%s: %w", pkg, err)
	}
	a.text += w.b.String()
	for _, n := range needs {
		if err := a.add(n[0], n[1]); err != nil {
			return err
		}
		if a.seen[n[1]] == "" {
			return fmt.Errorf("%s.%s refers to %s.%s, which is not there", pkg, name, n[0], n[1])
		}
	}
	return nil
}

func (a *apiWriter) source(pkg string) (*source, error) {
	if s, ok := a.sources[pkg]; ok {
		return s, nil
	}
	dir := filepath.Join(a.root, "internal", pkg)
	s := &source{name: pkg}
	if files, _ := filepath.Glob(filepath.Join(dir, "*.go")); len(files) > 0 {
		var err error
		if s, err = load(dir); err != nil {
			return nil, err
		}
	}
	a.sources[pkg] = s
	return s, nil
}
