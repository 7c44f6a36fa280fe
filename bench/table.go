package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// row is one line of the table.
type row struct {
	name  string
	unit  string
	got   []float64 // each measurement, in unit
	bound bound
}

// bound is a limit that the median is held to; the zero bound holds nothing.
type bound struct {
	limit float64
	least bool // limit is the least that will do, not the most
}

func atMost(limit float64) bound  { return bound{limit: limit} }
func atLeast(limit float64) bound { return bound{limit: limit, least: true} }

func (b bound) keeps(v float64) bool {
	if b.least {
		return v >= b.limit
	}
	return v <= b.limit
}

func (r row) verdict() string {
	switch {
	case len(r.got) == 0:
		return "not measured"
	case r.bound == bound{}:
		return ""
	case r.bound.keeps(median(r.got)):
		return "ok"
	}
	return "OVER"
}

func (r row) measured() string {
	switch len(r.got) {
	case 0:
		return "-"
	case 1:
		return digits(r.got[0]) + " " + r.unit
	}
	return fmt.Sprintf("%s [%s..%s] %s", digits(median(r.got)), digits(slices.Min(r.got)), digits(slices.Max(r.got)), r.unit)
}

func (r row) limit() string {
	if (r.bound == bound{}) {
		return ""
	}
	sign := "<="
	if r.bound.least {
		sign = ">="
	}
	return fmt.Sprintf("%s %s %s", sign, digits(r.bound.limit), r.unit)
}

func printTable(w io.Writer, rows []row) {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "what\tmedian [min..max]\tbound\t")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.name, r.measured(), r.limit(), r.verdict())
	}
	_ = t.Flush()
}

// digits writes three significant digits, and whole numbers in full.
func digits(v float64) string {
	if v == 0 || math.Abs(v) >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	s := fmt.Sprintf("%.*f", max(0, 2-int(math.Floor(math.Log10(math.Abs(v))))), v)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

func median(v []float64) float64 { return percentile(v, 50) }

// percentile returns the value that p of a hundred are not above.
func percentile(v []float64, p float64) float64 {
	s := slices.Clone(v)
	slices.Sort(s)
	return s[max(0, int(math.Ceil(p/100*float64(len(s))))-1)]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// repeat calls do n times and returns how long each call took, in milliseconds.
func repeat(n int, do func() error) ([]float64, error) {
	took := make([]float64, 0, n)
	for range n {
		start := time.Now()
		if err := do(); err != nil {
			return took, err
		}
		took = append(took, ms(time.Since(start)))
	}
	return took, nil
}

// compute is repeat for work of this process alone: it counts the CPU time where the system tells it, which others on the
// machine do not lengthen, and that of the garbage collector with it.
func compute(n int, do func() error) ([]float64, error) {
	spent := make([]float64, 0, n)
	start := time.Now()
	clock := func() time.Duration {
		if t, err := cpuTime(os.Getpid()); err == nil {
			return t
		}
		return time.Since(start)
	}
	for range n {
		before := clock()
		if err := do(); err != nil {
			return spent, err
		}
		spent = append(spent, ms(clock()-before))
	}
	return spent, nil
}

// rates turns milliseconds into megabytes a second.
func rates(took []float64, bytes int) []float64 {
	out := make([]float64, len(took))
	for i, t := range took {
		out[i] = float64(bytes) / 1e6 / (t / 1e3)
	}
	return out
}

// ratios divides measurements that were taken in turn.
func ratios(a, b []float64) []float64 {
	out := make([]float64, min(len(a), len(b)))
	for i := range out {
		out[i] = a[i] / b[i]
	}
	return out
}

// machine says what was measured on, with the load that others made.
func machine() string {
	load := ""
	if data, err := os.ReadFile("/proc/loadavg"); err == nil {
		load = ", load " + strings.Join(strings.Fields(string(data))[:3], " ")
	}
	return fmt.Sprintf("%s/%s, %d cores, %s%s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), cmp.Or(cpu(), runtime.Version()), load)
}

// cpu is the processor's name where the system tells it.
func cpu() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
