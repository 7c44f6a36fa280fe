package server

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plexus/internal/config"
	"plexus/internal/gate"
	"plexus/internal/store"
)

func (s *Server) folders(w http.ResponseWriter, r *http.Request) error {
	all, err := s.cfg.Store.Folders(r.Context())
	if err != nil {
		return err
	}
	return ok(w, nonNil(all))
}

// addFolder approves a folder. Approving one again returns it as it is.
func (s *Server) addFolder(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Path  string `json:"path"`
		Name  string `json:"name"`
		Level string `json:"level"`
	}
	if err := decode(r, &in); err != nil {
		return err
	}
	path, err := approvable(in.Path)
	if err != nil {
		return err
	}
	if within(path, s.cfg.Home) || within(s.cfg.Home, path) {
		return bad("bad-path", fmt.Sprintf("%s holds the files of Plexus itself, or lies in them.", path), "Approve the folder of a project.")
	}
	if in.Level == "" {
		in.Level = s.cfg.Settings.Text(r.Context(), config.KeyLevel)
	}
	level, err := parseLevel(in.Level)
	if err != nil {
		return err
	}
	f, err := s.cfg.Store.AddFolder(r.Context(), store.Folder{Name: in.Name, Path: path, Level: string(level)})
	if err != nil {
		return err
	}
	return ok(w, f)
}

// approvable returns the folder's real path. The root of a file system is refused: approving it approves everything.
func approvable(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", bad("bad-path", fmt.Sprintf("%q is not an absolute path.", path), "")
	}
	clean, err := filepath.EvalSymlinks(filepath.Clean(path))
	if err != nil {
		return "", bad("bad-path", fmt.Sprintf("There is no folder %s.", path), "")
	}
	info, err := os.Stat(clean)
	switch {
	case err != nil || !info.IsDir():
		return "", bad("bad-path", fmt.Sprintf("%s is not a folder.", path), "")
	case filepath.Dir(clean) == clean:
		return "", bad("bad-path", "The root of a file system cannot be approved.", "Approve the folder of a project.")
	}
	return clean, nil
}

// within reports whether path is dir or lies in it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

func parseLevel(text string) (gate.Level, error) {
	level, err := gate.ParseLevel(text)
	if err != nil {
		return "", bad("bad-level", err.Error()+".", "")
	}
	return level, nil
}

func (s *Server) setFolder(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Level string `json:"level"`
	}
	if err := decode(r, &in); err != nil {
		return err
	}
	level, err := parseLevel(in.Level)
	if err != nil {
		return err
	}
	f, err := s.cfg.Store.SetFolderLevel(r.Context(), r.PathValue("id"), string(level))
	if err != nil {
		return err
	}
	return ok(w, f)
}

func (s *Server) removeFolder(w http.ResponseWriter, r *http.Request) error {
	if err := s.cfg.Store.RemoveFolder(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	return ok(w, struct{}{})
}

// dirEntry is a folder that a person may pick.
type dirEntry struct {
	Name string `json:"name"`
	Path string `json:"path"`
	Git  bool   `json:"git"`
}

// maxDirs bounds a listing of the directory picker.
const maxDirs = 1000

// dirs lists the folders in a folder for the directory picker; hidden ones come last.
func (s *Server) dirs(w http.ResponseWriter, r *http.Request) error {
	path := r.URL.Query().Get("path")
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			home = string(filepath.Separator)
		}
		path = home
	}
	if !filepath.IsAbs(path) {
		return bad("bad-path", fmt.Sprintf("%q is not an absolute path.", path), "")
	}
	path = filepath.Clean(path)
	entries, err := os.ReadDir(path)
	if err != nil {
		return bad("bad-path", fmt.Sprintf("%s cannot be listed.", path), "")
	}
	dirs := []dirEntry{}
	for _, e := range entries {
		full := filepath.Join(path, e.Name())
		if info, err := os.Stat(full); err != nil || !info.IsDir() {
			continue
		}
		_, err := os.Stat(filepath.Join(full, ".git"))
		dirs = append(dirs, dirEntry{Name: e.Name(), Path: full, Git: err == nil})
	}
	slices.SortStableFunc(dirs, func(a, b dirEntry) int { return strings.Compare(pickOrder(a.Name), pickOrder(b.Name)) })
	cut := len(dirs) > maxDirs
	if cut {
		dirs = dirs[:maxDirs]
	}
	return ok(w, map[string]any{"path": path, "parent": filepath.Dir(path), "dirs": dirs, "cut": cut})
}

func pickOrder(name string) string {
	if strings.HasPrefix(name, ".") {
		return "~" + strings.ToLower(name)
	}
	return strings.ToLower(name)
}

// nonNil makes an empty list encode as [].
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
