package extension_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// devtools plays the person at the browser and the accidents of a browser's
// life, over the debugging protocol. One goroutine at a time uses it.
type devtools struct {
	t    testing.TB
	ctx  context.Context
	conn *websocket.Conn
	last int
}

type target struct {
	ID    string `json:"targetId"`
	Type  string `json:"type"`
	URL   string `json:"url"`
	Title string `json:"title"`
}

// attach connects to the browser of a profile, as soon as it has written its port there.
func attach(t testing.TB, ctx context.Context, profile string) *devtools {
	t.Helper()
	port, path := "", ""
	for path == "" {
		data, err := os.ReadFile(filepath.Join(profile, "DevToolsActivePort"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		port, path, _ = strings.Cut(strings.TrimSpace(string(data)), "\n")
		select {
		case <-ctx.Done():
			t.Fatal("the browser wrote no port")
		case <-time.After(10 * time.Millisecond): // the file is the only sign
		}
	}
	conn, _, err := websocket.Dial(ctx, "ws://127.0.0.1:"+port+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(64 << 20)
	t.Cleanup(func() { conn.CloseNow() })
	return &devtools{t: t, ctx: ctx, conn: conn}
}

// call gives one command and returns its result.
func (d *devtools) call(session, method string, params, result any) {
	d.t.Helper()
	if err := d.try(session, method, params, result); err != nil {
		d.t.Fatal(err)
	}
}

// try is call where the browser may say no.
func (d *devtools) try(session, method string, params, result any) error {
	d.t.Helper()
	d.last++
	msg := map[string]any{"id": d.last, "method": method, "params": params}
	if session != "" {
		msg["sessionId"] = session
	}
	data, err := json.Marshal(msg)
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.conn.Write(d.ctx, websocket.MessageText, data); err != nil {
		d.t.Fatal(err)
	}
	for {
		_, data, err := d.conn.Read(d.ctx)
		if err != nil {
			d.t.Fatal(err)
		}
		var answer struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(data, &answer); err != nil {
			d.t.Fatal(err)
		}
		if answer.ID != d.last {
			continue
		}
		if answer.Error != nil {
			return fmt.Errorf("%s: %s", method, answer.Error)
		}
		if result != nil {
			if err := json.Unmarshal(answer.Result, result); err != nil {
				d.t.Fatal(err)
			}
		}
		return nil
	}
}

func (d *devtools) targets() []target {
	d.t.Helper()
	var got struct {
		Infos []target `json:"targetInfos"`
	}
	d.call("", "Target.getTargets", map[string]any{}, &got)
	return got.Infos
}

// find returns the first target of a type whose address starts with url.
func (d *devtools) find(kind, url string) target {
	d.t.Helper()
	for _, t := range d.targets() {
		if t.Type == kind && strings.HasPrefix(t.URL, url) {
			return t
		}
	}
	d.t.Fatalf("no %s at %s in %v", kind, url, d.targets())
	return target{}
}

// session attaches to a target.
func (d *devtools) session(t target) string {
	d.t.Helper()
	var got struct {
		Session string `json:"sessionId"`
	}
	d.call("", "Target.attachToTarget", map[string]any{"targetId": t.ID, "flatten": true}, &got)
	return got.Session
}

// eval runs an expression in the page's own world and waits for its promise.
func (d *devtools) eval(session, expression string, result any) {
	d.t.Helper()
	var got struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception json.RawMessage `json:"exceptionDetails"`
	}
	d.call(session, "Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &got)
	if got.Exception != nil {
		d.t.Fatalf("%s: %s", expression, got.Exception)
	}
	if result != nil {
		if err := json.Unmarshal(got.Result.Value, result); err != nil {
			d.t.Fatalf("%s: %s: %v", expression, got.Result.Value, err)
		}
	}
}

// shot keeps a picture of a page where EXTENSION_SHOTS says, for eyes.
func (d *devtools) shot(session, name string) {
	d.t.Helper()
	dir := os.Getenv("EXTENSION_SHOTS")
	if dir == "" {
		return
	}
	var got struct {
		Data string `json:"data"`
	}
	d.call(session, "Page.captureScreenshot", map[string]any{"format": "png"}, &got)
	data, err := base64.StdEncoding.DecodeString(got.Data)
	if err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), data, 0o644); err != nil {
		d.t.Fatal(err)
	}
}
