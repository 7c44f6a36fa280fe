package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// crashPath makes the test binary the process that is killed: it works on the
// store at this path and says what was acknowledged.
const crashPath = "STORE_TEST_CRASH_PATH"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashPath); path != "" {
		if err := crashWork(path, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// crashWork appends and moves turns for ever, several at once, and writes a
// line for each acknowledgement: "e THREAD SEQ", "u TURN STATE" or "c MESSAGE CHUNKS".
func crashWork(path string, out io.Writer) error {
	ctx := context.Background()
	s, err := Open(ctx, Options{Path: path})
	if err != nil {
		return err
	}
	threads, err := s.Threads(ctx, ThreadFilter{})
	if err != nil {
		return err
	}
	var mu sync.Mutex
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(out, format+"\n", args...)
	}
	say("ready") // before anything else is said
	errs := make(chan error, 3*len(threads))
	for _, th := range threads {
		go func() { errs <- crashAppend(ctx, s, th.ID, say) }()
		go func() { errs <- crashTurns(ctx, s, th.ID, say) }()
		go func() { errs <- crashReply(ctx, s, th.ID, say) }()
	}
	return <-errs
}

func crashAppend(ctx context.Context, s *Store, thread string, say func(string, ...any)) error {
	for i := 0; ; i++ {
		e, err := s.Append(ctx, thread, "", EventNotice, Notice{Code: fmt.Sprint(i), Text: strings.Repeat("x", i%5000)})
		if err != nil {
			return err
		}
		say("e %s %d", thread, e.Seq)
	}
}

func crashTurns(ctx context.Context, s *Store, thread string, say func(string, ...any)) error {
	for {
		u, err := s.EnqueueTurn(ctx, thread, "task")
		if err != nil {
			return err
		}
		say("u %s %s", u.ID, u.State)
		for _, to := range []TurnState{TurnComposing, TurnStreaming, TurnAnswered} {
			if u, err = s.MoveTurn(ctx, u.ID, TurnMove{To: to}); err != nil {
				return err
			}
			say("u %s %s", u.ID, u.State)
		}
	}
}

func crashReply(ctx context.Context, s *Store, thread string, say func(string, ...any)) error {
	m, err := s.AddMessage(ctx, Message{Thread: thread, Kind: MessageReply})
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		if err := s.AppendReply(ctx, m.ID, "x"); err != nil {
			return err
		}
		say("c %s %d", m.ID, n)
	}
}

// acknowledged is what the killed processes said.
type acknowledged struct {
	seq    map[string]int64     // last by thread
	turn   map[string]TurnState // last by turn
	chunks map[string]int       // by message
}

func (a *acknowledged) hear(line string) error {
	var kind, id, val string
	if _, err := fmt.Sscan(line, &kind, &id, &val); err != nil {
		return fmt.Errorf("line %q: %w", line, err)
	}
	var err error
	switch kind {
	case "e":
		var seq int64
		_, err = fmt.Sscan(val, &seq)
		a.seq[id] = max(a.seq[id], seq)
	case "u":
		a.turn[id] = TurnState(val)
	case "c":
		var n int
		_, err = fmt.Sscan(val, &n)
		a.chunks[id] = n
	}
	return err
}

// TestKilled kills a process that works on a store, again and again at
// different moments, and finds every acknowledged fact and no gap each time.
func TestKilled(t *testing.T) {
	const rounds = 50
	s := open(t)
	threads := []Thread{newThread(t, s), newThread(t, s)}
	path := s.path
	s.Close()
	acks := &acknowledged{seq: map[string]int64{}, turn: map[string]TurnState{}, chunks: map[string]int{}}
	total := 0
	for round := range rounds {
		total += crashRound(t, path, 1+round*7%90, acks)
		checkAfterCrash(t, path, threads, acks)
		if t.Failed() {
			t.Fatalf("after round %d", round)
		}
	}
	t.Logf("%d acknowledgements in %d lives", total, rounds)
}

// crashRound runs a process until it has acknowledged n things, kills it, and
// hears all that it had said by then.
func crashRound(t *testing.T, path string, n int, acks *acknowledged) int {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashPath+"="+path)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	heard := -1 // the first line is "ready"
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if heard++; heard == n {
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
		if heard > 0 {
			if err := acks.hear(lines.Text()); err != nil {
				t.Error(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || stderr.Len() > 0 {
		t.Fatalf("the process ended by itself: %v %s", err, stderr.String())
	}
	if heard < n {
		t.Fatalf("it said only %d things", heard)
	}
	return heard
}

func checkAfterCrash(t *testing.T, path string, threads []Thread, acks *acknowledged) {
	t.Helper()
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Aside() != "" {
		t.Fatal("taken for damaged")
	}
	for _, th := range threads {
		now := must(s.Thread(t.Context(), th.ID))
		n := must(one(t.Context(), s, value[int64], "SELECT count(*) FROM events WHERE thread = ?", th.ID))
		top := must(one(t.Context(), s, value[int64], "SELECT max(seq) FROM events WHERE thread = ?", th.ID))
		if n != top || top != now.LastSeq {
			t.Errorf("%s: %d events, the last is %d, the thread says %d", th.ID, n, top, now.LastSeq)
		}
		if top < acks.seq[th.ID] {
			t.Errorf("%s: event %d was acknowledged, the last is %d", th.ID, acks.seq[th.ID], top)
		}
	}
	order := map[TurnState]int{TurnQueued: 0, TurnComposing: 1, TurnStreaming: 2, TurnAnswered: 3}
	for id, want := range acks.turn {
		if u, err := s.Turn(t.Context(), id); err != nil || order[u.State] < order[want] {
			t.Errorf("turn %s is %q, %s was acknowledged: %v", id, u.State, want, err)
		}
	}
	for id, want := range acks.chunks {
		if m, err := s.Message(t.Context(), id); err != nil || len(m.Text) < want {
			t.Errorf("message %s has %d of %d chunks: %v", id, len(m.Text), want, err)
		}
	}
	// The next life can start turns again.
	for _, u := range must(s.ActiveTurns(t.Context())) {
		must(s.MoveTurn(t.Context(), u.ID, TurnMove{To: TurnFailed}))
		delete(acks.turn, u.ID)
	}
}
