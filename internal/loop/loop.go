package loop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"plexus/internal/engine"
	"plexus/internal/plx"
	"plexus/internal/store"
)

// MaxTask bounds the user's text of one turn, in bytes.
const MaxTask = 1 << 20

// Errors that callers of the loop branch on.
var (
	ErrEmptyTask = errors.New("the task is empty")
	ErrLongTask  = fmt.Errorf("the task is longer than %d bytes", MaxTask)
	ErrIdle      = errors.New("nothing is running in this thread")
	ErrClosed    = errors.New("the loop is shut down")
)

// Limits are what a turn is held to; they are read anew for each turn.
type Limits struct {
	Budget   plx.Budget
	Rounds   int           // most replies of the model in one turn
	Watchdog time.Duration // a model silent for longer is given up
}

// Config is what a Loop needs. All fields are required.
type Config struct {
	Store        *store.Store
	Engine       *engine.Engine
	Models       map[string]Model // by name; a thread's model is NAME or NAME:ARGUMENT
	DefaultModel func(context.Context) string
	Limits       func(context.Context) Limits
	Log          *slog.Logger
}

// Loop runs the turns of all threads, one at a time in each. Safe for concurrent use.
type Loop struct {
	cfg Config

	ctx    context.Context // of all runners; ended by Close
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	runners map[string]*runner // by thread; present while its goroutine lives
	streams map[string]*stream // by thread; present while a reply is on its way
}

// runner is the goroutine that works off one thread's turns.
type runner struct {
	again  bool    // look at the queue once more before ending
	flight *flight // nil between turns
}

// flight is one turn being run, from before it is picked.
type flight struct {
	stop   context.CancelCauseFunc
	done   chan struct{} // closed when it has ended
	picked bool          // there was a turn; read it after done
}

// New returns a loop that does nothing until Start.
func New(cfg Config) *Loop {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &Loop{cfg: cfg, ctx: ctx, cancel: cancel, runners: map[string]*runner{}, streams: map[string]*stream{}}
}

// Start takes up what an earlier process left: turns that were in flight are resumed
// or ended with a plain reason, queues go on.
func (l *Loop) Start(ctx context.Context) error {
	active, err := l.cfg.Store.ActiveTurns(ctx)
	if err != nil {
		return fmt.Errorf("find the turns in flight: %w", err)
	}
	queued, err := l.cfg.Store.ThreadsWithQueue(ctx)
	if err != nil {
		return fmt.Errorf("find the queues: %w", err)
	}
	for _, t := range active {
		l.Wake(t.Thread)
	}
	for _, thread := range queued {
		held, err := l.held(ctx, thread)
		if err != nil {
			return err
		}
		if !held {
			l.Wake(thread)
		}
	}
	return nil
}

// held reports whether the thread's queue waits for a person, as it does after a failure and a stop.
func (l *Loop) held(ctx context.Context, thread string) (bool, error) {
	turns, err := l.cfg.Store.Turns(ctx, thread)
	if err != nil {
		return false, fmt.Errorf("read the turns of thread %s: %w", thread, err)
	}
	var last store.Turn
	for _, t := range turns {
		if t.Ended != nil && (last.Ended == nil || t.Ended.After(*last.Ended)) {
			last = t
		}
	}
	return last.State == store.TurnFailed || last.State == store.TurnStopped && last.Code != store.CodeRemoved, nil
}

// Close stops taking work and waits, until ctx ends, for the runners. Turns in
// flight keep their state in the store and are taken up by the next Start.
func (l *Loop) Close(ctx context.Context) error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.cancel(ErrClosed)
	done := make(chan struct{})
	go func() {
		l.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the turns in flight: %w", ctx.Err())
	}
}

// Task returns text as a turn keeps it: valid UTF-8, without space around it. ErrEmptyTask or ErrLongTask when it is no task.
func Task(text string) (string, error) {
	text = strings.TrimSpace(strings.ToValidUTF8(text, string(utf8.RuneError)))
	switch {
	case text == "":
		return "", ErrEmptyTask
	case len(text) > MaxTask:
		return "", ErrLongTask
	}
	return text, nil
}

// Submit queues text as the thread's next turn and returns it. The turn is durable when Submit returns. Errors as of Task.
func (l *Loop) Submit(ctx context.Context, thread, text string) (store.Turn, error) {
	text, err := Task(text)
	if err != nil {
		return store.Turn{}, err
	}
	turn, err := l.cfg.Store.EnqueueTurn(ctx, thread, text)
	if err != nil {
		return store.Turn{}, fmt.Errorf("queue a turn: %w", err)
	}
	l.Wake(thread)
	return turn, nil
}

