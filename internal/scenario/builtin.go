package scenario

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed builtin
var builtin embed.FS

// Builtin returns the source of a scenario that comes with Plexus.
func Builtin(name string) ([]byte, bool) {
	src, err := builtin.ReadFile("builtin/" + name + ".yaml")
	return src, err == nil
}

// Names lists the scenarios that come with Plexus, sorted.
func Names() []string {
	var names []string
	entries, err := fs.ReadDir(builtin, "builtin")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".yaml"); ok {
			names = append(names, name)
		}
	}
	return names
}
