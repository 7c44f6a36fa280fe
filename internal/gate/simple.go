package gate

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// literal is a word whose value is certain.
type literal struct {
	text string
	bare bool // nothing in it was quoted
}

func texts(words []literal) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	return out
}

// simple returns the words of a command that is one simple command made of
// literal words: no assignment, redirection, expansion, glob, comment, operator
// or escape, so that every shell of the Bourne family and fish reads the same
// words. Otherwise why says what is in the way.
func simple(command string) (words []literal, why string) {
	command = strings.Trim(command, " \t\n")
	if !utf8.ValidString(command) {
		return nil, "it is not valid UTF-8"
	}
	if strings.ContainsFunc(command, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }) {
		return nil, "it has more than one line or a control character"
	}
	file, problem := parse(command)
	if problem != "" {
		return nil, "it " + problem
	}
	if len(file.Stmts) != 1 || len(file.Last) > 0 {
		return nil, "it is not a single command"
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || stmt.Negated || stmt.Background || stmt.Coprocess || stmt.Disown ||
		stmt.Semicolon.IsValid() || len(stmt.Comments) > 0 {
		return nil, "it is not a single simple command"
	}
	if len(stmt.Redirs) > 0 {
		return nil, "it redirects"
	}
	if len(call.Assigns) > 0 {
		return nil, "it sets variables"
	}
	for _, w := range call.Args {
		l, why := literalWord(w)
		if why != "" {
			return nil, why
		}
		words = append(words, l)
	}
	return words, ""
}

func literalWord(w *syntax.Word) (literal, string) {
	l := literal{bare: true}
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if r, ok := plain(p.Value); !ok {
				return l, "it has the shell character " + string(r)
			}
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			// A backslash before the closing quote ends the word in bash and not in fish.
			if p.Dollar || strings.HasSuffix(p.Value, `\`) || !printable(p.Value) {
				return l, "it has quoting that shells read differently"
			}
			l.bare = false
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			l.bare = false
			for _, q := range p.Parts {
				lit, ok := q.(*syntax.Lit)
				if !ok || p.Dollar || strings.ContainsAny(lit.Value, "\\$`!") || !printable(lit.Value) {
					return l, "it expands something inside quotes"
				}
				b.WriteString(lit.Value)
			}
		default:
			return l, "it expands something"
		}
	}
	l.text = b.String()
	if l.bare && strings.HasPrefix(l.text, "=") { // zsh: the path of a command
		return l, "it has the shell character ="
	}
	return l, ""
}

// plain reports whether s has no character that any common shell treats as more
// than text, and the first one that it has.
func plain(s string) (rune, bool) {
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./:,+=@%", r) {
			return r, false
		}
	}
	return 0, true
}

func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
