package server

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"time"

	"plexus/internal/store"
)

// Event streams: "id: N", "event: event" with a store.Event, or "event: live" with a store.Live. A caller resumes with
// after=N or Last-Event-ID and gets every event once, in order. Live text comes with its offset; before the first piece of a
// message the whole text so far is sent at offset 0, so a caller that drops what it already has never misses any.

const (
	keepAlive  = 15 * time.Second
	writeBound = 30 * time.Second // a caller that reads nothing for so long is dropped
)

func (s *Server) streamThread(w http.ResponseWriter, r *http.Request) error {
	t, err := s.cfg.Store.Thread(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	after, err := resumePoint(r)
	if err != nil {
		return err
	}
	out := newSSE(w)
	for _, l := range s.liveNow(t.ID) {
		out.live(l)
	}
	synced := map[string]bool{}
	return out.run(r.Context(), s.cfg.Store.Follow, store.FollowFrom{Thread: t.ID, After: after}, func(u store.Update) {
		switch {
		case u.Event != nil:
			out.event(u.Event.Seq, u.Event)
		case u.Live.Of == "" || synced[u.Live.Of]:
			out.live(*u.Live)
		default:
			synced[u.Live.Of] = true
			for _, l := range s.liveNow(t.ID) {
				if l.Of == u.Live.Of {
					out.live(l)
				}
			}
			out.live(*u.Live)
		}
	})
}

// liveNow is what streams in a thread so far: the reply on its way, and the newest output of running calls.
func (s *Server) liveNow(thread string) []store.Live {
	return append(s.cfg.Loop.Live(thread), s.cfg.Engine.Live(thread)...)
}

// live is what streams so far, for a caller that saw a gap.
func (s *Server) live(w http.ResponseWriter, r *http.Request) error {
	t, err := s.cfg.Store.Thread(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return ok(w, map[string]any{"live": nonNil(s.liveNow(t.ID))})
}

// streamAll tells of all threads what a list shows.
func (s *Server) streamAll(w http.ResponseWriter, r *http.Request) error {
	after, err := resumePoint(r)
	if err != nil {
		return err
	}
	out := newSSE(w)
	return out.run(r.Context(), s.cfg.Store.Follow, store.FollowFrom{After: after}, func(u store.Update) {
		if u.Event == nil {
			return
		}
		switch u.Event.Kind {
		case store.EventThread, store.EventTurn, store.EventApproval, store.EventNotice:
			out.event(u.Event.ID, u.Event)
		}
	})
}

func resumePoint(r *http.Request) (int64, error) {
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil || n < 0 {
			return 0, bad("bad-query", fmt.Sprintf("Last-Event-ID %q is not a whole number from 0 up.", id), "")
		}
		return n, nil
	}
	return number(r, "after", 0)
}

// sse writes one event stream. The first write error ends it.
type sse struct {
	w   http.ResponseWriter
	rc  *http.ResponseController
	err error
}

func newSSE(w http.ResponseWriter) *sse {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Time{})
	return &sse{w: w, rc: rc}
}

func (o *sse) event(id int64, e *store.Event) { o.send(fmt.Sprintf("id: %d\nevent: event\n", id), e) }
func (o *sse) live(l store.Live)              { o.send("event: live\n", l) }

func (o *sse) send(head string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		o.fail(err)
		return
	}
	o.write(head + "data: " + string(data) + "\n\n")
}

func (o *sse) write(text string) {
	if o.err != nil {
		return
	}
	if err := o.rc.SetWriteDeadline(time.Now().Add(writeBound)); err != nil {
		o.fail(err)
		return
	}
	if _, err := o.w.Write([]byte(text)); err != nil {
		o.fail(err)
	}
}

func (o *sse) flush() {
	if o.err == nil {
		if err := o.rc.Flush(); err != nil {
			o.fail(err)
		}
	}
}

func (o *sse) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

// run forwards updates until the caller or the daemon goes. Whatever is ready is written before it is flushed.
func (o *sse) run(ctx context.Context, updates func(context.Context, store.FollowFrom) iter.Seq2[store.Update, error], from store.FollowFrom, each func(store.Update)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o.write(": open\n\n")
	o.flush()
	next := make(chan store.Update)
	go func() { // ends with ctx, which run cancels
		defer close(next)
		for u, err := range updates(ctx, from) {
			if err != nil {
				return
			}
			select {
			case next <- u:
			case <-ctx.Done():
				return
			}
		}
	}()
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for o.err == nil {
		select {
		case u, ok := <-next:
			if !ok {
				return nil // headers are out: an error could not be told any more, the caller resumes
			}
			each(u)
			o.flush()
		case <-tick.C:
			o.write(": alive\n\n")
			o.flush()
		}
	}
	return nil
}
