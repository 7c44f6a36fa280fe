package chatstream

import (
	"bytes"
)

// eventReader cuts event-stream bytes, as they come, into events. It copies only what a call leaves unfinished, so that
// its cost is linear however the bytes are cut.
type eventReader struct {
	line    []byte // an unfinished line
	name    []byte // the event's name so far
	data    []byte // the event's data lines so far, joined by line feeds
	hasData bool
	skip    bool // the current event is over MaxEvent
	started bool // the optional byte order mark has been dealt with
}

// feed reads b and calls event for each whole event. name and data are valid during the call only. It reports whether
// an event had to be dropped for its size.
func (r *eventReader) feed(b []byte, event func(name, data []byte)) (dropped bool) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			if !r.skip {
				if len(r.line)+len(b) > MaxEvent {
					r.drop()
					// The line counts as begun: its rest must not pass for a line of its own.
					r.line = append(r.line, ':')
				} else {
					r.line = append(r.line, b...)
				}
			}
			return dropped
		}
		line := b[:i]
		b = b[i+1:]
		if r.skip {
			blank := len(r.line) == 0 && isBlank(line)
			r.line = r.line[:0]
			if blank {
				r.skip = false
				dropped = true
			}
			continue
		}
		if len(r.line) > 0 {
			line = append(r.line, line...)
			r.line = line[:0]
		}
		if r.readLine(line, event) {
			continue
		}
		r.drop()
	}
	return dropped
}

// flush reports an event that was not closed by an empty line, if it has data, and starts afresh.
func (r *eventReader) flush(event func(name, data []byte)) (dropped bool) {
	if len(r.line) > 0 && !r.skip {
		line := r.line
		r.line = r.line[:0]
		if !r.readLine(line, event) {
			r.skip = true
		}
	}
	dropped = r.skip
	if !r.skip {
		r.readLine(nil, event)
	}
	r.drop()
	r.line = r.line[:0]
	r.skip = false
	return dropped
}

// pending returns the data of an event that no empty line has closed yet.
func (r *eventReader) pending() []byte {
	if len(r.line) > 0 || r.skip || !r.hasData {
		return nil
	}
	return r.data
}

func (r *eventReader) drop() {
	r.skip = true
	r.line, r.data, r.name = r.line[:0], nil, nil
	r.hasData = false
}

// readLine takes one line without its line feed. It returns false when the event grew over its bound.
func (r *eventReader) readLine(line []byte, event func(name, data []byte)) bool {
	if !r.started {
		r.started = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if len(line) == 0 {
		if r.hasData {
			event(r.name, r.data)
		}
		r.name, r.data, r.hasData = r.name[:0], r.data[:0], false
		if cap(r.data) > 1<<20 {
			r.data = nil
		}
		return true
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "data":
		if len(r.data)+len(value) >= MaxEvent {
			return false
		}
		if r.hasData {
			r.data = append(r.data, '\n')
		}
		r.data = append(r.data, value...)
		r.hasData = true
	case "event":
		r.name = append(r.name[:0], value...)
	}
	return true
}

func isBlank(line []byte) bool {
	return len(line) == 0 || len(line) == 1 && line[0] == '\r'
}
