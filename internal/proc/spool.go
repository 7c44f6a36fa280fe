package proc

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/dustin/go-humanize"
)

// spoolFrom is the size from which an output has a file: a smaller one is
// never cut by anybody.
const spoolFrom = 1 << 10

// spool is the file with the full output of a command, up to a bound. A
// failure to write it is kept and told; it never ends the command.
type spool struct {
	path  string // "" for none
	limit int64

	file    *os.File
	w       *bufio.Writer
	written int64
	missing int64 // bytes beyond the limit
	err     error
}

// Write adds to the file, which is made by the first Write.
func (s *spool) Write(p []byte) {
	if s.path == "" || s.err != nil {
		return
	}
	if s.file == nil && !s.create() {
		return
	}
	n := int(min(int64(len(p)), max(0, s.limit-s.written)))
	s.missing += int64(len(p) - n)
	if _, err := s.w.Write(p[:n]); err != nil {
		s.fail(err)
		return
	}
	s.written += int64(n)
}

func (s *spool) create() bool {
	if s.file, s.err = os.OpenFile(s.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600); s.err != nil {
		s.file = nil
		return false
	}
	s.w = bufio.NewWriterSize(s.file, 32<<10)
	return true
}

// fail ends the file. On a full disk it gives its room back: half an output helps less than the room that the record of
// the call needs on the same disk.
func (s *spool) fail(err error) {
	s.err = err
	if !errors.Is(err, syscall.ENOSPC) {
		return
	}
	info, statErr := s.file.Stat()
	_ = s.file.Close()
	if statErr == nil && info.Mode().IsRegular() {
		_ = os.Remove(s.path)
	}
	s.file, s.w = nil, nil
}

// flush makes what was written readable by others.
func (s *spool) flush() {
	if s.w == nil || s.err != nil {
		return
	}
	if err := s.w.Flush(); err != nil {
		s.fail(err)
	}
}

// Close ends the file.
func (s *spool) Close() {
	if s.file == nil {
		return
	}
	if s.missing > 0 && s.err == nil {
		_, s.err = fmt.Fprintf(s.w, "\n[%s more bytes were not kept]\n", humanize.Comma(s.missing))
	}
	s.flush()
	if s.file != nil {
		if err := s.file.Close(); s.err == nil {
			s.err = err
		}
	}
	s.file, s.w = nil, nil
	s.path = "" // nothing more is written
}

// trouble says what is not in the file, "" when all of it is.
func (s *spool) trouble() string {
	switch {
	case s.err != nil:
		return "the full output could not be kept: " + reason(s.err)
	case s.missing > 0:
		return fmt.Sprintf("only the first %s bytes of the output were kept on disk", humanize.Comma(s.written))
	default:
		return ""
	}
}

// reason is err without the path in it.
func reason(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	if errors.Is(err, syscall.ENOSPC) {
		return "there is no room left on the disk"
	}
	return err.Error()
}
