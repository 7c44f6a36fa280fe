package workspace

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"plexus/internal/tool"
)

type readInput struct {
	Path  string   `json:"path,omitempty" jsonschema:"file or folder, relative to the folder" bounds:"max=4096"`
	Start int      `json:"start,omitempty" jsonschema:"first line" bounds:"min=1,default=1"`
	End   int      `json:"end,omitempty" jsonschema:"last line; the end of the file when absent" bounds:"min=1"`
	Paths []string `json:"paths,omitempty" jsonschema:"several files instead of path" bounds:"min=1,max=50"`
}

func readTool() tool.Tool {
	return tool.New(tool.Info{
		Name: "read",
		Doc: "Read a text file, a range of its lines, or several files; of a folder, its entries. " +
			"At most 200 KB of a file at a time; the last line says the size and how to go on.",
		Class:   tool.ClassRead,
		Timeout: 30 * time.Second,
	}, tool.Handlers[readInput]{
		Check: func(in readInput) error {
			switch {
			case in.Path == "" && len(in.Paths) == 0:
				return tool.Errorf("bad-input", `read: "path" is missing.`)
			case in.Path != "" && len(in.Paths) > 0:
				return tool.Errorf("bad-input", `read: give either "path" or "paths", not both.`)
			case in.End > 0 && in.End < in.Start:
				return tool.Errorf("bad-input", `read: "end" (%d) is before "start" (%d).`, in.End, in.Start)
			}
			return nil
		},
		Subject: func(in readInput) tool.Subject {
			paths := in.Paths
			if in.Path != "" {
				paths = []string{in.Path}
			}
			return tool.Subject{Title: "read " + strings.Join(paths, " "), Paths: paths}
		},
		Run: runRead,
	})
}

func runRead(ctx context.Context, env tool.Env, in readInput) (tool.Result, error) {
	d, err := Open(env.Call.Folder)
	if err != nil {
		return tool.Result{}, err
	}
	defer d.Close()
	if in.Start == 0 {
		in.Start = 1
	}
	if len(in.Paths) > 0 {
		return d.readSeveral(ctx, in)
	}
	return d.readOne(ctx, in.Path, lineRange{start: in.Start, end: in.End, bytes: readBytes})
}

// readSeveral joins the files, each under its name. One that fails says so in
// its place; only when all fail is it a failure of the call.
func (d *Dir) readSeveral(ctx context.Context, in readInput) (tool.Result, error) {
	var text strings.Builder
	worked := 0
	for i, name := range in.Paths {
		fmt.Fprintf(&text, "==> %s <==\n", name)
		left := readTotal - text.Len()
		if left < 1000 {
			fmt.Fprintf(&text, "[not read: this result is full; %s left, to be read in another call]\n", count(int64(len(in.Paths)-i), "file"))
			break
		}
		result, err := d.readOne(ctx, name, lineRange{start: in.Start, end: in.End, bytes: min(readBytes, left)})
		var refused *tool.Error
		switch {
		case errors.As(err, &refused):
			result.Text = "[" + refused.Text + "]"
		case err != nil:
			return tool.Result{}, err
		default:
			worked++
		}
		text.WriteString(result.Text + "\n\n")
	}
	if worked == 0 {
		return tool.Result{}, &tool.Error{Code: "not-found", Text: strings.TrimRight(text.String(), "\n")}
	}
	return ok(strings.TrimSuffix(text.String(), "\n")), nil
}

func (d *Dir) readOne(ctx context.Context, spelled string, want lineRange) (tool.Result, error) {
	p, err := d.existing(spelled)
	if err != nil {
		return tool.Result{}, err
	}
	if p.info.IsDir() {
		return d.list(ctx, p, 1)
	}
	f, info, err := d.open(p)
	if err != nil {
		return tool.Result{}, err
	}
	defer f.Close()
	r, enc, head, err := decoded(bufio.NewReaderSize(f, 64<<10))
	if err != nil {
		return tool.Result{}, d.explain(p.spelled, err)
	}
	if enc == binary {
		return ok(fmt.Sprintf("[%s: %s, %s; not shown]\n", p.spelled, kindOfBinary(head), count(info.Size(), "byte"))), nil
	}
	s := slice{want: want}
	if err := s.take(ctx, r); err != nil {
		return tool.Result{}, d.explain(p.spelled, err)
	}
	if want.start > 1 && s.lines < want.start {
		return tool.Result{}, tool.Errorf("bad-range", "%s has %s; line %d is after its end.", p.spelled, s.total(), want.start)
	}
	return s.result(p.spelled, info.Size(), enc), nil
}

// lineRange is what is wanted of a file: lines from start to end (0 is the
// last), and at most so many bytes of them.
type lineRange struct{ start, end, bytes int }

