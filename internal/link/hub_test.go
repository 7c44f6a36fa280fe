package link

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

func TestOnlyOurOriginIsUpgraded(t *testing.T) {
	b := newBench(t, nil)
	own := "chrome-extension://" + ExtensionID
	for _, row := range []struct {
		name    string
		origins []string
		ok      bool
	}{
		{"ours", []string{own}, true},
		{"none", nil, false},
		{"empty", []string{""}, false},
		{"null", []string{"null"}, false},
		{"a page", []string{"https://chatgpt.com"}, false},
		{"the daemon's own", []string{"http://localhost:8765"}, false},
		{"another extension", []string{"chrome-extension://" + strings.Repeat("a", 32)}, false},
		{"ours with more", []string{own + ".example"}, false},
		{"ours with a slash", []string{own + "/"}, false},
		{"upper case", []string{strings.ToUpper(own)}, false},
		{"ours twice", []string{own, own}, false},
		{"ours after another", []string{"https://a.example", own}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			conn, resp, err := websocket.Dial(ctxOf(t), b.url, &websocket.DialOptions{HTTPHeader: http.Header{"Origin": row.origins}})
			if row.ok {
				if err != nil {
					t.Fatal(err)
				}
				conn.CloseNow()
				return
			}
			if err == nil {
				conn.CloseNow()
				t.Fatal("was upgraded")
			}
			if resp == nil || resp.StatusCode != http.StatusForbidden {
				t.Fatalf("got %v, want status 403", resp)
			}
		})
	}
}

func TestBadHello(t *testing.T) {
	other := hello()
	other.Protocol = Protocol + 1
	short := hello()
	short.Browser = "x"
	long := hello()
	long.Label = strings.Repeat("l", 500)
	for _, row := range []struct {
		name string
		send any
		code string
		text string
	}{
		{"another protocol", other, "protocol", "plexus extension"},
		{"not a hello", Pong{Type: "pong", N: 1}, "bad-hello", "first message"},
		{"short id", short, "bad-hello", "browser"},
		{"long label", long, "bad-hello", "label"},
		{"no object", []int{1}, "bad-hello", "object"},
		{"unknown type", map[string]any{"type": "hi"}, "bad-hello", "unknown"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(t, nil)
			e := b.dial()
			e.send(row.send)
			m := e.want("refused")
			if m["code"] != row.code || !strings.Contains(m["text"].(string), row.text) {
				t.Errorf("got %v, want code %s and a text with %q", m, row.code, row.text)
			}
			e.closed()
			if n := len(b.hub.Pairings()); n != 0 {
				t.Errorf("%d pairings are open, want none", n)
			}
		})
	}
}

func TestSilenceBeforeHelloEnds(t *testing.T) {
	b := newBench(t, func(w *timing) { w.hello = time.Millisecond })
	b.dial().closed()
}

func TestTooManyGreetings(t *testing.T) {
	b := newBench(t, nil)
	for range maxGreeting {
		b.dial()
	}
	_, resp, err := websocket.Dial(ctxOf(t), b.url, &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"chrome-extension://" + ExtensionID}}})
	if err == nil || resp == nil || resp.StatusCode != http.StatusServiceUnavailable {
		t.Fatalf("got %v, %v, want status 503", resp, err)
	}
}

