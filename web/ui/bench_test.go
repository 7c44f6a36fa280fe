package ui_test

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// watchStream collects, for each word "w<milliseconds>" that the growing answer shows, how long it took from
// being said to the end of the frame that painted it.
const watchStream = `(() => {
	globalThis.lags = [];
	let last = 0, seen = [];
	new MutationObserver(() => {
		const words = document.querySelector('.growing .prose')?.lastElementChild?.textContent.match(/w\d{13}/g) ?? [];
		const fresh = words.map((w) => Number(w.slice(1))).filter((at) => at > last);
		if (fresh.length === 0) return;
		last = fresh.at(-1);
		if (seen.length === 0) requestAnimationFrame(() => setTimeout(() => { const now = Date.now(); lags.push(...seen.map((at) => now - at)); seen = []; }));
		seen.push(...fresh);
	}).observe(document.body, {subtree: true, childList: true, characterData: true});
	return 0;
})()`

// BenchmarkStreamToScreen says 200 deltas a second; one iteration is one second. The way is endpoint, daemon, event
// stream, page, paint.
func BenchmarkStreamToScreen(b *testing.B) {
	d, e := newDaemon(b), newEndpoint(b)
	d.onAPI(e)
	page := newTab(b)
	page.open(d)
	page.start("Tell me")
	e.reply(b, "{plx:done}\n")
	js[any](page, watchStream)
	const rate = 200
	tick := time.NewTicker(time.Second / rate)
	defer tick.Stop()
	b.ResetTimer()
	for i := range b.N * rate {
		<-tick.C
		word := fmt.Sprintf("w%d some words ", time.Now().UnixMilli())
		if i%20 == 19 {
			word += "\n\n"
		}
		e.reply(b, word)
	}
	b.StopTimer()
	e.reply(b, "end")
	page.until(`document.querySelector('.growing').innerText.includes('end')`)
	lags := js[[]int](page, `globalThis.lags`)
	if len(lags) < b.N*rate/2 {
		b.Fatalf("only %d of %d deltas were seen", len(lags), b.N*rate)
	}
	slices.Sort(lags)
	b.ReportMetric(float64(lags[len(lags)/2]), "p50-ms")
	b.ReportMetric(float64(lags[len(lags)*99/100]), "p99-ms")
}
