package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/google/jsonschema-go/jsonschema"

	"plexus/internal/tool"
)

type runInput struct {
	Command string `json:"command" jsonschema:"shell command line" bounds:"min=1"`
	Cwd     string `json:"cwd,omitempty" jsonschema:"folder to run in, relative to the folder" bounds:"max=4096,default=."`
	Timeout int    `json:"timeout,omitempty" jsonschema:"time limit in seconds" bounds:"min=1"`
}

func (r *Runner) runTool() tool.Tool {
	return tool.New(tool.Info{
		Name: "run",
		Doc: "Run a shell command in the folder and return its output and exit code. Standard input is empty, there is no terminal. " +
			"The command and all that it started are ended at the time limit.",
		Class:   tool.ClassExec,
		Timeout: r.opts.Timeout,
	}, tool.Handlers[runInput]{
		Adjust: func(s *jsonschema.Schema) {
			timeout := s.Properties["timeout"]
			timeout.Maximum = new(r.opts.MaxTimeout.Seconds())
			timeout.Default = fmt.Append(nil, r.opts.Timeout.Seconds())
		},
		Check: checkRun,
		Subject: func(in runInput) tool.Subject {
			return tool.Subject{Title: firstLine(in.Command), Command: in.Command, Dir: in.Cwd}
		},
		// A little later than the limit, which run keeps by itself: it knows
		// the output, and needs the time to end the tree.
		Deadline: func(in runInput) time.Duration {
			return r.limit(in) + r.opts.Grace + killWithin + drainAtMost
		},
		Run: r.run,
	})
}

func checkRun(in runInput) error {
	switch {
	case strings.TrimSpace(in.Command) == "":
		return tool.Errorf("bad-input", "run: the command is empty.")
	case strings.ContainsRune(in.Command, 0):
		return tool.Errorf("bad-input", "run: the command contains a NUL character.")
	case len(in.Command) > commandBytes:
		return tool.Errorf("too-large", "run: the command has %s bytes; at most %s can be run. Write it to a file and run that.",
			humanize.Comma(int64(len(in.Command))), humanize.Comma(commandBytes))
	case strings.ContainsRune(in.Cwd, 0):
		return tool.Errorf("bad-input", "run: cwd contains a NUL character.")
	}
	return nil
}

func (r *Runner) limit(in runInput) time.Duration {
	if in.Timeout > 0 {
		return time.Duration(in.Timeout) * time.Second
	}
	return r.opts.Timeout
}

// ending is why a command is over.
type ending int

const (
	byItself ending = iota
	byTimeout
	byStop
)

func (r *Runner) run(ctx context.Context, env tool.Env, in runInput) (tool.Result, error) {
	if r.shell.path == "" {
		return tool.Result{}, tool.Errorf("no-shell", "No shell was found to run the command. Install bash, or set the shell in the settings.")
	}
	dir, err := workDir(env.Call.Folder, in.Cwd)
	if err != nil {
		return tool.Result{}, err
	}
	if err := r.begin(); err != nil {
		return tool.Result{}, err
	}
	defer r.runs.Done()

	mark := r.token + "." + env.Call.ID
	cmd := exec.Command(r.shell.path, append(r.shell.args[:len(r.shell.args):len(r.shell.args)], in.Command)...)
	cmd.Dir = dir
	cmd.Env = append(r.env[:len(r.env):len(r.env)], markName+"="+mark, "PWD="+dir)
	out := newOutput(header(in.Command), spool{path: env.Spool, limit: r.opts.SpoolBytes}, env.Output)
	j, err := r.start(cmd, mark, out)
	if err != nil {
		return tool.Result{}, startError(err)
	}
	over := finish{why: r.wait(ctx, j, r.limit(in))}
	over.unended = over.why != byItself && !j.end()
	more := !j.drain()
	if over.unended || over.why == byItself && (more || j.tree.maybeAlive()) {
		over.still = j.tree.members()
	}
	over.state = j.state()
	over.output = out.finish(more)
	if more || over.unended || len(over.still) > 0 {
		r.leave(j)
	} else {
		j.close()
	}
	return r.result(in, over), nil
}

// finish is how a command came to its end.
type finish struct {
	why     ending
	state   *os.ProcessState // of the first process; nil when it could not be ended
	output  finished
	still   []process // what still runs of it
	unended bool      // it was to be ended, and killing it did not help
}

// wait waits for the end of the first process, or for a reason to end it.
func (r *Runner) wait(ctx context.Context, j *job, limit time.Duration) ending {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-j.exited:
		return byItself
	case <-timer.C:
		return byTimeout
	case <-r.stop:
		return byStop
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) { // whatever its cause is called
			return byTimeout
		}
		return byStop
	}
}

// workDir is the native path of the folder in which a command starts. It must
// be in the approved folder: where the command goes from there is a matter of
// the boundary, not of a path.
func workDir(folder tool.Folder, cwd string) (string, error) {
	root, err := filepath.EvalSymlinks(folder.Path)
	if info, statErr := os.Stat(root); err != nil || statErr != nil || !info.IsDir() {
		return "", tool.Errorf("folder-gone", "The folder %s is gone: it was moved, deleted or unmounted. The command was not run. Put it back, or approve its new place.", nameOf(folder))
	}
	path := cwd
	if rel, ok := folder.Rel(cwd); ok {
		path = root + "/" + rel // not cleaned: what ".." means depends on links
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", tool.Errorf("not-found", "cwd %s does not exist or cannot be entered.", cwd)
	}
	rel, err := filepath.Rel(root, real)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", tool.Errorf("outside-folder", "cwd %s is outside the folder %s. Use a path inside it.", cwd, nameOf(folder))
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", tool.Errorf("not-folder", "cwd %s is not a folder.", cwd)
	}
	return real, nil
}

func nameOf(folder tool.Folder) string {
	if folder.Name != "" {
		return "/" + folder.Name
	}
	return folder.Path
}

func startError(err error) error {
	switch {
	case errors.Is(err, syscall.E2BIG):
		return tool.Errorf("too-large", "The command and its environment are too large to be run. Write it to a file and run that.")
	case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		return tool.Errorf("no-shell", "The shell could not be started: %s.", reason(err))
	default:
		return fmt.Errorf("start command: %w", err)
	}
}
