package chattab

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"plexus/internal/chatstream"
	"plexus/internal/link"
	"plexus/internal/loop"
)

// Bounds of the frames that are held here or at the browser.
const (
	maxAhead      = 4096    // frames held behind a gap
	maxAheadBytes = 8 << 20 // bytes of their data, but one frame may always be held
	ackBehind     = 8 << 20 // bytes of frames that the browser keeps for a restart of ours
)

// reading is what is known of the reply.
type reading struct {
	decoder *chatstream.Decoder
	next    int64                        // number of the frame that is due
	ahead   map[int64]*link.StreamUpdate // that came before their turn
	waiting int                          // bytes of the data of those
	whole   map[string]bool              // streams that come in whole messages
	sends   map[string]bool              // streams that answer the request which carried the message
	refusal *refusal                     // what that answer is if it is no stream
	held    int                          // bytes at the browser that were not acknowledged

	model     string
	life      time.Time // of the last sign of life
	grown     bool      // some of the reply has come
	suspect   string    // why the text may have a hole
	lost      string    // why no more frames can be expected
	recovered *string   // the reply as the page shows it

	trouble  *loop.Fault // what the site complained of
	patience time.Time   // until when it may get over that
	closing  time.Time   // when something that carried the reply ended without proof of the turn's end
	finished bool        // and the final message was complete
}

func newReading(conversation string) reading {
	r := reading{decoder: chatstream.New(), next: 1, ahead: map[int64]*link.StreamUpdate{}, whole: map[string]bool{}, sends: map[string]bool{}, life: time.Now()}
	r.decoder.Expect(conversation)
	return r
}

// complain notes what the site complained of. The first complaint stands, unless a later one is not of the passing kind.
func (r *reading) complain(f *loop.Fault, patience time.Duration) {
	if r.trouble != nil && (passing(f.Code) || !passing(r.trouble.Code)) {
		return
	}
	r.trouble, r.patience = f, time.Now().Add(patience)
}

// graceFor is how long a page may take to get over a fault. What it never gets over waits only for what is on its way.
func (s *session) graceFor(code string) time.Duration {
	if passing(code) {
		return s.m.timing.trouble
	}
	return s.m.timing.trouble / 10
}

// frame takes a frame in its turn: one that was seen is dropped, one that is early waits.
func (s *session) frame(ctx context.Context, u *link.StreamUpdate) {
	r := &s.reading
	r.life = time.Now()
	switch {
	case u.N < r.next:
		return
	case u.N > r.next:
		r.keep(u)
		return
	}
	for u != nil {
		r.next++
		s.decode(u)
		s.acknowledge(ctx, u)
		u = r.due()
	}
}

// keep holds a frame behind a gap. What has no room is sent again with what fills the gap.
func (r *reading) keep(u *link.StreamUpdate) {
	if n := len(r.ahead); r.ahead[u.N] != nil || n >= maxAhead || n > 0 && r.waiting+len(u.Data) > maxAheadBytes {
		return
	}
	r.ahead[u.N] = u
	r.waiting += len(u.Data)
}

// due takes the frame whose turn it is, nil when it has not come.
func (r *reading) due() *link.StreamUpdate {
	u := r.ahead[r.next]
	if u != nil {
		delete(r.ahead, r.next)
		r.waiting -= len(u.Data)
	}
	return u
}

// acknowledge lets the browser drop frames, late: until then a restarted daemon can read the whole reply again.
func (s *session) acknowledge(ctx context.Context, u *link.StreamUpdate) {
	r := &s.reading
	if r.held += len(u.Data); r.held < ackBehind || s.gone {
		return
	}
	r.held = 0
	if err := s.peer.Send(ctx, link.AckFrames{Turn: s.req.Turn, N: u.N}); err != nil && !errors.Is(err, link.ErrClosed) {
		s.log.Info("frames not acknowledged", slog.String("error", err.Error()))
	}
}

// decode gives a frame to the decoder and acts on what it says.
func (s *session) decode(u *link.StreamUpdate) {
	r := &s.reading
	var updates []chatstream.Update
	switch u.Event {
	case "open":
		r.opened(u, s.m.site.isSend(u.URL))
		if f := statusFault(u.Status, ""); f != nil && r.sends[u.Stream] {
			r.complain(f, s.graceFor(f.Code))
		}
	case "data":
		if r.refusal != nil && r.sends[u.Stream] {
			r.refusal.read(u.Data)
			break
		}
		updates = r.decoder.Data(u.Stream, []byte(u.Data))
	case "close", "error":
		updates = s.ended(u)
	}
	for _, up := range updates {
		if s.err == nil {
			s.update(up)
		}
	}
	s.keepAlive()
}

