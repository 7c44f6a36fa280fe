package extension_test

import (
	"slices"
	"testing"
	"time"

	"plexus/internal/link"
	"plexus/internal/practice"
)

// BenchmarkWorkerRoundTrip is a command to the worker in Chromium and its answer.
func BenchmarkWorkerRoundTrip(b *testing.B) {
	r := start(b, practice.Config{})
	var times []time.Duration
	for b.Loop() {
		begun := time.Now()
		if e := r.refused(link.EndTurn{Turn: "none"}); e.Code != "unknown-turn" {
			b.Fatal(e)
		}
		times = append(times, time.Since(begun))
	}
	reportMedian(b, times)
}

// BenchmarkPageRoundTrip is the same to the script in a page: a look at a chat without messages.
func BenchmarkPageRoundTrip(b *testing.B) {
	r := start(b, practice.Config{})
	tab := r.open("th1", home)
	var times []time.Duration
	for b.Loop() {
		begun := time.Now()
		r.command(link.LookPage{Thread: "th1", Tab: tab.Tab}, &link.PageFacts{})
		times = append(times, time.Since(begun))
	}
	reportMedian(b, times)
}

// BenchmarkRound is one message of a chat that is open: from the command to the end of an answer of the practice site.
func BenchmarkRound(b *testing.B) {
	r := start(b, practice.Config{})
	tab := r.open("th1", home)
	var times []time.Duration
	for b.Loop() {
		begun := time.Now()
		if h := r.say("t1", "th1", tab.Tab, "mode plain"); h.err != nil {
			b.Fatal(h.err)
		}
		times = append(times, time.Since(begun))
		r.command(link.EndTurn{Turn: "t1"}, nil)
	}
	reportMedian(b, times)
}

func reportMedian(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
}
