package chatstream

import (
	"fmt"
	"strings"
	"testing"
)

// recorded is a turn of about n bytes as a site sends it: short deltas, some with escapes, a batch now and then.
func recorded(n int) []byte {
	var b strings.Builder
	b.WriteString(sse(encoding, token, final(0, "a"), say("Start")))
	words := []string{" func", " main()", " {\n\t", "fmt", ".Println", "(\"", "hello", "\")", "\n}", " naïve", " the quick brown fox", " it", " is"}
	for i := 0; b.Len() < n; i++ {
		if i%50 == 49 {
			b.WriteString(sse(`delta|{"v":[{"p":"/message/content/parts/0","o":"append","v":"x"},{"p":"/message/metadata/content_references","o":"append","v":[]}]}`, say(" again")))
			continue
		}
		b.WriteString(sse(more(words[i%len(words)])))
	}
	b.WriteString(sse(finish(true), complete, done))
	return []byte(b.String())
}

// BenchmarkDecode shows the speed on streams of several lengths, cut as a network does: MB/s is the same if the cost is linear.
func BenchmarkDecode(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000, 10_000_000} {
		for _, size := range []int{64, 4096} {
			stream := recorded(n)
			b.Run(fmt.Sprintf("stream=%dKB/piece=%d", n/1000, size), func(b *testing.B) {
				b.SetBytes(int64(len(stream)))
				b.ReportAllocs()
				for b.Loop() {
					d := New()
					d.Open("f1", SourceFetch, "")
					for rest := stream; len(rest) > 0; {
						k := min(size, len(rest))
						d.Data("f1", rest[:k])
						rest = rest[k:]
					}
					if !d.Ended() {
						b.Fatal("the turn did not end")
					}
				}
			})
		}
	}
}

// BenchmarkDecodeSocket is the same text in items of a WebSocket topic.
func BenchmarkDecodeSocket(b *testing.B) {
	var messages [][]byte
	total := 0
	for i, e := range strings.SplitAfter(string(recorded(1_000_000)), "\n\n") {
		m := []byte(`[` + socketItem("topic-x", fmt.Sprint(i+1), fmt.Sprintf("s%d", i+1), fmt.Sprintf("s%d", i), e) + `]`)
		messages = append(messages, m)
		total += len(m)
	}
	b.SetBytes(int64(total))
	for b.Loop() {
		d := New()
		d.Open("f1", SourceFetch, "")
		d.Data("f1", []byte(sse(handoff("topic-x"), done)))
		d.Open("w", SourceWebSocket, "")
		for _, m := range messages {
			d.Data("w", m)
		}
		if !d.Ended() {
			b.Fatal("the turn did not end")
		}
	}
}
