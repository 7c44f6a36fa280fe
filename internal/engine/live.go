package engine

import (
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"plexus/internal/store"
	"plexus/internal/tool"
)

// Bounds of the live output of one call.
const (
	livePeriod  = 50 * time.Millisecond
	livePending = 32 << 10 // kept between two publishings; of more, the end is shown
)

// live publishes a running call's output to whoever watches. A piece is shown at
// once if the last one is livePeriod ago, else together with what follows. What it
// leaves out shows as a gap in the offsets; the whole is in the result or the spool file.
type live struct {
	publish func(store.Live)
	base    store.Live

	mu      sync.Mutex
	shown   []byte // the end of what was published, for who comes late
	shownAt int64  // offset of its first byte
	pending []byte
	offset  int64 // of pending's first byte
	last    time.Time
	timer   *time.Timer // runs while pending waits
	closed  bool
}

func newLive(s *store.Store, c tool.Call) *live {
	return &live{publish: s.Publish, base: store.Live{Thread: c.Thread, Turn: c.Turn, Kind: "output", Of: c.ID}}
}

// write is a tool's Env.Output.
func (l *live) write(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(p) == 0 {
		return
	}
	l.keep(p)
	wait := livePeriod - time.Since(l.last)
	switch {
	case wait <= 0:
		l.flush(false)
	case l.timer == nil:
		l.timer = time.AfterFunc(wait, l.tick)
	}
}

func (l *live) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = nil
	l.flush(false)
}

// keep adds p and drops the oldest of what is too much.
func (l *live) keep(p []byte) {
	if over := len(p) - livePending; over > 0 {
		l.offset += int64(len(l.pending) + over)
		l.pending = append(l.pending[:0], p[over:]...)
		return
	}
	if over := len(l.pending) + len(p) - livePending; over > 0 {
		l.offset += int64(over)
		l.pending = l.pending[:copy(l.pending, l.pending[over:])]
	}
	l.pending = append(l.pending, p...)
}

// flush publishes what is pending, but for the beginning of a character whose
// rest is still to come.
func (l *live) flush(all bool) {
	n := len(l.pending)
	if !all {
		n -= partialRune(l.pending)
	}
	if n <= 0 {
		return
	}
	piece := l.base
	piece.Offset, piece.Text = l.offset, string(l.pending[:n])
	l.offset += int64(n)
	l.remember(l.pending[:n], piece.Offset)
	l.pending = l.pending[:copy(l.pending, l.pending[n:])]
	l.last = time.Now()
	l.publish(piece)
}

// remember keeps the end of what was published.
func (l *live) remember(p []byte, offset int64) {
	if l.shownAt+int64(len(l.shown)) != offset { // something before it was left out
		l.shown, l.shownAt = l.shown[:0], offset
	}
	l.shown = append(l.shown, p...)
	if over := len(l.shown) - livePending; over > livePending {
		for over < len(l.shown) && !utf8.RuneStart(l.shown[over]) {
			over++
		}
		l.shown = l.shown[:copy(l.shown, l.shown[over:])]
		l.shownAt += int64(over)
	}
}

// soFar is the end of what was published.
func (l *live) soFar() store.Live {
	l.mu.Lock()
	defer l.mu.Unlock()
	piece := l.base
	piece.Offset, piece.Text = l.shownAt, string(l.shown)
	return piece
}

// close publishes the rest. Later writes, of a tool that was left behind, are ignored.
func (l *live) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	l.flush(true)
}

// partialRune returns the length of an unfinished UTF-8 sequence at the end of p.
func partialRune(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		tail := p[len(p)-n:]
		if utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

func countLines(s string) int64 {
	n := int64(strings.Count(s, "\n"))
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// headTail keeps the two ends of s, of about max bytes together, on character
// borders, and says in between what is missing.
func headTail(s string, max int) string {
	from, to := max/2, len(s)-max/2
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to++
	}
	head, tail := s[:from], s[to:]
	return fmt.Sprintf("%s\n[... %d of %d bytes left out ...]\n%s", head, len(s)-len(head)-len(tail), len(s), tail)
}