// Stop ends the turn in flight as stopped and waits, until ctx ends, for it to be so. ErrIdle when there is none.
func (l *Loop) Stop(ctx context.Context, thread string) error {
	f := l.flying(thread)
	if f == nil {
		return l.stopLeft(ctx, thread)
	}
	f.stop(engine.ErrStopped)
	select {
	case <-f.done:
	case <-ctx.Done():
		return fmt.Errorf("wait for the turn to stop: %w", ctx.Err())
	}
	if !f.picked {
		return ErrIdle
	}
	return nil
}

func (l *Loop) flying(thread string) *flight {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.runners[thread]; r != nil {
		return r.flight
	}
	return nil
}

// stopLeft ends a turn that nothing runs any more, since its end could not be written when it came.
func (l *Loop) stopLeft(ctx context.Context, thread string) error {
	active, err := l.cfg.Store.ActiveTurns(ctx)
	if err != nil {
		return fmt.Errorf("find the turn in flight: %w", err)
	}
	for _, t := range active {
		if t.Thread != thread {
			continue
		}
		if _, err := l.cfg.Store.EndTurn(ctx, t.ID, stopped()); err != nil {
			return fmt.Errorf("stop the turn: %w", err)
		}
		return nil
	}
	return ErrIdle
}

// Wake makes sure that the thread's queue is being worked off.
func (l *Loop) Wake(thread string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	if r := l.runners[thread]; r != nil {
		r.again = true
		return
	}
	r := &runner{}
	l.runners[thread] = r
	l.wg.Go(func() { l.work(thread, r) })
}

// hold forgets that the queue was to be looked at again: only what is sent after the failure lets it go on.
func (l *Loop) hold(thread string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.runners[thread]; r != nil {
		r.again = false
	}
}

// work runs the thread's turns until there is none left.
func (l *Loop) work(thread string, r *runner) {
	for {
		ran, err := l.next(thread, r)
		if err != nil && l.ctx.Err() == nil {
			l.cfg.Log.Error("thread stands still", slog.String("thread", thread), slog.Any("error", err))
		}
		l.mu.Lock()
		if l.ctx.Err() != nil || (!ran && !r.again) {
			delete(l.runners, thread)
			l.mu.Unlock()
			return
		}
		r.again = false
		l.mu.Unlock()
	}
}

// next runs the thread's turn in flight or the next of its queue; false when there is none or the queue is held.
func (l *Loop) next(thread string, r *runner) (bool, error) {
	ctx, stop := context.WithCancelCause(l.ctx)
	defer stop(nil)
	f := &flight{stop: stop, done: make(chan struct{})}
	defer close(f.done)
	l.fly(r, f) // before the turn is picked: a stop must not fall between the two
	defer l.fly(r, nil)
	turn, resumed, ok, err := l.pick(thread)
	if err != nil || !ok {
		return false, err
	}
	f.picked = true
	return l.run(ctx, turn, resumed)
}

func (l *Loop) fly(r *runner, f *flight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.flight = f
}

func (l *Loop) pick(thread string) (turn store.Turn, resumed, ok bool, err error) {
	active, err := l.cfg.Store.ActiveTurns(l.ctx)
	if err != nil {
		return store.Turn{}, false, false, fmt.Errorf("find the turn in flight: %w", err)
	}
	for _, t := range active {
		if t.Thread == thread {
			return t, true, true, nil
		}
	}
	turn, ok, err = l.cfg.Store.NextQueued(l.ctx, thread)
	if err != nil {
		return store.Turn{}, false, false, fmt.Errorf("find the next turn: %w", err)
	}
	return turn, false, ok, nil
}

// Live returns the parts of the reply that is on its way in a thread, each from its start; none when there is no such
// reply. What is published later goes on from here: a follower compares offsets.
func (l *Loop) Live(thread string) []store.Live {
	l.mu.Lock()
	s := l.streams[thread]
	l.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.live()
}

// streaming sets what Live returns for a thread; nil ends it.
func (l *Loop) streaming(thread string, s *stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s == nil {
		delete(l.streams, thread)
		return
	}
	l.streams[thread] = s
}

// model returns the Model that a thread's model names.
func (l *Loop) model(ctx context.Context, thread store.Thread) (Model, error) {
	name := thread.Model
	if name == "" {
		name = l.cfg.DefaultModel(ctx)
	}
	name, _, _ = strings.Cut(name, ":")
	m, ok := l.cfg.Models[name]
	if !ok {
		return nil, &Fault{Code: FaultNotConfigured, Unsent: true,
			Text: fmt.Sprintf("There is no model %q.", name), Todo: "Choose another model for this thread."}
	}
	return m, nil
}
