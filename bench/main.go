// Command bench measures Plexus and prints one table: what was measured, the median with the least and the most,
// the bound that it is held to, and whether it keeps it. It says nothing by its exit code about bounds, since
// a busy machine misses them too; it fails when something could not be measured.
//
// What is a process for its users is a process here: the daemon, the browser, the command line. Everything lives in one
// temporary folder and ends with the run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"strings"
	"time"
)

// world is what measurements share.
type world struct {
	binary  string // the program under test
	dir     string // everything that is written, removed at the end
	history int64  // bytes of the big history
	trace   bool   // print what crossed the link in a round
}

// topic is a group of rows that are measured together.
type topic struct {
	name    string
	measure func(context.Context, *world) ([]row, error)
}

var topics = []topic{
	{"parser", measureParser},
	{"decoder", measureDecoder},
	{"link", measureLink},
	{"store", measureStore},
	{"tools", measureTools},
	{"binary", measureBinary},
	{"ready", measureReady},
	{"idle", measureIdle},
	{"round-api", measureRoundAPI},
	{"round-chat", measureRoundChat},
	{"screen", measureScreen},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	w := &world{}
	flag.StringVar(&w.binary, "bin", filepath.Join("bin", "plexus"), "the program to measure")
	megabytes := flag.Int64("history", 100, "megabytes of history in the big store; 1000 is what the bound speaks of and takes minutes to make")
	flag.BoolVar(&w.trace, "trace", false, "print what crossed the link in one round on the practice site")
	only := flag.String("only", "", "measure topics that match this expression only: "+names())
	profile := flag.String("cpuprofile", "", "write a CPU profile of this process, in which parser, decoder, link, store and tools run")
	flag.Parse()
	w.history = *megabytes * 1_000_000
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	if w.binary, err = findBinary(w.binary); err != nil {
		return err
	}
	if w.dir, err = os.MkdirTemp("", "plexus-bench-"); err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(w.dir) }()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return fmt.Errorf("write a profile: %w", err)
		}
		defer func() { _ = f.Close() }()
		if err := pprof.StartCPUProfile(f); err != nil {
			return fmt.Errorf("write a profile: %w", err)
		}
		defer pprof.StopCPUProfile()
	}
	return measure(ctx, w, chosen)
}

// measure takes the topics one after another and prints what came of them, also when one of them failed.
func measure(ctx context.Context, w *world, chosen []topic) error {
	var rows []row
	var errs []error
	start := time.Now()
	for _, t := range chosen {
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		began := time.Now()
		got, err := t.measure(ctx, w)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t.name, err))
		}
		rows = append(rows, got...)
		fmt.Fprintf(os.Stderr, "bench: %s took %.1f s\n", t.name, time.Since(began).Seconds())
	}
	fmt.Printf("%s; %s\n\n", machine(), time.Since(start).Round(time.Second))
	printTable(os.Stdout, rows)
	return errors.Join(errs...)
}

func choose(only string) ([]topic, error) {
	re, err := regexp.Compile(only)
	if err != nil {
		return nil, fmt.Errorf("-only: %w", err)
	}
	var chosen []topic
	for _, t := range topics {
		if re.MatchString(t.name) {
			chosen = append(chosen, t)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("-only %q matches none of %s", only, names())
	}
	return chosen, nil
}

func names() string {
	all := make([]string, len(topics))
	for i, t := range topics {
		all[i] = t.name
	}
	return strings.Join(all, ", ")
}

func findBinary(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the program: %w", err)
	}
	if _, err := os.Stat(abs); err != nil {
		return "", fmt.Errorf("there is no program to measure: %w. Run `make build`", err)
	}
	return abs, nil
}
