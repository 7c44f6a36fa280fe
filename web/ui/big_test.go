package ui_test

import (
	"strings"
	"testing"
	"time"
)

// TestVeryLongAnswer streams five megabytes: the page stays usable, and shows the beginning with a way to the rest.
func TestVeryLongAnswer(t *testing.T) {
	d, e := newDaemon(t), newEndpoint(t)
	d.onAPI(e)
	b := newTab(t)
	b.open(d)
	b.start("Tell me all")
	e.reply(t, "{plx:done}\n")
	piece := strings.Repeat("Some words of an answer that goes on and on, with `code` and *stress*.\n\n", 64)
	began := time.Now()
	for n := 0; n < 5<<20; n += len(piece) {
		e.reply(t, piece)
	}
	e.reply(t, "The end.\n{/plx:done}", "")
	b.until(`document.querySelector('.answer:not(.growing)') !== null && document.querySelector('.growing') === null`)
	t.Logf("streamed and shown in %v", time.Since(began).Round(time.Millisecond))
	b.says("Show the rest as plain text")
	if n := js[int](b, `document.querySelectorAll('.answer *').length`); n > 50_000 {
		t.Errorf("%d elements for one answer", n)
	}
}
