package workspace

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"
)

// scanner searches files, one after the other, in buffers of its own.
type scanner struct {
	*search
	finder
	buf []byte
}

func newScanner(s *search) *scanner {
	return &scanner{search: s, finder: finder{matcher: s.lines}}
}

// batch searches the files of one batch.
func (s *scanner) batch(ctx context.Context, b *batch) found {
	var out found
	for _, name := range b.names {
		if ctx.Err() != nil || len(out.hits) > matchCount {
			break
		}
		rel := path.Join(b.rel, name)
		if s.names {
			out.files++
			if s.name(rel) {
				out.hits = append(out.hits, hit{path: rel, text: strings.Repeat("/", strings.Count(name, "/"))})
			}
			continue
		}
		s.file(ctx, b.dir, rel, name, &out)
	}
	return out
}

// file searches one file of a tree, unless it is large or binary.
func (s *scanner) file(ctx context.Context, dir *sharedRoot, rel, name string, out *found) {
	f, err := dir.OpenFile(name, openFlags, 0)
	if err != nil {
		out.skips.unreadable++
		return
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		out.skips.unreadable++
		return
	case !info.Mode().IsRegular():
		out.skips.special++
		return
	case info.Size() > searchFile:
		out.skips.large++
		out.skips.largest = rel
		return
	}
	content, err := s.read(f)
	switch enc := sniff(content[:min(len(content), sniffBytes)]); {
	case err != nil:
		out.skips.unreadable++
	case len(content) > searchFile: // it grew
		out.skips.large++
		out.skips.largest = rel
	case enc == binary:
		out.skips.binary++
	case enc == utf16LE, enc == utf16BE:
		out.files++
		if text, _, _, err := decoded(bufio.NewReader(bytes.NewReader(content))); err == nil {
			s.stream(ctx, text, rel, out)
		}
	default:
		out.files++
		s.block(content, rel, 1, out)
	}
}

// read reads a file into the scanner's buffer, one byte more than a file may
// have at most.
func (s *scanner) read(f io.Reader) ([]byte, error) {
	if s.buf == nil {
		s.buf = make([]byte, searchFile+1)
	}
	n := 0
	for n < len(s.buf) {
		m, err := f.Read(s.buf[n:])
		n += m
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return s.buf[:n], nil
}

// named searches a file of any size and kind.
func (s *scanner) named(ctx context.Context, f io.Reader, rel string, out *found) {
	out.files++
	text, enc, _, err := decoded(bufio.NewReaderSize(f, 64<<10))
	if err != nil {
		out.skips.unreadable++
		return
	}
	s.stream(ctx, text, rel, out)
	if enc == binary && len(out.hits) > 0 {
		out.hits = []hit{{path: rel, text: fmt.Sprintf(": binary file, %d lines match", len(out.hits))}}
	}
}

// pieceOverlap is repeated from one piece of a very long line to the next, so
// that a match on the border is found. A query is at most half as long.
const pieceOverlap = 8 << 10

// stream searches block by block, each ending with a line; a line longer than
// the buffer is searched in pieces.
func (s *scanner) stream(ctx context.Context, r io.Reader, rel string, out *found) {
	buf, held, line := make([]byte, searchFile), 0, 1
	for ctx.Err() == nil && len(out.hits) <= matchCount {
		n, err := io.ReadFull(r, buf[held:])
		n += held
		if err != nil {
			s.block(buf[:n], rel, line, out)
			return
		}
		whole := bytes.LastIndexByte(buf, '\n') + 1
		keep := whole
		if whole == 0 {
			whole, keep = n, n-pieceOverlap
		}
		s.block(buf[:whole], rel, line, out)
		line += bytes.Count(buf[:whole], []byte("\n"))
		held = copy(buf, buf[keep:])
	}
}

// block searches lines, of which the first has the number line.
func (s *scanner) block(text []byte, rel string, line int, out *found) {
	s.look(text)
	counted, from := 0, 0
	for len(out.hits) <= matchCount {
		start, end, at, ok := s.next(from)
		if !ok {
			return
		}
		line += bytes.Count(text[counted:start], []byte("\n"))
		counted = start
		if last := len(out.hits) - 1; last < 0 || out.hits[last].line != line || out.hits[last].path != rel { // pieces overlap
			out.hits = append(out.hits, hit{path: rel, line: line, text: excerpt(text[start:end], at-start)})
		}
		from = end + 1
	}
}

// excerpt is a line, or what is around the match in a long one, safe to show.
func excerpt(line []byte, at int) string {
	line = bytes.TrimSuffix(line, []byte("\r"))
	before, after := "", ""
	if len(line) > matchBytes {
		from := max(0, min(at-matchBytes/3, len(line)-matchBytes))
		to := min(len(line), from+matchBytes)
		for from > 0 && from < at && !utf8.RuneStart(line[from]) {
			from++
		}
		if from > 0 {
			before = "…"
		}
		if to < len(line) {
			after = "…"
			line = wholeRunes(line[from:to])
		} else {
			line = line[from:to]
		}
	}
	text, _ := printable(line)
	return before + strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return utf8.RuneError
		}
		return r
	}, text) + after
}
