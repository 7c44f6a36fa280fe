package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"plexus/internal/store"
	"plexus/internal/tool"
)

// Do runs a call and returns what it came to. Bad input, a refusal, a denial, a
// timeout and a stop are results like any other, and are recorded like any other.
//
// An error means that the call could not be taken to its end: the store failed, or
// ctx ended for another reason than ErrStopped. When the store failed after
// the effect, the result comes with the error. A call that waits for a person when
// ctx ends keeps waiting, for Resume, if it belongs to a turn; else its question is
// withdrawn.
//
// call.ID is the key of the record; an empty one is made up.
func (e *Engine) Do(ctx context.Context, call tool.Call) (tool.Result, error) {
	if call.ID == "" {
		call.ID = store.NewID("a")
	}
	if !validID.MatchString(call.ID) {
		return tool.Result{}, fmt.Errorf("a call's id has letters, digits, _ and -, not %q", call.ID)
	}
	if err := e.begin(call.ID); err != nil {
		return tool.Result{}, err
	}
	defer e.end(call.ID)

	early := context.WithoutCancel(ctx) // a call that is stopped at once is recorded, too
	o, refusal := e.prepare(early, call)
	var fault *tool.Error
	if refusal != nil && !errors.As(refusal, &fault) {
		return tool.Result{}, refusal
	}
	rec, err := e.intend(early, o)
	if err != nil {
		return tool.Result{}, err
	}
	if fault != nil {
		return e.finish(ctx, rec, "", refused(fault))
	}
	if context.Cause(ctx) != nil {
		return e.notRun(ctx, rec)
	}
	if !o.verdict.Ask {
		return e.run(ctx, o, rec, spared(o))
	}
	answer, err := e.gate.Ask(ctx, e.question(ctx, o))
	return e.answered(ctx, o, rec, answer, err)
}

// spared is the decision about a call that nobody is asked about.
func spared(o order) string {
	switch {
	case o.verdict.Rule != "":
		return DecisionAlways
	case o.verdict.ReadOnly:
		return DecisionReadOnly
	}
	return DecisionFree
}

// intend writes the call down before anything is done for it.
func (e *Engine) intend(ctx context.Context, o order) (store.Action, error) {
	c := o.call
	rec, err := e.store.AddAction(ctx, store.Action{
		ID: c.ID, Thread: c.Thread, Turn: c.Turn, Round: c.Round, N: c.N, Folder: c.Folder.ID, Tool: title(c.Tool), Title: o.subject.Title,
		Input: recordable(c.Input), Door: string(c.Actor.Door), Actor: title(c.Actor.Name),
	})
	if err != nil {
		return rec, fmt.Errorf("record call %s before it is run: %w", c.ID, err)
	}
	return rec, nil
}

// recordable is input as the store can keep it: what is no JSON as a string, what
// is too long as its beginning.
func recordable(input json.RawMessage) json.RawMessage {
	if len(input) <= maxInput && json.Valid(input) {
		return input
	}
	text := input[:min(len(input), 64<<10)]
	quoted, err := json.Marshal(string(text))
	if err != nil {
		return json.RawMessage("null") // a string always encodes
	}
	return quoted
}

// question is what a person is asked about a call.
func (e *Engine) question(ctx context.Context, o order) store.Approval {
	return store.Approval{
		ID: approvalOf(o.call.ID), Thread: o.call.Thread, Turn: o.call.Turn, Action: o.call.ID, Folder: o.call.Folder.ID, Tool: o.tool.Name,
		Title: o.subject.Title, Command: o.subject.Command, Dir: o.subject.Dir, Diff: e.preview(ctx, o), Boundary: boundary(o.tool.Class), Reasons: o.verdict.Reasons,
	}
}

// approvalOf names the question about a call after it, so that it is found again
// after a restart.
func approvalOf(call string) string { return "p_" + call }

// boundary says what holds a call, once it is allowed.
func boundary(c tool.Class) string {
	if c == tool.ClassWrite {
		return "Files inside of the folder only."
	}
	return "Runs as you, with your rights."
}

