package chatapi

import (
	"bufio"
	"errors"
	"net/http"
	"strings"
	"testing"

	"plexus/internal/loop"
)

func newReading(on loop.Observer) *reading {
	x := &exchange{endpoint: Endpoint{URL: "http://localhost:1", Model: "m", Key: testKey}, on: on}
	return &reading{exchange: x, ended: func() {}}
}

// FuzzReply: whatever a server answers is either a reply with text or a fault with
// words, what was heard is what is returned, and the key is never told.
func FuzzReply(f *testing.F) {
	f.Add("text/event-stream", "data: "+delta("a")+"\n\ndata: [DONE]\n\n")
	f.Add("application/json", `{"choices":[{"message":{"content":[{"text":"a"}]},"finish_reason":"stop"}]}`)
	f.Add("", `{"error":{"message":"`+testKey+`","code":429.5}}`)
	f.Add("text/event-stream", "data: {\"error\":\"x\"}\n\n")
	f.Add("text/event-stream", "data: {\"choices\":[{\"delta\":{\"content\":{}},\"finish_reason\":\"length\"}]}\n\n")
	f.Add("text/html", "<p>")
	f.Fuzz(func(t *testing.T, kind, body string) {
		on := &heard{}
		r := newReading(on)
		err := r.read(http.Header{"Content-Type": {kind}}, strings.NewReader(body))
		if err == nil {
			err = r.complete()
		} else {
			err = r.broken(t.Context(), err)
		}
		if r.text.String() != on.text.String() {
			t.Fatalf("kept %q, told %q", r.text.String(), on.text.String())
		}
		var fault *loop.Fault
		switch {
		case err == nil && strings.TrimSpace(r.text.String()) == "":
			t.Fatal("an empty reply was taken")
		case err != nil && !errors.As(err, &fault):
			t.Fatalf("%T is no fault: %v", err, err)
		case err != nil && (fault.Code == "" || fault.Text == "" || fault.Todo == ""):
			t.Fatalf("a fault without words: %+v", fault)
		}
	})
}

// A reply costs what it is long: each event is decoded once.
func BenchmarkReply(b *testing.B) {
	one := "data: " + delta(strings.Repeat("word ", 4)) + "\n\n"
	body := strings.Repeat(one, 10_000) + "data: " + stop + "\n\ndata: [DONE]\n\n"
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		r := newReading(&heard{})
		if err := r.events(bufio.NewReader(strings.NewReader(body))); err != nil {
			b.Fatal(err)
		}
	}
}
