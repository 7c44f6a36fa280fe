package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"plexus/internal/config"
)

// Exit codes; `plexus help exit-codes` explains them.
const (
	exitOK      = 0
	exitError   = 1
	exitUsage   = 2
	exitFailed  = 3
	exitDenied  = 4
	exitStopped = 5
)

// exit ends the program with a code after the command has said what there is to say.
type exit struct{ code int }

func (e exit) Error() string { return fmt.Sprintf("exit %d", e.code) }

// app is what commands work with: the terminal and where Plexus lives.
type app struct {
	in     io.Reader
	out    io.Writer
	err    io.Writer
	tty    bool // in and out are a person's terminal
	colour bool
	paths  func() (config.Paths, error)
}

// terminal is the process's own.
func terminal() app {
	tty := term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
	return app{in: os.Stdin, out: os.Stdout, err: os.Stderr, tty: tty, paths: config.DefaultPaths,
		colour: term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, a app) int {
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	var done exit
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &done):
		return done.code
	}
	text, code := explain(err)
	_, _ = fmt.Fprintln(a.err, "plexus: "+text)
	return code
}

func (a app) root() *cobra.Command {
	serve := a.serve()
	root := &cobra.Command{
		Use:   "plexus",
		Short: "A coding agent in your folders, driven by a chat page you already have",
		Long: "Plexus turns a chat page, or any OpenAI-compatible model, into a coding agent that works in folders you approved.\n" +
			"Without a command it serves the web UI at http://localhost:8765.",
		Example:       "  plexus                         serve, then open the UI with `plexus open`\n  plexus demo                    watch it fix a bug on a practice site\n  plexus run -C . \"run the tests and mend what fails\"",
		Args:          noCommand,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          serve.RunE,
	}
	root.Flags().AddFlagSet(serve.Flags())
	root.SetFlagErrorFunc(flagError)
	root.AddGroup(&cobra.Group{ID: "work", Title: "Work:"}, &cobra.Group{ID: "setup", Title: "Set up:"}, &cobra.Group{ID: "look", Title: "Look inside:"})
	add := func(group string, cmds ...*cobra.Command) {
		for _, c := range cmds {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add("work", serve, a.open(), a.runTask(), a.demo(), a.threads(), a.show(), a.approvals(), a.approve(), a.deny(), a.stop())
	add("setup", a.folders(), a.config(), a.secret(), a.extension(), a.consent())
	add("look", a.doctor(), a.tool(), a.classify(), a.parse(), a.practice(), a.version())
	root.AddCommand(exitCodes())
	return root
}

// noCommand refuses arguments of the root, which are misspelt commands.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q", args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return usage("%s\nRun `plexus --help`.", text)
}

func exitCodes() *cobra.Command {
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: `0  done; for run and demo: answered
1  it could not be done
2  the command line is wrong
3  the turn failed; the text says why
4  answered, but an action was denied on the way
5  stopped`}
}

// usageError is a wrong command line.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func usage(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// flagError adds the flag that was most likely meant.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	text := err.Error()
	if errors.As(err, &unknown) {
		if near := nearestFlag(cmd, unknown.GetSpecifiedName()); near != "" {
			text += fmt.Sprintf("; did you mean --%s?", near)
		}
	}
	return usage("%s\nRun `%s --help`.", text, cmd.CommandPath())
}

func nearestFlag(cmd *cobra.Command, name string) string {
	best, distance := "", 3
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if d := editDistance(name, f.Name); d < distance || (distance > 2 && name != "" && strings.HasPrefix(f.Name, name)) {
			best, distance = f.Name, min(d, 2)
		}
	})
	return best
}

// editDistance is Levenshtein's.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			above := row[j+1]
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(row[j]+1, above+1, diagonal+cost)
			diagonal = above
		}
	}
	return row[len(b)]
}

// logger writes to the command's standard error: warnings, or everything with PLEXUS_DEBUG set.
func (a app) logger() *slog.Logger {
	level := slog.LevelWarn
	if os.Getenv("PLEXUS_DEBUG") != "" {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level}))
}

func (a app) printf(format string, args ...any) { _, _ = fmt.Fprintf(a.out, format, args...) }
