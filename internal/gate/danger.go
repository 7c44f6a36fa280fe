package gate

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// scan walks a command in the order in which a shell would run it and collects
// reasons to ask. It follows what is certain (literal variables, cd) and treats
// the rest as unknown; it looks at what stands where a command stands, so a
// word in a string or a search pattern says nothing.
type scan struct {
	at      place
	vars    map[string]string
	fetched map[string]bool // files that the command itself loads from the network
	source  string
	depth   int
	work    int      // words and nodes looked at
	reasons []string // never nil
}

func newScan(at place) *scan {
	return &scan{at: at, vars: map[string]string{}, fetched: map[string]bool{}, reasons: []string{}}
}

// ask adds a reason, with what it is about.
func (s *scan) ask(why, about string) {
	if len(s.reasons) == maxReasons {
		return
	}
	if about = clip(about); about != "" {
		why += ": " + about
	}
	if !slices.Contains(s.reasons, why) {
		s.reasons = append(s.reasons, why)
	}
}

// afford spends work on n words or nodes and reports whether there was enough
// left: commands within commands could cost without end.
func (s *scan) afford(n int) bool {
	if s.work += n; s.work > maxWork {
		s.ask("it is too complex to be checked", "")
		return false
	}
	return true
}

// clip makes text fit into a reason: one line, at most 80 runes.
func clip(s string) string {
	if len(s) > 1000 {
		s = s[:1000]
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(strings.NewReplacer(unknown, "?", ownJob, "?").Replace(s), "?")), " ")
	if r := []rune(s); len(r) > 80 {
		s = string(r[:79]) + "…"
	}
	return s
}

// nested looks at text that a shell inside the command will run.
func (s *scan) nested(text string) {
	if s.depth >= maxNested {
		s.ask("it nests shells too deeply to be checked", "")
		return
	}
	// What is unknown in the text is a word of its own for the inner shell.
	text = strings.NewReplacer(unknown, "$_", ownJob, "$!").Replace(text)
	file, problem := parse(text)
	if problem != "" {
		s.ask("a shell inside of it runs what "+problem, text)
		return
	}
	outer := s.source
	s.depth++
	s.file(file, text)
	s.depth--
	s.source = outer
}

// saved is what a subshell gives back when it ends.
type saved struct {
	node syntax.Node
	dir  string
	vars map[string]string
}

func (s *scan) file(file *syntax.File, source string) {
	s.source = source
	var open []saved
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			last := open[len(open)-1]
			open = open[:len(open)-1]
			if last.vars != nil {
				s.at.dir, s.vars = last.dir, last.vars
			}
			return true
		}
		enter := saved{node: n}
		switch n := n.(type) {
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
			enter.dir, enter.vars = s.at.dir, s.vars
			s.vars = cloneVars(s.vars)
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				s.pipe(n)
			}
		case *syntax.CallExpr:
			s.call(n)
		case *syntax.DeclClause:
			s.assign(n.Args)
		case *syntax.ForClause:
			s.loop(n)
		case *syntax.Redirect:
			s.redirect(n)
		case *syntax.Stmt:
			s.heredoc(n)
		}
		open = append(open, enter)
		return true
	})
}