// preview is the diff of what a call would write, or why there is none.
func (e *Engine) preview(ctx context.Context, o order) (diff string) {
	if o.tool.Preview == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, stopGrace)
	defer cancel()
	var err error
	died := e.contain(o.tool.Name, "preview", func() { diff, err = o.tool.Preview(ctx, e.env(o, func([]byte) {}), o.call.Input) })
	if died != nil {
		err = died
	}
	if err != nil {
		return "No preview: " + err.Error()
	}
	return diff
}

// answered goes on after a person was asked.
func (e *Engine) answered(ctx context.Context, o order, rec store.Action, a store.Approval, err error) (tool.Result, error) {
	if err != nil {
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, ErrStopped):
			return e.withdraw(ctx, rec)
		case cause != nil && rec.Turn == "": // nobody would come back for it
			res, err := e.withdraw(ctx, rec)
			return res, errors.Join(cause, err)
		}
		return tool.Result{}, fmt.Errorf("wait for the approval of call %s: %w", rec.ID, err)
	}
	switch a.State {
	case store.ApprovalAllowed:
		if context.Cause(ctx) != nil { // the stop and the answer met
			return e.notRun(ctx, rec)
		}
		var fault *tool.Error
		if err := e.still(context.WithoutCancel(ctx), o); errors.As(err, &fault) {
			return e.finish(ctx, rec, DecisionAllowed, refused(fault))
		} else if err != nil {
			return tool.Result{}, err
		}
		if a.Always != "" {
			return e.run(ctx, o, rec, DecisionAlways)
		}
		return e.run(ctx, o, rec, DecisionAllowed)
	case store.ApprovalDenied:
		return e.finish(ctx, rec, DecisionDenied, denied(a.Reason))
	}
	return e.finish(ctx, rec, "", gone())
}

// still checks again what may have changed while a person thought.
func (e *Engine) still(ctx context.Context, o order) error {
	f, err := e.folder(ctx, o.call.Folder)
	if err != nil {
		return err
	}
	return present(f)
}

// withdraw ends a call whose question is open when the turn is stopped.
func (e *Engine) withdraw(ctx context.Context, rec store.Action) (tool.Result, error) {
	record, cancel := outlive(ctx)
	defer cancel()
	a, err := e.gate.Withdraw(record, approvalOf(rec.ID))
	if err != nil && !errors.Is(err, store.ErrNotFound) { // it may have been stopped before it was asked
		return tool.Result{}, err
	}
	if a.State == store.ApprovalDenied {
		return e.finish(ctx, rec, DecisionDenied, denied(a.Reason))
	}
	return e.finish(ctx, rec, "", gone())
}

// notRun ends a call whose context had ended before it was run.
func (e *Engine) notRun(ctx context.Context, rec store.Action) (tool.Result, error) {
	cause := context.Cause(ctx)
	if errors.Is(cause, ErrStopped) {
		return e.finish(ctx, rec, "", gone())
	}
	res, err := e.finish(ctx, rec, "", dropped())
	return res, errors.Join(cause, err)
}

// finish writes down what a call came to. The caller's context may have ended.
func (e *Engine) finish(ctx context.Context, rec store.Action, decision string, res tool.Result) (tool.Result, error) {
	res.Duration = tool.Since(rec.Created)
	return e.record(ctx, rec, decision, res)
}

func (e *Engine) record(ctx context.Context, rec store.Action, decision string, res tool.Result) (tool.Result, error) {
	data, err := json.Marshal(res)
	if err != nil {
		return res, fmt.Errorf("encode the result of call %s: %w", rec.ID, err)
	}
	move := store.ActionMove{To: store.ActionDone, Decision: decision, Outcome: string(res.Outcome), Result: data}
	for err = e.move(ctx, rec.ID, move); errors.Is(err, store.ErrFull); err = e.move(ctx, rec.ID, move) {
		// What ran has run: its outcome is worth waiting for room, as long as somebody waits for it.
		if rec.Thread != "" {
			e.store.Publish(store.Live{Thread: rec.Thread, Turn: rec.Turn, Kind: "status", Text: "The disk is full. Make room: what the last action came to can then be written down."})
		}
		select {
		case <-time.After(fullPause):
			continue
		case <-ctx.Done():
		}
		break
	}
	if err != nil {
		e.log.Error("outcome of a call not recorded", slog.String("call", rec.ID), slog.String("status", string(res.Status)), slog.Any("error", err))
		return res, fmt.Errorf("record what call %s came to: %w", rec.ID, err)
	}
	return res, nil
}

