// Package web holds the built browser side of Plexus: the web UI, the
// extension and the practice site, as web/bundle made them. The sources are
// beside it; dist is committed, so that building the program needs only Go.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// UI returns the files of the web UI: index.html, main.js, style.css and what they load.
func UI() fs.FS { return part("ui") }

// Extension returns the unpacked browser extension, manifest.json at its root.
func Extension() fs.FS { return part("extension") }

// Practice returns the client side of the practice site.
func Practice() fs.FS { return part("practice") }

// part never fails: the names are constants, and a part that was not built yet is an empty folder.
func part(name string) fs.FS {
	sub, err := fs.Sub(dist, "dist/"+name)
	if err != nil {
		panic(err)
	}
	return sub
}
