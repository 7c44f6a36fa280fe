package chatstream

import "bytes"

// eventReader cuts event-stream bytes, as they come, into events. It copies only what a call leaves unfinished, so that
// its cost is linear however the bytes are cut.
type eventReader struct {
	line    []byte // an unfinished line
	name    []byte // the event's name so far
	data    []byte // the event's data lines so far, joined by line feeds
	hasData bool
	lost    func() // called in place of an event that is over MaxEvent
	started bool   // the optional byte order mark has been dealt with

	skip  bool // the current event is over MaxEvent: read on to its end
	inked bool // while skipping: the current line is not empty
}

// feed reads b and calls event for each whole event. name and data are valid during the call only.
func (r *eventReader) feed(b []byte, event func(name, data []byte)) {
	for len(b) > 0 {
		line, rest, whole := bytes.Cut(b, []byte{'\n'})
		b = rest
		switch {
		case r.skip:
			r.inked = r.inked || !isBlank(line)
			if whole {
				if !r.inked {
					r.skip = false
					r.lost()
				}
				r.inked = false
			}
		case !whole:
			if len(r.line)+len(line) > MaxEvent {
				r.drop()
				r.inked = true
			} else {
				r.line = append(r.line, line...)
			}
		default:
			if len(r.line) > 0 {
				line = append(r.line, line...)
				r.line = line[:0]
			}
			if !r.readLine(line, event) {
				r.drop()
			}
		}
	}
}

// flush reports an event that no empty line has closed, if it has data, and starts afresh.
func (r *eventReader) flush(event func(name, data []byte)) {
	if len(r.line) > 0 && !r.readLine(r.line, event) {
		r.skip = true
	}
	if r.skip {
		r.lost()
	} else {
		r.readLine(nil, event)
	}
	r.drop()
	r.skip, r.inked = false, false
}

// pending returns the data that no empty line has closed yet.
func (r *eventReader) pending() []byte {
	if r.skip {
		return nil
	}
	if data, ok := bytes.CutPrefix(r.line, []byte("data:")); ok && !r.hasData {
		return bytes.TrimSpace(data)
	}
	if len(r.line) > 0 {
		return nil
	}
	return r.data
}

func (r *eventReader) drop() {
	r.skip = true
	r.line, r.name, r.data, r.hasData = r.line[:0], r.name[:0], nil, false
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
