package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"plexus/internal/chatstream"
)

// deltaStream is a turn of about size bytes as the chat site sends it: short deltas that carry over where they go, a batch
// now and then.
func deltaStream(size int) []byte {
	var b strings.Builder
	b.WriteString("event: delta_encoding\ndata: \"v1\"\n\n")
	b.WriteString(`event: delta` + "\n" + `data: {"p":"","o":"add","v":{"message":{"id":"a","author":{"role":"assistant","name":null},` +
		`"content":{"content_type":"text","parts":[""]},"status":"in_progress","end_turn":null,"recipient":"all","channel":"final",` +
		`"metadata":{"model_slug":"bench"}},"conversation_id":"c","error":null},"c":0}` + "\n\n")
	b.WriteString("event: delta\ndata: {\"p\":\"/message/content/parts/0\",\"o\":\"append\",\"v\":\"Start\"}\n\n")
	words := []string{" func", " main()", " {\n\t", "fmt", ".Println", "(\"", "hello", "\")", "\n}", " naïve", " the quick brown fox", " it", " is"}
	for i := 0; b.Len() < size; i++ {
		if i%50 == 49 {
			b.WriteString(`event: delta` + "\n" + `data: {"v":[{"p":"/message/content/parts/0","o":"append","v":"x"},{"p":"/message/metadata/content_references","o":"append","v":[]}]}` + "\n\n" +
				"event: delta\ndata: {\"p\":\"/message/content/parts/0\",\"o\":\"append\",\"v\":\" again\"}\n\n")
			continue
		}
		word, _ := json.Marshal(words[i%len(words)])
		fmt.Fprintf(&b, "event: delta\ndata: {\"v\":%s}\n\n", word)
	}
	b.WriteString(`event: delta` + "\n" + `data: {"p":"","o":"patch","v":[{"p":"/message/status","o":"replace","v":"finished_successfully"},{"p":"/message/end_turn","o":"replace","v":true}]}` + "\n\n")
	b.WriteString("data: {\"type\":\"message_stream_complete\",\"conversation_id\":\"c\"}\n\ndata: [DONE]\n\n")
	return []byte(b.String())
}

// decode reads a stream in pieces as a network cuts it.
func decode(stream []byte, piece int) error {
	d := chatstream.New()
	d.Open("s", chatstream.SourceFetch, "")
	for rest := stream; len(rest) > 0; {
		n := min(piece, len(rest))
		d.Data("s", rest[:n])
		rest = rest[n:]
	}
	if !d.Ended() {
		return errors.New("the decoder did not see the turn end")
	}
	return nil
}

// measureDecoder reads a stream and one ten times as long; with a cost that is linear, both go at the same speed.
func measureDecoder(context.Context, *world) ([]row, error) {
	short, long := deltaStream(1_000_000), deltaStream(10_000_000)
	var shorts, longs []float64
	for range 7 {
		took, err := compute(10, func() error { return decode(short, 4096) })
		if err != nil {
			return nil, err
		}
		shorts = append(shorts, median(took))
		if took, err = compute(1, func() error { return decode(long, 4096) }); err != nil {
			return nil, err
		}
		longs = append(longs, took[0])
	}
	tenfold := ratios(longs, shorts)
	for i := range tenfold {
		tenfold[i] *= float64(len(short)) / float64(len(long))
	}
	return []row{
		{"frame decoder, stream of 1 MB", "MB/s", rates(shorts, len(short)), atLeast(50)},
		{"frame decoder, time per byte at 10 MB against 1 MB", "times", tenfold, atMost(1.3)},
	}, nil
}
