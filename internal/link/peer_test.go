package link

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

func TestResponsesFindTheirCommand(t *testing.T) {
	b := newBench(t, nil)
	e, p, _ := b.pair()
	const n = 20
	got := make(chan error, n)
	for i := range n {
		go func() {
			var res TabResult
			err := p.Command(e.ctx, OpenTab{Thread: fmt.Sprint(i), URL: "https://chatgpt.com/"}, &res)
			if err == nil && res.Tab != i {
				err = fmt.Errorf("command %d got the response of %d", i, res.Tab)
			}
			got <- err
		}()
	}
	var cmds []map[string]any
	for range n {
		cmds = append(cmds, e.want("open_tab"))
	}
	for i := len(cmds) - 1; i >= 0; i-- { // answered in the opposite order
		e.raw(fmt.Sprintf(`{"type":"response","id":%q,"result":{"tab":%s,"url":"u","created":true}}`, cmds[i]["id"], cmds[i]["thread"]))
	}
	for range n {
		if err := <-got; err != nil {
			t.Error(err)
		}
	}
}

func TestCommandErrors(t *testing.T) {
	for _, row := range []struct {
		name   string
		answer string // %q is the id
		check  func(error) bool
	}{
		{"refused", `{"type":"response","id":%q,"error":{"code":"no-tab","text":"gone","clicked":true}}`, func(err error) bool {
			r, ok := errors.AsType[*ResponseError](err)
			return ok && r.Code == "no-tab" && r.Clicked
		}},
		{"no result", `{"type":"response","id":%q}`, func(err error) bool { return err != nil && strings.Contains(err.Error(), "open_tab") }},
		{"wrong shape", `{"type":"response","id":%q,"result":{"tab":"seven"}}`, func(err error) bool { return err != nil }},
		{"over a bound", `{"type":"response","id":%q,"result":{"url":"` + strings.Repeat("u", 5000) + `"}}`, func(err error) bool {
			return err != nil && strings.Contains(err.Error(), "url")
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(t, nil)
			e, p, _ := b.pair()
			got := make(chan error, 1)
			go func() { got <- p.Command(e.ctx, OpenTab{Thread: "th"}, &TabResult{}) }()
			e.raw(fmt.Sprintf(row.answer, e.want("open_tab")["id"]))
			if err := <-got; !row.check(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestCommandEndsWithTheConnection(t *testing.T) {
	b := newBench(t, nil)
	e, p, _ := b.pair()
	got := make(chan error, 1)
	go func() { got <- p.Command(e.ctx, LookPage{Thread: "th"}, nil) }()
	e.want("look_page")
	e.conn.CloseNow()
	if err := <-got; !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	if err := p.Command(e.ctx, LookPage{}, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v, want ErrClosed", err)
	}
	if err := p.Send(e.ctx, AckFrames{}); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v, want ErrClosed", err)
	}
}

func TestCommandIsGivenUp(t *testing.T) {
	b := newBench(t, func(w *timing) { w.command = 50 * time.Millisecond })
	e, p, _ := b.pair()
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(e.ctx)
	got := make(chan error, 1)
	go func() { got <- p.Command(ctx, StopTurn{ID: "s1", Turn: "t1"}, nil) }()
	e.want("stop_turn")
	cancel(cause)
	if err := <-got; !errors.Is(err, cause) {
		t.Errorf("got %v, want the cause", err)
	}
	if err := p.Command(e.ctx, StopTurn{ID: "s2", Turn: "t1"}, nil); err == nil || !strings.Contains(err.Error(), "no response") {
		t.Errorf("without an answer: %v", err)
	}
	// A response that comes too late is for nobody, and the id is free again.
	e.raw(`{"type":"response","id":"s1"}`)
	go func() { got <- p.Command(e.ctx, StopTurn{ID: "s1", Turn: "t1"}, nil) }()
	e.want("stop_turn")
	e.want("stop_turn")
	e.raw(`{"type":"response","id":"s1"}`)
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestOneCommandPerID(t *testing.T) {
	b := newBench(t, nil)
	e, p, _ := b.pair()
	got := make(chan error, 1)
	go func() { got <- p.Command(e.ctx, SendMessage{ID: "m1", Turn: "t", Thread: "th"}, nil) }()
	e.want("send_message")
	if err := p.Command(e.ctx, SendMessage{ID: "m1", Turn: "t", Thread: "th"}, nil); err == nil || !strings.Contains(err.Error(), "under way") {
		t.Errorf("got %v", err)
	}
	e.raw(`{"type":"response","id":"m1"}`)
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestWhatIsNoMessageIsNotSent(t *testing.T) {
	b := newBench(t, nil)
	e, p, _ := b.pair()
	for _, v := range []any{nil, 7, "x", struct{ A int }{1}, Pong{}, &Hello{}, PeerInfo{}} {
		if err := p.Send(e.ctx, v); err == nil {
			t.Errorf("%T was sent", v)
		}
	}
	if err := p.Command(e.ctx, AckFrames{}, nil); err == nil {
		t.Error("a message without response was taken for a command")
	}
	if err := p.Send(e.ctx, SendMessage{Text: strings.Repeat("x", MaxMessage)}); err == nil {
		t.Error("a message over the bound was sent")
	}
	if err := p.Send(e.ctx, &Proceed{ID: "m", Turn: "t", Go: true}); err != nil {
		t.Error(err)
	}
	if m := e.want("proceed"); m["id"] != "m" || m["go"] != true {
		t.Errorf("got %v", m)
	}
}

func TestMalformedMessageEndsTheConnection(t *testing.T) {
	for _, row := range []struct{ name, send, reason string }{
		{"not JSON", `{"type":"pong",`, "pong"},
		{"an array", `[]`, "object"},
		{"type not first", `{"n":1,"type":"pong"}`, "first field"},
		{"type no string", `{"type":7}`, "string"},
		{"type twice", `{"type":"pong","type":"hello"}`, "type"},
		{"wrong field", `{"type":"pong","n":"one"}`, "n"},
		{"trailing", `{"type":"pong","n":1} {}`, "pong"},
		{"unknown and broken", `{"type":"new",`, "JSON"},
		{"enum", `{"type":"stream_update","turn":"t","n":1,"stream":"s","event":"explode"}`, "event"},
		{"number too small", `{"type":"stream_update","turn":"t","n":0,"stream":"s","event":"data"}`, "n:"},
		{"empty id", `{"type":"response","id":""}`, "id"},
		{"in a list", `{"type":"turn_status","turns":[{"turn":"t","thread":"th","stage":"gone"}]}`, "stage"},
		{"in a pointer", `{"type":"response","id":"x","error":{"code":"` + strings.Repeat("c", 65) + `"}}`, "code"},
		{"second hello", `{"type":"hello","protocol":1,"version":"1","browser":"12345678","label":"l","nonce":"0123456789abcdef"}`, "second greeting"},
		{"invalid UTF-8", "{\"type\":\"pong\",\"n\":1,\"x\":\"\xff\"}", "UTF-8"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(t, nil)
			e, p, _ := b.pair()
			e.raw(row.send)
			if reason := e.closed(); !strings.Contains(reason, row.reason) {
				t.Errorf("closed with %q, want %q in it", reason, row.reason)
			}
			<-p.Done()
		})
	}
}

func TestBinaryAndOversizeEndTheConnection(t *testing.T) {
	b := newBench(t, nil)
	e, p, token := b.pair()
	if err := e.conn.Write(e.ctx, websocket.MessageBinary, []byte(`{"type":"pong","n":1}`)); err != nil {
		t.Fatal(err)
	}
	e.closed()
	<-p.Done()

	e = b.dial()
	e.greet(token)
	e.want("welcome")
	// A bomb: it is small on the wire.
	if err := e.conn.Write(e.ctx, websocket.MessageText, []byte(`{"type":"pong","n":1,"x":"`+strings.Repeat("x", MaxMessage)+`"}`)); err == nil {
		e.closed()
	}
}

func TestUnknownTypesAreSkippedUpToABound(t *testing.T) {
	b := newBench(t, nil)
	e, p, _ := b.pair()
	for i := range maxStrays {
		e.raw(fmt.Sprintf(`{"type":"from_the_future","n":%d}`, i))
	}
	got := make(chan error, 1)
	go func() { got <- p.Command(e.ctx, EndTurn{Turn: "t"}, nil) }()
	e.raw(fmt.Sprintf(`{"type":"response","id":%q,"unknownField":{"a":[1]}}`, e.want("end_turn")["id"]))
	if err := <-got; err != nil {
		t.Fatalf("a peer with unknown types is of no use: %v", err)
	}
	e.raw(`{"type":"response","id":"nobody"}`)
	if reason := e.closed(); !strings.Contains(reason, "nobody asked for") {
		t.Errorf("closed with %q", reason)
	}
}

func TestPings(t *testing.T) {
	b := newBench(t, func(w *timing) { w.ping, w.dead = time.Millisecond, time.Minute })
	e, _, _ := b.pair()
	for n := int64(1); n <= 3; {
		_, data, err := e.conn.Read(e.ctx)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), `"ping"`) {
			e.send(Pong{Type: "pong", N: n})
			n++
		}
	}
}
