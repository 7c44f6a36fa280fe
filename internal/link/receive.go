package link

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/coder/websocket"
)

// heldMessage is logged when the connection is not read because nobody takes the events of a turn.
const heldMessage = "link held by a slow reader"

var errStuck = errors.New("nobody takes the events")

// read takes messages until the connection ends.
func (p *Peer) read() {
	for {
		kind, data, err := p.conn.Read(p.ctx)
		if err != nil {
			return
		}
		p.heard.Store(int64(time.Since(p.info.Since)))
		if kind != websocket.MessageText {
			p.closeWith(websocket.StatusUnsupportedData, "a message is JSON text")
			return
		}
		msg, err := decode(data)
		switch {
		case errors.Is(err, errUnknownType):
			err = p.stray(err.Error())
		case err == nil:
			err = p.dispatch(msg, len(data))
		}
		if errors.Is(err, errStuck) {
			p.log.Warn("link reader stuck", slog.String("reason", err.Error()))
			p.end(err.Error()) // it is still sending, and would not read a reason
			return
		}
		if err != nil {
			p.log.Warn("link message refused", slog.String("reason", err.Error()))
			p.closeWith(websocket.StatusPolicyViolation, err.Error())
			return
		}
	}
}

// stray counts a message that nobody can use.
func (p *Peer) stray(what string) error {
	p.mu.Lock()
	p.strays++
	n := p.strays
	p.mu.Unlock()
	if n == 1 {
		p.log.Info("link message skipped", slog.String("what", what))
	}
	if n > maxStrays {
		return fmt.Errorf("more than %d messages that nobody asked for", maxStrays)
	}
	return nil
}

// dispatch takes one well-formed message to whom it is for. An error ends the connection.
func (p *Peer) dispatch(msg any, size int) error {
	if _, ok := msg.(*Pong); ok {
		return nil
	}
	if !p.paired.Load() {
		return errors.New("not paired yet")
	}
	switch m := msg.(type) {
	case *Hello, *Proof:
		return errors.New("a second greeting")
	case *Response:
		return p.respond(m)
	case *StreamUpdate:
		return p.publish(m.Turn, m, size)
	case *SubmitProgress:
		return p.publish(m.Turn, m, size)
	case *SiteNotice:
		return p.publish(m.Turn, m, size)
	case *Recovered:
		return p.publish(m.Turn, m, size)
	case *TurnStatus:
		for _, f := range m.Turns {
			p.learn(f.Thread, f.Turn)
			if err := p.publish(f.Turn, &TurnStatus{Type: m.Type, Turns: []TurnFact{f}}, size); err != nil {
				return err
			}
		}
		return nil
	case *TabStatus:
		p.mu.Lock()
		turn := p.turns[m.Thread]
		p.mu.Unlock()
		return p.publish(turn, m, size)
	}
	return fmt.Errorf("no place for %T", msg)
}

func (p *Peer) respond(r *Response) error {
	p.mu.Lock()
	c, ok := p.pending[r.ID]
	delete(p.pending, r.ID)
	p.mu.Unlock()
	if !ok {
		return p.stray("response that nobody waits for")
	}
	c <- r // holds one, and is taken out of the table before
	return nil
}

// publish gives an event to the turn's subscribers. Without one it is dropped:
// the browser keeps stream updates until they are acknowledged, and the rest is
// told again by the facts of a turn or a look at the page.
func (p *Peer) publish(turn string, msg any, size int) error {
	p.mu.Lock()
	subs := slices.Clone(p.subs[turn])
	p.mu.Unlock()
	p.holding.Store(true)
	defer p.holding.Store(false)
	for _, s := range subs {
		if s.offer(msg, size) {
			continue
		}
		p.log.Debug(heldMessage, slog.String("turn", turn))
		if !s.push(msg, size, p.hub.timing.hold, p.ctx.Done()) {
			return fmt.Errorf("%w of turn %s", errStuck, turn)
		}
	}
	// Time spent here is ours, not the other side's silence.
	p.heard.Store(int64(time.Since(p.info.Since)))
	return nil
}
