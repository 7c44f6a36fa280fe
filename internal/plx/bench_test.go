package plx

import (
	"strings"
	"testing"
)

// typical is a reply of about a megabyte like those a model writes: notes, a command, files.
func typical() string {
	var b strings.Builder
	b.WriteString("{plx:note}I write the files.{/plx:note}\n")
	for b.Len() < 1<<20 {
		b.WriteString("{plx:write path=\"a/b.go\" mode=\"create\"}\n")
		for range 1500 {
			b.WriteString("\tif err := do(x[i], y{z: 1}); err != nil { // a < b\n")
		}
		b.WriteString("{/plx:write}\n")
	}
	return b.String()
}

func BenchmarkOneFeed(b *testing.B) {
	text := typical()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Parse(text, Options{})
	}
}

func BenchmarkDeltas(b *testing.B) {
	text := typical()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		feed(text, 20)
	}
}

func feed(text string, size int) Reply {
	p := NewParser(Options{})
	for i := 0; i < len(text); i += size {
		p.Feed(text[i:min(i+size, len(text))])
	}
	return p.Finish()
}

// BenchmarkAdversaries has the worst texts there are, at once and in deltas.
func BenchmarkAdversaries(b *testing.B) {
	for name, text := range adversaries(1 << 20) {
		for _, size := range []int{len(text), 20} {
			kind := "/once"
			if size == 20 {
				kind = "/deltas"
			}
			b.Run(name+kind, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					feed(text, size)
				}
			})
		}
	}
}

func BenchmarkResults(b *testing.B) {
	content := strings.Repeat("a line of output that is not long\n", 3000)
	rs := make([]Result, 16)
	for i := range rs {
		rs[i] = Result{Tool: "run", Status: "ok", Content: content, Spool: "/tmp/x.txt"}
	}
	b.ReportAllocs()
	for b.Loop() {
		Results(rs, nil, DefaultBudget)
	}
}
