package main

import (
	"context"
	"runtime"
	"strings"

	"plexus/internal/plx"
)

// typicalReply is a reply of a megabyte like those a model writes: a note and files.
func typicalReply() string {
	var b strings.Builder
	b.WriteString("{plx:note}I write the files.{/plx:note}\n")
	for b.Len() < 1_000_000 {
		b.WriteString("{plx:write path=\"a/b.go\" mode=\"create\"}\n")
		for range 1500 {
			b.WriteString("\tif err := do(x[i], y{z: 1}); err != nil { // a < b\n")
		}
		b.WriteString("{/plx:write}\n")
	}
	return b.String()
}

// measureParser reads the reply at once and in deltas of 20 bytes.
func measureParser(context.Context, *world) ([]row, error) {
	text := typicalReply()
	var once, deltas, allocations []float64
	for range 9 {
		before := mallocs()
		took, _ := compute(30, func() error { plx.Parse(text, plx.Options{}); return nil })
		once = append(once, median(took))
		allocations = append(allocations, float64(mallocs()-before)/float64(len(took)*len(text)))
		took, _ = compute(30, func() error { feed(text, 20); return nil })
		deltas = append(deltas, median(took))
	}
	return []row{
		{"plx parser, 1 MB in one feed", "MB/s", rates(once, len(text)), atLeast(100)},
		{"plx parser, 1 MB in 20-byte deltas", "MB/s", rates(deltas, len(text)), bound{}},
		{"plx parser, 20-byte deltas against one feed", "times", ratios(deltas, once), atMost(3)},
		{"plx parser, allocations for each byte of one feed", "", allocations, atMost(0.01)},
	}, nil
}

func feed(text string, size int) {
	p := plx.NewParser(plx.Options{})
	for i := 0; i < len(text); i += size {
		p.Feed(text[i:min(i+size, len(text))])
	}
	p.Finish()
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}
