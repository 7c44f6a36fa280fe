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
