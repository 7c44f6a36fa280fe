package main

import (
	"strings"
	"testing"
	"time"
)

func TestPercentile(t *testing.T) {
	ten := []float64{10, 1, 9, 2, 8, 3, 7, 4, 6, 5}
	for _, c := range []struct {
		values []float64
		p      float64
		want   float64
	}{
		{ten, 0, 1}, {ten, 50, 5}, {ten, 90, 9}, {ten, 99, 10}, {ten, 100, 10},
		{[]float64{3}, 50, 3}, {[]float64{3}, 99, 3}, {[]float64{1, 2}, 50, 1},
	} {
		if got := percentile(c.values, c.p); got != c.want {
			t.Errorf("p%v of %v is %v, want %v", c.p, c.values, got, c.want)
		}
	}
	if ten[0] != 10 {
		t.Error("the measurements were sorted in place")
	}
}

func TestRows(t *testing.T) {
	rows := []row{
		{"under", "ms", []float64{3, 1, 2}, atMost(2)},
		{"above", "ms", []float64{3, 1, 2.5}, atMost(2)},
		{"fast", "MB/s", []float64{120}, atLeast(100)},
		{"slow", "MB/s", []float64{99.5}, atLeast(100)},
		{"free", "s", []float64{0.00012345, 0, 5}, bound{}},
		{"none", "%", nil, atMost(1)},
	}
	var b strings.Builder
	printTable(&b, rows)
	want := []string{
		"what median [min..max] bound",
		"under 2 [1..3] ms <= 2 ms ok",
		"above 2.5 [1..3] ms <= 2 ms OVER",
		"fast 120 MB/s >= 100 MB/s ok",
		"slow 99.5 MB/s >= 100 MB/s OVER",
		"free 0.000123 [0..5] s",
		"none - <= 1 % not measured",
	}
	for i, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		if got := strings.Join(strings.Fields(line), " "); got != want[i] {
			t.Errorf("got  %q\nwant %q", got, want[i])
		}
	}
}

// The daemon's part is what passes before each of its own moves; what the other side takes does not count.
func TestDaemonsPart(t *testing.T) {
	var passed []crossing
	at := time.Time{}
	for _, c := range []struct {
		after time.Duration
		down  bool
	}{{0, false}, {5, true}, {100, false}, {2, true}, {1, true}, {50, false}, {7, false}} {
		at = at.Add(c.after)
		passed = append(passed, crossing{at: at, down: c.down})
	}
	if got := daemonsPart(passed); got != 8 {
		t.Errorf("got %d, want 5+2+1", got)
	}
	if got := daemonsPart(passed[1:2]); got != 0 {
		t.Errorf("a move that nothing came before counts %d", got)
	}
}
