package main

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
)

func size(out files) int {
	n := 0
	for _, data := range out {
		n += len(data)
	}
	return n
}

// onDisk reads a part's folder in dist; one that does not exist is empty.
func onDisk(dir string) (files, error) {
	got := files{}
	if _, err := os.Stat(dir); err != nil {
		return got, nil
	}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		got[filepath.ToSlash(rel)] = data
		return err
	})
	return got, err
}

// compare names the files of the part that dist lacks, has in another form, or has too many.
func compare(out files, dir string) ([]string, error) {
	have, err := onDisk(dir)
	if err != nil {
		return nil, err
	}
	part := filepath.Base(dir)
	var diff []string
	for _, name := range slices.Sorted(maps.Keys(out)) {
		if data, ok := have[name]; !ok {
			diff = append(diff, path.Join("dist", part, name)+" is missing")
		} else if !bytes.Equal(data, out[name]) {
			diff = append(diff, path.Join("dist", part, name)+" differs")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if _, ok := out[name]; !ok {
			diff = append(diff, path.Join("dist", part, name)+" has no source")
		}
	}
	return diff, nil
}

// write makes the part's folder hold exactly out. Files that did not change are
// left alone, so that a watching build does nothing.
func write(out files, dir string) error {
	have, err := onDisk(dir)
	if err != nil {
		return err
	}
	for name := range have {
		if _, ok := out[name]; !ok {
			if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
				return err
			}
		}
	}
	for name, data := range out {
		if old, ok := have[name]; ok && bytes.Equal(old, data) {
			continue
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
