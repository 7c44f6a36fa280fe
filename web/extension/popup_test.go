package extension_test

import (
	"strings"
	"testing"
	"time"

	"plexus/internal/link"
	"plexus/internal/practice"
)

// shows waits until the popup says want.
func (d *devtools) shows(session, want string) string {
	d.t.Helper()
	look := map[string]any{"expression": `new Promise(done => setTimeout(() => done(document.body.innerText), 50))`, "awaitPromise": true, "returnByValue": true}
	for deadline := time.Now().Add(20 * time.Second); ; {
		var got struct {
			Result struct {
				Value string `json:"value"`
			} `json:"result"`
		}
		err := d.try(session, "Runtime.evaluate", look, &got) // fails while the page loads
		text := got.Result.Value
		if err == nil && strings.Contains(text, want) {
			return text
		}
		if time.Now().After(deadline) {
			d.t.Fatalf("the popup says %q, want %q", text, want)
		}
	}
}

func TestPopup(t *testing.T) {
	r := boot(t, practice.Config{})
	code := r.asked()
	var made struct {
		ID string `json:"targetId"`
	}
	r.tools.call("", "Target.createTarget", map[string]any{"url": "chrome-extension://" + link.ExtensionID + "/popup.html"}, &made)
	popup := r.tools.session(target{ID: made.ID})
	r.tools.call(popup, "Emulation.setDeviceMetricsOverride", map[string]any{"width": 320, "height": 260, "deviceScaleFactor": 2, "mobile": false}, nil)
	r.tools.shows(popup, code)
	r.tools.shot(popup, "popup-pairing")
	if err := r.hub.Deny(r.ctx, code); err != nil {
		t.Fatal(err)
	}
	text := r.tools.shows(popup, "Not connected")
	if !strings.Contains(text, "Try again") {
		t.Errorf("after a no: %q", text)
	}
	r.tools.shot(popup, "popup-refused")
	r.tools.eval(popup, `document.getElementById('retry').click()`, nil)
	r.pair()
	text = r.tools.shows(popup, "Connected to Plexus")
	if !strings.Contains(text, "Plexus test on port") || !strings.Contains(text, "No chat tab") {
		t.Errorf("connected: %q", text)
	}
	r.open("th1", home)
	r.tools.shows(popup, "1 chat tab")
	r.tools.call(popup, "Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": "dark"}}}, nil)
	r.tools.shot(popup, "popup-dark")
	r.stop()
	r.tools.shows(popup, "Looking for Plexus")
}

// TestImpostorAtOurPort has another program take the port: it gets no proof, and the real Plexus is found again.
func TestImpostorAtOurPort(t *testing.T) {
	r := start(t, practice.Config{})
	browser := r.peer.Info().Browser
	r.stop()
	r.serve(&approved{rows: map[string]link.Browser{browser: {ID: browser, Token: make([]byte, 32)}}})
	var made struct {
		ID string `json:"targetId"`
	}
	r.tools.call("", "Target.createTarget", map[string]any{"url": "chrome-extension://" + link.ExtensionID + "/popup.html"}, &made)
	popup := r.tools.session(target{ID: made.ID})
	r.tools.shows(popup, "is not the Plexus that you approved")
	if len(r.hub.Peers()) != 0 || len(r.hub.Pairings()) != 0 {
		t.Error("the impostor got a connection")
	}
	r.stop()
	r.listen()
	r.connected() // without a question
	r.tools.shows(popup, "Connected to Plexus")
	// A Plexus that was set up anew is paired with when a person asks for it.
	r.stop()
	r.store = &approved{rows: map[string]link.Browser{browser: {ID: browser, Token: make([]byte, 32)}}}
	r.listen()
	r.tools.shows(popup, "is not the Plexus that you approved")
	r.tools.eval(popup, `document.getElementById('retry').click()`, nil)
	r.pair()
}
