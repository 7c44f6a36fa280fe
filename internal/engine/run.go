package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"plexus/internal/store"
	"plexus/internal/tool"
)

// errDeadline is the cause with which a tool's own time ends.
var errDeadline = errors.New("the tool's time is over")

// outcome is what the goroutine of a tool came back with.
type outcome struct {
	res tool.Result
	err error
}

// run writes the decision down, runs the tool and writes the outcome down.
func (e *Engine) run(ctx context.Context, o order, rec store.Action, decision string) (tool.Result, error) {
	limit, err := e.timeout(o)
	var fault *tool.Error
	if errors.As(err, &fault) {
		return e.finish(ctx, rec, decision, refused(fault))
	}
	_, err = e.store.MoveAction(ctx, rec.ID, store.ActionMove{
		From: []store.ActionState{store.ActionIntended, store.ActionWaiting}, To: store.ActionRunning, Decision: decision})
	if err != nil {
		if context.Cause(ctx) != nil {
			return e.notRun(ctx, rec)
		}
		return tool.Result{}, fmt.Errorf("record call %s as running: %w", rec.ID, err)
	}
	start := time.Now()
	live := newLive(e.store, o.call)
	e.watch(o.call.ID, live)
	res := e.bounded(ctx, o, limit, live)
	live.close()
	e.watch(o.call.ID, nil)
	res = e.cut(complete(res), rec.ID)
	res.Duration = tool.Since(start)
	res, err = e.record(ctx, rec, decision, res)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, ErrStopped) {
		err = errors.Join(cause, err)
	}
	return res, err
}

// bounded runs the tool until it returns, or until its context has ended and it
// had time to clean up. A tool that ignores its context is left behind.
func (e *Engine) bounded(ctx context.Context, o order, limit time.Duration, live *live) tool.Result {
	running, cancel := context.WithTimeoutCause(ctx, limit, errDeadline)
	defer cancel()
	done := make(chan outcome, 1)
	go func() {
		var out outcome
		died := e.contain(o.tool.Name, "run", func() { out.res, out.err = o.tool.Run(running, e.env(o, live.write), o.call.Input) })
		if died != nil {
			out = outcome{err: died}
		}
		done <- out
	}()
	select {
	case out := <-done:
		return e.settle(running, o, limit, out)
	case <-running.Done():
	}
	grace := time.NewTimer(e.grace)
	defer grace.Stop()
	select {
	case out := <-done:
		return e.settle(running, o, limit, out)
	case <-grace.C:
		e.log.Error("a tool ignores the end of its context", slog.String("tool", o.tool.Name), slog.String("call", o.call.ID))
		return failed(fmt.Sprintf("%s did not stop when its time was over, and was left behind. It may still be at work.", o.tool.Name))
	}
}

// settle turns what a tool returned into a result. A tool that ended because its
// context did may say so in its own words; which end it was, the engine knows.
func (e *Engine) settle(ctx context.Context, o order, limit time.Duration, out outcome) tool.Result {
	cause := context.Cause(ctx)
	var fault *tool.Error
	switch {
	case out.err == nil:
		cutShort := out.res.Status == tool.StatusTimeout || out.res.Status == tool.StatusInterrupted
		if cutShort && cause != nil && !errors.Is(cause, errDeadline) {
			out.res.Status, out.res.Outcome, out.res.Code = tool.StatusInterrupted, tool.OutcomeRejected, CodeStopped
		}
		return out.res
	case cause != nil && (errors.Is(out.err, context.Canceled) || errors.Is(out.err, context.DeadlineExceeded) || errors.Is(out.err, cause)):
		return ended(cause, limit)
	case errors.As(out.err, &fault):
		return refused(fault)
	case diskFull(out.err):
		return rejected(tool.StatusError, CodeDiskFull, fmt.Sprintf("The disk is full: %v. What was there before is kept. Free some space and try again.", out.err))
	}
	e.log.Error("a tool failed", slog.String("tool", o.tool.Name), slog.String("call", o.call.ID), slog.Any("error", out.err))
	return failed(fmt.Sprintf("%s failed: %v", o.tool.Name, out.err))
}

// ended is the result of a tool that its context ended.
func ended(cause error, limit time.Duration) tool.Result {
	switch {
	case errors.Is(cause, errDeadline):
		return timedOut(limit)
	case errors.Is(cause, ErrStopped):
		return interrupted("The user stopped this while it ran. It may have partly run.", CodeStopped)
	}
	return interrupted("Plexus was ended while this ran. It may have partly run; it is not run again by itself.", CodeRestarted)
}

// contain runs a function of a tool and turns a panic into an error: a defect in a
// tool ends its call and nothing else.
func (e *Engine) contain(name, what string, f func()) (died *tool.Error) {
	defer func() {
		if p := recover(); p != nil {
			e.log.Error("a tool panicked", slog.String("tool", name), slog.String("in", what), slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
			died = tool.Errorf(CodeInternal, "%s broke down inside (%v). This is a defect of Plexus; the record has its trace. It may have partly run.", name, p)
		}
	}()
	f()
	return nil
}

// env is what a tool gets.
func (e *Engine) env(o order, output func([]byte)) tool.Env {
	return tool.Env{Call: o.call, Spool: e.SpoolFile(o.call.ID), Output: output}
}

// cut keeps a text that a tool failed to bound within maxText; the whole goes to
// the spool file unless the tool made one.
func (e *Engine) cut(res tool.Result, call string) tool.Result {
	if len(res.Text) <= maxText {
		return res
	}
	full := res.Text
	if res.Spool == "" {
		path := e.SpoolFile(call)
		if err := os.WriteFile(path, []byte(full), 0o600); err != nil {
			e.log.Error("spool file not written", slog.String("call", call), slog.Any("error", err))
		} else {
			res.Spool = path
		}
	}
	if res.Bytes == 0 {
		res.Bytes, res.Lines = int64(len(full)), countLines(full)
	}
	res.Text = headTail(full, maxText)
	return res
}
