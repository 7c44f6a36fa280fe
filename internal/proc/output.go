package proc

import "sync"

// output is what becomes of the bytes that a command writes. Its methods may
// be called from several goroutines.
type output struct {
	mu       sync.Mutex
	reducer  reducer
	keeper   keeper
	spool    spool
	header   string         // first lines of the spool file and of the result
	live     func(p []byte) // nil once the call is over
	shown    int            // bytes of the current line that live has had
	detached bool           // the call is over: only the spool file grows
}

func newOutput(header string, s spool, live func(p []byte)) *output {
	o := &output{header: header, spool: s, live: live}
	o.reducer.out = o.take
	return o
}

// Write takes a piece of raw output.
func (o *output) Write(p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reducer.Write(p)
	if o.detached {
		o.spool.flush()
		return
	}
	if part := o.reducer.partial(); o.live != nil && len(part) > o.shown {
		o.live(part[o.shown:])
		o.shown = len(part)
	}
}

// take takes finished text from the reducer.
func (o *output) take(p []byte) {
	o.show(p)
	if o.detached {
		o.spool.Write(p)
		return
	}
	before := o.keeper.bytes
	o.keeper.Write(p)
	switch {
	case before >= spoolFrom:
		o.spool.Write(p)
	case o.keeper.bytes >= spoolFrom:
		o.startSpool(p, before)
	}
}

// startSpool writes the header, what was kept before p, and p.
func (o *output) startSpool(p []byte, before int64) {
	o.spool.Write([]byte(o.header))
	o.spool.Write(o.keeper.head[:before]) // less than spoolFrom: all of it is in the head
	o.spool.Write(p)
}

// show passes finished text to whoever watches. A line of which the beginning
// was shown already, and which was rewritten since, is shown again.
func (o *output) show(p []byte) {
	if o.live == nil {
		return
	}
	switch {
	case o.shown > 0 && o.reducer.rewrite:
		o.live([]byte("\n"))
	case o.shown > 0:
		p = p[min(o.shown, len(p)):]
	}
	o.shown = 0
	if len(p) > 0 {
		o.live(p)
	}
}

// finished is an output when its command is over.
type finished struct {
	text         string // head and tail when cut
	cut          bool
	lines, bytes int64
	replaced     int64
	spool        string // "" for none
	trouble      string // with the spool file
	more         bool   // something still holds the other end
}

// finish ends the output of a call. With more to come, the spool file stays
// open for it and is made if there was none.
func (o *output) finish(more bool) finished {
	o.mu.Lock()
	defer o.mu.Unlock()
	path := o.spool.path
	if !more {
		o.reducer.Close()
	} else if part := o.reducer.partial(); len(part) > 0 {
		o.reducer.pass(false)
	}
	if more && o.keeper.bytes < spoolFrom {
		o.startSpool(nil, o.keeper.bytes)
	}
	o.spool.flush()
	f := finished{more: more, cut: o.keeper.cut(), lines: o.keeper.lineCount(), bytes: o.keeper.bytes, replaced: o.reducer.replaced}
	if o.spool.file != nil {
		f.spool = path
	}
	where := ""
	if f.spool != "" {
		where = " and is in " + f.spool
	}
	f.text, f.trouble = o.keeper.text(where), o.spool.trouble()
	o.keeper, o.live, o.detached = keeper{}, nil, true
	if !more {
		o.spool.Close()
	}
	return f
}

// close ends the file of an output that went on after finish.
func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reducer.Close()
	o.spool.Close()
}