// fullPause is how long an outcome waits for room on the disk before it is tried again.
const fullPause = time.Second

func (e *Engine) move(ctx context.Context, id string, m store.ActionMove) error {
	ctx, cancel := outlive(ctx)
	defer cancel()
	_, err := e.store.MoveAction(ctx, id, m)
	return err
}

// outlive is a context for writing an outcome down after ctx has ended.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), recordTime)
}

// Resume takes up a call that an earlier process recorded and did not finish. One
// that waited for a person waits on, and is run when it is allowed; one that was
// running is interrupted and never run again; one that had not begun is
// dropped; one that is done keeps its result. Errors are as for Do.
func (e *Engine) Resume(ctx context.Context, rec store.Action) (tool.Result, error) {
	if err := e.begin(rec.ID); err != nil {
		return tool.Result{}, err
	}
	defer e.end(rec.ID)
	switch rec.State {
	case store.ActionDone:
		var res tool.Result
		if err := json.Unmarshal(rec.Result, &res); err != nil {
			return res, fmt.Errorf("read the result of call %s: %w", rec.ID, err)
		}
		return res, nil
	case store.ActionWaiting:
		return e.resumeWaiting(ctx, rec)
	case store.ActionRunning:
		return e.finish(ctx, rec, "", interrupted(cutByRestart, CodeRestarted))
	}
	return e.finish(ctx, rec, "", dropped())
}

// Abandon ends a call of an earlier process that nobody will resume, because who
// made it is gone: nothing is run, an open question is withdrawn, and the record
// says what is known. The daemon does so at its start for calls without a turn.
func (e *Engine) Abandon(ctx context.Context, rec store.Action) error {
	if err := e.begin(rec.ID); err != nil {
		return err
	}
	defer e.end(rec.ID)
	var err error
	switch rec.State {
	case store.ActionDone:
	case store.ActionWaiting:
		_, err = e.withdraw(ctx, rec)
	case store.ActionRunning:
		_, err = e.finish(ctx, rec, "", interrupted(cutByRestart, CodeRestarted))
	default:
		_, err = e.finish(ctx, rec, "", dropped())
	}
	return err
}

// cutByRestart is what is known of a call that was running when the process ended.
const cutByRestart = "Plexus was restarted while this ran. It may have partly run; it is not run again by itself. Look at the state of things before you repeat it."

func (e *Engine) resumeWaiting(ctx context.Context, rec store.Action) (tool.Result, error) {
	call := tool.Call{ID: rec.ID, Thread: rec.Thread, Turn: rec.Turn, Round: rec.Round, N: rec.N, Folder: tool.Folder{ID: rec.Folder}, Tool: rec.Tool,
		Input: rec.Input, Actor: tool.Actor{Door: tool.Door(rec.Door), Name: rec.Actor}}
	o, err := e.prepare(context.WithoutCancel(ctx), call)
	var fault *tool.Error
	if errors.As(err, &fault) {
		record, cancel := outlive(ctx)
		defer cancel()
		if _, err := e.gate.Withdraw(record, approvalOf(rec.ID)); err != nil && !errors.Is(err, store.ErrNotFound) {
			return tool.Result{}, err
		}
		return e.finish(ctx, rec, "", refused(fault))
	}
	if err != nil {
		return tool.Result{}, err
	}
	a, err := e.gate.Wait(ctx, approvalOf(rec.ID))
	return e.answered(ctx, o, rec, a, err)
}

// timeout is the time that a call may take.
func (e *Engine) timeout(o order) (limit time.Duration, err error) {
	limit = o.tool.Timeout
	if limit <= 0 {
		limit = defaultTimeout
	}
	if o.tool.Deadline != nil {
		var own time.Duration
		if died := e.contain(o.tool.Name, "deadline", func() { own = o.tool.Deadline(o.call.Input) }); died != nil {
			return limit, died
		}
		if own > 0 {
			limit = own
		}
	}
	return limit, nil
}
