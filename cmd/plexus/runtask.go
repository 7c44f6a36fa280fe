package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"plexus/internal/client"
	"plexus/internal/loop"
	"plexus/internal/store"
)

// runOptions are the flags of `plexus run`.
type runOptions struct {
	dir    string
	level  string
	model  string
	thread string
	json   bool
}

func (a app) runTask() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run [flags] TASK",
		Short: "Give a task and watch it being done",
		Long:  "Give a task in an approved folder and follow it until the answer. Approvals are asked for here, and can be given in the UI as well.\nWithout TASK, or with -, the task is read from standard input. Ctrl+C stops the turn.",
		Example: "  plexus run -C ~/src/app \"the tests fail; mend them\"\n  plexus run --thread t_k3j9x0 \"now add a changelog line\"\n" +
			"  git diff | plexus run -\n  plexus run --model api --level manual --json \"explain main.go\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			task, err := a.task(args)
			if err != nil {
				return err
			}
			return a.within(cmd.Context(), false, func(s *session) error {
				thread, err := a.startThread(cmd.Context(), s, o)
				if err != nil {
					return err
				}
				return a.follow(cmd.Context(), s, following{thread: thread, task: task, json: o.json})
			})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.dir, "directory", "C", ".", "the folder to work in")
	f.StringVar(&o.level, "level", "", "manual, auto-review or full; no looser than the folder's")
	f.StringVar(&o.model, "model", "", "chat, api, or scripted:FILE (default: the setting model.default)")
	f.StringVar(&o.thread, "thread", "", "go on with this thread")
	f.BoolVar(&o.json, "json", false, "one event a line as JSON, the last with \"status\"")
	return cmd
}

// task is the text of the arguments or of standard input.
func (a app) task(args []string) (string, error) {
	text := strings.Join(args, " ")
	if len(args) == 0 && a.tty {
		return "", usage("say what should be done, as in: plexus run \"run the tests\"")
	}
	if len(args) == 0 || text == "-" {
		const most = 2 * loop.MaxTask // with space around it, which does not count
		data, err := io.ReadAll(io.LimitReader(a.in, most))
		if err != nil {
			return "", fmt.Errorf("read the task from standard input: %w", err)
		}
		if len(data) == most {
			return "", loop.ErrLongTask // what is beyond was not read
		}
		text = string(data)
	}
	text, err := loop.Task(text)
	if errors.Is(err, loop.ErrEmptyTask) {
		return "", usage("the task is empty; say what should be done")
	}
	return text, err
}

// startThread returns the thread that the options name, or a new one in the folder.
func (a app) startThread(ctx context.Context, s *session, o runOptions) (store.Thread, error) {
	var t store.Thread
	if o.thread != "" && (o.level != "" || o.model != "" || o.dir != ".") {
		return t, usage("--thread goes on with a thread as it is; it does not go with --level, --model or -C")
	}
	if o.thread != "" {
		return t, s.Get(ctx, "/api/threads/"+escape(o.thread), &t)
	}
	folder, err := a.approvedFolder(ctx, s, o.dir)
	if err != nil {
		return t, err
	}
	model := o.model
	if file, ok := strings.CutPrefix(model, "scripted:"); ok {
		abs, err := filepath.Abs(file) // the daemon has another working directory
		if err != nil {
			return t, fmt.Errorf("resolve %q: %w", file, err)
		}
		model = "scripted:" + abs
	}
	err = s.Post(ctx, "/api/threads", map[string]string{"folder": folder.ID, "model": model, "level": o.level}, &t)
	return t, err
}

// approvedFolder returns the approved folder that dir is or lies in; a person at a terminal is asked for a new one.
func (a app) approvedFolder(ctx context.Context, s *session, dir string) (store.Folder, error) {
	abs, err := realDir(dir)
	if err != nil {
		return store.Folder{}, err
	}
	var all []store.Folder
	if err := s.Get(ctx, "/api/folders", &all); err != nil {
		return store.Folder{}, err
	}
	for _, f := range all {
		if f.Path == abs {
			return f, nil
		}
	}
	if !a.tty || !a.yes(fmt.Sprintf("Plexus may not work in %s yet. Approve this folder?", abs)) {
		return store.Folder{}, fmt.Errorf("the folder %s is not approved, so nothing was run. Approve it with `plexus folders add %s`", abs, dir)
	}
	var f store.Folder
	err = s.Post(ctx, "/api/folders", map[string]string{"path": abs}, &f)
	return f, err
}

