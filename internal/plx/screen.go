package plx

import "strings"

// screen is the display reading: paragraphs of notes, answer and text outside of tags, written once and never read again.
// Notes and answer are cut out of it.
//
// White space at the end of a paragraph is kept aside in soft until more of the paragraph comes, and so is whatever else may
// turn out not to belong to it.
type screen struct {
	out  strings.Builder
	soft []byte

	paragraph int // counts them, from 1
	open      bool
	gapAt     int // where its gap to the paragraph before begins
	from      int // where its text begins

	texts  bool // there is a paragraph of text outside of tags
	events []Event

	marked           int // the paragraph of the last event, 0 when no event can go on
	markFrom, markTo int // where its text is in out
}

// part says what a paragraph belongs to.
type part struct {
	kind  EventKind
	index int
}

type span struct{ from, to int }

const paragraphGap = "\n\n"

// add writes more of a paragraph and reports whether there was more than white space. With lead, white space at its
// beginning counts.
func (s *screen) add(p part, text string, lead bool) bool {
	n := len(text)
	for n > 0 && isBlank(text[n-1]) {
		n--
	}
	if n > 0 {
		from := s.out.Len()
		if !s.open {
			if from = s.begin(p, lead); len(s.soft) == 0 && !lead {
				text, n = trimLead(text, n)
			}
		}
		grow(&s.out, len(s.soft)+n)
		if len(s.soft) > 0 {
			s.out.Write(s.soft)
			s.soft = s.soft[:0]
		}
		s.out.WriteString(text[:n])
		s.mark(p, from)
	}
	if n < len(text) {
		s.soft = append(s.soft, text[n:]...)
	}
	return n > 0
}

// grow makes room for n bytes. What grows little by little is doubled each time, so that it is copied about once.
func grow(b *strings.Builder, n int) {
	if b.Cap()-b.Len() < n {
		b.Grow(n)
	}
}

func trimLead(text string, n int) (string, int) {
	i := 0
	for i < n && isBlank(text[i]) {
		i++
	}
	return text[i:], n - i
}

// commit writes what was kept aside, but for white space at its end, and reports whether there was anything.
func (s *screen) commit(p part, lead bool) bool {
	n := len(s.soft)
	for n > 0 && isBlank(s.soft[n-1]) {
		n--
	}
	if n == 0 {
		return false
	}
	from := s.out.Len()
	if !s.open {
		had := len(s.soft)
		from = s.begin(p, lead)
		n -= had - len(s.soft)
	}
	s.out.Write(s.soft[:n])
	s.soft = s.soft[:copy(s.soft, s.soft[n:])]
	s.mark(p, from)
	return true
}

// begin opens a paragraph and returns where the event of what follows begins.
func (s *screen) begin(p part, lead bool) int {
	from := s.out.Len()
	s.open, s.gapAt = true, from
	s.paragraph++
	if from > 0 {
		s.out.WriteString(paragraphGap)
	}
	s.from = s.out.Len()
	if p.kind != EventText || !s.texts {
		from = s.from // only text outside of tags goes on after a gap
	}
	s.texts = s.texts || p.kind == EventText
	if !lead {
		i := 0
		for i < len(s.soft) && isBlank(s.soft[i]) {
			i++
		}
		s.soft = s.soft[:copy(s.soft, s.soft[i:])]
	}
	return from
}

// end closes the paragraph and returns it; what was kept aside is gone.
func (s *screen) end() string {
	s.soft = s.soft[:0]
	if !s.open {
		return ""
	}
	s.open = false
	return s.out.String()[s.from:]
}

// mark notes that out has grown since from: the last event goes on, or another one begins.
func (s *screen) mark(p part, from int) {
	to := s.out.Len()
	if s.markTo != from || s.marked != s.paragraph {
		s.marked, s.markFrom = s.paragraph, from
		s.event(p)
	}
	s.markTo = to
	s.events[len(s.events)-1].Text = s.out.String()[s.markFrom:to]
}

// event adds an event without its text. Most deltas make one event of the same kind as the delta before; pointers are only
// written when they change, since each such write costs while memory is collected.
func (s *screen) event(p part) {
	n := len(s.events)
	if n == cap(s.events) {
		s.events = append(s.events, Event{})
	}
	s.events = s.events[:n+1]
	e := &s.events[n]
	if e.Index = p.index; e.Kind != p.kind {
		e.Kind = p.kind
	}
	if e.Action != nil {
		e.Action = nil
	}
}

// report adds an event of a complete action.
func (s *screen) report(index int, a *Action) {
	s.events = append(s.events, Event{Kind: EventAction, Index: index, Action: a})
	s.marked = 0
}

// next forgets the events that were handed out.
func (s *screen) next() {
	s.events = s.events[:0]
	s.marked = 0
}

// remove takes a closed paragraph out again. Events that were reported stay as they are.
func (s *screen) remove(from, to int) {
	s.marked = 0
	old := s.out.String()
	s.out = strings.Builder{}
	s.out.WriteString(old[:from])
	rest := old[to:]
	if from == 0 {
		rest = strings.TrimPrefix(rest, paragraphGap)
	}
	s.out.WriteString(rest)
}