func cloneVars(m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// call looks at one simple command.
func (s *scan) call(c *syntax.CallExpr) {
	if len(c.Args) == 0 {
		s.assign(c.Assigns)
		return
	}
	words := s.words(c.Args)
	for _, a := range c.Assigns {
		if a.Name != nil && a.Name.Value == callMark {
			s.ask("hides from Plexus that it is one of its commands", callMark)
		}
	}
	for _, w := range words {
		s.mentions(w)
	}
	s.unmarks(words)
	s.runsFetched(c, words)
	if words[0].text == unknown && substitutes(c.Args[0]) {
		s.ask("runs a program whose name is known only when it runs", s.raw(c))
	}
	s.command(words)
}

// substitutes reports whether a word is nothing but the output of a command.
func substitutes(w *syntax.Word) bool {
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	_, ok := part.(*syntax.CmdSubst)
	return ok && len(w.Parts) == 1
}

// command looks at the words of a command, its name first.
func (s *scan) command(words []value) {
	// An unknown start of a name is usually empty ($SUDO rm), and its own words follow.
	for len(words) > 0 && strings.Trim(words[0].text, unknown) == "" {
		words = words[1:]
	}
	if len(words) == 0 || !s.afford(len(words)) {
		return
	}
	name := commandName(words[0].text)
	args := words[1:]
	if look := inspectorOf(name); look != nil {
		look(s, name, args)
	}
}

func commandName(word string) string {
	word = strings.ReplaceAll(strings.ReplaceAll(word, unknown, ""), `\`, "/")
	return strings.ToLower(strings.TrimSuffix(path.Base(word), ".exe"))
}

// assign follows variables whose value is certain.
func (s *scan) assign(as []*syntax.Assign) {
	for _, a := range as {
		if a.Name == nil {
			continue
		}
		if a.Name.Value == callMark {
			s.ask("hides from Plexus that it is one of its commands", callMark)
		}
		v := unknown
		if a.Value != nil && a.Array == nil && a.Index == nil && !a.Append {
			v = s.word(a.Value).text
		}
		s.set(a.Name.Value, v)
	}
}

// loop gives the variable of a for loop the item that lies farthest out.
func (s *scan) loop(f *syntax.ForClause) {
	iter, ok := f.Loop.(*syntax.WordIter)
	if !ok || iter.Name == nil {
		return
	}
	pick := unknown
	for i, item := range s.words(iter.Items) {
		w, _ := s.at.locate(item.text)
		if i == 0 || w != inside {
			pick = item.text
		}
	}
	s.set(iter.Name.Value, pick)
}

// set keeps a variable, within bounds: a value can double with each assignment.
func (s *scan) set(name, v string) {
	if len(v) > maxValue {
		v = unknown
	}
	if _, known := s.vars[name]; known || len(s.vars) < maxVars {
		s.vars[name] = v
	}
}

func (s *scan) redirect(r *syntax.Redirect) {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.RdrAllClob, syntax.AppAllClob, syntax.DplOut:
		if r.Word != nil {
			s.writes(s.word(r.Word))
		}
	case syntax.RdrIn:
		s.mentions(s.word(r.Word))
	}
}

// heredoc looks into text that a shell reads as its script.
func (s *scan) heredoc(stmt *syntax.Stmt) {
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || !readsScript(s.words(call.Args)) {
		return
	}
	for _, r := range stmt.Redirs {
		switch {
		case r.Hdoc != nil:
			s.script(s.word(r.Hdoc))
		case r.Op == syntax.WordHdoc:
			s.script(s.word(r.Word))
		}
	}
}

// script looks at text that a shell or an interpreter reads as its program.
func (s *scan) script(v value) {
	s.mentions(v)
	s.nested(v.text)
}

// writes judges a path that something is written to.
func (s *scan) writes(v value) {
	if s.at.own(v.text, false) {
		s.ask(touchesOwn, v.raw)
	}
	w, p := s.at.locate(v.text)
	switch w {
	case outside:
		if why := keeping(p); why != "" {
			s.ask(why, v.raw)
		}
	case inside:
		full := tilde(path.Join(strings.ReplaceAll(s.at.folder, `\`, "/"), p))
		for _, k := range keeps[:len(keeps)-1] { // the folder itself may lie in a system path
			for _, kept := range k.paths {
				if under(full, kept) {
					s.ask(k.why, v.raw)
				}
			}
		}
		if gitRuns(p) {
			s.ask(gitObeys, v.raw)
		}
	}
}

// deletes judges a path that is removed.
func (s *scan) deletes(v value) {
	switch w, p := s.at.locate(v.text); w {
	case outside:
		s.ask("deletes outside of the folder", v.raw)
	case itself:
		s.ask("deletes the folder itself, or all in it", v.raw)
	case unclear:
		s.ask("deletes a path that is known only when it runs", v.raw)
	case inside:
		if path.Base(p) == ".git" {
			s.ask("deletes the history of a repository", v.raw)
		}
	}
}
