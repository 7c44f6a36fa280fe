// Package proc runs commands as the user. A command is a process tree, not a
// process: it is ended as a whole at its time limit, when it is stopped and
// when the daemon exits. Its output is reduced to what a person would see at
// the end, kept as head and tail in the result and in full in a file, in
// memory that does not grow with it.
//
// A command has no terminal and an empty standard input, and an environment in
// which pagers, editors and questions for credentials fail at once instead of
// waiting.
package proc

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"plexus/internal/tool"
)

// Options says how commands run; zero values are the defaults.
type Options struct {
	Shell      string        // path or name; the user's when it is a POSIX shell, else bash, sh
	Env        []string      // environment that commands inherit, before it is made safe; os.Environ()
	Timeout    time.Duration // of a command that asks for none; 120 s
	MaxTimeout time.Duration // longest that a command may ask for; 1 h
	SpoolBytes int64         // kept of one command's output on disk; 64 MiB, what is beyond is only counted
	Grace      time.Duration // between asking a tree to end and killing it; 2 s
	Mark       string        // in the environment of all that is started, the same for each Runner of one home; a random one
	Log        *slog.Logger  // nil discards
}

const (
	quiet        = 200 * time.Millisecond // without output, after which a background child is left to itself
	drainAtMost  = time.Second            // for a background child that does not stop writing
	pollInterval = 10 * time.Millisecond  // while a tree is ending
	killWithin   = 2 * time.Second        // for a tree to be gone after SIGKILL
	maxLeft      = 64                     // background trees left by finished commands
	sweepEvery   = 5 * time.Second        // between looks for those that are over
	commandBytes = 100_000                // the kernel takes 128 KiB as one argument
)

// Runner runs commands and owns every process that they start.
type Runner struct {
	opts  Options
	shell shell
	env   []string
	token string // marks the environment of all that this Runner starts
	log   *slog.Logger
	stop  chan struct{} // closed by Close
	runs  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	left   map[*job]struct{} // finished commands of which something still runs

	sweepEvery time.Duration
	sweeping   bool           // a goroutine looks through left
	sweeper    sync.WaitGroup // that goroutine
}

// New makes a Runner. Close it to end what it started.
func New(o Options) *Runner {
	o.Timeout = cmp.Or(max(o.Timeout, 0), 120*time.Second)
	o.MaxTimeout = max(cmp.Or(max(o.MaxTimeout, 0), time.Hour), o.Timeout)
	o.SpoolBytes = cmp.Or(max(o.SpoolBytes, 0), 64<<20)
	o.Grace = cmp.Or(max(o.Grace, 0), 2*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	return &Runner{
		opts: o, shell: chooseShell(o.Shell, o.Env), env: safeEnv(o.Env), token: cmp.Or(o.Mark, rand.Text()),
		log: o.Log, stop: make(chan struct{}), left: map[*job]struct{}{}, sweepEvery: sweepEvery,
	}
}

// Tools returns run.
func (r *Runner) Tools() []tool.Tool { return []tool.Tool{r.runTool()} }

// Close ends every command and every process that one left in the background,
// and refuses new ones. It returns when they are gone, or ctx ends.
func (r *Runner) Close(ctx context.Context) error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.stop)
	}
	r.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.runs.Wait()
		r.sweeper.Wait()
		r.endLeft()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return errors.New("close the command runner: some processes are still ending")
	}
}

// begin admits a command.
func (r *Runner) begin() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return tool.Errorf("closing", "Plexus is shutting down; the command was not run.")
	}
	r.sweep()
	if len(r.left) >= maxLeft {
		return tool.Errorf("too-many", "%d earlier commands left processes in the background that still run. End some of them first, for example with kill.", len(r.left))
	}
	r.runs.Add(1)
	return nil
}

// leave keeps a finished command of which something still runs.
func (r *Runner) leave(j *job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left[j] = struct{}{}
	if !r.sweeping && !r.closed {
		r.sweeping = true
		r.sweeper.Go(r.sweepUntilEmpty)
	}
}

// sweep releases what has ended since its command was left. r.mu is held.
func (r *Runner) sweep() {
	for j := range r.left {
		if j.over() {
			delete(r.left, j)
		}
	}
}

// sweepUntilEmpty sweeps now and then while there is something left.
func (r *Runner) sweepUntilEmpty() {
	tick := time.NewTicker(r.sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-r.stop:
			return
		case <-tick.C:
		}
		r.mu.Lock()
		r.sweep()
		r.sweeping = len(r.left) > 0
		goOn := r.sweeping
		r.mu.Unlock()
		if !goOn {
			return
		}
	}
}

// endLeft ends what finished commands left, all at once.
func (r *Runner) endLeft() {
	r.mu.Lock()
	defer r.mu.Unlock()
	var group sync.WaitGroup
	for j := range r.left {
		group.Go(func() {
			j.renew()
			if !j.end() {
				r.log.Warn("a background process could not be ended", slog.Int("pid", j.cmd.Process.Pid))
			}
			j.close()
		})
	}
	group.Wait()
	clear(r.left)
	if n := r.endStrays(); n > 0 {
		r.log.Info("ended processes that had left their command's group", slog.Int("count", n))
	}
}

// EndLeftovers ends what a Runner with the same Mark left running when its process was killed, and returns how many
// processes that were. Call it before the first command, and only when no other Runner with this Mark can be alive. Where
// marks cannot be looked for it does nothing.
func (r *Runner) EndLeftovers() int { return r.endStrays() }

func (r *Runner) endStrays() int {
	t := strays(r.token)
	if t == nil {
		return 0
	}
	n := len(t.members())
	if n > 0 {
		end(t, nil, r.opts.Grace)
	}
	return n
}
