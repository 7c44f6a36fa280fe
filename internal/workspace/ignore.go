package workspace

import (
	"io"
	"os"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignores are the rules of one .gitignore and of those above it. nil ignores
// nothing. It is never changed, so that many may read it.
//
// Rules above the approved folder and the user's global ones are not read:
// they are outside of it.
type ignores struct {
	above *ignores
	base  string // folder of the file, relative to the approved folder; "." at the top
	rules []ignoreRule
}

// ignoreRule is one line of a .gitignore. Glob patterns cost, and most lines
// are plain names or suffixes: those are compared as such.
type ignoreRule struct {
	pattern  string
	suffix   string // of a pattern like *.log
	plain    bool   // pattern has no wildcards
	negated  bool
	dirOnly  bool
	anchored bool // matches the path from base, not only the name
}

// ignored reports whether rel, a path relative to the approved folder, is
// ignored. It is asked from the top down: what is below an ignored folder is
// not asked for again.
func (g *ignores) ignored(rel string, dir bool) bool {
	name := path.Base(rel)
	for ; g != nil; g = g.above {
		for i := len(g.rules) - 1; i >= 0; i-- {
			if rule := &g.rules[i]; rule.matches(g.base, rel, name, dir) {
				return !rule.negated
			}
		}
	}
	return false
}

func (r *ignoreRule) matches(base, rel, name string, dir bool) bool {
	if r.dirOnly && !dir {
		return false
	}
	subject := name
	if r.anchored {
		subject = rel
		if base != "." {
			subject = strings.TrimPrefix(rel, base+"/")
		}
	}
	switch {
	case r.plain:
		return subject == r.pattern
	case r.suffix != "":
		return strings.HasSuffix(subject, r.suffix)
	default:
		return doublestar.MatchUnvalidated(r.pattern, subject)
	}
}

// parseIgnore reads a .gitignore of the folder base.
func parseIgnore(above *ignores, base, content string) *ignores {
	g := &ignores{above: above, base: base}
	for line := range strings.SplitSeq(strings.TrimPrefix(content, "\ufeff"), "\n") {
		if rule, ok := parseRule(strings.TrimSuffix(line, "\r")); ok {
			g.rules = append(g.rules, rule)
		}
	}
	if len(g.rules) == 0 {
		return above
	}
	return g
}

func parseRule(line string) (ignoreRule, bool) {
	var r ignoreRule
	if strings.HasPrefix(line, "#") {
		return r, false
	}
	line = trimSpaces(line)
	if line, r.negated = strings.CutPrefix(line, "!"); strings.TrimLeft(line, "/") == "" {
		return r, false
	}
	line, r.dirOnly = strings.CutSuffix(line, "/")
	r.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if rest, ok := strings.CutSuffix(line, "/**"); ok {
		line = rest + "/**/*" // what is inside, not the folder itself
	}
	r.plain = !strings.ContainsAny(line, `*?[\`)
	if suffix, ok := strings.CutPrefix(line, "*"); ok && !r.anchored && !strings.ContainsAny(suffix, `*?[\`) {
		r.suffix = suffix
	}
	r.pattern = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(line) // git has no braces
	if r.plain {
		r.pattern = line
	}
	return r, r.plain || doublestar.ValidatePattern(r.pattern)
}

// trimSpaces removes trailing spaces that are not escaped.
func trimSpaces(line string) string {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	return line
}

// readIgnore adds the .gitignore in dir, an opened folder at base, if it is a
// regular file of a sensible size.
func readIgnore(above *ignores, dir *os.Root, base, name string) *ignores {
	if info, err := dir.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() > ignoreFile {
		return above
	}
	f, err := dir.OpenFile(name, openFlags, 0)
	if err != nil {
		return above
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, ignoreFile))
	if err != nil {
		return above
	}
	return parseIgnore(above, base, string(content))
}

// ignoresAbove collects the rules that hold in the folder rel, and tells
// whether rel is itself ignored by them.
func (d *Dir) ignoresAbove(rel string) (rules *ignores, ignored bool) {
	rules = readIgnore(nil, d.root, ".", ".git/info/exclude")
	if rel == "." {
		return rules, false
	}
	at := "."
	for name := range strings.SplitSeq(rel, "/") {
		if dir, err := d.sub(at); err == nil {
			rules = readIgnore(rules, dir, at, ".gitignore")
			dir.Close()
		}
		at = path.Join(at, name)
		if rules.ignored(at, true) {
			return nil, true
		}
	}
	return rules, false
}