func TestPairingAndToken(t *testing.T) {
	b := newBench(t, nil)
	first, _, token := b.pair()
	row := b.store.all()[testBrowser]
	if !bytes.Equal(row.Token, hashToken(token)) || strings.Contains(string(row.Token), token) {
		t.Error("the store does not hold the token's hash")
	}
	if row.Label != "Chromium 156 on Linux" || row.Version != "0.1.0" || row.Created.IsZero() {
		t.Errorf("the record is not filled in: %+v", row)
	}
	if len(b.hub.Pairings()) != 0 {
		t.Error("the pairing is still open")
	}
	// With the token no person is asked, and the old connection makes way.
	second := b.dial()
	second.greet(token)
	if m := second.want("welcome"); m["token"] != nil {
		t.Errorf("got a token again: %v", m)
	}
	if m := first.want("refused"); m["code"] != "replaced" {
		t.Errorf("got %v, want replaced", m)
	}
	p, err := b.hub.Wait(second.ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	// The end of the old connection must not take the new one along.
	first.closed()
	if q, ok := b.hub.Peer(testBrowser); !ok || q != p {
		t.Error("the new connection is not the browser's")
	}
}

func TestWrongTokenAsksAPerson(t *testing.T) {
	b := newBench(t, nil)
	_, _, token := b.pair()
	for name, bad := range map[string]string{"none": "", "other": strings.Repeat("x", len(token)), "cut": token[:len(token)-1]} {
		t.Run(name, func(t *testing.T) {
			e := b.dial()
			e.wrong = true
			e.greet(bad)
			e.want("pairing")
			// What is not paired may only answer pings.
			e.send(Pong{Type: "pong", N: 1})
			e.send(TurnStatus{Type: "turn_status"})
			if reason := e.closed(); !strings.Contains(reason, "not paired") {
				t.Errorf("closed with %q", reason)
			}
			b.noPairings()
		})
	}
	if _, ok := b.hub.Peer(testBrowser); !ok {
		t.Error("the paired connection was lost")
	}
}

// TestProofsAreOfOneConnection has a proof come from elsewhere: each part of it must count.
func TestProofsAreOfOneConnection(t *testing.T) {
	b := newBench(t, nil)
	_, _, token := b.pair()
	known := Browser{Token: hashToken(token)}
	for name, forge := range map[string]func(e *end, nonce, theirs string) string{
		"the other side's": func(_ *end, _, theirs string) string { return theirs },
		"of another port":  func(e *end, nonce, _ string) string { return known.proof(roleBrowser, e.port+1, testNonce, nonce) },
		"of another hello": func(e *end, nonce, _ string) string {
			return known.proof(roleBrowser, e.port, "nonce-of-a-stranger", nonce)
		},
		"of another greeting": func(e *end, _, _ string) string { return known.proof(roleBrowser, e.port, testNonce, "other") },
		"of no token":         func(e *end, nonce, _ string) string { return Browser{}.proof(roleBrowser, e.port, testNonce, nonce) },
	} {
		t.Run(name, func(t *testing.T) {
			e := b.dial()
			h := hello()
			h.Paired = true
			e.send(h)
			c := e.want("challenge")
			e.send(Proof{Type: "proof", Proof: forge(e, c["nonce"].(string), c["proof"].(string))})
			e.want("pairing")
			e.conn.CloseNow()
			b.noPairings()
		})
	}
}

func TestNoProofNoConnection(t *testing.T) {
	b := newBench(t, func(w *timing) { w.hello = 50 * time.Millisecond })
	b.pair()
	e := b.dial()
	h := hello()
	h.Paired = true
	e.send(h)
	e.want("challenge")
	e.closed() // silence
	e = b.dial()
	e.send(h)
	e.want("challenge")
	e.send(Pong{Type: "pong", N: 1})
	if m := e.want("refused"); m["code"] != "bad-hello" {
		t.Errorf("got %v", m)
	}
	e.closed()
	if len(b.hub.Pairings()) != 0 {
		t.Error("a person is asked")
	}
}

func TestDeny(t *testing.T) {
	b := newBench(t, nil)
	e := b.dial()
	e.greet("")
	code := e.want("pairing")["code"].(string)
	infos := b.hub.Pairings()
	if len(infos) != 1 || infos[0].Code != code || infos[0].Browser != testBrowser {
		t.Fatalf("got %+v, want the pairing %s", infos, code)
	}
	if err := b.hub.Deny(e.ctx, code); err != nil {
		t.Fatal(err)
	}
	if m := e.want("refused"); m["code"] != "denied" {
		t.Errorf("got %v", m)
	}
	if err := b.hub.Approve(e.ctx, code); !errors.Is(err, ErrNoPairing) {
		t.Errorf("approve after deny: %v", err)
	}
	if len(b.store.all()) != 0 || len(b.hub.Peers()) != 0 {
		t.Error("a denied browser is known")
	}
}

func TestPairingExpires(t *testing.T) {
	b := newBench(t, func(w *timing) { w.pairing = time.Millisecond })
	e := b.dial()
	e.greet("")
	code := e.want("pairing")["code"].(string)
	if m := e.want("refused"); m["code"] != "expired" {
		t.Errorf("got %v", m)
	}
	if err := b.hub.Approve(e.ctx, code); !errors.Is(err, ErrNoPairing) {
		t.Errorf("approve after the end: %v", err)
	}
}

func TestPairingEndsWithItsConnection(t *testing.T) {
	b := newBench(t, nil)
	e := b.dial()
	e.greet("")
	code := e.want("pairing")["code"].(string)
	changed := b.hub.Changed()
	e.conn.CloseNow()
	select {
	case <-changed:
	case <-e.ctx.Done():
		t.Fatal("nothing changed")
	}
	if err := b.hub.Approve(e.ctx, code); !errors.Is(err, ErrNoPairing) {
		t.Errorf("approve after the end: %v", err)
	}
}

func TestPairingsAreFew(t *testing.T) {
	b := newBench(t, nil)
	for range maxPairings {
		e := b.dial()
		e.greet("")
		e.want("pairing")
	}
	e := b.dial()
	e.greet("")
	if m := e.want("refused"); m["code"] != "busy" {
		t.Errorf("got %v, want busy", m)
	}
}

func TestPairingsAreRateLimited(t *testing.T) {
	b := newBench(t, nil)
	for range maxOpenings {
		e := b.dial()
		e.greet("")
		code := e.want("pairing")["code"].(string)
		if err := b.hub.Deny(e.ctx, code); err != nil {
			t.Fatal(err)
		}
		e.closed()
	}
	e := b.dial()
	e.greet("")
	if m := e.want("refused"); m["code"] != "busy" {
		t.Errorf("got %v, want busy", m)
	}
}

func TestStoreFailureIsNoApproval(t *testing.T) {
	b := newBench(t, nil)
	e := b.dial()
	e.greet("")
	code := e.want("pairing")["code"].(string)
	b.store.mu.Lock()
	b.store.err = errors.New("disk full")
	b.store.mu.Unlock()
	if err := b.hub.Approve(e.ctx, code); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("got %v", err)
	}
	e.closed()
	if len(b.hub.Peers()) != 0 {
		t.Error("a browser that could not be recorded is connected")
	}
}

