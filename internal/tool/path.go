package tool

import (
	"path/filepath"
	"strings"
)

// Rel turns a path as a caller spelled it into one relative to the folder,
// with slashes and without touching the disk. Three spellings mean the same
// file: "src/a.go", "/name/src/a.go" (virtual) and the native absolute path;
// when the last two could both be meant, the native one is. "" and "." are the
// folder itself. ok is false for an absolute path that is neither.
//
// Rel is a translation and no check: ".." stays in the result for the kernel
// (os.Root) to judge, so that every spelling gets the same decision.
func (f Folder) Rel(spelled string) (rel string, ok bool) {
	slashed := filepath.ToSlash(spelled)
	if rel, ok := below(slashed, filepath.ToSlash(f.Path)); ok && f.Path != "" {
		return rel, true
	}
	if rel, ok := below(slashed, "/"+f.Name); ok && f.Name != "" {
		return rel, true
	}
	if strings.HasPrefix(slashed, "/") || filepath.IsAbs(spelled) {
		return "", false
	}
	if slashed == "" {
		return ".", true
	}
	return slashed, true
}

// below returns what follows dir in path when path is dir or something under
// it, compared on whole names: "/ab" is not below "/a".
func below(path, dir string) (string, bool) {
	dir = strings.TrimSuffix(dir, "/")
	rest, found := strings.CutPrefix(path, dir)
	if !found || rest != "" && rest[0] != '/' {
		return "", false
	}
	if rest = strings.TrimLeft(rest, "/"); rest == "" {
		return ".", true
	}
	return rest, true
}
