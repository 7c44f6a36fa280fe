package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
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

// writeAPI makes api.ts. Of two types with one name, the later is called by its package's name as well.
func writeAPI(root string) (string, error) {
	w := &apiWriter{root: root, sources: map[string]*source{}, names: map[goType]string{}, taken: map[string]bool{}, written: map[goType]bool{}}
	for _, group := range apiTypes {
		for _, name := range group.types {
			if err := w.add(goType{group.pkg, name}); err != nil {
				return "", err
			}
		}
	}
	return header + "\n" + w.text.String(), nil
}

type goType struct{ pkg, name string }

type apiWriter struct {
	root    string
	sources map[string]*source
	names   map[goType]string // in TypeScript
	taken   map[string]bool
	written map[goType]bool
	text    strings.Builder
}

// name gives a type its name in TypeScript.
func (a *apiWriter) name(t goType) string {
	if name, ok := a.names[t]; ok {
		return name
	}
	name := t.name
	if a.taken[name] {
		name = strings.ToUpper(t.pkg[:1]) + t.pkg[1:] + name
	}
	a.names[t], a.taken[name] = name, true
	return name
}

// add writes a type and all that it refers to. A listed type that the module does not have is left out.
func (a *apiWriter) add(t goType) error {
	if a.written[t] {
		return nil
	}
	src, err := a.source(t.pkg)
	if err != nil {
		return err
	}
	def, ok := src.byName[t.name]
	if !ok {
		return nil
	}
	def.name, a.written[t] = a.name(t), true
	var needs []goType
	w := &writer{src: src, need: func(pkg, name string) string {
		n := goType{cmp.Or(pkg, t.pkg), name}
		needs = append(needs, n)
		return a.name(n)
	}}
	if err := w.declare(def); err != nil {
		return fmt.Errorf("%s: %w", t.pkg, err)
	}
	a.text.WriteString(w.b.String())
	for _, n := range needs {
		if err := a.add(n); err != nil {
			return err
		}
		if !a.written[n] {
			return fmt.Errorf("%s.%s refers to %s.%s, which is not there", t.pkg, t.name, n.pkg, n.name)
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
