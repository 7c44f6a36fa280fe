package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"plexus/internal/store"
	"plexus/internal/tool"
)

// view shows the updates of a thread.
type view interface {
	update(u store.Update)
	// ended returns how the turn ended, once it has.
	ended(turn string) (ending, bool)
	end(e ending)
}

// ending is how a turn ended.
type ending struct {
	Status string // answered, failed, stopped
	Thread string
	Turn   string
	Answer string
	Code   string
	Reason string
	Denied bool // an action was denied on the way
}

func (e ending) code() int {
	switch {
	case e.Status == string(store.TurnFailed):
		return exitFailed
	case e.Status == string(store.TurnStopped):
		return exitStopped
	case e.Denied:
		return exitDenied
	}
	return exitOK
}

// tally keeps of the updates what an ending needs.
type tally struct {
	answer string
	denied bool
	turns  map[string]store.Turn
}

func (t *tally) add(u store.Update) {
	if u.Event == nil {
		return
	}
	switch u.Event.Kind {
	case store.EventTurn:
		if row, ok := body[store.Turn](u.Event); ok {
			if t.turns == nil {
				t.turns = map[string]store.Turn{}
			}
			t.turns[row.ID] = row
		}
	case store.EventAnswer:
		if a, ok := body[store.Answer](u.Event); ok {
			t.answer = a.Text
		}
	case store.EventAction:
		if a, ok := body[store.Action](u.Event); ok && a.Decision == "denied" {
			t.denied = true
		}
	}
}

func (t *tally) ended(id string) (ending, bool) {
	row, ok := t.turns[id]
	if !ok || !row.State.Final() {
		return ending{}, false
	}
	e := ending{Status: string(row.State), Thread: row.Thread, Turn: id, Code: row.Code, Reason: row.Reason, Denied: t.denied}
	if row.State == store.TurnAnswered {
		e.Answer = t.answer
	}
	return e, true
}

func body[T any](e *store.Event) (T, bool) {
	var v T
	err := json.Unmarshal(e.Body, &v)
	return v, err == nil
}

// lines prints each event as one line of JSON.
type lines struct {
	app   app
	extra map[string]any
	tally
}

func (l *lines) update(u store.Update) {
	l.add(u)
	if u.Event != nil {
		l.print(u.Event)
	}
}

func (l *lines) end(e ending) {
	last := map[string]any{"kind": "end", "status": e.Status, "thread": e.Thread, "turn": e.Turn}
	for k, v := range map[string]string{"answer": e.Answer, "code": e.Code, "reason": e.Reason} {
		if v != "" {
			last[k] = v
		}
	}
	if e.Denied {
		last["denied"] = true
	}
	for k, v := range l.extra {
		last[k] = v
	}
	l.print(last)
}

func (l *lines) print(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		data = fmt.Appendf(nil, `{"kind":"error","text":%q}`, err)
	}
	l.app.printf("%s\n", data)
}

// screen shows a thread to a person: notes and answers as they stream, actions as rows, output indented.
type screen struct {
	app app
	tally
	client *session
	width  int

	streamed map[string]int64 // bytes shown of each part of a reply
	open     string           // the part whose line is not ended yet
	output   map[string]*clipped
	running  map[string]bool // actions
	last     string          // the action that was begun last
	status   string
}

func newScreen(a app, s *session, t store.Thread) *screen {
	sc := &screen{app: a, client: s, width: width(a.out), streamed: map[string]int64{}, output: map[string]*clipped{}, running: map[string]bool{}}
	a.printf("%s %s\n", sc.dim("thread"), t.ID)
	a.printf("%s %s/#/t/%s\n\n", sc.dim("watch "), s.state.URL(), t.ID)
	return sc
}

func (s *screen) update(u store.Update) {
	s.add(u)
	switch {
	case u.Live != nil:
		s.live(u.Live)
	case u.Event != nil:
		s.event(u.Event)
	}
}

