package engine

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"plexus/internal/store"
	"plexus/internal/tool"
)

// shown collects what a live publishes.
type shown struct {
	mu     sync.Mutex
	pieces []store.Live
}

func (s *shown) add(l store.Live) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pieces = append(s.pieces, l)
}

func (s *shown) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pieces)
}

func TestLiveIsCoalesced(t *testing.T) {
	var s shown
	l := &live{publish: s.add}
	start := time.Now()
	var all bytes.Buffer
	for i := 0; time.Since(start) < 3*livePeriod; i++ {
		p := []byte("line\n")
		if all.Len() < livePending {
			all.Write(p)
			l.write(p)
		}
	}
	l.close()
	if most := int(time.Since(start)/livePeriod) + 2; s.count() > most {
		t.Errorf("%d publishings, want at most %d", s.count(), most)
	}
	var got strings.Builder
	for _, p := range s.pieces {
		if p.Offset != int64(got.Len()) {
			t.Fatalf("offset %d after %d bytes", p.Offset, got.Len())
		}
		got.WriteString(p.Text)
	}
	if got.String() != all.String() {
		t.Errorf("%d bytes shown of %d", got.Len(), all.Len())
	}
	l.write([]byte("late"))
	if before := s.count(); before != len(s.pieces) {
		t.Error("shown after the end")
	}
}

func TestLiveShowsTheEndOfMuch(t *testing.T) {
	var s shown
	l := &live{publish: s.add, last: time.Now().Add(time.Hour)} // nothing is due
	block := bytes.Repeat([]byte("x"), 10<<10)
	for range 100 {
		l.write(block)
	}
	l.write(append(bytes.Repeat([]byte("y"), 2*livePending), "the end"...))
	if len(l.pending) > livePending {
		t.Errorf("%d bytes are held", len(l.pending))
	}
	l.close()
	last := s.pieces[len(s.pieces)-1]
	if total := int64(100*len(block) + 2*livePending + 7); last.Offset+int64(len(last.Text)) != total || !strings.HasSuffix(last.Text, "the end") {
		t.Errorf("shown up to %d of %d, %q", last.Offset+int64(len(last.Text)), total, last.Text[len(last.Text)-10:])
	}
}

// Pieces never split a character, never overlap, and end with the stream.
func TestLivePieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("aü€🙂\n"))).Draw(t, "text")
		var s shown
		l := &live{publish: s.add}
		for rest := []byte(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			if rapid.Bool().Draw(t, "due") {
				l.last = time.Time{}
			}
			l.write(rest[:n])
			rest = rest[n:]
		}
		l.close()
		var got strings.Builder
		for _, p := range s.pieces {
			if p.Offset != int64(got.Len()) || !utf8.ValidString(p.Text) || p.Text == "" {
				t.Fatalf("piece %+v after %d bytes", p, got.Len())
			}
			got.WriteString(p.Text)
		}
		if got.String() != text {
			t.Fatalf("shown %q of %q", got.String(), text)
		}
	})
}

func TestOutputReachesFollowers(t *testing.T) {
	done := make(chan struct{})
	r := newRig(t, plain("talks", func(_ context.Context, env tool.Env, _ in) (tool.Result, error) {
		env.Output([]byte("hel"))
		env.Output([]byte("lo\xff"))
		<-done
		return tool.Result{Text: "hello"}, nil
	}))
	var once sync.Once
	following, got := make(chan struct{}), make(chan string, 1)
	go func() {
		text := ""
		for u, err := range r.store.Follow(t.Context(), store.FollowFrom{Thread: r.thread.ID}) {
			if err != nil {
				t.Error(err)
				return
			}
			if u.Event != nil && u.Event.Kind == store.EventThread {
				once.Do(func() { close(following) }) // the thread's own event: from here on nothing is missed
			}
			if u.Live != nil && u.Live.Kind == "output" {
				if text += u.Live.Text; len(text) >= 6 {
					got <- text
					return
				}
			}
		}
	}()
	<-following
	out := r.start(t.Context(), r.call("talks", `{"text":"x"}`))
	if text := <-got; text != "hello\xff" {
		t.Errorf("shown %q", text)
	}
	close(done)
	<-out
}

func TestHeadTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringN(60, 300, -1).Draw(t, "s")
		bound := rapid.IntRange(0, len(s)-1).Draw(t, "max")
		got := headTail(s, bound)
		if !utf8.ValidString(got) || len(got) > bound+100 {
			t.Fatalf("%q of %q", got, s)
		}
		head, tail, _ := strings.Cut(got, "\n[... ")
		if !strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail[strings.LastIndex(tail, " ...]\n")+6:]) && !strings.Contains(s, "...]") {
			t.Fatalf("%q is no head and tail of %q", got, s)
		}
	})
}
