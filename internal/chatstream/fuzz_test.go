package chatstream

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzFetch feeds a response's bytes at once and in pieces: the outcome is the same, the text never shrinks, and what the
// updates say is what Text returns.
func FuzzFetch(f *testing.F) {
	for _, tt := range turns() {
		var all string
		for _, s := range tt.steps {
			if s.do == "data" {
				all += s.data
			}
		}
		f.Add([]byte(all), uint8(3))
	}
	f.Fuzz(func(t *testing.T, b []byte, size uint8) {
		all := []step{open("f1", SourceFetch), data("f1", string(b)), closed("f1")}
		whole, d := run(all, 0)
		if whole.Text != d.Text() {
			t.Fatalf("updates say %q, Text() %q", whole.Text, d.Text())
		}
		pieces, _ := run(all, 1+int(size)%50)
		if diff := cmp.Diff(whole, pieces); diff != "" {
			t.Fatal(diff)
		}
		length := 0
		d = New()
		d.Open("f1", SourceFetch, "")
		for _, c := range b {
			d.Data("f1", []byte{c})
			if n := len(d.text); n < length && d.rewrites == 0 {
				t.Fatalf("text shrank from %d to %d bytes", length, n)
			} else {
				length = n
			}
		}
	})
}

// FuzzSocket feeds WebSocket messages, one a line, before and after a hand-off.
func FuzzSocket(f *testing.F) {
	for _, tt := range turns() {
		var lines []string
		for _, s := range tt.steps {
			if s.do == "data" && s.stream == "w" {
				lines = append(lines, s.data)
			}
		}
		if lines != nil {
			f.Add(strings.Join(lines, "\n"))
		}
	}
	f.Fuzz(func(t *testing.T, messages string) {
		var all []step
		all = append(all, open("w", SourceWebSocket))
		for i, m := range strings.Split(messages, "\n") {
			if i == 1 {
				all = append(all, fetched("f1", handoff("topic-x"), done)...)
			}
			all = append(all, data("w", m))
		}
		got, d := run(all, 0)
		if got.Text != d.Text() {
			t.Fatalf("updates say %q, Text() %q", got.Text, d.Text())
		}
		if d.waiting < 0 || d.size < 0 {
			t.Fatalf("accounts are off: waiting %d, size %d", d.waiting, d.size)
		}
	})
}