func (s *screen) live(l *store.Live) {
	switch l.Kind {
	case "note", "answer", "text":
		s.stream(l)
	case "output":
		part := l.Of + "/output"
		if text := s.news(part, l); text != "" {
			s.show(l.Of, text)
		}
	case "status":
		if l.Text != s.status {
			s.status = l.Text
			s.line(s.dim("· " + l.Text))
		}
	}
}

// stream prints what is new of a streaming part.
func (s *screen) stream(l *store.Live) {
	part := fmt.Sprintf("%s/%s/%d", l.Of, l.Kind, l.Index)
	seen := s.streamed[part]
	if l.Offset > seen {
		return // a gap: the event with the whole text follows
	}
	text := s.news(part, l)
	if text == "" {
		return
	}
	if s.open != part {
		s.endLine()
		s.open = part
		if seen == 0 && l.Kind == "note" {
			text = s.bold("▸ ") + text
		}
	}
	s.app.printf("%s", clean(text))
}

// news is what of a live update was not shown yet.
func (s *screen) news(part string, l *store.Live) string {
	text := l.Text
	if skip := s.streamed[part] - l.Offset; skip > 0 {
		text = text[min(skip, int64(len(text))):]
	}
	s.streamed[part] = max(s.streamed[part], l.Offset+int64(len(l.Text)))
	return text
}

func (s *screen) event(e *store.Event) {
	switch e.Kind {
	case store.EventNote:
		if n, ok := body[store.Note](e); ok {
			s.whole("note", n.Message, n.Text)
		}
	case store.EventAction:
		if a, ok := body[store.Action](e); ok {
			s.action(a)
		}
	case store.EventAnswer:
		if a, ok := body[store.Answer](e); ok {
			s.whole("answer", a.Message, a.Text)
		}
	case store.EventNotice:
		if n, ok := body[store.Notice](e); ok {
			s.line(s.dim("! ") + clean(strings.TrimSpace(n.Text+" "+n.Todo)))
		}
	}
}

// whole prints a part that did not stream to its end.
func (s *screen) whole(kind, message, text string) {
	for part, n := range s.streamed {
		if strings.HasPrefix(part, message+"/"+kind+"/") || (kind == "answer" && strings.HasPrefix(part, message+"/text/")) {
			if n >= int64(len(text)) {
				s.endLine()
				return
			}
		}
	}
	mark := ""
	if kind == "note" {
		mark = s.bold("▸ ")
	}
	s.line(mark + clean(text))
}

func (s *screen) action(a store.Action) {
	switch a.State {
	case store.ActionRunning:
		s.running[a.ID], s.last = true, a.ID
		s.line(s.cyan("  $ ") + clean(fit(a.Title, s.width-4)))
	case store.ActionDone:
		s.done(a)
	}
}

func (s *screen) done(a store.Action) {
	res, err := resultOf(a)
	if err != nil {
		return
	}
	if c := s.output[a.ID]; c != nil {
		c.finish()
	}
	mark := s.green("  ✓ ")
	if a.Outcome != string(tool.OutcomeOK) {
		mark = s.red("  ✗ ")
	}
	what := outcome(a, res)
	delete(s.running, a.ID)
	if len(s.running) > 0 || s.last != a.ID {
		what += "  " + clean(fit(a.Title, s.width/2)) // several ran at the same time: say whose this is
	}
	s.line(mark + s.dim(what))
	for _, c := range res.Changes {
		s.line(s.dim(fmt.Sprintf("    %s %s +%d -%d", c.Op, clean(c.Path), c.Added, c.Removed)))
	}
}

// resultOf reads a call's result; of a large one an event has only the short fields.
func resultOf(a store.Action) (tool.Result, error) {
	var res tool.Result
	var kept struct{ Small json.RawMessage }
	if err := json.Unmarshal(a.Result, &kept); err == nil && kept.Small != nil {
		return res, json.Unmarshal(kept.Small, &res)
	}
	return res, json.Unmarshal(a.Result, &res)
}

