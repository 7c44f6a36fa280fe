package chatapi

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// errLongEvent says that an event is over maxEvent.
var errLongEvent = errors.New("event too long")

// events reads the data of server-sent events. Lines end with LF, CRLF or CR;
// comments and other fields are passed over. The last event needs no blank line.
type events struct {
	r    *bufio.Reader
	read int  // bytes so far
	crlf bool // the last line ended with CR: an LF belongs to it
}

func newEvents(r *bufio.Reader) *events { return &events{r: r} }

// next returns the data of the next event that has some. io.EOF when there is no
// more; another error is the reader's, or errLongEvent.
func (e *events) next() (string, error) {
	var data strings.Builder
	has := false
	for {
		line, err := e.line()
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		if line == "" && (has || err != nil) {
			if has {
				return data.String(), nil
			}
			return "", err
		}
		if text, ok := field(line, "data"); ok {
			if has {
				data.WriteByte('\n')
			}
			has = true
			if data.WriteString(text); data.Len() > maxEvent {
				return "", errLongEvent
			}
		}
		if err != nil {
			if has {
				return data.String(), nil
			}
			return "", err
		}
	}
}

// field returns the value of a line that is the named field.
func field(line, name string) (string, bool) {
	value, ok := strings.CutPrefix(line, name)
	if !ok || value != "" && value[0] != ':' {
		return "", false
	}
	value = strings.TrimPrefix(value, ":")
	return strings.TrimPrefix(value, " "), true
}

// line returns the next line without its end. With io.EOF it is what was left.
func (e *events) line() (string, error) {
	var b strings.Builder
	for {
		c, err := e.r.ReadByte()
		if err != nil {
			return b.String(), err
		}
		e.read++
		skip := e.crlf && c == '\n'
		e.crlf = c == '\r'
		switch {
		case skip:
		case c == '\n', c == '\r':
			return b.String(), nil
		default:
			if b.WriteByte(c); b.Len() > maxEvent {
				return "", errLongEvent
			}
		}
	}
}
