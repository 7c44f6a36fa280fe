package plx

import (
	"fmt"
	"strconv"
	"strings"
)

// cut shortens a result's content to limit units: head and tail stay, the middle goes, on line boundaries. Only a line that is
// longer than the limit itself is cut inside. The marker in the middle says what is missing and how to see it.
func cut(content string, r Result, limit int) string {
	if units(content) <= limit {
		return content
	}
	// The marker's length depends on the numbers in it, which depend on where the cuts are.
	const numbers = 80
	all := marker(content, r, gap{to: len(content)})
	room := limit - units(all) - numbers
	if room <= 0 {
		return head(all, limit)
	}
	first := keepHead(content, (room+1)/2, limit)
	last := keepTail(content[len(first):], room-units(first), limit)
	if spare := room - units(first) - units(last); spare > 0 {
		first = keepHead(content[:len(content)-len(last)], units(first)+spare, limit)
	}
	mark := marker(content, r, gap{from: len(first), to: len(content) - len(last)})
	if first != "" && !strings.HasSuffix(first, "\n") {
		first += "\n"
	}
	return first + mark + "\n" + last
}

// keepHead returns the beginning of s that is kept in room units.
func keepHead(s string, room, limit int) string {
	kept := head(s, room)
	if len(kept) == len(s) {
		return kept
	}
	lines := strings.LastIndexByte(kept, '\n') + 1
	next := s[lines:]
	if i := strings.IndexByte(next, '\n'); i >= 0 {
		next = next[:i]
	}
	if units(next) > limit {
		return kept
	}
	return kept[:lines]
}

// keepTail returns the end of s that is kept in room units.
func keepTail(s string, room, limit int) string {
	kept := tail(s, room)
	at := len(s) - len(kept)
	if at == 0 || s[at-1] == '\n' {
		return kept
	}
	i := strings.IndexByte(kept, '\n')
	if i < 0 {
		i = len(kept) - 1
	}
	line := s[strings.LastIndexByte(s[:at], '\n')+1 : at+i+1]
	if units(line) > limit {
		return kept
	}
	return kept[i+1:]
}

// gap is what was left out of a content: the bytes from and to.
type gap struct{ from, to int }

// marker says what was left out.
func marker(content string, r Result, g gap) string {
	lines, size := r.Lines, r.Bytes
	whole := output(r)
	if lines == 0 {
		lines = int64(countLines(whole))
	}
	if size == 0 {
		size = int64(len(whole))
	}
	return fmt.Sprintf("[... cut here; the whole has %d lines, %d bytes. %s ...]", lines, size, rest(content, r, g))
}

// output is the content without what the tool says about it: the command above and how it ended below, or a line about the file.
func output(r Result) string {
	content := r.Content
	rest, last := content, ""
	if i := strings.LastIndexByte(rest, '\n'); i >= 0 {
		rest, last = rest[:i+1], rest[i+1:]
	}
	switch {
	case isCommand(content):
		if _, out, ok := strings.Cut(rest, "\n"); ok && strings.HasPrefix(last, "[") {
			return out
		}
	case r.Path != "" && strings.HasPrefix(last, "["+r.Path+": "):
		return rest
	}
	return content
}

func isCommand(content string) bool { return strings.HasPrefix(content, "$ ") }

func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// rest says how to see what was left out.
func rest(content string, r Result, g gap) string {
	path, first := r.Path, max(1, r.FirstLine)
	if path == "" {
		path, first = r.Spool, 1
	}
	if path == "" {
		return "To see more, ask for less at a time"
	}
	before := strings.Count(content[:g.from], "\n")
	from := first + before
	to := from + countLines(content[g.from:g.to]) - 1
	if r.Path == "" && r.Lines > 0 {
		// The content itself lacks lines of the file, in its middle: those after the cut are counted from the end.
		all := int(r.Lines)
		if isCommand(content) {
			all += 2 // the command and how it ended
		}
		to = max(to, all-countLines(content[g.to:]))
	}
	see := "See the rest: sed -n '" + strconv.Itoa(from)
	if to > from {
		return see + fmt.Sprintf(",%dp' %s", to, shellWord(path))
	}
	see += fmt.Sprintf("p' %s", shellWord(path))
	if column := g.from - strings.LastIndexByte(content[:g.from], '\n'); column > 1 || content[g.to-1] != '\n' {
		see += fmt.Sprintf(" | cut -c %d-%d", column, column+min(g.to-g.from, 4000)-1)
	}
	return see
}

// shellWord quotes a path for the shell.
func shellWord(path string) string {
	plain := !strings.HasPrefix(path, "-") && !strings.ContainsFunc(path, func(r rune) bool {
		return r >= 0x80 || !isNameRune(r) && r != '/' && r != '+' && r != ',' && r != '@'
	})
	switch {
	case plain:
		return path
	case strings.ContainsAny(path, "\n\r"):
		return strconv.Quote(path)
	case strings.HasPrefix(path, "-"):
		path = "./" + path
	}
	return defuse("'" + strings.ReplaceAll(path, "'", `'\''`) + "'")
}
