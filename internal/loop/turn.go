package loop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plexus/internal/engine"
	"plexus/internal/plx"
	"plexus/internal/store"
)

// maxCorrections is how often a thread's model is asked to say it again in the grammar.
const maxCorrections = 2

// Codes of turns that end for a reason of the loop's own.
const (
	codeStopped = "stopped"
	codeRounds  = "rounds"
	codeEmpty   = "empty-reply"
)

// turn is one turn being run.
type turn struct {
	l      *Loop
	limits Limits
	turn   store.Turn
	thread store.Thread
	folder store.Folder
	model  Model
	log    *slog.Logger
	cut    *cutReply // the reply that the turn's end cut short, if one was on its way
}

// cutReply is as much of a reply as came. It becomes final together with the turn: a process that died in between would
// leave a reply that looks complete, and the next one would act on it.
type cutReply struct {
	id  string
	end store.MessageEnd
}

// errTaken is returned when a turn was taken out of the queue while it was picked.
var errTaken = errors.New("the turn was taken back")

// run takes a turn to its end. It returns whether the thread's queue should go
// on, and an error only when the store cannot be written.
func (l *Loop) run(ctx context.Context, row store.Turn, resumed bool) (bool, error) {
	t := &turn{l: l, turn: row, limits: l.cfg.Limits(ctx),
		log: l.cfg.Log.With(slog.String("thread", row.Thread), slog.String("turn", row.ID))}
	answer, err := t.toAnswer(ctx, resumed)
	if l.ctx.Err() != nil {
		return false, nil // shut down: the state stays as it is, for the next start
	}
	if errors.Is(err, errTaken) {
		return true, nil
	}
	if err != nil && errors.Is(context.Cause(ctx), engine.ErrStopped) {
		err = engine.ErrStopped // whatever it was that noticed first
	}
	// The turn's own context may be what ended it; its end must be written all the same.
	return t.end(context.WithoutCancel(ctx), answer, err)
}

func (t *turn) toAnswer(ctx context.Context, resumed bool) (answer, error) {
	if err := t.load(ctx); err != nil {
		return answer{}, err
	}
	if resumed {
		return t.resume(ctx)
	}
	out, err := t.compose(ctx)
	if err != nil {
		return answer{}, err
	}
	return t.rounds(ctx, out)
}

// load reads what the turn stands on and checks that it is still there.
func (t *turn) load(ctx context.Context) error {
	var err error
	if t.thread, err = t.l.cfg.Store.Thread(ctx, t.turn.Thread); err != nil {
		return fmt.Errorf("read the thread: %w", err)
	}
	if t.folder, err = t.l.cfg.Store.Folder(ctx, t.thread.Folder); err != nil {
		if errors.Is(err, store.ErrNotFound) {
			return folderGone("The folder of this thread is no longer approved.", "Approve it again, then send the task again.")
		}
		return fmt.Errorf("read the folder: %w", err)
	}
	if info, err := os.Stat(t.folder.Path); err != nil || !info.IsDir() {
		return folderGone(fmt.Sprintf("The folder %s is not there.", t.folder.Path), "Bring it back, or approve its new place, then send the task again.")
	}
	if real, err := filepath.EvalSymlinks(t.folder.Path); err != nil || real != t.folder.Path {
		return folderGone(fmt.Sprintf("The folder %s was replaced by a link to another place.", t.folder.Path), "Approve that place if you mean it, then send the task there.")
	}
	t.model, err = t.l.model(ctx, t.thread)
	return err
}

func folderGone(text, todo string) error {
	return &Fault{Code: FaultFolderGone, Text: text + " Nothing was sent.", Todo: todo, Unsent: true}
}

// answer is what a turn came to.
type answer struct {
	message string // store.Message.ID of the reply
	text    string
}