// outcome words how a call ended.
func outcome(a store.Action, r tool.Result) string {
	took := fmt.Sprintf("%.1f s", float64(r.Duration)/1000)
	switch {
	case r.Status == tool.StatusDenied:
		return "denied"
	case r.Status == tool.StatusInterrupted:
		return "stopped, " + took
	case r.Signal != "":
		return fmt.Sprintf("%s: signal %s, %s", a.Tool, r.Signal, took)
	case r.Exit != nil:
		return fmt.Sprintf("exit %d, %s", *r.Exit, took)
	case r.Status != tool.StatusOK:
		return fmt.Sprintf("%s: %s, %s", a.Tool, firstLine(r.Text), took)
	}
	return fmt.Sprintf("%s, %s", a.Tool, took)
}

func (s *screen) end(e ending) {
	s.endLine()
	switch e.Status {
	case string(store.TurnAnswered):
		s.app.printf("\n%s\n", s.green("answered"))
	case string(store.TurnStopped):
		s.app.printf("\n%s\n", s.dim("stopped: "+e.Reason))
	default:
		s.app.printf("\n%s %s\n", s.red("failed ("+e.Code+"):"), clean(e.Reason))
	}
}

// show prints live output of a call, a bounded number of lines of it.
func (s *screen) show(action, text string) {
	c := s.output[action]
	if c == nil {
		c = &clipped{screen: s}
		s.output[action] = c
	}
	c.add(text)
}

// maxShown is how many lines of a command's output a person sees here; the rest is counted.
const maxShown = 20

// clipped shows the first lines of an output and counts the rest.
type clipped struct {
	screen *screen
	rest   strings.Builder // a line that is not ended yet
	lines  int
}

func (c *clipped) add(text string) {
	c.rest.WriteString(text)
	all := c.rest.String()
	c.rest.Reset()
	for {
		line, after, ok := strings.Cut(all, "\n")
		if !ok {
			break
		}
		c.line(line)
		all = after
	}
	c.rest.WriteString(all)
}

func (c *clipped) line(line string) {
	if c.lines++; c.lines <= maxShown {
		c.screen.line(c.screen.dim("    " + clean(fit(line, c.screen.width-6))))
	}
}

func (c *clipped) finish() {
	if c.rest.Len() > 0 {
		c.line(c.rest.String())
		c.rest.Reset()
	}
	if c.lines > maxShown {
		c.screen.line(c.screen.dim(fmt.Sprintf("    ... %d more lines", c.lines-maxShown)))
	}
}

// line ends what streams and prints a line.
func (s *screen) line(text string) {
	s.endLine()
	s.app.printf("%s\n", text)
}

func (s *screen) endLine() {
	if s.open != "" {
		s.app.printf("\n")
		s.open = ""
	}
}

func (s *screen) style(code, text string) string {
	if !s.app.colour {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s *screen) bold(t string) string  { return s.style("1", t) }
func (s *screen) dim(t string) string   { return s.style("2", t) }
func (s *screen) cyan(t string) string  { return s.style("36", t) }
func (s *screen) green(t string) string { return s.style("32", t) }
func (s *screen) red(t string) string   { return s.style("31", t) }

// clean takes out what could steer the terminal: text from a model or a command is only text here.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20 || r == 0x7f || (r >= 0x80 && r < 0xa0) || (r >= 0x202a && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069):
			return -1
		}
		return r
	}, text)
}

// oneLine is clean for names, which may have any byte in them.
func oneLine(name string) string {
	return strings.ReplaceAll(clean(strings.ToValidUTF8(name, "?")), "\n", "?")
}

// fit cuts a line to n characters.
func fit(line string, n int) string {
	line, _, _ = strings.Cut(strings.TrimRight(line, " \t\r\n"), "\n")
	line = strings.ReplaceAll(line, "\t", "    ")
	if runes := []rune(line); len(runes) > n && n > 1 {
		return string(runes[:n-1]) + "…"
	}
	return line
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
