package gate

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What acts on Plexus itself could answer the question that it was asked.

const (
	touchesOwn = "reads or changes Plexus' own files"
	callMark   = "PLEXUS_CALL" // the variable by which Plexus knows its commands
)

// runsPlexus is for a program of that name, wherever it lies.
func runsPlexus(s *scan, name string, _ []value) {
	s.ask("runs Plexus itself, which could answer its own questions", name)
}

// unmarks looks for words that take the mark away from what a command starts, or forge one.
func (s *scan) unmarks(words []value) {
	for _, w := range words {
		name, _, _ := strings.Cut(w.text, "=")
		if value, ok := strings.CutPrefix(w.text, "--unset="); ok {
			name = value
		}
		if strings.TrimPrefix(name, "-u") == callMark {
			s.ask("hides from Plexus that it is one of its commands", w.raw)
		}
	}
}

// mentions judges a word that a program is given, or a script: it may be a path to Plexus' own files, or hold one.
func (s *scan) mentions(v value) {
	if s.at.home == "" || !s.afford(1+(len(v.text)+len(s.at.dir))/10) {
		return
	}
	texts := []string{v.text}
	for _, mark := range []string{"=", "@", ":"} { // if=FILE, --option=FILE, @FILE, HOST:FILE
		if _, rest, ok := strings.Cut(v.text, mark); ok {
			texts = append(texts, rest)
		}
	}
	if holds(v.text, s.at.home) || slices.ContainsFunc(texts, func(text string) bool { return s.at.own(text, true) }) {
		s.ask(touchesOwn, v.raw)
	}
}

// spoolDir is the folder of Plexus' own files that commands are told to read in.
const spoolDir = "spool"

// own reports whether a path leads to Plexus' own files; for reading, those that are there to be read do not count. A
// pattern leads to all that it matches.
func (p place) own(text string, reading bool) bool {
	if p.home == "" {
		return false
	}
	w, full := p.locate(text)
	switch w {
	case unclear:
		return false
	case inside:
		full = path.Join(p.folder, full)
	}
	if !strings.ContainsAny(full, "*?[") && !names(full, p.home) {
		return false
	}
	have, want := strings.Split(foldPath(full), "/"), strings.Split(foldPath(path.Clean(p.home)), "/")
	if len(have) < len(want) {
		return false
	}
	for i, name := range want {
		if ok, err := path.Match(have[i], name); !ok && (err == nil || have[i] != name) {
			return false
		}
	}
	return !reading || len(have) == len(want) || have[len(want)] != spoolDir
}

// holds reports whether a text names home or something in it that is not there to be read.
func holds(text, home string) bool {
	if !names(text, home) {
		return false
	}
	text, home = foldPath(text), foldPath(home)
	for {
		_, rest, found := strings.Cut(text, home)
		if !found {
			return false
		}
		if in, ok := strings.CutPrefix(rest, "/"+spoolDir); ok && !longer(in) && !strings.Contains(in, "..") {
			rest = "-" // a name that is another's
		}
		if !longer(rest) {
			return true
		}
		text = rest
	}
}

// names reports whether the last name of home is in a text, which costs little to see.
func names(text, home string) bool {
	return strings.Contains(strings.ToLower(text), path.Base(strings.ToLower(strings.ReplaceAll(home, `\`, "/"))))
}

// longer reports whether the name before rest goes on in it.
func longer(rest string) bool {
	c, _ := utf8.DecodeRuneInString(rest)
	return rest != "" && (c == '-' || c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c))
}

// homeForms are the spellings of a home directory in a path.
var homeForms = regexp.MustCompile(`(?:(?:c:)?/users|/home)/[^/\s'"]+/|/root/|\$home/|\$\{home\}/`)

// foldPath spells paths alike: with slashes, in small letters as some file systems see them, and from "~".
func foldPath(text string) string {
	return homeForms.ReplaceAllString(strings.ToLower(strings.ReplaceAll(text, `\`, "/")), "~/")
}