// rounds sends out, acts on the reply, sends the results, and so on until there is an answer.
func (t *turn) rounds(ctx context.Context, out store.Message) (answer, error) {
	for {
		if t.turn.Round >= t.limits.Rounds {
			return answer{}, &Fault{Code: codeRounds,
				Text: fmt.Sprintf("The model replied %d times without an answer. What it did so far stays.", t.turn.Round),
				Todo: "Send a message to go on from here, or raise the setting turn.rounds."}
		}
		reply, err := t.exchange(ctx, out)
		if err != nil {
			return answer{}, err
		}
		next, ans, err := t.act(ctx, reply)
		if err != nil || ans != nil {
			return deref(ans), err
		}
		out = next
	}
}

func deref(a *answer) answer {
	if a == nil {
		return answer{}
	}
	return *a
}

// act does what a complete reply says: it returns either the message to send next or the answer.
func (t *turn) act(ctx context.Context, reply store.Message) (store.Message, *answer, error) {
	read := plx.Parse(reply.Text, plx.Options{Rendered: reply.Recovered})
	switch {
	case len(read.Actions) > 0:
		out, err := t.batch(ctx, reply, read)
		return out, nil, err
	case read.NeedsCorrection || strings.TrimSpace(reply.Text) == "":
		return t.correct(ctx, reply, read)
	}
	text := read.Answer
	if text == "" {
		text = read.Display
	}
	return store.Message{}, &answer{message: reply.ID, text: text}, nil
}

// correct asks for the same reply in the grammar, at most maxCorrections times in a thread; after that the text is the answer.
func (t *turn) correct(ctx context.Context, reply store.Message, read plx.Reply) (store.Message, *answer, error) {
	asked, err := t.l.cfg.Store.CountMessages(ctx, t.turn.Thread, store.MessageCorrection)
	if err != nil {
		return store.Message{}, nil, fmt.Errorf("count the corrections: %w", err)
	}
	if asked < maxCorrections {
		out, err := t.add(ctx, store.Message{Kind: store.MessageCorrection, Text: plx.Correction(read.Problems, read.Dropped)})
		return out, nil, err
	}
	if strings.TrimSpace(reply.Text) == "" {
		return store.Message{}, nil, &Fault{Code: codeEmpty, Text: "The model sent an empty reply. What it did so far stays.", Todo: "Send a message to go on from here."}
	}
	t.notice(ctx, store.Notice{Code: "unreadable-reply", Tone: "warn",
		Text: "The model's reply looks like actions, but none could be read, also after asking for it again. It is shown as it came; nothing of it was run."})
	return store.Message{}, &answer{message: reply.ID, text: reply.Text}, nil
}

// fullPause is how long a write that must be made waits for room on the disk.
const fullPause = time.Second

// insist makes a write without which the thread would stand still. While the disk is full it says so to whoever
// watches, and tries again until there is room or the loop is shut down.
func (t *turn) insist(write func() error) error {
	for {
		err := write()
		if !errors.Is(err, store.ErrFull) {
			return err
		}
		t.l.cfg.Store.Publish(store.Live{Thread: t.turn.Thread, Turn: t.turn.ID, Kind: "status",
			Text: "The disk is full. Make room: how this turn ended can then be written down. What was recorded so far stays."})
		select {
		case <-time.After(fullPause):
		case <-t.l.ctx.Done():
			return err
		}
	}
}

func stopped() store.TurnEnd {
	return store.TurnEnd{To: store.TurnStopped, Code: codeStopped, Reason: "Stopped. What was done so far stays."}
}

// ending words how the turn ended.
func (t *turn) ending(ans answer, err error) store.TurnEnd {
	var fault *Fault
	switch {
	case err == nil:
		return store.TurnEnd{To: store.TurnAnswered, Answer: &store.Answer{Message: ans.message, Text: ans.text}}
	case errors.Is(err, engine.ErrStopped):
		return stopped()
	case errors.As(err, &fault):
		return store.TurnEnd{To: store.TurnFailed, Code: fault.Code, Reason: strings.TrimSpace(fault.Text + " " + fault.Todo)}
	case errors.Is(err, store.ErrFull):
		return store.TurnEnd{To: store.TurnFailed, Code: FaultDiskFull, Reason: "The disk is full. What was recorded so far stays. Make room, then send a message to go on."}
	}
	t.log.Error("turn failed", slog.Any("error", err))
	return store.TurnEnd{To: store.TurnFailed, Code: FaultInternal, Reason: "Plexus failed: " + err.Error() + ". What was done so far stays. Send a message to go on; please report this."}
}

