package link

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func update(turn string, n int64, data string) StreamUpdate {
	return StreamUpdate{Type: "stream_update", Turn: turn, N: n, Stream: "s1", Event: "data", Data: data}
}

func TestSubscriptionKeepsOrderAndLosesNothing(t *testing.T) {
	b := newBench(t, nil)
	e, p, _ := b.pair()
	events, cancel := p.Subscribe("t1")
	defer cancel()
	other, cancelOther := p.Subscribe("t2")
	defer cancelOther()
	const n = 400
	data := strings.Repeat("d", 4000) // more in all than a queue holds
	go func() {
		for i := int64(1); i <= n; i++ {
			e.send(update("t1", i, data))
		}
		e.send(update("t3", 1, "for nobody"))
		e.send(update("t2", 1, "last"))
	}()
	for i := int64(1); i <= n; i++ {
		u, ok := (<-events).(*StreamUpdate)
		if !ok || u.N != i || len(u.Data) != len(data) {
			t.Fatalf("event %d is %+v", i, u)
		}
	}
	if u, ok := (<-other).(*StreamUpdate); !ok || u.Data != "last" {
		t.Errorf("the other turn got %+v", u)
	}
}

func TestSlowReaderHoldsOnlyUpToABound(t *testing.T) {
	b := newBench(t, func(w *timing) { w.hold = 20 * time.Millisecond })
	e, p, _ := b.pair()
	events, cancel := p.Subscribe("t1")
	defer cancel()
	go func() {
		data := strings.Repeat("d", 20<<10)
		for i := int64(1); ; i++ {
			if e.conn.Write(e.ctx, 1, fmt.Appendf(nil, `{"type":"stream_update","turn":"t1","n":%d,"stream":"s","event":"data","data":%q}`, i, data)) != nil {
				return
			}
		}
	}()
	<-p.Done() // nobody read
	n := int64(0)
	for ev := range events { // what came before is still there, in order
		if u := ev.(*StreamUpdate); u.N != n+1 {
			t.Fatalf("got %d after %d", u.N, n)
		}
		n++
	}
	if got := n * (20 << 10); got < testQueued/2 || got > 2*testQueued {
		t.Errorf("%d bytes were kept, want about %d", got, testQueued)
	}
}

// heldLog is a log that hears when a connection is held.
type heldLog chan struct{}

func (heldLog) Enabled(context.Context, slog.Level) bool { return true }
func (l heldLog) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l heldLog) WithGroup(string) slog.Handler          { return l }

func (l heldLog) Handle(_ context.Context, r slog.Record) error {
	if r.Message == heldMessage {
		signal(l)
	}
	return nil
}

func TestCancelFreesAHeldConnection(t *testing.T) {
	b := newBench(t, nil)
	held := make(heldLog, 1)
	b.hub.log = slog.New(held)
	e, p, _ := b.pair()
	_, cancel := p.Subscribe("t1")
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for i := int64(1); i <= 60; i++ {
			e.send(update("t1", i, strings.Repeat("d", 10<<10)))
		}
	}()
	select {
	case <-held:
	case <-e.ctx.Done():
		t.Fatal("the connection was never held")
	}
	cancel()
	cancel() // twice is once
	<-sent
	answered := make(chan error, 1)
	go func() { answered <- p.Command(e.ctx, EndTurn{Turn: "t1"}, nil) }()
	e.raw(fmt.Sprintf(`{"type":"response","id":%q}`, e.want("end_turn")["id"]))
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

func TestEventsOfATab(t *testing.T) {
	b := newBench(t, nil)
	e, p, _ := b.pair()
	events, cancel := p.Subscribe("t1")
	defer cancel()
	// Nobody has named the thread's turn yet.
	e.send(TabStatus{Type: "tab_status", Tab: 1, Thread: "th1", State: "loading"})
	e.send(TurnStatus{Type: "turn_status", Turns: []TurnFact{
		{Turn: "t0", Thread: "th0", Stage: "armed"}, {Turn: "t1", Thread: "th1", Stage: "posted", LastN: 3},
	}})
	e.send(TabStatus{Type: "tab_status", Tab: 1, Thread: "th1", State: "reloaded"})
	e.send(SiteNotice{Type: "notice", Turn: "t1", Code: "rate-limited", Text: "Too many requests"})
	e.send(SubmitProgress{Type: "submit_progress", ID: "m1", Turn: "t1", Stage: "clicked"})
	e.send(Recovered{Type: "recovered", ID: "r1", Turn: "t1", Text: "{plx:done}x{/plx:done}"})
	if m, ok := (<-events).(*TurnStatus); !ok || len(m.Turns) != 1 || m.Turns[0].LastN != 3 {
		t.Errorf("first: %+v", m)
	}
	if m, ok := (<-events).(*TabStatus); !ok || m.State != "reloaded" {
		t.Errorf("second: %+v", m)
	}
	if m, ok := (<-events).(*SiteNotice); !ok || m.Code != "rate-limited" {
		t.Errorf("third: %+v", m)
	}
	if m, ok := (<-events).(*SubmitProgress); !ok || m.Stage != "clicked" {
		t.Errorf("fourth: %+v", m)
	}
	if m, ok := (<-events).(*Recovered); !ok || m.Text == "" {
		t.Errorf("fifth: %+v", m)
	}
	// A command names thread and turn as well.
	go p.Command(e.ctx, SendMessage{ID: "m2", Turn: "t2", Thread: "th2"}, nil)
	e.want("send_message")
	second, cancelSecond := p.Subscribe("t2")
	defer cancelSecond()
	e.send(TabStatus{Type: "tab_status", Tab: 2, Thread: "th2", State: "closed"})
	if m, ok := (<-second).(*TabStatus); !ok || m.State != "closed" {
		t.Errorf("after a command: %+v", m)
	}
	e.conn.CloseNow()
	if _, open := <-second; open {
		t.Error("the channel is open after the end")
	}
	late, cancelLate := p.Subscribe("t2")
	defer cancelLate()
	if _, open := <-late; open {
		t.Error("a late subscription is open")
	}
}
