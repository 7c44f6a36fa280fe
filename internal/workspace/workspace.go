// Package workspace gives tools that read, list, search and write files in an
// approved folder, and nowhere else. Every file is opened through os.Root, so
// that containment is the kernel's and not a comparison of strings: "..",
// absolute paths, symbolic links that lead out and folders swapped for links
// between a check and a use cannot leave. Links that stay inside work.
// Devices, FIFOs and sockets are refused without being opened.
//
// Every tool has bounds, and says what it left out and how to get it. A
// failure that the caller can do something about is a *tool.Error that names
// the path as the caller spelled it and no other.
package workspace

import (
	"time"

	"plexus/internal/tool"
)

// Options changes bounds; zero values are the defaults.
type Options struct {
	SearchTime time.Duration // after which search returns what it has; 10 s
}

// Tools returns read, list, search and write.
func Tools(o Options) []tool.Tool {
	if o.SearchTime <= 0 {
		o.SearchTime = 10 * time.Second
	}
	return []tool.Tool{readTool(), listTool(), searchTool(o), writeTool()}
}

const (
	readBytes  = 200_000   // of one file in one read
	readTotal  = 1_000_000 // of all files in one read
	readPaths  = 50        // files in one read
	scanBytes  = 128 << 20 // counted after the part that is shown, to say how long a file is
	listShown  = 1_000     // entries listed
	listSeen   = 100_000   // entries counted after that
	dirEntries = 100_000   // taken from one directory
	matchCount = 200       // matches of a search
	matchBytes = 300       // of one line that matches
	searchFile = 1_000_000 // larger files are searched only when named
	sniffBytes = 8 << 10   // looked at for NUL: a file with one is binary
	writeBytes = 10 << 20  // of content in one write
	diffBytes  = 64 << 10  // of a diff in a result
	diffSource = 2 << 20   // larger files are not compared
	appendTo   = 1 << 30   // largest file that is appended to
	ignoreFile = 1 << 20   // of a .gitignore
	linkHops   = 40        // symbolic links in one path
)
