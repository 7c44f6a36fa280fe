package store

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var turnStates = []TurnState{
	TurnQueued, TurnComposing, TurnSending, TurnStreaming, TurnActing, TurnWaiting, TurnReturning, TurnAnswered, TurnFailed, TurnStopped,
}

// queueModel is what the store should do with one thread's turns, said simply.
type queueModel struct {
	store  *Store
	thread string
	binned bool
	all    []string // in the order of their making
	queue  []string
	state  map[string]TurnState
	task   map[string]string
}

func (m *queueModel) flight() string {
	for _, id := range m.all {
		if st := m.state[id]; st != TurnQueued && !st.Final() {
			return id
		}
	}
	return ""
}

func (m *queueModel) pick(t *rapid.T) string {
	if len(m.all) == 0 {
		t.Skip("no turn")
	}
	return rapid.SampledFrom(m.all).Draw(t, "turn")
}

// expect compares an outcome with what the model allows.
func expect(t *rapid.T, err error, ok bool) bool {
	if ok && err != nil {
		t.Fatalf("refused: %v", err)
	}
	if !ok && !errors.Is(err, ErrConflict) {
		t.Fatalf("error = %v, want a conflict", err)
	}
	return ok
}

func (m *queueModel) enqueue(t *rapid.T) {
	task := rapid.SampledFrom([]string{"fix it", "", "two\nlines", "bad \xff utf", "nul \x00 byte", "世界"}).Draw(t, "task")
	u, err := m.store.EnqueueTurn(t.Context(), m.thread, task)
	if expect(t, err, !m.binned) {
		m.all, m.queue = append(m.all, u.ID), append(m.queue, u.ID)
		m.state[u.ID], m.task[u.ID] = TurnQueued, strings.ToValidUTF8(task, "\uFFFD")
	}
}

func (m *queueModel) move(t *rapid.T) {
	id := m.pick(t)
	move := TurnMove{To: rapid.SampledFrom(turnStates[1:]).Draw(t, "to")}
	if rapid.Bool().Draw(t, "with from") {
		move.From = rapid.SliceOfDistinct(rapid.SampledFrom(turnStates), rapid.ID).Draw(t, "from")
		if move.From == nil {
			move.From = []TurnState{}
		}
	}
	if rapid.Bool().Draw(t, "with round") {
		move.Round = ptr(rapid.IntRange(0, 5).Draw(t, "round"))
	}
	was := m.state[id]
	ok := !was.Final() && (move.From == nil || slices.Contains(move.From, was))
	if was == TurnQueued && !move.To.Final() && m.flight() != "" {
		ok = false
	}
	u, err := m.store.MoveTurn(t.Context(), id, move)
	if !expect(t, err, ok) {
		return
	}
	if u.State != move.To || move.Round != nil && u.Round != *move.Round || (u.Ended != nil) != move.To.Final() {
		t.Fatalf("moved to %+v", u)
	}
	m.leave(id, move.To)
}

func (m *queueModel) leave(id string, to TurnState) {
	m.state[id] = to
	m.queue = slices.DeleteFunc(m.queue, func(q string) bool { return q == id })
}

func (m *queueModel) edit(t *rapid.T) {
	id := m.pick(t)
	_, err := m.store.EditQueued(t.Context(), id, "edited")
	if expect(t, err, m.state[id] == TurnQueued) {
		m.task[id] = "edited"
	}
}

func (m *queueModel) remove(t *rapid.T) {
	id := m.pick(t)
	u, err := m.store.RemoveQueued(t.Context(), id)
	if expect(t, err, m.state[id] == TurnQueued) {
		if u.Code != CodeRemoved || u.Started != nil || u.Ended == nil {
			t.Fatalf("removed as %+v", u)
		}
		m.leave(id, TurnStopped)
	}
}

func (m *queueModel) reorder(t *rapid.T) {
	ids := rapid.Permutation(m.queue).Draw(t, "order")
	broken := rapid.IntRange(0, 3).Draw(t, "broken")
	switch {
	case broken == 1 && len(ids) > 0:
		ids = ids[1:]
	case broken == 2 && len(ids) > 0:
		ids = append(ids, ids[0])
	case broken == 3:
		ids = append(ids, "u_unknown")
	default:
		broken = 0
	}
	_, err := m.store.ReorderQueue(t.Context(), m.thread, ids)
	if expect(t, err, broken == 0) {
		m.queue = ids
	}
}

func (m *queueModel) bin(t *rapid.T) {
	m.binned = !m.binned
	must(m.store.UpdateThread(t.Context(), m.thread, ThreadPatch{Deleted: &m.binned}))
}

// check compares what can be read with the model, after every step.
func (m *queueModel) check(t *rapid.T) {
	ctx := t.Context()
	if got := ids(must(m.store.QueuedTurns(ctx, m.thread))); !slices.Equal(got, m.queue) {
		t.Fatalf("queue is %v, want %v", got, m.queue)
	}
	th := must(m.store.Thread(ctx, m.thread))
	flight := m.flight()
	want := "idle"
	if flight != "" {
		want = string(m.state[flight])
	}
	if th.State != want || th.Queued != len(m.queue) {
		t.Fatalf("thread is %s with %d queued, want %s with %d", th.State, th.Queued, want, len(m.queue))
	}
	next, ok, err := m.store.NextQueued(ctx, m.thread)
	if err != nil || ok != (flight == "" && len(m.queue) > 0 && !m.binned) || ok && next.ID != m.queue[0] {
		t.Fatalf("next is %v %v %v", next, ok, err)
	}
}

