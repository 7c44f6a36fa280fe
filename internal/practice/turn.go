package practice

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
)

// turn is one answer while and after it is given: a list of stream items that only grows, which any number of readers
// follow, each from where it likes. That is what lets a stream be resumed.
type turn struct {
	id    string // the exchange id
	token string // needed to resume from anywhere but the start
	conv  *conversation
	mode  string

	stopped chan struct{}
	halt    sync.Once

	mu    sync.Mutex
	items []string // each a whole event with its empty line
	done  bool
	cutAt int           // the reader that gets here first loses its connection; -1 for none
	hush  time.Duration // how long that connection is silent before
	grown chan struct{}
}

// errCut tells a reader to break its connection.
var errCut = errors.New("cut")

func newTurn(conv *conversation, mode string) *turn {
	return &turn{
		id: newUUID(), token: "practice-conduit-" + newUUID(), conv: conv, mode: mode,
		stopped: make(chan struct{}), cutAt: -1, grown: make(chan struct{}),
	}
}

func (t *turn) topic() string { return "conversation-turn-" + t.id }

func (t *turn) add(item string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.items = append(t.items, item)
	t.wake()
}

func (t *turn) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done = true
	t.wake()
}

// wake tells the readers. The caller holds t.mu.
func (t *turn) wake() {
	close(t.grown)
	t.grown = make(chan struct{})
}

func (t *turn) ended() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.done
}

// stop ends the answer where it is.
func (t *turn) stop() { t.halt.Do(func() { close(t.stopped) }) }

// cutNow marks the place where a connection breaks: after what has been said so far, and after a silence, as a failing network
// has it.
func (t *turn) cutNow(hush time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cutAt, t.hush = len(t.items), hush
}

// read returns the items after the first n, waiting for one. It returns none when the answer has ended, and errCut when the
// connection has to break.
func (t *turn) read(ctx context.Context, n int) ([]string, error) {
	for {
		t.mu.Lock()
		items, done, grown := t.items, t.done, t.grown
		if t.cutAt >= 0 && n >= t.cutAt {
			t.cutAt = -1
			hush := t.hush
			t.mu.Unlock()
			return nil, silence(ctx, hush)
		}
		if t.cutAt >= 0 {
			items = items[:t.cutAt]
		}
		t.mu.Unlock()
		if n < len(items) {
			return items[n:len(items):len(items)], nil
		}
		if done {
			return nil, nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// silence lasts as long as it is told, then the connection is to be cut.
func silence(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return errCut
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// answer begins to give the reply to a message.
func (s *Site) answer(h heard, asked message, fault Fault) {
	steps := script{turn: h.turn, asked: asked, reply: h.reply, first: h.first, plan: s.cfg.Plan, seed: s.chats.seed()}.write()
	s.serving.Go(func() { s.speak(h.turn, steps, fault) })
}

// speak plays a script, with a fault if there is one, and ends the turn.
func (s *Site) speak(t *turn, steps []step, fault Fault) {
	pause, delay := s.cfg.Pace, time.Duration(fault.Delay)*time.Millisecond
	if delay == 0 {
		delay = usualDelay
	}
	if fault.Name == FaultSlow {
		pause = delay
		s.journal.add(t.entry(KindFault, fault.Name))
	}
	at := faultPosition(steps, fault)
	var said strings.Builder
	defer func() {
		t.end()
		e := t.entry(KindEnd, fault.Name)
		e.Text = said.String()
		s.journal.add(e)
		s.sockets.announce(t)
	}()
	for i, st := range steps {
		if i == at {
			s.journal.add(t.entry(KindFault, fault.Name))
			switch fault.Name {
			case FaultError:
				t.add(data(map[string]any{"type": "error", "error": "Something went wrong while generating the response.", "conversation_id": t.conv.id}))
				return
			case FaultCut:
				t.cutNow(delay)
			case FaultFreeze:
				s.await(t, nil)
			}
		}
		if st.slow && pause > 0 {
			timer := time.NewTimer(pause)
			s.await(t, timer.C)
			timer.Stop()
		}
		if t.isStopped() || s.ctx.Err() != nil {
			for _, item := range interrupted(t) {
				t.add(item)
			}
			return
		}
		t.add(st.item)
		said.WriteString(st.text)
		if st.keep != nil {
			t.conv.add(*st.keep)
		}
	}
}

// await waits for the channel, or for the end of the turn or the site.
func (s *Site) await(t *turn, c <-chan time.Time) {
	select {
	case <-c:
	case <-t.stopped:
	case <-s.ctx.Done():
	}
}

func (t *turn) isStopped() bool {
	select {
	case <-t.stopped:
		return true
	default:
		return false
	}
}

func (t *turn) entry(kind Kind, fault string) Entry {
	return Entry{Kind: kind, Conversation: t.conv.id, Project: t.conv.projectID(), Turn: t.id, Mode: t.mode, Fault: fault}
}

// faultPosition is the step before which a fault in the stream happens, -1 for never.
func faultPosition(steps []step, fault Fault) int {
	if fault.Name != FaultError && fault.Name != FaultCut && fault.Name != FaultFreeze {
		return -1
	}
	var pieces []int
	for i, st := range steps {
		if st.text != "" {
			pieces = append(pieces, i)
		}
	}
	n := fault.At
	if n == 0 {
		n = len(pieces) / 2
	}
	if n >= len(pieces) { // nothing or less than that is said: at its end
		return len(steps) - 1
	}
	return pieces[n]
}
