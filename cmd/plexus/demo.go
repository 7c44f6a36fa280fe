package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"plexus/internal/chromium"
	"plexus/internal/config"
	"plexus/internal/practice"
	"plexus/internal/scenario"
	"plexus/internal/store"
)

type demoOptions struct {
	headless bool
	json     bool
	keep     bool
}

// demoPace lets a person see the answer being written.
const demoPace = 15 * time.Millisecond

// Bounds of the demo's steps.
const (
	pairBound  = 60 * time.Second
	checkBound = 2 * time.Minute
)

func (a app) demo() *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch Plexus fix a bug on a practice chat site",
		Long: "Starts a practice chat site, a browser of its own with the extension, and a sample Go project with a failing test in a\n" +
			"temporary folder; gives the task through the site's composer and shows what happens. Nothing of yours is touched.\n" +
			"The exit code is 0 only when the thread was answered and the sample's tests pass.",
		Example: "  plexus demo\n  plexus demo --headless --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.runDemo(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.headless, "headless", !chromium.Visible(), "show no browser window")
	cmd.Flags().BoolVar(&o.json, "json", false, "one event a line as JSON, the last with \"status\"")
	cmd.Flags().BoolVar(&o.keep, "keep", false, "keep everything running at the end, until Ctrl+C")
	return cmd
}

// stage is the demo's own world: everything in one temporary folder.
type stage struct {
	dir     string
	project string
	site    *practice.Site
	session *session
	browser *chromium.Browser
}

func (a app) runDemo(ctx context.Context, o demoOptions) (err error) {
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("the demo mends a Go project, but Go was not found. Install it, for example with `apt-get install golang-go`")
	}
	if _, err := chromium.Find(); err != nil {
		return fmt.Errorf("%w. Install it, for example with `apt-get install chromium`, or run `make demo`, which does. Nothing was changed", err)
	}
	say := func(format string, args ...any) {
		if !o.json {
			a.printf(format+"\n", args...)
		}
	}
	st, err := a.setStage(ctx, o, say)
	defer func() { err = errors.Join(err, st.strike()) }()
	if err != nil {
		return err
	}
	thread, err := st.thread(ctx)
	if err != nil {
		return err
	}
	say("Task:     %s\n", scenario.SampleTask)
	extra := map[string]any{}
	end, err := a.watchTurn(ctx, st.session, following{thread: thread, task: scenario.SampleTask, json: o.json, before: func(ending) {
		// Nobody's word is taken for it: the sample's tests are run once more, here.
		extra["tests"] = "pass"
		if out, err := st.tests(context.WithoutCancel(ctx)); err != nil {
			extra["tests"] = "fail"
			say("\n%s", out)
		}
	}, extra: extra})
	if err != nil {
		return err
	}
	say("tests of the sample: %s", extra["tests"])
	if o.keep {
		say("\nEverything keeps running; the sample is in %s. Ctrl+C ends it.", st.project)
		<-ctx.Done()
	}
	if end.Status != string(store.TurnAnswered) {
		return exit{end.code()}
	}
	if extra["tests"] != "pass" {
		return exit{exitFailed}
	}
	return nil
}

// setStage starts all parts. What was started is in the returned stage also when it fails.
func (a app) setStage(ctx context.Context, o demoOptions, say func(string, ...any)) (*stage, error) {
	st := &stage{}
	var err error
	if st.dir, err = os.MkdirTemp("", "plexus-demo-"); err != nil {
		return st, fmt.Errorf("make a temporary folder: %w", err)
	}
	st.project = filepath.Join(st.dir, "till")
	if err := os.Mkdir(st.project, 0o755); err != nil {
		return st, fmt.Errorf("make the sample's folder: %w", err)
	}
	if err := scenario.SampleProject(st.project); err != nil {
		return st, err
	}
	say("Sample:   %s (a Go project with a failing test)", st.project)
	if st.site, err = practice.Start(ctx, practice.Config{Log: a.logger(), Pace: demoPace}); err != nil {
		return st, err
	}
	say("Site:     practice chat site on %s, seen by the demo's browser as https://%s", st.site.Addr(), practice.Host)
	paths := config.At(filepath.Join(st.dir, "home"))
	if st.session, err = a.embedPractice(ctx, paths); err != nil {
		return st, err
	}
	if err := writeExtension(paths.Extension, []int{st.session.state.Port}); err != nil {
		return st, err
	}
	st.browser, err = chromium.Start(context.WithoutCancel(ctx), chromium.Options{
		Profile: filepath.Join(st.dir, "profile"), Extensions: []string{paths.Extension}, Flags: st.site.ChromiumFlags(), Headless: o.headless})
	if err != nil {
		return st, err
	}
	if err := st.pair(ctx); err != nil {
		return st, err
	}
	say("Browser:  Chromium with the extension, paired%s", map[bool]string{true: " (no window)"}[o.headless])
	var link struct{ URL string }
	if err := st.session.Post(ctx, "/api/keys", nil, &link); err != nil {
		return st, err
	}
	say("UI:       %s", link.URL)
	return st, nil
}

// pair approves the demo's own browser as soon as it asks.
func (st *stage) pair(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pairBound)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		var state struct {
			Browsers []struct{ Connected bool }
			Pairings []struct{ Code string }
		}
		if err := st.session.Get(ctx, "/api/state", &state); err != nil {
			return fmt.Errorf("wait for the extension: %w", err)
		}
		for _, b := range state.Browsers {
			if b.Connected {
				return nil
			}
		}
		for _, p := range state.Pairings {
			if err := st.session.Post(ctx, "/api/pairings/"+escape(p.Code), map[string]bool{"approve": true}, nil); err != nil {
				return fmt.Errorf("pair the browser: %w", err)
			}
		}
		select {
		case <-tick.C:
		case <-st.browser.Done():
			return fmt.Errorf("the browser ended before the extension connected: %w", st.browser.Err())
		case <-ctx.Done():
			return fmt.Errorf("the extension did not connect within %s", pairBound)
		}
	}
}

// thread approves the sample and opens a thread in it.
func (st *stage) thread(ctx context.Context) (store.Thread, error) {
	var f store.Folder
	if err := st.session.Post(ctx, "/api/folders", map[string]string{"path": st.project}, &f); err != nil {
		return store.Thread{}, err
	}
	var t store.Thread
	err := st.session.Post(ctx, "/api/threads", map[string]string{"folder": f.ID, "model": "chat"}, &t)
	return t, err
}

// tests runs the sample's tests.
func (st *stage) tests(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, checkBound)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "./...")
	cmd.Dir = st.project
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// strike ends all parts and removes what they wrote.
func (st *stage) strike() error {
	var errs []error
	if st.browser != nil {
		st.browser.Close()
	}
	if st.session != nil {
		errs = append(errs, st.session.end())
	}
	if st.site != nil {
		errs = append(errs, st.site.Close())
	}
	if st.dir != "" {
		errs = append(errs, os.RemoveAll(st.dir))
	}
	return errors.Join(errs...)
}