func TestDrop(t *testing.T) {
	b := newBench(t, nil)
	e, p, _ := b.pair()
	b.hub.Drop(testBrowser)
	if m := e.want("refused"); m["code"] != "denied" {
		t.Errorf("got %v", m)
	}
	<-p.Done()
}

// TestDropWhileItConnects takes an approval back at each moment of a greeting: it stays taken back, and nothing stays connected.
func TestDropWhileItConnects(t *testing.T) {
	token, hash := newToken()
	for _, row := range []struct {
		call  string // of the store, after which it happens
		fresh bool   // the browser is just approved
	}{{"Browser", false}, {"TouchBrowser", false}, {"SaveBrowser", true}, {"TouchBrowser", true}} {
		t.Run(fmt.Sprintf("after %s, fresh %v", row.call, row.fresh), func(t *testing.T) {
			b := newBench(t, nil)
			if !row.fresh {
				b.store.rows[testBrowser] = Browser{ID: testBrowser, Token: hash}
			}
			b.store.after = func(call string) {
				if call == row.call {
					b.store.remove(testBrowser)
					b.hub.Drop(testBrowser)
				}
			}
			e := b.dial()
			if row.fresh {
				e.greet("")
				if err := b.hub.Approve(e.ctx, e.want("pairing")["code"].(string)); err != nil {
					t.Fatal(err)
				}
			} else {
				e.greet(token)
			}
			e.want("welcome")
			if m := e.want("refused"); m["code"] != "denied" {
				t.Errorf("got %v", m)
			}
			e.closed()
			b.hub.Close()
			if rows := b.store.all(); len(rows) != 0 {
				t.Errorf("the record came back: %v", rows)
			}
			if peers := b.hub.Peers(); len(peers) != 0 {
				t.Errorf("connected: %v", peers)
			}
		})
	}
}

