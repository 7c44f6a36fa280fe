package workspace

import (
	"bytes"
	"path"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"plexus/internal/tool"
)

// matcher finds the lines that match a query. It is read-only: each worker
// has its own finder.
type matcher struct {
	literal []byte         // that every matching line contains; nil for none known
	re      *regexp.Regexp // nil when the literal is the whole query
	fold    bool           // case does not matter; literal is then in lower case
}

// newMatcher compiles a query. Without regard to case, only the ASCII letters
// of a literal are folded; a query with other letters becomes a regular
// expression, which knows all of them.
func newMatcher(query string, isRegexp, fold bool) (*matcher, error) {
	m := &matcher{fold: fold}
	if !isRegexp && (!fold || isASCII(query)) {
		m.literal = []byte(query)
		if fold {
			m.literal = foldASCII(nil, m.literal)
		}
		return m, nil
	}
	if !isRegexp {
		query = regexp.QuoteMeta(query)
	}
	if fold {
		query = "(?i)" + query
	}
	re, err := regexp.Compile(query)
	if err != nil {
		return nil, tool.Errorf("bad-input", "search: the query is not a regular expression: %v.", err)
	}
	m.re = re
	if parsed, err := syntax.Parse(query, syntax.Perl); err == nil {
		if lit := requiredLiteral(parsed.Simplify(), fold); len(lit) > 1 {
			m.literal = []byte(lit)
		}
	}
	return m, nil
}

// requiredLiteral returns the longest text that is in every match of re, as
// far as it is easily seen; in lower case when fold. With fold, k and s end
// it: letters outside ASCII fold to them.
func requiredLiteral(re *syntax.Regexp, fold bool) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 && !fold {
			return ""
		}
		return literalText(re.Rune, fold)
	case syntax.OpCapture, syntax.OpPlus:
		return requiredLiteral(re.Sub[0], fold)
	case syntax.OpConcat:
		longest := ""
		for _, sub := range re.Sub {
			if lit := requiredLiteral(sub, fold); len(lit) > len(longest) {
				longest = lit
			}
		}
		return longest
	default:
		return ""
	}
}

func literalText(runes []rune, fold bool) string {
	if !fold {
		return string(runes)
	}
	longest, current := "", ""
	for _, r := range runes {
		lower := strings.ToLower(string(r))
		if r >= utf8.RuneSelf || lower == "k" || lower == "s" {
			current = ""
			continue
		}
		if current += lower; len(current) > len(longest) {
			longest = current
		}
	}
	return longest
}

// finder is a matcher at work on one block of text.
type finder struct {
	*matcher
	block  []byte
	folded []byte // block in lower case, when case does not matter
}

// look begins a new block.
func (f *finder) look(block []byte) {
	f.block = block
	if f.fold && f.literal != nil {
		f.folded = foldASCII(f.folded[:0], block)
	}
}

// next returns the first line at or after the offset from that matches: where
// it starts and ends, and where in it the match is. ok is false when there is
// none.
func (f *finder) next(from int) (start, end, at int, ok bool) {
	hay := f.block
	if f.fold && f.literal != nil {
		hay = f.folded
	}
	for from < len(f.block) {
		at = from
		if f.literal != nil {
			i := bytes.Index(hay[from:], f.literal)
			if i < 0 {
				return 0, 0, 0, false
			}
			at = from + i
		}
		start = bytes.LastIndexByte(f.block[from:at], '\n') + 1 + from
		end = len(f.block)
		if i := bytes.IndexByte(f.block[at:], '\n'); i >= 0 {
			end = at + i
		}
		if f.re == nil {
			return start, end, at, true
		}
		line := bytes.TrimSuffix(f.block[start:end], []byte("\r"))
		if loc := f.re.FindIndex(line); loc != nil {
			return start, end, start + loc[0], true
		}
		from = end + 1
	}
	return 0, 0, 0, false
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// foldASCII appends b to dst with A-Z in lower case.
func foldASCII(dst, b []byte) []byte {
	n := len(dst)
	dst = append(dst, b...)
	for i, c := range dst[n:] {
		if 'A' <= c && c <= 'Z' {
			dst[n+i] = c + 'a' - 'A'
		}
	}
	return dst
}

// glob is a file pattern: without a slash it is about the name, with one about
// the path from the folder or from where the search starts. A leading "!"
// turns it round.
type glob struct {
	pattern string
	negated bool
	whole   bool
}

func newGlob(pattern string) (*glob, error) {
	if pattern == "" {
		return nil, nil
	}
	g := &glob{}
	g.pattern, g.negated = strings.CutPrefix(pattern, "!")
	g.pattern = strings.TrimPrefix(g.pattern, "./")
	g.whole = strings.Contains(g.pattern, "/")
	g.pattern = strings.TrimPrefix(g.pattern, "/")
	if !doublestar.ValidatePattern(g.pattern) {
		return nil, tool.Errorf("bad-input", "search: %q is not a file pattern.", pattern)
	}
	return g, nil
}

// matches reports whether a file is meant. A nil glob means every file.
func (g *glob) matches(rel, start string) bool {
	if g == nil {
		return true
	}
	if !g.whole {
		return doublestar.MatchUnvalidated(g.pattern, path.Base(rel)) != g.negated
	}
	found := doublestar.MatchUnvalidated(g.pattern, rel) ||
		start != "." && doublestar.MatchUnvalidated(g.pattern, strings.TrimPrefix(rel, start+"/"))
	return found != g.negated
}