func realDir(dir string) (string, error) {
	if dir == "" {
		return "", usage("the folder's name is empty")
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("there is no folder %s", dir)
		}
		return "", fmt.Errorf("resolve %q: %w", dir, err)
	}
	return abs, nil
}

// yes asks a person; anything but y is no.
func (a app) yes(question string) bool {
	a.printf("%s [y/N] ", question)
	var line string
	_, _ = fmt.Fscanln(a.in, &line)
	return strings.EqualFold(strings.TrimSpace(line), "y") || strings.EqualFold(strings.TrimSpace(line), "yes")
}

// following is a task to put to a thread and to watch.
type following struct {
	thread store.Thread
	task   string
	json   bool
	before func(ending)   // called when the turn has ended, before that is shown; may be nil
	extra  map[string]any // more fields of the last JSON line
}

// stopBound is how long a stop may take before the command gives up on it.
const stopBound = 20 * time.Second

// follow sends the task, shows the turn as it goes and returns with the exit code of how it ended.
func (a app) follow(ctx context.Context, s *session, f following) error {
	end, err := a.watchTurn(ctx, s, f)
	if err != nil {
		return err
	}
	if code := end.code(); code != exitOK {
		return exit{code}
	}
	return nil
}

func (a app) watchTurn(ctx context.Context, s *session, f following) (ending, error) {
	var turn store.Turn
	after := f.thread.LastSeq
	if err := s.Post(ctx, "/api/threads/"+f.thread.ID+"/turns", map[string]string{"text": f.task}, &turn); err != nil {
		return ending{}, err
	}
	// An interrupt stops the turn; what it did on the way out is still shown.
	out := context.WithoutCancel(ctx)
	out, cancel := context.WithCancel(out)
	defer cancel()
	defer context.AfterFunc(ctx, func() { a.stopTurn(out, s, turn, cancel) })()

	var show view = &lines{app: a, extra: f.extra}
	if !f.json {
		show = newScreen(a, s, f.thread)
	}
	ask := newAsker(a, s)
	defer ask.close()
	for u, err := range s.Follow(out, f.thread.ID, after) {
		if err != nil {
			return ending{}, err
		}
		if !belongs(u, turn.ID) {
			continue // another turn of the thread
		}
		show.update(u)
		if !f.json {
			ask.update(out, u)
		}
		if end, ok := show.ended(turn.ID); ok {
			if f.before != nil {
				f.before(end)
			}
			show.end(end)
			return end, nil
		}
	}
	return ending{}, context.Cause(out)
}

// belongs reports whether an update is of the turn, or of the thread as a whole.
func belongs(u store.Update, turn string) bool {
	switch {
	case u.Event != nil:
		return u.Event.Turn == "" || u.Event.Turn == turn
	case u.Live != nil:
		return u.Live.Turn == "" || u.Live.Turn == turn
	}
	return false
}

// stopTurn takes the turn back while it waits, or else stops it. When both fail there is nothing left to wait for.
func (a app) stopTurn(ctx context.Context, s *session, turn store.Turn, giveUp context.CancelFunc) {
	_, _ = fmt.Fprintln(a.err, "\nplexus: stopping ...")
	ctx, cancel := context.WithTimeout(ctx, stopBound)
	defer cancel()
	if err := s.Do(ctx, client.Request{Method: http.MethodDelete, Path: "/api/turns/" + turn.ID}); err == nil {
		return // it had not begun; another turn of the thread may run on
	}
	if err := s.Post(ctx, "/api/threads/"+turn.Thread+"/stop", nil, nil); err != nil {
		giveUp()
	}
}

// width is the terminal's, or 80.
func width(out io.Writer) int {
	f, ok := out.(*os.File)
	if !ok {
		return 80
	}
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil || w < 20 {
		return 80
	}
	return w
}