// opened notes what is to be known of a stream.
func (r *reading) opened(u *link.StreamUpdate, send bool) {
	r.sends[u.Stream] = send
	r.whole[u.Stream] = u.Source != string(chatstream.SourceFetch)
	if send && u.Status >= 400 {
		r.refusal = &refusal{status: u.Status}
	}
	r.decoder.Open(u.Stream, chatstream.Source(u.Source), u.URL)
}

// ended acts on the end of a stream, or on a message that was left out of one.
func (s *session) ended(u *link.StreamUpdate) []chatstream.Update {
	r := &s.reading
	switch {
	case u.Event == "error" && r.whole[u.Stream]:
		r.suspect = "the page left out a message of the site"
		return nil
	case r.sends[u.Stream] && r.refusal != nil:
		f := r.refusal.fault()
		r.trouble = nil
		r.complain(f, s.graceFor(f.Code))
	case r.sends[u.Stream] && u.Data == "network":
		r.complain(fault(loop.FaultNetwork, ""), s.graceFor(loop.FaultNetwork))
	}
	if soon := time.Now().Add(s.m.timing.trouble / 10); r.trouble != nil && !r.whole[u.Stream] && soon.Before(r.patience) {
		r.patience = soon // what the stream complained of is its last word
	}
	return r.decoder.Close(u.Stream, u.Event == "close")
}

// update acts on one fact of the streams.
func (s *session) update(u chatstream.Update) {
	r := &s.reading
	switch u.Kind {
	case chatstream.KindText:
		s.growth()
		s.on.Text(u.Text)
	case chatstream.KindReasoning:
		s.growth()
		s.on.Reasoning(u.Text)
	case chatstream.KindModel:
		r.model = u.Text
	case chatstream.KindConversation:
		s.bind(u.ID, "")
	case chatstream.KindUserMessage:
		s.userMessage(u.ID)
	case chatstream.KindRefused:
		r.complain(fault(loop.FaultRefused, ""), s.graceFor(loop.FaultRefused))
	case chatstream.KindModeration:
		r.complain(fault(loop.FaultModeration, ""), s.graceFor(loop.FaultModeration))
	case chatstream.KindError:
		r.complain(streamFault(u), s.graceFor(loop.FaultSiteError))
	case chatstream.KindGap:
		r.suspect = u.Text
	case chatstream.KindHandoff:
		r.closing = time.Time{}
	case chatstream.KindClosed:
		r.closing, r.finished = time.Now(), u.Finished
	}
}

// growth is the surest sign of life: what was wrong is over.
func (s *session) growth() {
	r := &s.reading
	s.told = time.Now()
	r.grown, r.closing = true, time.Time{}
	if r.trouble != nil && passing(r.trouble.Code) {
		r.trouble = nil
	}
}

// userMessage compares the message that the stream answers with ours.
func (s *session) userMessage(id string) {
	switch {
	case !s.dispatched:
	case s.receipt == "":
		s.accept(id, "", "")
	case id != s.receipt && s.takingUp:
		s.reading.suspect = "the stream answers another message"
	}
}

// streamFault is the fault that an error in the stream stands for.
func streamFault(u chatstream.Update) *loop.Fault {
	code, ok := siteCodes[u.Code]
	if !ok {
		code = loop.FaultSiteError
	}
	text := u.Text
	if text == "" {
		text = u.Code
	}
	return fault(code, text)
}

// keepAlive tells the loop of life that brings no text.
func (s *session) keepAlive() {
	if time.Since(s.told) > s.m.timing.alive {
		s.status("The model is at work")
	}
}

// refill asks for the frames that are due again, and reports whether they came.
func (s *session) refill(ctx context.Context) (bool, error) {
	r := &s.reading
	var have link.FramesResult
	err := s.command(ctx, s.m.timing.command, link.ResumeFrames{Turn: s.req.Turn, From: r.next}, &have)
	var refused *link.ResponseError
	switch {
	case errors.As(err, &refused):
		return false, nil
	case err != nil:
		return false, err
	case have.First == 0:
		return len(r.ahead) == 0 && (s.fact == nil || s.fact.LastN < r.next), nil
	case have.First > r.next:
		return false, nil
	}
	// The frames go before the response on the wire, but may be behind it in our hands.
	return s.until(ctx, s.m.timing.gap, func() bool { return r.next > have.Last })
}

// until handles events until is holds, for at most d, and reports whether it does.
func (s *session) until(ctx context.Context, d time.Duration, is func() bool) (bool, error) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for !is() {
		select {
		case ev, ok := <-s.events:
			s.take(ctx, ev, ok)
			if s.err != nil {
				return false, s.err
			}
			if s.gone {
				return is(), nil
			}
		case <-timer.C:
			return is(), nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
	return true, nil
}