func TestConnectingBringsTheRecordUpToDate(t *testing.T) {
	token, hash := newToken()
	b := newBench(t, nil)
	created := time.Now().Add(-time.Hour)
	b.store.rows[testBrowser] = Browser{ID: testBrowser, Label: "An older one", Version: "0", Token: hash, Created: created, LastSeen: created}
	touched := make(chan struct{})
	b.store.after = func(call string) {
		if call == "TouchBrowser" {
			close(touched)
		}
	}
	e := b.dial()
	e.greet(token)
	e.want("welcome")
	<-touched
	row := b.store.all()[testBrowser]
	if row.Label != hello().Label || row.Version != hello().Version || !row.Created.Equal(created) || !row.LastSeen.After(created) || !bytes.Equal(row.Token, hash) {
		t.Errorf("the record is %+v", row)
	}
}

// TestAFullStoreKeepsAKnownBrowser has no room for news of a browser that proved who it is.
func TestAFullStoreKeepsAKnownBrowser(t *testing.T) {
	token, hash := newToken()
	b := newBench(t, nil)
	b.store.rows[testBrowser] = Browser{ID: testBrowser, Token: hash}
	b.store.after = func(call string) {
		b.store.mu.Lock()
		defer b.store.mu.Unlock()
		b.store.err = errors.New("disk full")
	}
	e := b.dial()
	e.greet(token)
	e.want("welcome")
	p, err := b.hub.Wait(e.ctx, testBrowser)
	if err != nil {
		t.Fatal(err)
	}
	go p.Command(e.ctx, EndTurn{Turn: "t1"}, nil)
	e.want("end_turn")
}

func TestSilentPeerIsGivenUp(t *testing.T) {
	b := newBench(t, func(w *timing) { w.ping, w.dead = time.Millisecond, 20*time.Millisecond })
	_, p, _ := b.pair() // never answers a ping
	select {
	case <-p.Done():
	case <-ctxOf(t).Done():
		t.Fatal("a silent peer is still connected")
	}
	if len(b.hub.Peers()) != 0 {
		<-b.hub.Changed()
	}
	if _, err := b.hub.Wait(canceled(), ""); !errors.Is(err, context.Canceled) {
		t.Errorf("wait: %v", err)
	}
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestPeersNewestFirst(t *testing.T) {
	b := newBench(t, nil)
	b.pair()
	e := b.dial()
	h := hello()
	h.Browser, h.Turns = "br_another_one", []TurnFact{{Turn: "t1", Thread: "th1", Stage: "posted", LastN: 7}}
	e.send(h)
	if err := b.hub.Approve(e.ctx, e.want("pairing")["code"].(string)); err != nil {
		t.Fatal(err)
	}
	e.want("welcome")
	if _, err := b.hub.Wait(e.ctx, "br_another_one"); err != nil {
		t.Fatal(err)
	}
	infos := b.hub.Peers()
	if len(infos) != 2 || infos[0].Browser != "br_another_one" || infos[1].Browser != testBrowser {
		t.Fatalf("got %+v", infos)
	}
	if len(infos[0].Turns) != 1 || infos[0].Turns[0].LastN != 7 {
		t.Errorf("the facts of the hello are lost: %+v", infos[0])
	}
	if p, _ := b.hub.Peer(""); p.Info().Browser != "br_another_one" {
		t.Error("the most recent connection is not the default")
	}
}

func TestCloseRefusesLaterConnections(t *testing.T) {
	b := newBench(t, nil)
	_, p, _ := b.pair()
	b.hub.Close()
	<-p.Done()
	_, _, err := websocket.Dial(ctxOf(t), b.url, &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"chrome-extension://" + ExtensionID}}})
	if err == nil {
		t.Error("connected to a hub that ended")
	}
	if _, err := b.hub.Wait(ctxOf(t), ""); !errors.Is(err, ErrClosed) {
		t.Errorf("wait: %v", err)
	}
}

func TestCodesAreReadable(t *testing.T) {
	seen := map[string]bool{}
	for range 200 {
		code := newCode()
		if len(code) != 7 || code[3] != '-' || strings.Trim(code, codeAlphabet+"-") != "" {
			t.Fatalf("code %q", code)
		}
		seen[code] = true
	}
	if len(seen) < 199 {
		t.Errorf("only %d different codes of 200", len(seen))
	}
}