// end writes how the turn ended and returns whether the queue should go on.
func (t *turn) end(ctx context.Context, ans answer, err error) (bool, error) {
	end := t.ending(ans, err)
	if t.cut != nil {
		end.Cut, end.CutEnd = t.cut.id, t.cut.end
	}
	goOn := end.To == store.TurnAnswered
	if end.Code == FaultChatGone {
		// The next message begins a fresh chat, with the prompt.
		if err := t.insist(func() error { return t.l.cfg.Store.UnbindChat(ctx, t.turn.Thread) }); err != nil {
			return false, fmt.Errorf("forget the chat: %w", err)
		}
	}
	if !goOn {
		t.l.hold(t.turn.Thread)
	}
	if err := t.insist(func() error { return t.abandon(ctx) }); err != nil {
		return false, err
	}
	err = t.insist(func() error {
		_, err := t.l.cfg.Store.EndTurn(ctx, t.turn.ID, end)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("end the turn as %s: %w", end.To, err)
	}
	if !goOn {
		t.tellHeld(ctx)
	}
	return goOn, nil
}

// abandon settles calls of the turn that nobody will take up any more: an open question would wait for an answer that
// does nothing.
func (t *turn) abandon(ctx context.Context) error {
	actions, err := t.l.cfg.Store.TurnActions(ctx, t.turn.ID)
	if err != nil {
		return fmt.Errorf("read the turn's actions: %w", err)
	}
	for _, a := range actions {
		if a.State == store.ActionDone {
			continue
		}
		if err := t.l.cfg.Engine.Abandon(ctx, a); err != nil {
			return fmt.Errorf("settle call %s: %w", a.ID, err)
		}
	}
	return nil
}

// tellHeld says that waiting messages are held: what failed this turn would most likely fail them too, and a person who
// stops does not mean to start the next.
func (t *turn) tellHeld(ctx context.Context) {
	waiting, err := t.l.cfg.Store.QueuedTurns(ctx, t.turn.Thread)
	if err == nil && len(waiting) > 0 {
		t.notice(ctx, store.Notice{Code: "queue-held", Tone: "info",
			Text: fmt.Sprintf("Messages waiting: %d. They are kept.", len(waiting)), Todo: "Send another message, and they go on in order."})
	}
}

// notice is best effort: a turn does not fail because a remark could not be written.
func (t *turn) notice(ctx context.Context, n store.Notice) {
	if _, err := t.l.cfg.Store.Append(ctx, t.turn.Thread, t.turn.ID, store.EventNotice, n); err != nil {
		t.log.Warn("notice not recorded", slog.String("code", n.Code), slog.Any("error", err))
	}
}

// move changes the turn's state and keeps the row.
func (t *turn) move(ctx context.Context, m store.TurnMove) error {
	row, err := t.l.cfg.Store.MoveTurn(ctx, t.turn.ID, m)
	if err != nil {
		return fmt.Errorf("move the turn to %s: %w", m.To, err)
	}
	t.turn = row
	return nil
}

// add writes an outgoing message of this turn.
func (t *turn) add(ctx context.Context, m store.Message) (store.Message, error) {
	m.Thread, m.Turn, m.Round, m.Final = t.turn.Thread, t.turn.ID, t.turn.Round, true
	out, err := t.l.cfg.Store.AddMessage(ctx, m)
	if err != nil {
		return store.Message{}, fmt.Errorf("record the %s message: %w", m.Kind, err)
	}
	return out, nil
}