// slice is the wanted part of a text, and what was counted around it.
type slice struct {
	want      lineRange
	text      []byte
	lines     int  // in the text, the last one counted even when it has no newline
	counted   bool // lines is all of them
	crlf, lf  int
	last      int  // number of the last line in text
	cut       bool // the range has more than bytes
	cutInside bool // of the line last, since it alone is larger
	open      bool // the text does not end in a newline
}

// take reads to the end, or until enough has been counted.
func (s *slice) take(ctx context.Context, r *bufio.Reader) error {
	line, begin := 1, true // number of the line being read, and whether nothing of it was
	after, seen := 0, 0
	cr := false
	for {
		part, err := r.ReadSlice('\n')
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return err
		}
		if len(part) > 0 {
			ends := part[len(part)-1] == '\n'
			s.add(line, begin, part)
			s.lines, s.open, begin = line, !ends, ends
			if ends {
				if len(part) > 1 && part[len(part)-2] == '\r' || len(part) == 1 && cr {
					s.crlf++
				} else {
					s.lf++
				}
				line++
			}
			cr = part[len(part)-1] == '\r'
		}
		if err == io.EOF {
			s.counted = true
			return nil
		}
		if seen += len(part); seen > 1<<20 {
			seen = 0
			if ctx.Err() != nil {
				return tool.Errorf("too-slow", "Reading took too long: the file is very large. Use a command such as sed or tail.")
			}
		}
		if s.cut || s.want.end > 0 && line > s.want.end {
			if after += len(part); after > scanBytes {
				return nil
			}
		}
	}
}

// add keeps a part of a line when it is wanted and there is room: whole lines
// only, except that a line larger than all the room is cut inside.
func (s *slice) add(line int, begin bool, part []byte) {
	if line < s.want.start || s.want.end > 0 && line > s.want.end || s.cut {
		return
	}
	room := s.want.bytes - len(s.text)
	if len(part) <= room {
		s.text = append(s.text, part...)
		s.last = line
		return
	}
	s.cut = true
	first := s.last < s.want.start || line == s.want.start
	if first {
		s.text = wholeRunes(append(s.text, part[:max(room, 0)]...))
		s.last, s.cutInside = line, true
		return
	}
	if !begin { // drop the beginning of this line, which was taken already
		s.text = s.text[:lastLineStart(s.text)]
		s.last = line - 1
	}
}

func lastLineStart(b []byte) int {
	for i := len(b); i > 0; i-- {
		if b[i-1] == '\n' {
			return i
		}
	}
	return 0
}

func (s *slice) total() string {
	if !s.counted {
		return "more than " + count(int64(s.lines), "line")
	}
	return count(int64(s.lines), "line")
}

// result puts the text first, so that its lines can be counted from
// FirstLine, and what is to be said about it last.
func (s *slice) result(spelled string, size int64, enc encoding) tool.Result {
	text, replaced := printable(s.text)
	if s.crlf > 0 {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	var b strings.Builder
	b.Grow(len(text) + 256)
	b.WriteString(text)
	if text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "[%s: %s]\n", spelled, strings.Join(s.remarks(size, enc, replaced), ", "))
	r := ok(b.String())
	r.Path, r.FirstLine = spelled, s.want.start
	if s.cut {
		r.Lines, r.Bytes = int64(s.lines), size
	}
	return r
}

func (s *slice) remarks(size int64, enc encoding, replaced int) []string {
	if s.lines == 0 {
		return []string{"empty", count(size, "byte")}
	}
	var says []string
	partial := s.want.start > 1 || s.last < s.lines || s.cutInside
	if partial {
		says = append(says, fmt.Sprintf("lines %d-%d of %s", s.want.start, s.last, s.total()))
	} else {
		says = append(says, s.total())
	}
	says = append(says, count(size, "byte"), enc.String())
	switch {
	case s.crlf > 0 && s.lf > 0:
		says = append(says, "mixed LF and CRLF line endings, shown as LF")
	case s.crlf > 0:
		says = append(says, "CRLF line endings, shown as LF")
	}
	if s.open && s.counted && s.last == s.lines && !s.cutInside {
		says = append(says, "no newline at the end")
	}
	if replaced > 0 {
		says = append(says, count(int64(replaced), "byte")+" not text, shown as �")
	}
	switch {
	case s.cutInside:
		says = append(says, fmt.Sprintf("line %d is longer than %s bytes and was cut; next: start=%d, or cut -c for the rest of the line", s.last, humanize.Comma(int64(s.want.bytes)), s.last+1))
	case s.cut:
		says = append(says, fmt.Sprintf("cut at %s bytes; next: start=%d", humanize.Comma(int64(s.want.bytes)), s.last+1))
	}
	return says
}

// ok is the result of a call that worked. Its last line ends with the text.
func ok(text string) tool.Result {
	return tool.Result{Status: tool.StatusOK, Outcome: tool.OutcomeOK, Text: strings.TrimSuffix(text, "\n")}
}