// checkAll compares the whole, and the events, with the model.
func (m *queueModel) checkAll(t *rapid.T) {
	ctx := t.Context()
	flight := m.flight()
	if active := ids(must(m.store.ActiveTurns(ctx))); (flight != "") != slices.Contains(active, flight) {
		t.Fatalf("active turns are %v, in flight is %q", active, flight)
	}
	if waiting := slices.Contains(must(m.store.ThreadsWithQueue(ctx)), m.thread); waiting != (len(m.queue) > 0 && !m.binned) {
		t.Fatalf("has a queue: %v", waiting)
	}
	turns := must(m.store.Turns(ctx, m.thread))
	for _, u := range turns {
		if u.State != m.state[u.ID] || u.Task != m.task[u.ID] {
			t.Fatalf("turn is %+v, want %s %q", u, m.state[u.ID], m.task[u.ID])
		}
	}
	if diff := cmp.Diff(turns, replayTurns(t, must(m.store.Events(ctx, m.thread, 0, 0)))); diff != "" {
		t.Fatalf("the events tell another story: %s", diff)
	}
}

func ids(turns []Turn) []string {
	var all []string
	for _, u := range turns {
		all = append(all, u.ID)
	}
	return all
}

// replayTurns builds the turns from their events alone, as a follower does.
func replayTurns(t *rapid.T, events []Event) []Turn {
	turns := []Turn{}
	for i, e := range events {
		if e.Seq != int64(i)+1 {
			t.Fatalf("event %d has number %d", i, e.Seq)
		}
		if e.Kind != EventTurn {
			continue
		}
		var u Turn
		if err := json.Unmarshal(e.Body, &u); err != nil {
			t.Fatal(err)
		}
		if at := slices.IndexFunc(turns, func(o Turn) bool { return o.ID == u.ID }); at >= 0 {
			turns[at] = u
		} else {
			turns = append(turns, u)
		}
	}
	return turns
}

func TestTurnQueue(t *testing.T) {
	s := open(t)
	rapid.Check(t, func(t *rapid.T) {
		f := must(s.AddFolder(t.Context(), Folder{Path: "/srv/app"}))
		th := must(s.CreateThread(t.Context(), Thread{Folder: f.ID}))
		m := &queueModel{store: s, thread: th.ID, state: map[string]TurnState{}, task: map[string]string{}}
		t.Repeat(map[string]func(*rapid.T){
			"":         m.check,
			"enqueue":  m.enqueue,
			"enqueue2": m.enqueue,
			"move":     m.move,
			"move2":    m.move,
			"edit":     m.edit,
			"remove":   m.remove,
			"reorder":  m.reorder,
			"bin":      m.bin,
		})
		m.checkAll(t)
		if id := m.flight(); id != "" {
			must(s.MoveTurn(t.Context(), id, TurnMove{To: TurnStopped}))
		}
	})
}

// TestOneStarts: of many who start different turns of a thread at once, one does.
func TestOneStarts(t *testing.T) {
	s := open(t)
	th := newThread(t, s)
	var wg sync.WaitGroup
	errs := make([]error, 20)
	for i := range errs {
		u := must(s.EnqueueTurn(t.Context(), th.ID, "task"))
		wg.Go(func() {
			_, errs[i] = s.MoveTurn(t.Context(), u.ID, TurnMove{From: []TurnState{TurnQueued}, To: TurnComposing})
		})
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else {
			wantIs(t, err, ErrConflict)
		}
	}
	if won != 1 {
		t.Fatalf("%d started", won)
	}
}

func TestTurnRefusals(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	th := newThread(t, s)
	u := must(s.EnqueueTurn(ctx, th.ID, "task"))
	for _, to := range []TurnState{TurnQueued, "", "asleep"} {
		if _, err := s.MoveTurn(ctx, u.ID, TurnMove{To: to}); err == nil {
			t.Errorf("moved to %q", to)
		}
	}
	_, err := s.MoveTurn(ctx, "u_unknown", TurnMove{To: TurnFailed})
	wantIs(t, err, ErrNotFound)
	_, err = s.EnqueueTurn(ctx, "t_unknown", "task")
	wantIs(t, err, ErrNotFound)
	_, err = s.ReorderQueue(ctx, "t_unknown", nil)
	wantIs(t, err, ErrNotFound)
	_, err = s.Turn(ctx, "")
	wantIs(t, err, ErrNotFound)
	if got := must(s.Turn(ctx, u.ID)); got.State != TurnQueued {
		t.Fatal(got)
	}
}

func TestTurnTimes(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	u := must(s.EnqueueTurn(ctx, newThread(t, s).ID, "task"))
	first := must(s.MoveTurn(ctx, u.ID, TurnMove{To: TurnComposing, Code: "c", Reason: "r"}))
	if first.Started == nil || !first.Started.Equal(first.Since) || first.Ended != nil || first.Code != "c" || first.Reason != "r" {
		t.Fatalf("%+v", first)
	}
	same := must(s.MoveTurn(ctx, u.ID, TurnMove{To: TurnComposing, Round: ptr(1)}))
	if !same.Since.Equal(first.Since) || same.Round != 1 || same.Code != "" {
		t.Fatalf("%+v", same)
	}
	last := must(s.MoveTurn(ctx, u.ID, TurnMove{To: TurnAnswered}))
	if !last.Started.Equal(*first.Started) || last.Ended == nil || last.Round != 1 {
		t.Fatalf("%+v", last)
	}
	if diff := cmp.Diff(last, must(s.Turn(ctx, u.ID))); diff != "" {
		t.Fatal("returned and kept differ:", diff)
	}
}
